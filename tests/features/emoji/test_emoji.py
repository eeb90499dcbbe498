"""Issues created by reacting to a message with the channel's emoji."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from bot.store.owner import Owner
from bot.timings import Delays
from tests.support.office import TEAM, Office
from tests.support.people import KEYS
from tests.support.person import DM, Person
from tests.support.reading import JSON, text_of
from tests.support.slackwire import SlackWire
from tests.support.wire import Wire

SAID = "Checkout is blank\nIn every browser"


async def turned_on(ana: Person, project: str = "webshop") -> JSON:
    """Turns the emoji on in the channel and returns a message there."""
    await ana.ask(f"/tracker default {project}")
    answer = await ana.ask("/tracker emoji :ticket:")
    assert ":ticket:" in text_of(answer)
    return await ana.say(SAID)


async def reacted(person: Person, message: JSON, emoji: str = "ticket") -> None:
    await person.react(message, emoji)
    await person.office.idle()


def made(office: Office) -> list[str]:
    """Who created the issue from the message, each time it was created."""
    data = office.tracker.data
    return [data.users[i.author_id].login for i in data.issues.values() if i.subject == "Checkout is blank"]


async def about(person: Person, *texts: str) -> list[JSON]:
    return [m for m in await person.messages() if m["is_bot"] and any(text in text_of(m) for text in texts)]


async def test_the_first_reaction_creates_an_issue(office: Office, ana: Person, linked_ben: Person) -> None:
    message = await turned_on(ana)

    await reacted(linked_ben, message)
    await reacted(ana, message)
    await reacted(linked_ben, message)

    assert made(office) == ["ben"]
    [post] = [m for m in await about(ana, "Ben Okafor created") if not m["ephemeral"]]
    assert post["thread_ts"] == message["ts"]
    issue = office.newest_issue()
    assert "In every browser" in str(issue.description)
    assert "Ana Ruiz in Slack" in str(issue.description)
    await reacted(ana, post)  # the bot's own
    assert office.newest_issue() is issue


async def test_an_emoji_is_off_before_and_after_it_is_on(office: Office, ana: Person) -> None:
    assert "don't create issues" in text_of(await ana.ask("/tracker emoji"))
    early = await ana.say(SAID)
    await reacted(ana, early)
    message = await turned_on(ana)
    assert ":ticket:" in text_of(await ana.ask("/tracker emoji"))

    await reacted(ana, message, "eyes")
    await ana.ask("/tracker emoji off")
    await reacted(ana, message)
    assert made(office) == []

    assert "by its name" in text_of(await ana.ask("/tracker emoji a b"))
    await ana.ask("/tracker emoji :thumbsup:")
    await reacted(ana, message, "+1::skin-tone-3")
    assert made(office) == ["ana"]


async def test_someone_who_is_not_linked_cannot_turn_it_off(office: Office, ana: Person, ben: Person) -> None:
    message = await turned_on(ana)

    await ben.command("/tracker emoji off")
    await office.idle()

    await reacted(ana, message)
    assert made(office) == ["ana"]
    await ben.form("Link account")


async def test_a_file_in_a_reply_is_attached(office: Office, ana: Person) -> None:
    thread = await turned_on(ana)
    file = await ana.upload("screen.log", b"blank")
    sent = await ana._post(
        "message", channel=thread["channel"], text="Log of it", thread_ts=thread["ts"], file_ids=[file["id"]]
    )

    await reacted(ana, thread | {"ts": sent["ts"]})

    issue = office.newest_issue()
    assert issue.subject == "Log of it"
    attached = office.tracker.data.attachments.values()
    assert [one.filename for one in attached if one.issue_id == issue.id] == ["screen.log"]
    [post] = [m for m in await about(ana, "Ana Ruiz created") if not m["ephemeral"]]
    assert post["thread_ts"] == thread["ts"]


async def test_an_issue_that_some_cannot_see_is_not_announced(
    office: Office, ana: Person, ben: Person
) -> None:
    message = await turned_on(ana, "security")

    await reacted(ana, message)

    assert made(office) == ["ana"]
    assert await about(ben, "Checkout is blank") == []
    assert await about(ana, "Checkout is blank")


async def test_without_a_project_the_person_gets_the_form(office: Office, ana: Person) -> None:
    answer = await ana.ask("/tracker emoji :ticket:")
    assert "Set the project first" in text_of(answer)
    message = await ana.say(SAID)

    await reacted(ana, message)

    [post] = await about(ana, "has no project")
    assert post["ephemeral"]
    form = await ana.form_after(ana.press(post, "Create an issue"), "New issue")
    await ana.choose(form, "Project", "Web Shop")
    await ana.submit(await ana.form_saying("New issue", "Assignee"), {})
    await ana.no_form()
    await office.idle()
    await reacted(ana, message)
    assert made(office) == ["ana"]


async def test_each_unlinked_user_is_asked_once_to_link(
    office: Office, ana: Person, ben: Person, gwen: Person
) -> None:
    message = await turned_on(ana)

    for person in (gwen, ben, ben):
        await reacted(person, message)

    assert len(await about(gwen, "link your account")) == 1
    [post] = await about(ben, "link your account")
    assert post["ephemeral"]
    form = await ben.form_after(ben.press(post, "Link account"), "Link account")
    await ben.submit(form, {"API key": KEYS["ben"]})
    await office.idle()
    assert made(office) == ["ben"]


@pytest.mark.parametrize("who", ["bot", "outsider"])
async def test_bots_and_outsiders_do_nothing(office: Office, ana: Person, who: str) -> None:
    message = await turned_on(ana)
    stranger = office.workspace.state.users["U0GWEN001"]
    if who == "bot":
        stranger.is_bot = True
    else:
        office.workspace.state.users[stranger.id] = replace(stranger, team_id="T0OTHER")
    before = len(await about(Person(office, stranger.id), ""))

    await reacted(Person(office, stranger.id), message)

    assert made(office) == []
    assert len(await about(Person(office, stranger.id), "")) == before


async def test_turning_it_on_says_which_scope_is_missing(office: Office, ana: Person) -> None:
    app = office.workspace.state.app
    granted = tuple(scope for scope in app.scopes if scope != "reactions:read")
    office.workspace.state.app = replace(app, scopes=granted)

    assert "`reactions:read`" in text_of(await ana.ask("/tracker emoji :ticket:"))

    assert "don't create issues" in text_of(await ana.ask("/tracker emoji"))


async def test_turning_it_on_elsewhere_asks_for_an_invitation(office: Office, ana: Person) -> None:
    office.workspace.state.kick(office.channel_id("general"), "U0ISSUEBOT")

    assert "/invite" in text_of(await ana.ask("/tracker emoji :ticket:"))


async def test_two_reactions_at_once_make_one_issue(office: Office, ana: Person, linked_ben: Person) -> None:
    message = await turned_on(ana)

    await asyncio.gather(ana.react(message), linked_ben.react(message))
    await office.idle()

    assert len(made(office)) == 1


async def test_an_issue_that_may_exist_is_looked_for_at_the_next_reaction(wired: Person, wire: Wire) -> None:
    message = await turned_on(wired)
    wire.fail("lose the answer", "POST /issues", lasting=True)
    await reacted(wired, message)
    [post] = await about(wired, "may not have been saved")
    assert "I didn't create an issue" not in text_of(post)

    wire.heal()
    await reacted(wired, message)

    assert made(wired.office) == ["ana"]


@pytest.mark.parametrize("readable", [True, False])
async def test_anothers_issue_is_found_with_their_key(wired: Person, wire: Wire, *, readable: bool) -> None:
    office = wired.office
    message, ben = await turned_on(wired), Person(office, "U0BEN0001")
    await office.link(ben.user_id, KEYS["ben"])
    wire.fail("lose the answer", "POST /issues", lasting=True)
    await reacted(wired, message)
    wire.heal()
    if not readable:
        await office.bot.store.links.delete(Owner(None, TEAM, wired.user_id))

    await reacted(ben, message)

    assert made(office) == ["ana"]
    posts = await about(ben, "Ana Ruiz created")
    assert len(posts) == readable
    questions = await about(ben, "may have created an issue from this message")
    assert len(questions) == (not readable)


async def test_the_latest_uncertain_attempt_is_looked_up(wired: Person, wire: Wire) -> None:
    office = wired.office
    message, ben = await turned_on(wired), Person(office, "U0BEN0001")
    await office.link(ben.user_id, KEYS["ben"])
    for person, fault in ((wired, "lose the request"), (ben, "lose the answer")):
        wire.fail(fault, "POST /issues", lasting=True)
        await reacted(person, message)
        wire.heal()
    await reacted(wired, message)

    assert made(office) == ["ben"]


@pytest.mark.parametrize(
    ("project", "expected"),
    [("webshop", "Created"), ("security", "Created"), ("none", "I didn't create an issue")],
)
async def test_the_person_is_notified_once_slack_works_again(
    tmp_path: Path, project: str, expected: str
) -> None:
    """Slack limits the announcement and every private answer."""
    wire, delays = SlackWire(), Delays(background_retry=0.1, channel_pace=0, workspace_pace=0)
    office = Office(tmp_path, slack_wire=wire, delays=delays)
    async with office.opened("ana"):
        ana = Person(office, "U0ANA0001")
        message = await turned_on(ana, project)
        wire.lasting = dict.fromkeys(("chat.postMessage", "chat.postEphemeral", "response_url"), "429:0")
        await reacted(ana, message)
        assert await ana.messages(DM) == []

        wire.lasting = {}
        await ana.sees(lambda message: expected in text_of(message), DM)
