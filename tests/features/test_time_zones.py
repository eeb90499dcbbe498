"""Whose day counts while Slack's `users.info` fails, or names a time zone that nobody knows."""

from collections.abc import AsyncIterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from aiohttp import web

from tests.support.digesting import ANA, stored
from tests.support.office import Office
from tests.support.people import IDS, KEYS
from tests.support.person import Person
from tests.support.reading import text_of, values_of
from tests.support.slackwire import SlackWire

ZONES = ("Pacific/Kiritimati", "Pacific/Pago_Pago")
"""More than 24 hours apart, so that at any time it is another day in UTC than in one of them."""
FAILS, ODD = "users.info fails", "an odd zone"
UNKNOWN = "I couldn't get your time zone from Slack."


class Slack(SlackWire):
    """Once it is `odd`, people's time zone is none that the bot knows."""

    odd = False

    async def _call(self, method: str, given: dict[str, Any], request: web.Request) -> web.StreamResponse:
        answer = await super()._call(method, given, request)
        if self.odd and method == "users.info" and isinstance(answer, web.Response) and answer.text:
            said = answer.text
            for zone in (*ZONES, "Europe/Madrid"):
                said = said.replace(zone, "Mars/Olympus_Mons")
            return web.Response(text=said, content_type="application/json")
        return answer

    def lose_zones(self, how: str = FAILS) -> None:
        self.odd = how == ODD
        self.lasting = {} if self.odd else {"users.info": "refuse:internal_error"}


@pytest.fixture
def slack() -> Slack:
    return Slack()


@pytest.fixture
async def office(tmp_path: Path, slack: Slack) -> AsyncIterator[Office]:
    async with Office(tmp_path, slack_wire=slack).opened("ana") as office:
        yield office
        assert office.violations() == []


def lives_in(office: Office, person: Person, zone: str) -> None:
    office.workspace.state.users[person.user_id].tz = zone


async def restart(office: Office) -> None:
    """Forgets what the bot has cached."""
    await office.stop_bot()
    await office.start_bot()


def written(office: Office) -> tuple[object, ...]:
    data = office.tracker.data
    due = [issue.due_date for issue in data.issues.values()]
    return len(data.issues), due, len(data.time_entries)


def days_in(zone: str, since: date | None = None) -> set[date]:
    """Today there; also the day on which the test began, if it is past midnight since."""
    return {datetime.now(ZoneInfo(zone)).date()} | ({since} if since else set())


@pytest.mark.parametrize("how", [FAILS, ODD])
@pytest.mark.parametrize("zone", ZONES)
async def test_the_last_known_zone_counts_meanwhile(ana: Person, slack: Slack, zone: str, how: str) -> None:
    office, number = ana.office, ana.office.public_issue().id
    lives_in(office, ana, zone)
    before = datetime.now(ZoneInfo(zone)).date()
    await ana.ask(f"/issue {number}")
    await restart(office)
    slack.lose_zones(how)

    await ana.ask("/issue new Later project:webshop due:tomorrow")
    await ana.ask(f"/timelog {number} 1h activity:design")
    await ana.ask("/digest add webshop daily 9:00")

    due = office.newest_issue().due_date
    assert due is not None
    assert due - timedelta(days=1) in days_in(zone, before)
    assert office.newest_time().spent_on in days_in(zone, before)
    assert (await stored(office)).plan.zone == zone


@pytest.mark.parametrize("zone", ZONES)
async def test_the_zone_is_known_from_linking_on(office: Office, slack: Slack, zone: str) -> None:
    chris = Person(office, IDS["chris"])
    lives_in(office, chris, zone)
    before = datetime.now(ZoneInfo(zone)).date()
    form = await chris.form_after(chris.command("/tracker link"), "Link account")
    await chris.submit(form, {"API key": KEYS["chris"]})
    await office.idle()
    await restart(office)
    slack.lose_zones()

    await chris.ask("/issue new Later project:webshop due:tomorrow")

    due = office.newest_issue().due_date
    assert due is not None
    assert due - timedelta(days=1) in days_in(zone, before)


@pytest.mark.parametrize("how", [FAILS, ODD])
@pytest.mark.parametrize(
    ("command", "way_on"),
    [
        ("/issue new Later project:webshop due:tomorrow", "Open form"),
        ("/issue new Later project:webshop due friday", "Open form"),
        ("/issue {number} due:tomorrow", "Open form"),
        ("/timelog {number} 1h activity:design", "Open form"),
        ("/timelog {number} 1h activity:design on:yesterday", "Open form"),
        ("/timelog {number} 1h activity:design Pairing yesterday", "Open form"),
        ("/digest add webshop daily 9:00", "Open form"),
        ("/digest me daily 9:00", "Open form"),
        ("/issues overdue", "Try again"),
        ("/issues project:webshop created:2026-01-05", "Try again"),
    ],
)
async def test_without_a_zone_nothing_that_depends_on_it_is_done(
    ana: Person, slack: Slack, command: str, way_on: str, how: str
) -> None:
    office = ana.office
    slack.lose_zones(how)
    before = written(office)

    told = await ana.ask(command.format(number=office.public_issue().id))

    assert UNKNOWN in text_of(told)
    assert way_on in text_of(told)
    assert written(office) == before
    assert await office.bot.store.digests.of_owner(ANA) == ()


async def test_without_a_zone_the_rest_works(office: Office, ana: Person, slack: Slack) -> None:
    number = office.public_issue().id
    slack.lose_zones()
    office.tracker.data.issues[number].due_date = date(2026, 1, 5)

    for command in (f"/issues project:webshop id:{number}", f"/issue {number}"):
        shown = text_of(await ana.ask(command))
        assert "Jan 5, 2026" in shown
        assert "overdue" not in shown
    assert "Feb 5, 2999" in text_of(await ana.ask(f"/issue {number} due:2999-02-05"))
    assert "Just a subject" in text_of(await ana.ask("/issue new Just a subject project:webshop"))
    await ana.ask("/issue new Later project:webshop due:2999-12-31")
    assert office.newest_issue().due_date == date(2999, 12, 31)
    logged = await ana.ask(f"/timelog {number} 1h activity:design on:2026-01-05 Pairing")
    assert "Logged 1h on" in text_of(logged)
    assert "today" not in text_of(logged)
    assert str(office.newest_time().spent_on) == "2026-01-05"
    await ana.ask("/digest add webshop daily 9:00 tz:Asia/Tokyo")
    assert (await stored(office)).plan.zone == "Asia/Tokyo"
    await ana.open_home()
    await ana.home_saying("Show all ")


async def test_forms_ask_for_an_unknown_day_and_zone(office: Office, ana: Person, slack: Slack) -> None:
    number = office.public_issue().id
    slack.lose_zones()

    refused = await ana.ask(f"/timelog {number} 90m activity:design Pairing yesterday")
    form = await ana.form_after(ana.press(refused, "Open form"), "Log time")
    held = values_of(form)
    assert (held["Hours"], held["Date"], held["Comment"]) == ("1.5", None, "Pairing yesterday")
    await ana.after(ana.submit(form, {"Date": "2026-01-05"}))
    assert str(office.newest_time().spent_on) == "2026-01-05"

    refused = await ana.ask("/digest add webshop daily 9:00")
    form = await ana.form_after(ana.press(refused, "Open form"), "New digest")
    assert values_of(form)["Time zone"] is None
    await ana.press_in_form(form, "Preview")
    preview = await ana.form("Preview")
    assert text_of(preview) == "Choose a time zone."
    await ana.close(preview)
    await ana.after(ana.submit(form, {"Time zone": "Asia/Tokyo"}))
    assert (await stored(office)).plan.zone == "Asia/Tokyo"


async def test_try_again_searches_once_slack_tells_the_zone(ana: Person, slack: Slack) -> None:
    slack.lose_zones()
    refused = await ana.ask("/issues project:webshop created:today..")
    slack.lasting = {}

    found = await ana.after(ana.press(refused, "Try again"))

    assert UNKNOWN not in text_of(found)
    assert "Web Shop" in text_of(found)


async def test_a_future_day_anywhere_asks_without_a_zone(office: Office, ana: Person, slack: Slack) -> None:
    number = office.public_issue().id
    slack.lose_zones()
    before = written(office)

    asked = await ana.ask(f"/timelog {number} 1h activity:design on:2999-01-05")

    assert "is in the future. Log 1h for that day?" in text_of(asked)
    assert written(office) == before
