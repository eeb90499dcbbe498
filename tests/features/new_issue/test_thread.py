"""A thread that becomes an issue: its messages in order, its files, and what can't be included."""

import re
from dataclasses import replace

import pytest

from bot.sandbox.people import ANA, BEN
from bot.sandbox.workspace.model import File, Message
from bot.service.conventions import DESCRIPTION_BYTES
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, labels_of, text_of, values_of

MARKED = re.compile(r"message (\d+)\b")


@pytest.fixture(autouse=True)
async def _webshop(ana: Person) -> None:
    ana.channel = "webshop"
    await ana.ask("/tracker default webshop")


def included(description: str) -> list[int]:
    """The numbers of the messages that are included."""
    return [int(n) for n in MARKED.findall(description.partition("Thread in Slack")[2])]


def thread_of(office: Office, many: int, filler: str = "") -> Message:
    """Posts a thread of numbered messages; the first ten have a file."""
    parent = reply_to(office, None, "message 0 of many", "0.log")
    for n in range(1, many):
        reply_to(office, parent.ts, f"message {n} of many {filler}", *([f"{n}.log"] if n < 10 else ()))
    return parent


def reply_to(office: Office, parent: str | None, text: str, *files: str, user: str = BEN.slack_id) -> Message:
    """Posts a message, below `parent` if given, with files of these names."""
    state = office.workspace.state
    ids = [state.new_id("F") for _ in files]
    for file_id, name in zip(ids, files, strict=True):
        path = state.folder / file_id
        path.write_bytes(name.encode())
        created = int(state.clock.now())
        state.files[file_id] = File(file_id, name, "text/plain", path, len(name), user, created=created)
    channel = office.channel_id("webshop")
    return state.post(Message(state.new_ts(), channel, user, text, thread_ts=parent, files=ids))


async def form_on(ana: Person, message: Message) -> JSON:
    """Opens the form for a message."""
    await ana.shortcut("issue_from_message", {"channel": message.channel, "ts": message.ts})
    return await ana.form("New issue")


async def created(ana: Person, form: JSON, **values: object) -> tuple[str, str]:
    """Submits the form; returns the issue's description and the private answer."""
    await ana.submit(form, {"Thread": True, "Subject": "From a thread", **values})
    await ana.office.idle()
    answer = next(m for m in reversed(await ana.messages()) if m["ephemeral"] and "Created" in text_of(m))
    assert ana.office.newest_issue().subject == "From a thread"
    return ana.office.newest_issue().description or "", text_of(answer)


async def test_includes_the_thread_as_it_is_now(office: Office, ana: Person) -> None:
    parent = reply_to(office, None, "It *fails* again\n&gt; Error 500", "shop.log")
    reply = {"channel": parent.channel, "ts": parent.ts}
    edited = await ana.say("Frist try", reply)
    deleted = await ana.say("Never mind", reply)
    last = reply_to(office, parent.ts, "Same here", "shot.png", user=ANA.slack_id)
    state = office.workspace.state
    own = Message(state.new_ts(), parent.channel, state.app.bot_user_id, "Own", thread_ts=parent.ts)
    state.post(replace(own, by_app=True))
    form = await form_on(ana, last)
    await ana._post("edit", channel=parent.channel, ts=edited["ts"], text="First try")
    await ana._post("delete", channel=parent.channel, ts=deleted["ts"])

    description, answer = await created(ana, form)

    text = re.sub(r"\w{3} \d+, \d{4}, \d+:\d\d [AP]M", "TIME", description.replace("\r", ""))
    assert text.partition("(times are in Europe/Madrid):\n\n")[2].split("\n\n") == [
        "**Ben Okafor** · TIME",
        "It **fails** again",
        "> Error 500",
        "Files: shop.log",
        "**Ana Ruiz** · TIME",
        "First try",
        "**Ana Ruiz** · TIME",
        "Same here",
        "Files: shot.png",
    ]
    assert f"[Thread in Slack]({state.base_url}archives/" in text
    assert "a link to the rest" not in answer
    files = office.tracker.data.attachments.values()
    assert [f.filename for f in files if f.issue_id == office.newest_issue().id] == ["shop.log", "shot.png"]


@pytest.mark.usefixtures("impatient")
async def test_a_slow_slack_is_waited_for_with_progress(office: Office, ana: Person) -> None:
    office.workspace.state.history_page, office.workspace.state.history_seconds = 15, 1
    form = await form_on(ana, thread_of(office, 40))
    await ana.submit(form, {"Thread": True})
    await ana.view(lambda view: "Reading the thread… You can close this form." in text_of(view))
    await office.idle()
    made = office.newest_issue()
    assert included(made.description or "") == list(range(40))
    files = office.tracker.data.attachments.values()
    assert [f.filename for f in files if f.issue_id == made.id] == [f"{n}.log" for n in range(10)]


@pytest.mark.parametrize("cause", ["length", "time"])
async def test_says_where_the_thread_is_cut(office: Office, ana: Person, cause: str) -> None:
    filler = "é" * 400 if cause == "length" else ""
    form = await form_on(ana, thread_of(office, 100, filler))
    if cause == "time":
        office.workspace.state.history_page, office.workspace.state.history_seconds = 15, 3600

    description, answer = await created(ana, form)

    assert len(description.encode()) <= DESCRIPTION_BYTES
    count = len(included(description))
    assert count == 15 if cause == "time" else 50 < count < 100
    assert "The thread continues in Slack: <http" in description
    assert f"The issue has the first {count} of the thread's 100 messages and a link to the rest." in answer


async def test_says_how_to_include_a_thread_without_the_scope(office: Office, ana: Person) -> None:
    state = office.workspace.state
    parent = reply_to(office, None, "It fails")
    reply_to(office, parent.ts, "Again")
    state.app = replace(state.app, scopes=tuple(s for s in state.app.scopes if "history" not in s))
    form = await form_on(ana, parent)

    await ana.submit(form, {"Thread": True})

    sentence = "I can't read the thread. Ask a workspace admin to grant me the channels:history scope."
    assert (await ana.errors())["thread"].startswith(sentence)
    await ana.submit(form, {"Thread": False})
    await office.idle()
    assert "Thread in Slack" not in (office.newest_issue().description or "")
    state.violations.clear()  # a missing scope counts as one


@pytest.mark.parametrize(
    ("gone", "expected"),
    [("bot", "I can't read the thread. Invite me with"), ("user", "You're no longer in")],
)
async def test_an_unreadable_thread_keeps_the_form(
    office: Office, ana: Person, gone: str, expected: str
) -> None:
    state, channel = office.workspace.state, office.channel_id("leadership")
    state.invite(channel, state.app.bot_user_id)
    parent = state.post(Message(state.new_ts(), channel, BEN.slack_id, "The numbers"))
    state.post(Message(state.new_ts(), channel, BEN.slack_id, "Not yet", thread_ts=parent.ts))
    form = await form_on(ana, parent)
    form = await ana.form_after(ana.choose(form, "Project", "Web Shop"), "New issue", "Issue type")
    count = len(office.tracker.data.issues)
    state.kick(channel, ana.user_id if gone == "user" else state.app.bot_user_id)

    await ana.submit(form, {"Thread": True})

    assert (await ana.errors())["thread"].startswith(expected)
    assert len(office.tracker.data.issues) == count
    await ana.submit(form, {"Thread": False})
    await office.idle()
    assert len(office.tracker.data.issues) == count + 1


async def test_does_not_repeat_the_first_message(office: Office, ana: Person) -> None:
    parent = reply_to(office, None, "It fails\n• *here*\n&gt; and there", user=ANA.slack_id)
    form = await form_on(ana, parent)
    assert "Thread" not in labels_of(form)
    assert "It fails" in values_of(form)["Description"]
    await ana.close(form)
    reply = reply_to(office, parent.ts, "Again")

    for typed, count in ({}, 1), ({"Description": "It fails, and I know why"}, 2):
        description, _ = await created(ana, await form_on(ana, parent), **typed)
        assert description.count("It fails") == count
        assert "and there" in description

    await ana._post("delete", channel=parent.channel, ts=parent.ts)
    description, _ = await created(ana, await form_on(ana, reply))
    assert "It fails" not in description
    assert "deleted" not in description
    assert description.count("Again") == 2  # a reply also starts the description
