"""Text from others stays text: no name in the service, in Slack or of a file makes a message or form of the
bot mention, link, show or hide anything that the bot didn't intend.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from structlog.testing import capture_logs

from bot.sandbox.tracker.data import Attachment, CustomField, Data, Issue, Relation
from bot.timings import Delays
from tests.faults.scenarios import SCENARIOS
from tests.faults.scene import NUMBER, Scene
from tests.support.deliveries import listening
from tests.support.office import Office
from tests.support.people import IDS
from tests.support.person import Person

MARKUP = (
    "<!channel> <!here|x> <@U0EVIL0001> <#C0EVIL0001> <http://evil.example|Tracker> &lt;!everyone&gt; *fett* "
    '_kursiv_ ~durch~ `kode` :skull: {service} {0} javascript:alert(1) "q" </pre> [evil](http://evil.example)'
)
UNSEEN = (
    "> &gt; zitat\r\n> zitat\u2028```zaun\n```\x00\x1b[31m\x9b\u202eevil\u2066\u2067 \u200b\ufeff\t@channel "
    '*fett*_kursiv_ {"blocks": []}\x85*fett\n*'
)
LONG = "&<*`_" * 2000
FIRST = "> *fett*"
"""The first words of all names: a quote, and markup."""
PARENT, CHILD = 13, 14
TOTAL = 13_200
"""The most text that all parts of a message may have together; around here Slack rejects it."""
CODE = re.compile(r"```.*?```|(?<![\w\u2060])`[^`\n]+`(?![\w\u2060])", re.DOTALL)
DATE = re.compile(r"!date\^[0-9]+\^(\{date_short_pretty\}( at \{time\})?|\{ago\})")
TOKEN = re.compile(r"<([^<>]*)>")
FORMATTED = re.compile(r"\*+fett\*+|_kursiv_|~durch~|`kode`|:skull:|```zaun")
DECEIVING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff]")


Heard = list[tuple[str, Any]]
"""Everything that the bot sends to Slack: calls, posts to response URLs, acknowledgments."""


@pytest.fixture
def heard() -> Iterator[Heard]:
    heard: Heard = []
    with listening("received", lambda sent: heard.append((sent["msg"], _decoded(sent["payload"])))):
        yield heard


def _decoded(part: Any) -> Any:
    """Returns the arguments of a call with those that are JSON as what they contain."""
    if isinstance(part, dict):
        return {name: _decoded(value) for name, value in part.items()}
    with suppress(TypeError, ValueError):
        return json.loads(part) if part[:1] in ("[", "{") else part
    return part


# Poisoned data


def poison(data: Data, evil: str) -> None:
    """Puts the text into everything in the service that has a name or text; names keep their first words."""
    tables = (data.projects, data.trackers, data.statuses, data.priorities, data.categories, data.versions)
    for table in (*tables, data.activities, data.roles, data.groups, data.queries):
        for row in table.values():
            row.name = f"{FIRST} {row.name} {evil}"
    for project in data.projects.values():
        project.description = None
    for user in data.users.values():
        user.lastname = f"{user.lastname} {evil}"
    stranger = data.users[max(data.users)]
    stranger.firstname, stranger.login, stranger.mail = evil, f"{evil} x", f"{evil}@harbor.example"
    data.custom_fields[900] = CustomField(900, evil)
    for issue in data.issues.values():
        issue.subject, issue.custom = f"{evil} {issue.subject}", {**issue.custom, 900: evil}
        issue.description = re.sub("kursiv|kode|zaun", "x", evil) * 3  # Markdown has the same markup
    for file in data.attachments.values():
        file.filename = file.description = evil
    for entry in data.time_entries.values():
        entry.comments = evil
    issue = data.issues[NUMBER]
    issue.parent_id, issue.assigned_to_id, issue.author_id = PARENT, 2, 1
    issue.category_id = next(c.id for c in data.categories.values() if c.project_id == issue.project_id)
    issue.version_id = next(v.id for v in data.versions.values() if v.project_id == issue.project_id)
    data.issues[CHILD].parent_id = NUMBER
    data.relations[900] = Relation(900, NUMBER, PARENT, evil)
    data.attachments[900] = Attachment(900, evil, b"1", "text/plain", 1, issue.created_on, evil, NUMBER)


# Reads what the bot sent, without using any of the bot's own code


RICH_TARGETS = {"user": ("@", "user_id"), "channel": ("#", "channel_id"), "broadcast": ("!", "range")}
RICH_TARGETS |= {"link": ("", "url"), "usergroup": ("!", "usergroup_id")}
SHOWN_PLAIN = ("value", "title", "label", "display_type", "custom_title", "custom_message")


def texts(part: Any, inside: str = "") -> Iterator[tuple[str, str]]:
    """Yields every text the bot sent, with its type: mrkdwn or plain text."""
    if isinstance(part, list):
        for item in part:
            yield from texts(item)
    elif isinstance(part, dict):
        kind, text = part.get("type"), part.get("text")
        if isinstance(text, str):
            yield (kind or ("plain_text" if inside in ("title", "sender") else "mrkdwn")), text
        if kind in RICH_TARGETS:
            yield "target", f"{RICH_TARGETS[kind][0]}{part[RICH_TARGETS[kind][1]]}"
        for name, value in part.items():
            if name in SHOWN_PLAIN and isinstance(value, str):
                yield ("value" if "text" in part else "plain_text"), value
            elif name not in ("text", "private_metadata", "state") or isinstance(value, dict):
                yield from texts(value, name)


def wrong_in(text: str, kind: str, office: Office) -> Iterator[str]:
    """Yields everything that a text does but must not."""
    if kind == "value":
        return
    if kind == "target" and not meant(text, "", office):
        yield f"leads to {text}"
    if match := DECEIVING.search(text):
        yield f"holds {match[0]!r}"
    if kind in ("plain_text", "text", "link", "target"):
        return
    for inside in TOKEN.findall(text):  # Slack parses them inside of code, too
        target, _, label = inside.partition("|")
        if not meant(target, label, office):
            yield f"holds <{inside}>"
    bare = TOKEN.sub(lambda m: m[1].partition("|")[2], CODE.sub("", text))
    if re.search(r"<|^&gt;|^>(?! )|(?<!^)>", bare, re.MULTILINE):
        yield "holds half a tag, or a quote"
    if re.search(r"&(?!amp;|lt;|gt;)", text):
        yield "holds a bare &"
    quoted = text.startswith("> ")  # a description or comment in which the user typed Markdown
    if not quoted and (match := FORMATTED.search(bare)):
        yield f"formats {match[0]}"


def meant(target: str, label: str, office: Office) -> bool:
    """Returns whether the bot intended this mention or link."""
    state = office.workspace.state
    if target.startswith("@"):
        return target[1:] in state.users
    if target.startswith("#"):
        return target[1:] in state.channels
    if DATE.fullmatch(target):
        return True
    is_labeled = "evil" not in target or not label or "evil" in label
    return target.startswith((office.tracker.url, office.workspace.url, "http://evil.example")) and is_labeled


def check(heard: Heard, office: Office) -> None:
    """Asserts that the bot sent only what it intended, and nothing larger than Slack accepts."""
    wrong = []
    for where, body in heard:
        for kind, text in texts(body):
            wrong += [f"{where}: {what}: {text[:300]!r}" for what in wrong_in(text, kind, office)]
        if isinstance(body, dict) and "blocks" in body:
            total = sum(len(text) for _, text in texts(body["blocks"]))
            wrong += [f"{where}: {total} characters in all"] if total > TOTAL else []
    assert wrong == []
    assert office.violations() == []


# Drives everything


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    office = Office(tmp_path, "http", delays=Delays(typing=0), rate_limits=False)
    async with office.opened("ana", "chris"):
        yield office


QUOTED = (
    *('/issue new x project:"{e}"', '/issue new {e} project:#1 tracker:"{e}" priority:"{e}" to:"{e}"'),
    *('/issues "{e}" project:#1', '/issues project:any author:"{e}"', '/issues query:"{e}"'),
    *('/issues nosuch:"{e}"', "/timelog {e}", '/digest add "{e}" daily 9', '/digest add #1 "{e}"'),
    *('/digest add #1 daily 9 tz:"{e}"', "/tracker projects {e}", '/tracker project "{e}"'),
    *("/tracker project new {e}", '/tracker user "{e}"', "/tracker {e}"),
    *("/tracker user {u}", "/tracker user 1", "/tracker user 2"),
)
"""Commands whose answers quote what was typed, and some about users."""
WORD = "&gt; *fett* _kursiv_ ~durch~ `kode` <!here|x>"
UNFIT = {"project candidate", "choose template"}
"""Scenarios in which a whole name is typed, which nothing has here."""
LISTING = (
    *("issue show", "submit issue", "issues", "submit time", "digest add", "digest list", "digest now"),
    *("projects", "project", "open home", "open details", "find related issues", "templates"),
)
"""Scenarios that show lists, where many texts appear together."""
EVILS = {"short": f"{UNSEEN} {MARKUP}", "long": LONG}


class Typing(Scene):
    """Every user types hostile text in each scenario."""

    def filled(self, text: str) -> str:
        return super().filled(text).replace(self.word, f"{self.word} {WORD}")

    def issue(self) -> Issue:
        issue = super().issue()
        issue.subject += f" {WORD}"
        return issue


@pytest.mark.parametrize("what", EVILS)
async def test_hostile_names_never_change_what_the_bot_says(office: Office, heard: Heard, what: str) -> None:
    evil, scene = EVILS[what], Typing(office)
    poison(office.tracker.data, evil)
    for user in office.workspace.state.users.values():
        user.real_name += f" {evil[:200]}"
    stranger = str(max(office.tracker.data.users))
    typed = " ".join(evil.split()).replace('"', "'")[:400]

    fit = [name for name in SCENARIOS if name not in UNFIT]
    with capture_logs() as logged:
        for name in fit if what == "short" else LISTING:
            await scene.reset()
            async for _ in SCENARIOS[name].steps(scene):
                await scene.settled()
            await scene.settled()
        for command in QUOTED:
            await scene.chris.command(command.replace("{e}", typed).replace("{u}", stranger))
            await scene.settled()
        await scene.ana.command("/digest add #1")
        form = await scene.form("New digest")
        for block in form["blocks"]:
            if "external" in block.get("element", {}).get("type", ""):
                await scene.ana._suggest(form, block, "")

    check(heard, office)
    assert [entry for entry in logged if entry["log_level"] == "error"] == []
    places = {where for where, _ in heard}
    assert {"views.open", "views.update", "views.publish", "chat.unfurl", "response_url"} <= places


TYPED = ("*a* _b_ ~c~ `d` <b>&amp; {service} :e: <!channel> \"q\" 'r'", "  \u05d0\u202e x \U0001f600", "=1+1")


async def test_form_input_reads_in_the_service_as_typed(office: Office) -> None:
    ana = Person(office, IDS["ana"])
    for typed in TYPED:
        await ana.command("/issue new project:webshop")
        announced = ana.submit(await ana.form("New issue"), {"Subject": typed, "Description": typed})
        await ana.after(announced)
        await ana.command(f"/timelog {NUMBER}")
        await ana.after(ana.submit(await ana.form("Log time"), {"Hours": "1", "Comment": typed}))

    made = list(office.tracker.data.issues.values())[-len(TYPED) :]
    logged = list(office.tracker.data.time_entries.values())[-len(TYPED) :]
    assert [issue.subject for issue in made] == [typed.strip() for typed in TYPED]
    rendered = [MarkdownIt("commonmark").render(issue.description or "") for issue in made]
    assert rendered == [f"<p>{escapeHtml(typed.strip())}</p>\n" for typed in TYPED]
    assert [entry.comments for entry in logged] == [*TYPED]
