"""`/digest me`: a personal digest, by command, form and buttons."""

import asyncio
import re

from bot.store.digests import Pause
from tests.support.digesting import ANA, AT, EVERY_DAY, buttons, stored
from tests.support.office import Office
from tests.support.person import DM, Person
from tests.support.reading import text_of, values_of


async def test_command_sets_it_up_and_buttons_manage_it(office: Office, ana: Person) -> None:
    assert "You don't have a personal digest yet." in text_of(await ana.ask("/digest me pause"))
    shown = await ana.ask(f"/digest me daily {AT}")
    assert "Your digest is set up. I'll send you a direct message" in text_of(shown)
    assert f"*1 · My issues* · direct message · {EVERY_DAY} (Europe/Madrid)" in text_of(shown)
    assert buttons(shown) == ["Send now", "Pause", "Change", "Remove"]
    assert "digest" not in text_of(await ana.ask("/digest")).partition("No digests in this channel")[0]

    assert "Digest 1 is already yours." in text_of(await ana.ask("/digest take over 1"))
    paused = await ana.after(ana.press(shown, "Pause"))
    assert buttons(paused) == ["Resume", "Change", "Remove"]
    assert "is active again. Your next one" in text_of(await ana.after(ana.press(paused, "Resume")))
    removed = await ana.ask("/digest me remove")
    assert f"`/digest me daily {AT} tz:Europe/Madrid`" in text_of(removed)
    assert buttons(await ana.ask("/digest me")) == ["Set up digest"]
    await ana.after(ana.press(removed, "Undo"))
    assert (await stored(office)).paused is None


async def test_another_schedule_asks_before_it_replaces_the_first(office: Office, ana: Person) -> None:
    await ana.ask(f"/digest me weekdays {AT}")

    asked = await ana.ask("/digest me weekly mon 10:30 tz:Asia/Tokyo")

    assert "Send it every Monday at 10:30 AM (Asia/Tokyo) instead?" in text_of(asked)
    assert (await stored(office)).plan.schedule == f"weekdays {AT}"
    shown = await ana.after(ana.press(asked, "Replace"))
    assert "Your digest is set up." in text_of(shown)
    assert (await stored(office)).plan.schedule == "weekly mon 10:30"
    assert (await stored(office)).plan.zone == "Asia/Tokyo"


async def test_form_sets_it_up_and_changes_its_schedule(office: Office, ana: Person) -> None:
    refused = await ana.ask("/digest me weekly mon 25:00 tz:UTC")
    await ana.press(refused, "Open form")
    form = await ana.form("My digest")
    assert values_of(form).items() >= {"Schedule": "Weekly", "Days": ["Monday"], "Time zone": "UTC"}.items()
    await ana.after(ana.submit(form, {"Days": ["Tuesday"], "Time": AT}))

    await ana.press(await ana.ask("/digest me"), "Change")
    form = await ana.form("My digest")
    await ana.choose(form, "Schedule", "Custom")
    await ana.choose(await ana.form_saying("My digest", "Cron expression"), "Schedule", "Weekly")
    form = await ana.form_saying("My digest", "Days")
    assert values_of(form)["Days"] == ["Tuesday"]
    await ana.after(ana.submit(form, {"Time zone": "Tokyo"}))

    digest = await stored(office)
    assert (digest.plan.schedule, digest.plan.zone) == (f"weekly tue {AT}", "Asia/Tokyo")


async def test_it_is_a_direct_message_with_private_issues(ana: Person) -> None:
    await ana.ask(f"/digest me daily {AT}")
    await ana.ask("/issue new For me alone project:webshop to:me private:yes due:today")

    await ana.ask("/digest me now")

    sent = await ana.sees(lambda message: "For me alone" in text_of(message), DM)
    assert re.search(r"My issues: .*due today", text_of(sent))


async def test_a_pause_with_an_end_asks_first(office: Office, ana: Person) -> None:
    await ana.ask(f"/digest me daily {AT}")

    for end in ("until monday", "for a week", "3 days", "tomorrow"):
        asked = await ana.ask(f"/digest me pause {end}")
        assert "lasts until someone resumes" in text_of(asked)
        assert (await stored(office)).paused is None

    await ana.after(ana.press(asked, "Pause digest"))
    assert (await stored(office)).paused is Pause.PERSON


async def test_a_misspelled_action_is_offered_and_done(office: Office, ana: Person) -> None:
    asked = await ana.ask("/digest me puase")
    assert str(asked["blocks"]).count("'primary'") == 1
    await ana.ask(f"/digest me daily {AT}")

    await ana.after(ana.press(await ana.ask("/digest me puase"), "Use pause"))
    assert (await stored(office)).paused is Pause.PERSON
    assert str((await ana.ask("/digest puase"))["blocks"]).count("'primary'") == 1


async def test_several_at_once_make_one_digest(office: Office, ana: Person) -> None:
    await asyncio.gather(*(ana.command(f"/digest me weekly {day} {AT}") for day in ("mon", "tue", "wed")))
    await office.idle()

    found = await office.bot.store.digests.of_owner(ANA)
    assert [digest.id for digest in found] == [1]
    said = [text_of(message) for message in await ana.messages()]
    assert len([text for text in said if "My issues* · direct" in text or "Replace weekly" in text]) == 3
