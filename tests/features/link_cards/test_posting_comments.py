"""Comments that people post in the details beside a link."""

from pathlib import Path

import pytest

from bot.sandbox.tracker.data import Issue
from bot.sandbox.tracker.server import Tracker
from tests.features.link_cards.panes import Pane, opened
from tests.support.deliveries import listening
from tests.support.office import Office
from tests.support.people import IDS, KEYS
from tests.support.person import DM, Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, rich_text, text_of, until_so
from tests.support.slackwire import SlackWire
from tests.support.wire import Wire

ANA = 1
TEXT = {"type": "text", "text": "Same here, since "}
BOLD = {"type": "text", "text": "Monday", "style": {"bold": True}}
PUT = "PUT /issues/"


@pytest.fixture
def tracker() -> Tracker:
    return demo_tracker(issue_reads=True, roles=True)


@pytest.fixture
def issue(office: Office) -> Issue:
    return office.public_issue()


def posted(issue: Issue) -> list[str]:
    return [note.text for note in issue.notes if "Same here" in note.text]


async def commenting(office: Office, person: Person, issue: Issue) -> Pane:
    pane = await opened(office, person, issue)
    assert (await pane.more_comments())["can_post"]
    return pane


async def test_a_comment_is_posted_once_in_its_authors_name(
    office: Office, ana: Person, issue: Issue
) -> None:
    pane = await commenting(office, ana, issue)

    answer = await pane.comment(TEXT, BOLD)

    assert posted(issue) == ["Same here, since **Monday**"]
    assert issue.notes[-1].user_id == ANA
    assert answer["comments"][0]["comment"]["value"] == "Same here, since Monday"
    assert answer["comments"][0]["sender"] == {"text": "Ana Ruiz"}
    assert answer["comment_error"] is None
    assert await ana.direct() == []


async def test_only_those_who_may_comment_are_offered_to(office: Office, ana: Person, issue: Issue) -> None:
    for role in office.tracker.data.roles.values():
        role.rights -= {"add_issue_notes"}

    assert not (await (await opened(office, ana, issue)).more_comments())["can_post"]


async def test_an_unposted_comment_is_given_back(office: Office, ana: Person, issue: Issue) -> None:
    pane = await commenting(office, ana, issue)
    for role in office.tracker.data.roles.values():
        role.rights -= {"add_issue_notes", "edit_issues", "edit_own_issues"}

    answer = await pane.comment(TEXT, BOLD)

    assert answer["comment_error"]
    assert posted(issue) == []
    message = await ana.sees(lambda m: "Open form" in text_of(m), DM)
    assert "Same here, since **Monday**" in text_of(message)
    await ana.press(message, "Open form")
    assert "Same here, since" in text_of(await ana.form("Comment"))


async def test_a_comment_that_is_empty_is_refused(office: Office, ana: Person, issue: Issue) -> None:
    state = await (await commenting(office, ana, issue)).comment({"type": "text", "text": " "})

    assert state["comment_error"] == "Write a comment."


async def test_a_comment_is_posted_after_linking_again(office: Office, ana: Person, issue: Issue) -> None:
    pane = await commenting(office, ana, issue)
    await ana.command("/tracker unlink")
    await office.idle()

    answer = await pane.comment(TEXT, BOLD)
    assert answer["comment_error"] == "Link your account first."
    offer = await ana.sees(lambda m: "Link account" in text_of(m), DM)
    assert "Same here, since **Monday**" in text_of(offer)
    await ana.press(offer, "Link account")
    await ana.submit(await ana.form("Link account"), {"API key": KEYS["ana"]})

    await until_so(lambda: posted(issue))
    await office.idle()
    assert posted(issue) == ["Same here, since **Monday**"]
    await ana.sees(lambda m: "Commented on" in text_of(m), DM)


@pytest.mark.parametrize("fault", ["lose the answer", "502 after it"])
async def test_a_comment_whose_answer_is_lost_is_posted_once(tmp_path: Path, wire: Wire, fault: str) -> None:
    tracker = demo_tracker(issue_reads=True, roles=True)
    async with Office(tmp_path, tracker=tracker, wire=wire).opened("ana") as office:
        issue, ana = office.public_issue(), Person(office, IDS["ana"])
        pane = await commenting(office, ana, issue)
        wire.fail(fault, PUT)

        answer = await pane.comment(TEXT, BOLD)

        assert len(posted(issue)) == 1
        assert answer["comments"][0]["comment"]["value"] == "Same here, since Monday"


async def test_an_unconfirmed_comment_is_confirmed_in_a_message(tmp_path: Path, wire: Wire) -> None:
    tracker, slack = demo_tracker(issue_reads=True, roles=True), SlackWire()
    async with Office(tmp_path, tracker=tracker, wire=wire, slack_wire=slack).opened("ana") as office:
        issue, ana = office.public_issue(), Person(office, IDS["ana"])
        pane = await commenting(office, ana, issue)
        slack.lasting = {"entity.acknowledgeCommentAction": "500 before it"}

        await pane.comment(TEXT, BOLD)

        assert len(posted(issue)) == 1
        await ana.sees(lambda m: "Commented on" in text_of(m) and "Monday" in text_of(m), DM)


async def test_a_comment_interrupted_by_a_stop_is_given_back(tmp_path: Path, wire: Wire) -> None:
    tracker = demo_tracker(issue_reads=True, roles=True)
    async with Office(tmp_path, tracker=tracker, wire=wire).opened("ana") as office:
        issue, ana = office.public_issue(), Person(office, IDS["ana"])
        await commenting(office, ana, issue)
        wire.too_late = 30
        wire.fail("late", PUT)
        await ana._post("details", comment=rich_text({"type": "rich_text_section", "elements": [TEXT, BOLD]}))
        await until_so(lambda: any(asked.startswith(PUT) for asked in wire.asked))
        await office.bot.stop(0.1)
        wire.heal()

        message = await ana.sees(lambda m: "restarted" in text_of(m), DM)
        assert "Same here, since **Monday**" in text_of(message)
        await office.start_bot()


async def test_a_repeated_delivery_posts_nothing_again(office: Office, ana: Person, issue: Issue) -> None:
    pane, payloads = await commenting(office, ana, issue), list[JSON]()
    with listening("delivered", lambda sent: payloads.append(sent["payload"])):
        await pane.comment(TEXT, BOLD)
    [comment] = [payload for payload in payloads if payload.get("view", {}).get("type") == "entity_comment"]

    await office.workspace._delivery.deliver("interactive", comment, takes_answer=True)
    await office.idle()

    assert len(posted(issue)) == 1
