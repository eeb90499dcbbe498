"""The `…` menu of a digest: assigning an issue to oneself and logging time on it."""

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


def new_issue(tracker: Tracker, subject: str, assigned_to: int | None = None) -> Issue:
    """A new issue in the Web Shop."""
    data, now = tracker.data, datetime.now(UTC).replace(microsecond=0)
    number = free_id(data.issues)
    new = Issue(number, WEBSHOP, 1, 1, 2, DANA, subject, assigned_to_id=assigned_to)
    new.created_on = new.updated_on = now
    return put(data.issues, new)


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


async def take_issue(person: Person, message: JSON, subject: str) -> JSON:
    """Choose *Assign to me* and return the answer."""
    return await person.after(person.choose_from_menu(message, subject, "Assign to me"))


async def test_a_double_click_assigns_an_unassigned_issue_once(office: Office, ana: Person) -> None:
    issue = new_issue(office.tracker, "The cart forgets")
    message = await post_digest(office, ana)

    choose = partial(ana.choose_from_menu, message, "The cart forgets", "Assign to me")
    await asyncio.gather(choose(), choose())

    await office.idle()
    found = [m for m in await ana.messages() if m["ephemeral"] and "assigned to you" in text_of(m)]
    assert (len(found), issue.assigned_to_id) == (2, ANA)
    assert f"#{issue.id} is assigned to you now." in {m["text"] for m in found}
    assert "*Assignee*\nAna Ruiz" in text_of(await ana.after(ana.press(found[0], "Show issue")))
    assert "is already assigned to you" in text_of(await take_issue(ana, message, "The cart forgets"))


async def test_a_posted_digest_stays_as_of_its_time(office: Office, ana: Person, ben: Person) -> None:
    new_issue(office.tracker, "The cart forgets")
    message = await post_digest(office, ana)
    assert " · as of <!date^" in text_of(message)

    assert "assigned to you now" in text_of(await take_issue(ana, message, "The cart forgets"))
    await office.idle()

    assert message["blocks"] in [m["blocks"] for m in await ben.messages()]


async def test_reassigning_asks_again_when_the_assignee_changed(office: Office, ana: Person) -> None:
    issue = new_issue(office.tracker, "The cart forgets")
    message = await post_digest(office, ana)
    issue.assigned_to_id = BEN
    asked = await take_issue(ana, message, "The cart forgets")
    assert "is assigned to Ben Okafor. Assign it to yourself instead?" in text_of(asked)

    for other, said in (DANA, "is assigned to Dana Novak"), (None, f"#{issue.id} is assigned to you now."):
        issue.assigned_to_id = other or issue.assigned_to_id
        assert issue.assigned_to_id == DANA
        asked = await ana.after(ana.press(asked, "Assign to me"))  # in place of the question
        assert said in asked["text"]
        await office.idle()
    assert issue.assigned_to_id == ANA


async def test_reports_refused_and_ignored_assignments(office: Office, ana: Person, ben: Person) -> None:
    issue = new_issue(office.tracker, "The cart forgets")
    message = await post_digest(office, ana)
    await office.link(ben.user_id, KEYS["ben"])

    assert "don't have permission" in text_of(await take_issue(ben, message, "The cart forgets"))
    reporter = office.tracker.data.roles[REPORTER]
    reporter.rights |= {"add_notes"}
    answer = await take_issue(ben, message, "The cart forgets")
    assert f"Tracker left #{issue.id} unassigned. Ask a project manager" in text_of(answer)
    assert issue.assigned_to_id is None


class TestLostResponses:
    """The connection loses requests and responses."""

    @pytest.fixture
    def service(self) -> Tracker:
        return demo_tracker()

    async def test_reports_whether_a_lost_assignment_was_saved(
        self, wired: Person, wire: Wire, service: Tracker
    ) -> None:
        done = new_issue(service, "The answer is lost")
        lost = new_issue(service, "The request is lost")
        new_issue(service, "The cart forgets")
        message = await post_digest(wired.office, wired)
        wire.faults = ["lose the answer", "lose the request"]

        answer = await take_issue(wired, message, "The answer is lost")
        assert f"#{done.id} is assigned to you now." in text_of(answer)
        await wired.office.idle()
        answer = await take_issue(wired, message, "The request is lost")
        assert f"#{lost.id} doesn't show the change. Try again." in text_of(answer)
        assert (done.assigned_to_id, lost.assigned_to_id) == (ANA, None)

        wire.faults, wire.seconds = ["slow"], 30
        during_an_outage = asyncio.create_task(take_issue(wired, message, "The cart forgets"))
        await until_so(lambda: not wire.faults)
        await wire.down()
        assert "may not have been saved" in text_of(await during_an_outage)
