"""What people type without having read anything is done, or led on with a button; it seldom ends in words.

`said/first.toml` is what the readers were built from, `said/second.toml` what somebody else wrote later.
A row is what is typed, what its answer says, and `writes` if it changes something. `{n}` is an open issue in
the channel's project, `{m}` another one. A text without a slash is a direct message, one after `thread:` is a
mention in a thread about `{n}`.
"""

import json
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from bot.sandbox.people import ANA
from bot.sandbox.tracker.defaults import NEW, RESOLVED
from bot.store.owner import Owner
from tests.features.mentions.talking import BOT
from tests.support.office import TEAM, Office
from tests.support.person import DM, Person
from tests.support.reading import JSON, text_of
from tests.support.written import forget_messages, written

DONE = re.compile(
    r"Created |Updated |Logged |Nothing changed|Commented on|Project: |All projects|\*Status\*|"
    r"Status: |You logged |Entry|digest|Digest|linked|\* changed|I (?:un)?muted|Tell me about"
)
AT_LEAST = {"first": (0.70, 0.98), "second": (0.65, 0.98)}
"""How much of a half is done, and how much is done or led on."""
THREAD = "thread:"
OWNER = Owner(None, TEAM, ANA.slack_id)
Row = tuple[str, str, bool]


def rows(half: str) -> list[Row]:
    path = Path(__file__).parent / "said" / f"{half}.toml"
    said = tomllib.loads(path.read_text(encoding="utf-8"))["said"]
    return [(typed, says, "writes" in more) for typed, says, *more in said]


async def answered(office: Office, ana: Person, typed: str, about: int) -> tuple[str, bool]:
    """What the answer says, with the form that opened, and whether it has a button or a field.

    A message has one green button at most.
    """
    await office.idle()
    channel = DM if typed[:1] != "/" and not typed.startswith(THREAD) else None
    thread = await ana.say(f"This is #{about} again") if typed.startswith(THREAD) else None
    before = {message["ts"]: message for message in await ana.messages(channel)}
    if thread:
        text = f"{BOT} {typed.removeprefix(THREAD).strip()}"
        await ana._post("message", channel=thread["channel"], text=text, thread_ts=thread["ts"])
    elif channel:
        await ana._post("message", channel=office.workspace.state.im(ana.user_id).id, text=typed)
    else:
        await ana.command(typed)
    await office.idle()
    fresh = [m for m in await ana.messages(channel) if before.get(m["ts"]) != m]
    views = (await ana.state())["views"]
    shown: list[JSON] = [*(m for m in fresh if m["user"] != ana.user_id), *views[-1:]]
    greens = [json.dumps(one.get("blocks")).count('"style": "primary"') for one in shown]
    assert max(greens, default=0) <= 1, typed
    leads = any("action_id" in str(one.get("blocks")) for one in shown)
    for view in views:
        await ana.close(view)
    titles = [view["title"]["text"] for view in views[-1:]]
    return " ".join([*map(text_of, shown), *titles]), leads


@pytest.mark.parametrize("half", AT_LEAST)
async def test_what_people_say_is_done_or_led_on(office: Office, ana: Person, half: str) -> None:
    office.workspace.state.rate_limits = False  # the test talks faster than people
    await ana.ask("/tracker default webshop")
    outcomes: Counter[str] = Counter()
    wrong: list[str] = []
    before, changed = "", True
    issue = office.public_issue()
    other = next(
        one
        for one in office.tracker.data.issues.values()
        if one.project_id == issue.project_id and one.id != issue.id and not one.is_private
    )
    newest = max(office.tracker.data.issues)
    for typed, says, writes in rows(half):
        forget_messages(office)
        for one in (issue, other):
            one.status_id, one.assigned_to_id = NEW, None
        for one in office.tracker.data.issues.values():
            if one.id > newest:  # the bot learns the names of statuses from the latest issues
                one.status_id = RESOLVED
        office.tracker.data.time_entries.clear()  # else a long day would ask
        if changed:
            followed = office.bot.store.followed
            await followed.end(await followed.of(OWNER))  # their posts are forgotten, which ends them later
            before = written(office)
        said = typed.replace("{n}", str(issue.id)).replace("{m}", str(other.id))
        text, leads = await answered(office, ana, said, issue.id)
        changed = written(office) != before
        meant = says.replace("{n}", str(issue.id)).replace("{m}", str(other.id))
        if not re.search(meant, text, re.DOTALL) or (changed and not writes):
            written_too = ": written" if changed and not writes else ""
            wrong.append(f"{typed}{written_too}: {' '.join(text.split())[:300]}")
        done = changed or (DONE.search(text) and "No issues found" not in text)
        outcomes["done" if done else "led on" if leads else "in words"] += 1

    print(half, dict(outcomes), len(wrong))  # noqa: T201 - the figures
    assert not wrong, "\n".join(wrong)
    least, total = AT_LEAST[half], outcomes.total()
    assert outcomes["done"] >= least[0] * total, outcomes
    assert outcomes["done"] + outcomes["led on"] >= least[1] * total, outcomes
