"""What is posted: only what everyone can see at that moment, or what a user agreed to show."""

import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import product
from pathlib import Path

import pytest
from aiohttp import web
from pydantic import SecretStr

from bot.sandbox.tracker.data import Issue
from bot.sandbox.tracker.server import Tracker
from bot.store.owner import Owner
from bot.timings import Delays, Timings
from tests.features.timelog.answers import logged
from tests.support.office import TEAM, Office
from tests.support.people import IDS, KEYS
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import text_of, until_so
from tests.support.slackwire import SlackWire
from tests.support.wire import Fault, Silent, Wire

WEBSHOP, MOBILE, SECURITY, NUMBER = 1, 2, 4, 12
ANA, BEN = 1, 2


async def posts_of(person: Person) -> list[str]:
    """What the bot shows to everyone in the channel: its posts and its link previews."""
    messages = [m for m in await person.messages() if not m["ephemeral"]]
    return [text_of(m) for m in messages if m["text"].startswith("Ana Ruiz ")] + [
        text_of(preview) for m in messages for preview in m["unfurls"]
    ]


async def test_nothing_of_a_hidden_project_is_posted(office: Office, ana: Person, ben: Person) -> None:
    await ana.ask("/issue new Seen project:webshop")
    await office.idle()
    card, listed = await ana.ask(f"/issue {NUMBER}"), await ana.ask(f"/issues id:{NUMBER}")
    time = await ana.ask(f"/timelog {NUMBER} 1h activity:design")
    message = await ana.say(f"About #{NUMBER}")
    before = await posts_of(ben)
    office.tracker.data.projects[WEBSHOP].is_public = False

    made = await ana.ask("/issue new Hidden project:webshop")
    await ana.say(office.link_to(NUMBER))
    asked = [await ana.after(ana.press(card, "Share here"))]
    asked.append(await ana.after(ana.choose_from_menu(listed, f"#{NUMBER}", "Share here")))
    asked.append(await ana.after(ana.press(time, "Share here")))
    await ana.shortcut("time_from_message", message)
    await ana.submit(await ana.form("Log time"), {"Hours": "2"})
    spent = await logged(ana, "Logged 2h")
    await office.idle()

    assert [text for text in await posts_of(ben) if text not in before] == []
    assert "I didn't post this because the project isn't public" in text_of(made)
    assert ["isn't public" in text_of(each) for each in asked] == [True] * 3
    assert "I didn't post this" in text_of(spent)
    await ana.press(asked[0], "Share here")
    await ben.sees(lambda m: "Ana Ruiz shared" in text_of(m) and not m["ephemeral"])


def hide_project(office: Office, _: Issue) -> None:
    office.tracker.data.projects[WEBSHOP].is_public = False


def hide_issue(_: Office, issue: Issue) -> None:
    issue.is_private, issue.author_id = True, 1


def move_issue(_: Office, issue: Issue) -> None:
    issue.project_id = SECURITY


@pytest.mark.parametrize(
    ("hide", "expected"),
    [(hide_issue, "is private, so it can't be shared"), (move_issue, "*Share here* asks first")],
)
async def test_an_issue_hidden_since_its_card_was_shown_is_not_shared(
    office: Office, ana: Person, hide: Callable[[Office, Issue], None], expected: str
) -> None:
    card = await ana.ask(f"/issue {NUMBER}")
    hide(office, office.tracker.data.issues[NUMBER])

    answer = await ana.after(ana.press(card, "Share here"))

    assert answer["ephemeral"]
    assert expected in text_of(answer)
    assert await posts_of(ana) == []
    again = text_of(await ana.ask(f"/issue {NUMBER}"))
    assert ("Share here" in again) is (hide is move_issue)


def people(office: Office) -> tuple[Person, SlackWire]:
    return Person(office, "U0ANA0001"), office.faulty_slack


@pytest.fixture
async def waiting(tmp_path: Path) -> AsyncIterator[Office]:
    """An office behind a slow Slack, where what decides about a post may be a fifth of a second old."""
    delays = Delays(channels=0.2)
    office = Office(tmp_path, slack_wire=SlackWire(), timings=Timings(fresh=0.2), delays=delays)
    async with office.opened("ana"):
        yield office


AGREED = [(False, hide_project), *product((False, True), (hide_issue, move_issue))]


@pytest.mark.parametrize(("agreed", "hide"), AGREED)
async def test_an_issue_hidden_while_its_post_waits_is_not_posted(
    waiting: Office, hide: Callable[[Office, Issue], None], *, agreed: bool
) -> None:
    ana, wire = people(waiting)
    card = await ana.ask(f"/issue {NUMBER}")
    if agreed:
        hide_project(waiting, waiting.tracker.data.issues[NUMBER])
        card = await ana.after(ana.press(card, "Share here"))
    wire.faults = [("conversations.info", "slow:1")]

    share = asyncio.create_task(ana.after(ana.press(card, "Share here")))
    await until_so(lambda: wire.called("conversations.info"))
    hide(waiting, waiting.tracker.data.issues[NUMBER])
    assert f"#{NUMBER} wasn't shared" in text_of(await share)
    assert await posts_of(ana) == []


async def test_issue_and_project_are_read_at_once_right_before_a_post(tmp_path: Path) -> None:
    slow, delays = Wire(), Delays(channels=0.2)
    tracker, timings = demo_tracker(issue_reads=True), Timings(fresh=0.2)
    office = Office(
        tmp_path, tracker=tracker, wire=slow, slack_wire=SlackWire(), timings=timings, delays=delays
    )
    async with office.opened("ana"):
        ana, wire = people(office)
        card = await ana.ask(f"/issue {NUMBER}")
        wire.faults = [("conversations.info", "slow:1")]
        share = asyncio.create_task(ana.after(ana.press(card, "Share here")))
        await until_so(lambda: wire.called("conversations.info"))
        slow.heal()
        slow.seconds = 60
        slow.fail("slow", lasting=True)
        await until_so(lambda: slow.slowed == 2)
        slow.heal()
        slow.released.set()
        assert f"#{NUMBER}" in text_of(await share)


@pytest.mark.parametrize("hide", [hide_issue, move_issue])
async def test_an_issue_hidden_before_its_project_is_read_is_not_posted(
    tmp_path: Path, hide: Callable[[Office, Issue], None]
) -> None:
    slow, timings = Wire(), Timings(fresh=0.2)
    async with Office(tmp_path, wire=slow, timings=timings).opened("ana") as office:
        ana = Person(office, IDS["ana"])
        time = await ana.ask(f"/timelog {NUMBER} 1h activity:design")
        slow.seconds = 60
        slow.fail("slow", "GET /users/current")

        share = asyncio.create_task(ana.after(ana.press(time, "Share here")))
        await until_so(lambda: slow.slowed and "GET /issues.json" in slow.asked)
        await asyncio.sleep(0.3)  # the issue is read, and its project waits for the key's check
        hide(office, office.tracker.data.issues[NUMBER])
        slow.released.set()

        assert "project isn't public" in text_of(await share)
        assert await posts_of(ana) == []


async def test_an_unreadable_issue_is_not_posted(tmp_path: Path) -> None:
    faulty, delays, timings = Wire(), Delays(channels=0.2), Timings(fresh=0.2)
    office = Office(tmp_path, wire=faulty, slack_wire=SlackWire(), timings=timings, delays=delays)
    async with office.opened("ana"):
        ana, wire = people(office)
        card = await ana.ask(f"/issue {NUMBER}")
        wire.faults = [("conversations.info", "slow:1")]
        share = asyncio.create_task(ana.after(ana.press(card, "Share here")))
        await until_so(lambda: wire.called("conversations.info"))
        faulty.fail("502 before it", lasting=True)

        why = "I couldn't check whether the project is public"
        assert f"#{NUMBER} wasn't shared: {why}" in text_of(await share)
        assert await posts_of(ana) == []


class ProjectsUnread(Wire):
    """No single project can be read."""

    def _fault(self, request: web.Request) -> Fault | None:
        return "502 before it" if request.path.startswith("/projects/") else super()._fault(request)


async def test_what_is_done_says_that_its_project_could_not_be_read(tmp_path: Path) -> None:
    async with Office(tmp_path, wire=ProjectsUnread()).opened("ana") as office:
        ana = Person(office, IDS["ana"])
        message = await ana.say(f"About #{NUMBER}")
        form = await ana.form_after(ana.shortcut("comment_from_message", message), "Comment")

        made = await ana.ask("/issue new Seen project:webshop")
        commented = await ana.after(ana.submit(form, {}))

        for answer in (made, commented):
            assert "I couldn't check whether the project is public, so I didn't post this." in text_of(answer)
            assert "isn't public" not in text_of(answer)
        assert "Share here" in text_of(commented)
        assert await posts_of(ana) == []


async def test_an_issue_whose_project_is_hidden_while_it_is_created_is_not_posted(tmp_path: Path) -> None:
    service, timings = Wire(), Timings(fresh=0.2)
    office = Office(tmp_path, tracker=demo_tracker(), wire=service, timings=timings)
    async with office.opened("ana"):
        ana, service.seconds = Person(office, "U0ANA0001"), 60
        await ana.ask(f"/issues project:webshop id:{NUMBER}")  # the projects are cached
        service.fail("slow", "POST /issues")
        await ana.command("/issue new Hidden meanwhile project:webshop")
        await until_so(lambda: service.slowed == 1 and "GET /projects/1.json" in service.asked)
        await asyncio.sleep(0.2)
        office.tracker.data.projects[WEBSHOP].is_public = False
        service.released.set()

        await ana.sees(lambda m: "Created " in m["text"])
        await office.idle()
        assert await posts_of(ana) == []


@pytest.mark.parametrize("hide", [hide_project, hide_issue])
async def test_a_hidden_issue_has_no_preview(waiting: Office, hide: Callable[[Office, Issue], None]) -> None:
    ana, wire = people(waiting)
    waiting.workspace.state.work_objects = False  # the preview is sent again without them
    wire.faults = [("chat.unfurl", "slow:1")]

    await ana.say(waiting.link_to(NUMBER))
    await until_so(lambda: wire.called("chat.unfurl"))
    hide(waiting, waiting.tracker.data.issues[NUMBER])
    await waiting.idle()

    assert await posts_of(ana) == []


async def test_outsiders_who_have_just_joined_see_no_post(waiting: Office) -> None:
    ana = Person(waiting, "U0ANA0001")
    await ana.ask("/issue new For us project:webshop")
    before = await posts_of(ana)
    waiting.workspace.state.channels[waiting.channel_id(ana.channel)].is_ext_shared = True
    await asyncio.sleep(0.2)

    assert "people outside your company" in text_of(await ana.ask("/issue new Only for us project:webshop"))
    assert await posts_of(ana) == before


async def test_a_channel_whose_members_are_unknown_gets_no_post(waiting: Office) -> None:
    ana, wire = people(waiting)
    wire.lasting = {"conversations.members": "refuse:missing_scope"}
    form = await ana.form_after(ana.shortcut("issue_from_message", await ana.say("Please fix")), "New issue")
    answer = await ana.after(ana.submit(form, {"Subject": "Nobody knows", "Project": "Web Shop"}))

    assert "I can't see who's in this channel" in text_of(answer)
    assert await posts_of(ana) == []


class TestSilentService:
    @pytest.fixture
    def wire(self) -> Wire:
        return Silent("is_public")

    @pytest.fixture
    def service(self) -> Tracker:
        return demo_tracker(issue_reads=True)

    async def test_private_is_the_default_of_the_service(self, wired: Person) -> None:
        made = await wired.ask("/issue new Unknown project:webshop")
        asked = await wired.after(wired.press(made, "Show issue"))
        await wired.say(wired.office.link_to(NUMBER))
        await wired.office.idle()

        assert "I didn't post this because the project isn't public" in text_of(made)
        assert "Its project isn't public" in str(asked["blocks"])
        assert await posts_of(wired) == []


async def test_only_the_assignees_account_of_this_workspace_is_mentioned(
    office: Office, ana: Person, linked_ben: Person
) -> None:
    elsewhere = Owner(None, "T0ELSEWHERE", "U0STRANGER")
    await office.bot.store.links.put(elsewhere, SecretStr(KEYS["ben"]), BEN, "Ben Okafor")

    post = await ana.ask("/issue new For Ben project:webshop to:ben")

    assert f"<@{linked_ben.user_id}>" in post["text"]
    await office.bot.store.links.delete(Owner(None, TEAM, linked_ben.user_id))
    assert "<@" not in (await ana.ask("/issue new For Ben again project:webshop to:ben"))["text"]


async def test_a_guest_never_acts_as_a_member_with_the_same_id(office: Office, ana: Person) -> None:
    guest = next(u for u in office.workspace.state.users.values() if u.team_id not in ("", TEAM))
    await office.link(guest.id, KEYS["ana"])  # a member of the host's workspace
    guest.is_choice = True
    channel = office.workspace.state.channels[office.channel_id("partners")]
    ana.channel, channel.is_ext_shared = "partners", False
    post = await ana.ask("/issue new Unassigned project:webshop")
    channel.is_ext_shared = True
    visitor = Person(office, guest.id, "partners")

    await visitor.choose_from_menu(post, "Unassigned", "Assign to me")
    await office.idle()

    assert office.newest_issue().assigned_to_id is None


class TestAgreement:
    """Agreeing to show a project that isn't public agrees to no other one."""

    @pytest.fixture
    def hidden(self, office: Office) -> Issue:
        """An issue of a project that isn't public, in an office where another one isn't either."""
        for project in (WEBSHOP, MOBILE):
            office.tracker.data.projects[project].is_public = False
        return office.tracker.data.issues[NUMBER]

    async def test_covers_no_other_project(self, office: Office, ana: Person, hidden: Issue) -> None:
        thread = await ana.say(f"About #{NUMBER}")
        await ana.shortcut("time_from_message", thread)
        await ana.submit(await ana.form("Log time"), {"Hours": "2"})
        time = await ana.after(ana.press(await logged(ana, "Logged 2h"), "Share here"))
        card = await ana.ask(f"/issue {NUMBER}")
        form = await ana.form_after(ana.shortcut("find_from_message", thread), "Related issues")
        row = next(b for b in form["blocks"] if f"#{NUMBER}" in str(b.get("text")))
        await ana.choose_in_form(form, row, "Share in thread")
        related = await ana.form_saying("Share issue", "isn't public")
        hidden.project_id = MOBILE

        asked = [await ana.after(ana.press(message, "Share here")) for message in (card, time)]
        await ana.form_after(ana.press_in_form(related, "Share issue"), "Share issue", "isn't public")
        await office.idle()

        assert ["isn't public" in str(each["blocks"]) for each in asked] == [True] * 2
        assert await posts_of(ana) == []
        await ana.press(asked[0], "Share here")
        await ana.sees(lambda m: "Ana Ruiz shared" in text_of(m) and not m["ephemeral"])
