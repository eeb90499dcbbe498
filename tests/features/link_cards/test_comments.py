"""The comments on an issue, beside its link."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.sandbox.tracker.data import Issue, Note
from bot.sandbox.tracker.server import Tracker
from tests.features.link_cards.panes import opened, posted
from tests.support.office import Office
from tests.support.people import IDS
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON

BEN, START = 2, datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def tracker() -> Tracker:
    return demo_tracker(issue_reads=True, roles=True)


@pytest.fixture
def issue(office: Office) -> Issue:
    """A public issue with 45 comments, and a private note among the latest."""
    public = office.public_issue()
    public.notes = [Note(BEN, f"Comment **{n}** <!channel>", START + timedelta(minutes=n)) for n in range(45)]
    public.notes.insert(-1, Note(BEN, "Not for everyone", START, is_private=True))
    return public


def texts(expected: JSON) -> list[str]:
    return [comment["comment"]["value"] for comment in expected["comments"]]


async def test_comments_come_in_pages_the_latest_first(office: Office, ana: Person, issue: Issue) -> None:
    pane = await opened(office, ana, issue)

    page = await pane.more_comments()
    assert texts(page) == [f"Comment {n} <!channel>" for n in range(44, 24, -1)]
    first = page["comments"][0]
    assert first["sender"] == {"text": "Ben Okafor"}
    assert first["timestamp"] == int((START + timedelta(minutes=44)).timestamp())
    issue.notes.append(Note(BEN, "Written meanwhile", START + timedelta(hours=2)))
    await pane.more_comments()
    last = await pane.more_comments()

    assert texts(last)[20:] == [f"Comment {n} <!channel>" for n in range(24, -1, -1)]
    assert last["cursor"] is None


@pytest.mark.parametrize("limit", [0, 5, 100])
async def test_comments_have_at_most_a_page(office: Office, ana: Person, issue: Issue, limit: int) -> None:
    office.workspace.state.comments_limit = limit

    assert len(texts(await (await opened(office, ana, issue)).more_comments())) == min(limit, 20)


async def test_private_notes_are_left_out(office: Office, ana: Person, chris: Person, issue: Issue) -> None:
    issue.notes = issue.notes[-2:]
    message = await posted(ana, office, issue)
    card = office.workspace.state.find(message["channel"], message["ts"])

    assert card is not None
    counts = [entity["entity_comments"] for entity in card.entities.values()]
    latest = int((START + timedelta(minutes=44)).timestamp())
    assert counts == [{"count": 1, "latest_timestamp": latest}]
    for person in (ana, chris):  # both may see private notes
        pane = await opened(office, person, issue, message)
        assert (await pane.entity())["entity_comments"]["count"] == 1
        assert texts(await pane.more_comments()) == ["Comment 44 <!channel>"]


async def test_comments_need_the_viewers_key(office: Office, ana: Person, ben: Person, issue: Issue) -> None:
    pane = await opened(office, ben, issue, await posted(ana, office, issue))

    answer = await pane.more_comments()

    assert not answer["comments"]
    assert answer["error"]["custom_message"].startswith("Link your Tracker account. Type /tracker link in")


@pytest.mark.parametrize("tells", [True, False])
async def test_cards_offer_comments_if_the_service_tells_the_history(tmp_path: Path, *, tells: bool) -> None:
    async with Office(tmp_path, tracker=demo_tracker(issue_reads=tells)).opened("ana") as office:
        issue = office.public_issue()
        issue.notes = []

        entity = await (await opened(office, Person(office, IDS["ana"]), issue)).entity()

        assert entity.get("entity_comments") == ({"count": 0} if tells else None)
