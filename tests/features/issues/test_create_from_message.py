"""What a digest's `…` menu does: taking an issue above all, and that only what came of it is said."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from bot.sandbox.demo import demo_data
from bot.sandbox.tracker.data import Issue, free_id, put
from bot.sandbox.tracker.defaults import DEVELOPER, REPORTER
from bot.sandbox.tracker.server import Tracker
from bot.store.digests import Plan
from bot.store.owner import Owner
from tests.support.office import TEAM, Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import JSON, button_saying, text_of, until, values_of
from tests.support.wire import Wire

ANA, BEN, DANA = 1, 2, 4
WEBSHOP = 1


def opened(tracker: Tracker, subject: str, assigned_to: int | None = None) -> Issue:
    """A new issue in the Web Shop."""
    data, now = tracker.data, datetime.now(UTC).replace(microsecond=0)
    number = free_id(data.issues)
    new = Issue(number, WEBSHOP, 1, 1, 2, DANA, subject, assigned_to_id=assigned_to)
    new.created_on = new.updated_on = now
    return put(data.issues, new)


async def digest(office: Office, person: Person) -> JSON:
    """The message of a digest of Ana's in the person's channel."""
    now = datetime.now(UTC)
    plan = Plan(project_id=WEBSHOP, project="Web Shop", schedule="daily 09:00", zone="UTC")
    added = await office.bot.store.digests.add(
        Owner(None, TEAM, "U0ANA0001"),
        "Ana Ruiz",
        office.channel_id(person.channel),
        plan,
        next_due=now + timedelta(days=1),
        covered_to=now,
        covered=[],
        history=[],
        now=now,
    )
    return await person.after(office.bot.digests.run_now(added))


async def taken(person: Person, message: JSON, subject: str) -> JSON:
    """What the person is told when they take the issue."""
    return await person.after(person.choose_from_menu(message, subject, "Take it"))


async def test_an_issue_that_is_nobodys_is_taken_once_however_often_one_clicks(
    office: Office, ana: Person
) -> None:
    issue = opened(office.tracker, "The cart forgets")
    message = await digest(office, ana)

    await asyncio.gather(*(ana.choose_from_menu(message, "The cart forgets", "Take it") for _ in range(2)))

    async def answers() -> list[JSON] | None:
        told = [m for m in await ana.messages() if m["ephemeral"] and "is yours" in text_of(m)]
        return told if len(told) == 2 else None

    told = await until(answers)
    assert issue.assigned_to_id == ANA
    assert f"#{issue.id} is yours now." in {m["text"] for m in told}
    card = await ana.after(ana.press(told[0], "Show"))
    assert "*Assignee*\nAna Ruiz" in text_of(card)
    assert "is yours already" in text_of(await taken(ana, message, "The cart forgets"))


async def answer_saying(person: Person, message: JSON, text: str) -> JSON | None:
    """The private message as it is now, if it says that."""
    now = next(m for m in await person.messages() if m["ts"] == message["ts"])
    return now if text in now["text"] else None


async def test_somebody_elses_is_taken_only_from_whom_one_was_asked_about(
    office: Office, ana: Person
) -> None:
    issue = opened(office.tracker, "The cart forgets", BEN)
    message = await digest(office, ana)
    asked = await taken(ana, message, "The cart forgets")
    assert "is assigned to Ben Okafor: do you want to take it?" in text_of(asked)
    assert issue.assigned_to_id == BEN

    issue.assigned_to_id = DANA
    await ana.press(asked, "Take it from Ben Okafor")
    asked = await until(partial(answer_saying, ana, asked, "is assigned to Dana Novak"))
    assert issue.assigned_to_id == DANA
    await ana.press(asked, "Take it from Dana Novak")

    await until(partial(answer_saying, ana, asked, f"#{issue.id} is yours now."))
    assert issue.assigned_to_id == ANA


def row_of(message: JSON, subject: str) -> str:
    return next(str(b["text"]["text"]) for b in message["blocks"] if b.get("accessory") and subject in str(b))


async def row_saying(person: Person, subject: str, text: str) -> str:
    """The digest's row about that subject as everybody reads it, once it says that."""

    async def look() -> str | None:
        digest = next(
            m for m in await person.messages() if not m["ephemeral"] and subject in str(m["blocks"])
        )
        row = row_of(digest, subject)
        return row if text in row else None

    return await until(look)


async def test_rows_of_a_digest_say_who_has_taken_their_issues(
    office: Office, ana: Person, ben: Person
) -> None:
    opened(office.tracker, "The cart forgets")
    opened(office.tracker, "The menu hides")
    message = await digest(office, ana)
    assert "nobody assigned · by Dana Novak · opened <!date^" in row_of(message, "The cart forgets")

    # Both presses carry the message as it was before either.
    await asyncio.gather(
        ana.choose_from_menu(message, "The cart forgets", "Take it"),
        ana.choose_from_menu(message, "The menu hides", "Take it"),
    )

    row = await row_saying(ben, "The cart forgets", "assigned to Ana Ruiz")
    assert row.splitlines()[0] == row_of(message, "The cart forgets").splitlines()[0]
    await row_saying(ben, "The menu hides", "assigned to Ana Ruiz")


async def test_a_row_follows_when_an_issue_is_taken_from_somebody(
    office: Office, ana: Person, ben: Person
) -> None:
    issue = opened(office.tracker, "The cart forgets")
    message = await digest(office, ana)
    issue.assigned_to_id = BEN

    asked = await taken(ana, message, "The cart forgets")
    await row_saying(ben, "The cart forgets", "assigned to Ben Okafor")
    await ana.press(asked, "Take it from Ben Okafor")

    await row_saying(ben, "The cart forgets", "assigned to Ana Ruiz")


async def test_the_row_of_an_issue_now_private_stays(office: Office, ana: Person, ben: Person) -> None:
    issue = opened(office.tracker, "The cart forgets", BEN)
    message = await digest(office, ana)
    issue.is_private, issue.author_id, issue.assigned_to_id = True, ANA, ANA

    assert "is yours already" in text_of(await taken(ana, message, "The cart forgets"))
    await office.idle()

    await row_saying(ben, "The cart forgets", "assigned to Ben Okafor")


async def test_what_the_service_refuses_or_silently_leaves_is_said(
    office: Office, ana: Person, ben: Person, chris: Person
) -> None:
    issue = opened(office.tracker, "The cart forgets")
    message = await digest(office, ana)
    await office.link(ben.user_id, KEYS["ben"])

    assert "doesn't let you do that" in text_of(await taken(ben, message, "The cart forgets"))
    reporter = office.tracker.data.roles[REPORTER]
    reporter.rights |= {"add_notes"}
    told = await taken(ben, message, "The cart forgets")
    assert f"Tracker left #{issue.id} unassigned: ask a manager" in text_of(told)
    told = await taken(chris, message, "The cart forgets")  # an administrator, but no member
    assert "Assignee is invalid" in text_of(told)
    assert issue.assigned_to_id is None


async def test_who_is_not_linked_yet_has_it_once_they_are(office: Office, ana: Person, ben: Person) -> None:
    issue = opened(office.tracker, "The cart forgets")
    membership = office.tracker.data.member(WEBSHOP, BEN)
    assert membership is not None
    membership.role_ids = (DEVELOPER,)
    message = await digest(office, ana)

    await ben.choose_from_menu(message, "The cart forgets", "Take it")
    told = await ben.after(ben.submit(await ben.form("Link Tracker"), {"API key": KEYS["ben"]}))

    assert told["text"] == f"#{issue.id} is yours now."
    assert issue.assigned_to_id == BEN


async def test_an_issue_is_shown_and_time_is_logged_on_it_from_the_menu(office: Office, ana: Person) -> None:
    issue = opened(office.tracker, "The cart forgets")
    message = await digest(office, ana)

    shown = await ana.after(ana.choose_from_menu(message, "The cart forgets", "Show"))
    await ana.choose_from_menu(message, "The cart forgets", "Log time")

    assert shown["ephemeral"]
    assert "The cart forgets" in text_of(shown)
    assert f"#{issue.id}" in str(values_of(await ana.form("Log time"))["Issue"])


class TestAServiceThatCannot:
    """A service that has no way to change issues."""

    @pytest.fixture
    async def office(self, tmp_path: Path) -> AsyncIterator[Office]:
        office = Office(tmp_path, issue_updates=False)
        await office.open()
        await office.link("U0ANA0001", KEYS["ana"])
        yield office
        await office.close()
        assert office.violations() == []

    async def test_is_said_to_with_the_way_to_the_issue(self, office: Office, ana: Person) -> None:
        issue = opened(office.tracker, "The cart forgets")
        held = opened(office.tracker, "Ben has this", BEN)
        message = await digest(office, ana)

        told = await taken(ana, message, "The cart forgets")
        assert f"doesn't let me assign an issue that exists: open #{issue.id}" in text_of(told)
        _, there = button_saying(told["blocks"], "Open in Tracker")
        assert there["url"].endswith(f"/issues/{issue.id}")
        told = await taken(ana, message, "Ben has this")  # known now, so nothing is asked in vain
        assert f"open #{held.id} and do it there" in text_of(told)


class TestOnABadWire:
    """What the service does is lost on the way."""

    @pytest.fixture
    async def service(self) -> AsyncIterator[Tracker]:
        tracker = Tracker(demo_data(datetime.now(UTC)), issue_updates=True)
        await tracker.start()
        yield tracker
        await tracker.stop()

    async def test_what_was_done_is_found_and_what_was_not_is_said(
        self, wired: Person, wire: Wire, service: Tracker
    ) -> None:
        done = opened(service, "The answer is lost")
        lost = opened(service, "The request is lost")
        message = await digest(wired.office, wired)
        wire.faults = ["lose the answer", "lose the request"]

        assert f"#{done.id} is yours now." in text_of(await taken(wired, message, "The answer is lost"))
        told = text_of(await taken(wired, message, "The request is lost"))

        assert f"Tracker broke off, and #{lost.id} isn't yours so far: take it once more." in told
        assert (done.assigned_to_id, lost.assigned_to_id) == (ANA, None)

    async def test_what_nobody_can_tell_is_called_unknown(
        self, wired: Person, wire: Wire, service: Tracker
    ) -> None:
        opened(service, "The cart forgets")
        message = await digest(wired.office, wired)
        wire.faults, wire.seconds = ["slow"], 30

        async def sent() -> bool:
            return not wire.faults

        told = asyncio.create_task(taken(wired, message, "The cart forgets"))
        await until(sent)
        await wire.down()

        assert "it may have been done or not" in text_of(await told)
