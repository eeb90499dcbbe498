"""Assigning issues: to a Slack user through their linked account, and to oneself."""

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from bot.sandbox.tracker.data import Issue, free_id, put
from bot.sandbox.tracker.defaults import REPORTER
from bot.sandbox.tracker.server import Tracker
from bot.store.digests import Start
from bot.store.owner import Owner
from bot.store.plans import Plan
from tests.support.office import TEAM, Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, text_of, until_so
from tests.support.wire import Wire
from tests.support.work import run_due_after

ANA, BEN, DANA = 1, 2, 4
WEBSHOP = 1
DONE, ALREADY = "Assignee: Unassigned → *Ana Ruiz*", "Assignee is already *Ana Ruiz*"


@pytest.mark.usefixtures("linked_ben")
async def test_a_mention_is_the_users_linked_account(office: Office, ana: Person) -> None:
    await ana.ask("/issue new For Ben project:webshop to:@ben watch:@ana")

    assert office.newest_issue().assigned_to_id == 2
    assert "For Ben" in text_of(await ana.ask("/issues to:@ben project:any For Ben"))


def new_issue(tracker: Tracker, subject: str = "The cart forgets") -> Issue:
    """A new, unassigned issue in the Web Shop."""
    data, now = tracker.data, datetime.now(UTC).replace(microsecond=0)
    new = Issue(free_id(data.issues), WEBSHOP, 1, 1, 2, DANA, subject)
    new.created_on = new.updated_on = now
    return put(data.issues, new)


async def take(person: Person, issue: Issue) -> JSON:
    """Press *Assign to me* on the issue's card and return the answer."""
    return await person.after(person.press(await person.ask(f"/issue {issue.id}"), "Assign to me"))


async def test_assigns_from_a_card_and_a_search_row(office: Office, ana: Person) -> None:
    first, second = office.public_issue(), office.public_issue(1)
    first.assigned_to_id = second.assigned_to_id = None

    assert DONE in text_of(await take(ana, first))
    found = await ana.ask(f"/issues id:{second.id}")
    await ana.after(ana.choose_from_menu(found, f"#{second.id}", "Assign to me"))

    assert first.assigned_to_id == second.assigned_to_id == ANA


async def post_digest(office: Office, person: Person) -> JSON:
    """Post one of Ana's digests in the person's channel and return the message."""
    now = datetime.now(UTC)
    plan = Plan(project_id=WEBSHOP, project="Web Shop", schedule="daily 09:00", zone="UTC")
    ana, channel, due = Owner(None, TEAM, "U0ANA0001"), office.channel_id(person.channel), now + timedelta(1)
    start = Start(covered_to=now)
    added = await office.bot.store.digests.add(
        ana, "Ana Ruiz", channel, plan, next_due=due, start=start, now=now
    )
    assert added
    return await person.after(run_due_after(office, timedelta(days=2)))


async def test_a_double_click_in_a_digest_assigns_once(office: Office, ana: Person, ben: Person) -> None:
    issue = new_issue(office.tracker)
    digest = await post_digest(office, ana)
    assert " · as of <!date^" in text_of(digest)

    choose = partial(ana.choose_from_menu, digest, "The cart forgets", "Assign to me")
    await asyncio.gather(choose(), choose())

    await office.idle()
    found = [text_of(m) for m in await ana.messages() if m["ephemeral"] and "Assignee" in text_of(m)]
    assert (len(found), issue.assigned_to_id) == (2, ANA)
    assert any(DONE in text for text in found)
    assert ALREADY in text_of(await ana.after(choose()))
    assert digest["blocks"] in [m["blocks"] for m in await ben.messages()]


async def test_reassigning_asks_again_when_the_assignee_changed(office: Office, ana: Person) -> None:
    issue = new_issue(office.tracker)
    card = await ana.ask(f"/issue {issue.id}")
    issue.assigned_to_id = BEN
    asked = await ana.after(ana.press(card, "Assign to me"))
    assert "is assigned to Ben Okafor. Assign it to yourself instead?" in text_of(asked)

    holders = ((DANA, "is assigned to Dana Novak."), (None, "isn't assigned anymore."), (None, DONE))
    for holder, said in holders:
        assert issue.assigned_to_id != ANA
        issue.assigned_to_id = holder
        asked = await ana.after(ana.press(asked, "Assign to me"))
        assert said in text_of(asked)
    assert issue.assigned_to_id == ANA


async def test_reports_refused_and_ignored_assignments(office: Office, ben: Person) -> None:
    issue = new_issue(office.tracker)
    await office.link(ben.user_id, KEYS["ben"])

    assert "don't have permission" in text_of(await take(ben, issue))
    reporter = office.tracker.data.roles[REPORTER]
    reporter.rights |= {"add_issue_notes"}
    assert "Assignee Ben Okafor wasn't saved." in text_of(await take(ben, issue))
    assert issue.assigned_to_id is None


class TestLostResponses:
    """The connection loses requests and responses."""

    @pytest.fixture
    def service(self) -> Tracker:
        return demo_tracker()

    async def test_reports_a_lost_assignment(self, wired: Person, wire: Wire, service: Tracker) -> None:
        done, lost, late = (new_issue(service, subject) for subject in ("One", "Two", "Three"))
        cards = [await wired.ask(f"/issue {issue.id}") for issue in (done, lost, late)]
        wire.faults = ["lose the answer", "lose the request"]

        assert DONE in text_of(await wired.after(wired.press(cards[0], "Assign to me")))
        await wired.office.idle()
        answer = await wired.after(wired.press(cards[1], "Assign to me"))
        assert f"#{lost.id} doesn't show the change. Try again." in text_of(answer)
        assert (done.assigned_to_id, lost.assigned_to_id) == (ANA, None)

        wire.faults, wire.seconds = ["slow"], 30
        during_an_outage = asyncio.create_task(wired.after(wired.press(cards[2], "Assign to me")))
        await until_so(lambda: not wire.faults)
        await wire.down()
        assert "may not have been saved" in text_of(await during_an_outage)
