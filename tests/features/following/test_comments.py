"""The thread of a followed post quotes new public comments, if they are included."""

import asyncio
from collections.abc import Callable

import pytest

from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import Issue
from tests.features.following.test_direct import follow_directly
from tests.features.following.threads import (
    change,
    create_from_message,
    hide_project,
    in_thread,
    make_private,
    read_followed,
)
from tests.support.office import Office
from tests.support.person import DM, Person
from tests.support.reading import JSON, text_of, until_so

ABOUT = "#"
"""In the line of each post."""


async def include(office: Office, ana: Person, post: JSON, expected: str = "Include comments") -> JSON:
    """Returns the answer."""
    answer = await ana.after(
        ana.choose_from_menu(post, ABOUT, expected), DM if post["channel"][0] == "D" else None
    )
    await office.idle()
    return answer


async def quotes(office: Office, ana: Person, post: JSON) -> list[str]:
    """Reads the issues, and returns what stands below the post."""
    await read_followed(office)
    return [m["text"] for m in (await in_thread(ana, post))[1:]]


async def test_new_comments_are_quoted_once_while_they_are_included(office: Office, ana: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    issue = office.newest_issue()
    change(issue, comment_by=2, comment="Before it was turned on")
    assert await quotes(office, ana, post) == []
    (post,) = await in_thread(ana, post)
    await include(office, ana, post)
    assert await quotes(office, ana, post) == []

    nobody = office.tracker.data.users[3]
    nobody.firstname = nobody.lastname = ""
    change(issue, comment_by=2, comment="x" * 400)
    change(issue, comment_by=3, comment="Second", status_id=defaults.CLOSED)
    for _ in range(2):
        first, second, closed = await quotes(office, ana, post)
    assert first == f"Ben Okafor commented on <{office.link_to(issue)}|#{issue.id}>:\n> {'x' * 299}…"
    assert second.startswith("Someone commented")
    assert ":white_check_mark: Closed" in closed

    (post, *_) = await in_thread(ana, post)
    await include(office, ana, post, "Leave out comments")
    change(issue, comment_by=2, comment="After it was turned off")
    assert len(await quotes(office, ana, post)) == 3
    (post, *_) = await in_thread(ana, post)
    await include(office, ana, post)
    assert len(await quotes(office, ana, post)) == 3


@pytest.mark.parametrize(("chosen", "below"), [("Include comments", 2), ("Stop following", 0)])
async def test_the_menu_works_before_the_answer(office: Office, ana: Person, chosen: str, below: int) -> None:
    asked = await ana.say("Please fix: Cart loses items")
    await ana.shortcut("issue_from_message", asked)
    form = await ana.form("New issue")
    office.faulty_slack.faults = [("chat.postMessage", "late answer:0.5")]
    submitted = asyncio.create_task(ana.submit(form, {"Project": "Web Shop"}))
    post = await ana.sees(lambda m: "Ana Ruiz created" in text_of(m) and not m["ephemeral"])

    await ana.choose_from_menu(post, ABOUT, chosen)
    await submitted
    await office.idle()

    change(office.newest_issue(), comment_by=2, status_id=defaults.CLOSED)
    assert len(await quotes(office, ana, post)) == below


async def test_a_quote_mentions_and_links_nothing(office: Office, ana: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    await include(office, ana, post)
    words = "<!channel> <@U0BEN0001> [here](https://evil.example) *Approved*\n\n> :tada: https://evil.example"
    change(office.newest_issue(), comment_by=2, comment=words)

    (message,) = await quotes(office, ana, post)

    _, quoted = message.split("\n", 1)
    assert all(line.startswith("> ") or line == ">" for line in quoted.split("\n"))
    for live in ("<", "*Approved*", ":tada:"):
        assert live not in quoted.replace("> ", "")


@pytest.mark.parametrize("note", ["private", "made private"])
async def test_a_private_note_is_never_quoted(office: Office, ana: Person, note: str) -> None:
    issue = office.public_issue()
    direct = await follow_directly(office, ana, issue.id)
    await include(office, ana, direct)
    change(issue, comment_by=2, comment="Secret", private=note == "private")
    issue.notes[-1].is_private = True
    change(issue, comment_by=2, comment="Public")

    await read_followed(office)

    (message,) = [m for m in await ana.messages(DM) if m["thread_ts"] == direct["ts"]]
    assert "Public" in message["text"]


@pytest.mark.parametrize(
    "fault", ["lose the answer", "lose the request", "refuse:ratelimited", "500 after it"]
)
async def test_a_comment_is_quoted_once_on_any_answer(office: Office, ana: Person, fault: str) -> None:
    post = await create_from_message(ana, "Cart loses items")
    await include(office, ana, post)
    wire = office.faulty_slack
    for comment in ("First", "Second"):
        change(office.newest_issue(), comment_by=2, comment=comment)
        wire.faults = [("chat.postMessage", fault), ("chat.update", fault)]
        for _ in range(4):
            quotes_posted = await quotes(office, ana, post)
        assert wire.faults == []

    assert [text.split("> ")[-1] for text in quotes_posted] == ["First", "Second"]


def hide_comment(_: Office, issue: Issue) -> None:
    issue.notes[-1].is_private = True


async def quote_waiting(office: Office, ana: Person, fault: str = "429:2") -> tuple[JSON, asyncio.Task[None]]:
    """A post, and the turn in which a comment on its issue is to be quoted, while Slack delays that."""
    post = await create_from_message(ana, "Cart loses items")
    await include(office, ana, post)
    wire = office.faulty_slack
    wire.faults, wire.calls = [("chat.postMessage", fault)], []
    change(office.newest_issue(), comment_by=2, comment="Secret")
    reading = asyncio.create_task(read_followed(office))
    await until_so(lambda: wire.called("chat.postMessage"))
    return post, reading


@pytest.mark.parametrize("happens", [make_private, hide_project, hide_comment])
async def test_a_comment_hidden_while_it_waits_is_not_quoted(
    office: Office, ana: Person, happens: Callable[[Office, Issue], None]
) -> None:
    post, reading = await quote_waiting(office, ana)
    happens(office, office.newest_issue())
    await reading

    assert await quotes(office, ana, post) == []


@pytest.mark.parametrize(("fault", "arrived"), [("429:2", False), ("slow:30", True)])
async def test_leaving_out_comments_stops_one(
    office: Office, ana: Person, fault: str, *, arrived: bool
) -> None:
    post, reading = await quote_waiting(office, ana, fault)
    (post, *_) = await in_thread(ana, post)
    await include(office, ana, post, "Leave out comments")
    office.faulty_slack.released.set()
    await reading
    change(office.newest_issue(), comment_by=2, comment="After it was turned off")

    assert ["Secret" in text for text in await quotes(office, ana, post)] == [True] * arrived


async def test_followers_decide_for_private_issues(office: Office, ana: Person, linked_ben: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    stopped = await ana.after(ana.choose_from_menu(post, ABOUT, "Stop following"))
    issue = office.newest_issue()
    hide_project(office, issue)
    asked = await ana.after(ana.choose_from_menu(stopped, ABOUT, "Follow in this thread"))
    followed = await ana.after(ana.press(asked, "Follow in this thread"))
    linked_ben.channel = "webshop"

    refused = await include(office, linked_ben, followed)
    assert "Only the person who follows the issue here can include its comments." in text_of(refused)
    await include(office, ana, followed)
    change(issue, comment_by=2, comment="Agreed")

    assert any("Agreed" in text for text in await quotes(office, ana, followed))
