"""A form for a new issue that is closed unfinished can be continued in the next one."""

import re
import time
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from bot.sandbox.workspace.state import Clock
from bot.store.tables import SavedInputRow
from tests.support.deliveries import listening
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import JSON, text_of, values_of
from tests.support.wire import Wire

OFFER = "You have an unfinished draft"
COMMIT = "3f786850e387550fdab836ed7e6dc881de23001b"
LEFT_OUT = "I didn't keep what looks like an API key."


async def opened(ana: Person, typed: str = "/issue new project:webshop") -> JSON:
    return await ana.form_after(ana.command(typed), "New issue")


async def left(
    ana: Person, subject: str, typed: str = "/issue new project:webshop priority:high to:me"
) -> None:
    """Types a subject into the form and closes it."""
    form = await opened(ana, typed)
    await ana.type_into(form, "Subject", subject)
    await ana.office.idle()
    await ana.close(form)


async def continued(ana: Person, form: JSON) -> JSON:
    [offer] = re.findall(f"{OFFER}[^>]*>[^.]*", text_of(form))
    await ana.press_in_form(form, "Continue draft")
    return await ana.form("New issue", lambda view: offer not in text_of(view))


async def test_a_closed_form_is_continued_in_any_channel(office: Office, ana: Person) -> None:
    form = await opened(ana, '/issue new due:2030-01-02 desc:"Since *today*"')
    await ana.type_into(form, "Subject", "The page is blank")
    await ana.choose(form, "Project", "Web Shop")
    await ana.with_more_fields(await ana.form_saying("New issue", "More fields"))
    await office.idle()
    await ana.close(form)
    ana.channel = "webshop"
    form = await opened(ana, "/issue")
    assert "|earlier>: “The page is blank”." in text_of(form)
    await ana.type_into(form, "Subject", "Typed before the offer was seen")
    await office.idle()

    form = await continued(ana, form)

    values = values_of(form)
    assert (values["Subject"], values["Project"], values["Due date"]) == (
        "The page is blank",
        "Web Shop",
        "2030-01-02",
    )
    assert "Since" in values["Description"]
    announced = await ana.after(ana.submit(form, {}))
    assert announced["channel"] == office.channel_id("webshop")
    assert office.newest_issue().subject == "The page is blank"
    assert "The page is blank" not in text_of(await opened(ana))


async def test_every_choice_is_kept(office: Office, ana: Person) -> None:
    form = await ana.with_more_fields(await opened(ana))
    await ana.type_into(form, "Subject", "Chosen")
    chosen = {
        "Assignee": "Ana Ruiz (me)",
        "Watchers": ["Ana Ruiz (me)"],
        "Browsers": ["Firefox"],
        "Due date": "2030-01-02",
        "% done": "40%",
        "Private": ["Hide from people without permission"],
    }
    for label, value in chosen.items():
        await ana.choose(form, label, value)
    await office.idle()
    await ana.close(form)

    values = values_of(await continued(ana, await opened(ana, "/issue")))

    assert {label: values[label] for label in chosen} == chosen


async def test_a_choice_that_arrives_after_its_form_was_sent_is_not_kept(office: Office, ana: Person) -> None:
    form, payloads = await opened(ana), list[JSON]()
    await ana.type_into(form, "Subject", "Sent")
    await office.idle()
    with listening("delivered", lambda sent: payloads.append(sent["payload"])):
        await ana.choose(form, "Assignee", "Ana Ruiz (me)")
        await office.idle()
    await ana.after(ana.submit(form, {"Subject": "Sent"}))

    [choice] = payloads
    choice["actions"][0]["action_ts"] = f"{time.time() + 60:.6f}"  # Slack's clock is ahead
    await office.workspace._delivery.deliver("interactive", choice, takes_answer=False)
    await office.idle()

    assert OFFER not in text_of(await opened(ana))


async def test_a_draft_survives_a_restart(office: Office, ana: Person) -> None:
    await left(ana, "Typed before the crash")
    await office.stop_bot()
    await office.start_bot()

    values = values_of(await continued(ana, await opened(ana, "/issue")))

    assert (values["Subject"], values["Priority"], values["Assignee"]) == (
        "Typed before the crash",
        "High",
        "Ana Ruiz (me)",
    )


async def test_a_created_issue_is_not_offered(office: Office, ana: Person) -> None:
    form = await opened(ana)
    await ana.type_into(form, "Subject", "Created at once")
    await office.idle()
    await ana.after(ana.submit(form, {"Subject": "Created at once"}))
    await office.idle()

    assert OFFER not in text_of(await opened(ana))


class FastClock(Clock):
    """A clock that is a minute ahead."""

    def now(self) -> float:
        return super().now() + 60


async def test_a_draft_from_the_future_can_be_discarded(office: Office, ana: Person) -> None:
    office.workspace.state.clock = FastClock()
    await left(ana, "Typed in the future")
    form = await opened(ana)
    await ana.press_in_form(form, "Discard")
    await ana.close(await ana.form("New issue", lambda view: OFFER not in text_of(view)))

    assert OFFER not in text_of(await opened(ana))


async def test_another_issue_leaves_the_draft_as_it_was(office: Office, ana: Person) -> None:
    await left(ana, "Unfinished")
    form = await opened(ana)
    await ana.type_into(form, "Subject", "Urgent meanwhile")
    await office.idle()
    await ana.after(ana.submit(form, {"Subject": "Urgent meanwhile"}))

    assert "“Unfinished”" in text_of(await opened(ana))


async def test_the_last_draft_replaces_the_one_before_it(ana: Person) -> None:
    await left(ana, "First")
    await left(ana, "Second")

    form = await opened(ana)
    assert "“Second”" in text_of(form)
    await ana.press_in_form(form, "Discard")
    form = await ana.form("New issue", lambda view: OFFER not in text_of(view))
    await ana.close(form)

    assert OFFER not in text_of(await opened(ana))


async def test_discarding_a_draft_keeps_what_is_typed_in_the_open_form(office: Office, ana: Person) -> None:
    await left(ana, "First")
    form = await opened(ana)
    await ana.type_into(form, "Subject", "Second")
    await office.idle()

    await ana.press_in_form(form, "Discard")
    await ana.close(await ana.form("New issue", lambda view: OFFER not in text_of(view)))

    assert "“Second”" in text_of(await opened(ana))


async def test_text_typed_before_a_draft_is_offered_in_turn(ana: Person) -> None:
    await left(ana, "First")
    form = await opened(ana)
    await ana.type_into(form, "Subject", "Second")

    form = await continued(ana, form)

    assert values_of(form)["Subject"] == "First"
    assert values_of(await continued(ana, form))["Subject"] == "Second"


async def test_a_draft_is_its_users_for_a_day(office: Office, ana: Person, linked_ben: Person) -> None:
    await left(ana, "Only mine")
    assert OFFER not in text_of(await opened(linked_ben))
    form = await opened(ana)
    then = datetime.now(UTC) - timedelta(days=1)
    await office.bot.database.execute(update(SavedInputRow).values(created_at=then))

    await ana.press_in_form(form, "Continue draft")

    assert OFFER not in text_of(await ana.form_saying("New issue", "This draft has expired."))


@pytest.mark.parametrize(
    "subject", [f"Login broken by {COMMIT}", "Requires DonaudampfschifffahrtsgesellschaftV2"]
)
async def test_other_text_than_a_key_is_kept(ana: Person, subject: str) -> None:
    await left(ana, subject)

    form = await continued(ana, await opened(ana))

    assert values_of(form)["Subject"] == subject
    assert LEFT_OUT not in text_of(form)


async def test_a_key_that_was_typed_is_not_kept_and_that_is_said(office: Office, ana: Person) -> None:
    form = await opened(ana, '/issue new project:webshop desc:"The login fails"')
    await ana.type_into(form, "Subject", f"my key is {KEYS['ana']}")
    await office.idle()
    await ana.close(form)

    form = await continued(ana, await opened(ana, "/issue"))

    assert LEFT_OUT in text_of(form)
    assert not values_of(form)["Subject"]
    assert "The login fails" in values_of(form)["Description"]


async def test_typed_text_is_stored_once_the_user_pauses(office: Office, ana: Person) -> None:
    form = await opened(ana)
    for typed in ("B", "Bl", "Bla", "Blank"):
        await ana.type_into(form, "Subject", typed)
    await office.idle()
    await ana.close(form)

    assert "“Blank”" in text_of(await opened(ana))


async def test_a_continued_draft_finds_the_issue_that_it_may_have_created(wired: Person, wire: Wire) -> None:
    ana, tracker = wired, wired.office.tracker
    form = await opened(ana)
    await ana.type_into(form, "Subject", "Only once")
    await ana.office.idle()
    wire.fail("lose the answer", "POST /issues.json", lasting=True)
    await ana.submit(form, {"Subject": "Only once"})
    await ana.close(await ana.form_saying("New issue", "Check before you try again."))
    wire.heal()

    await ana.after(ana.submit(await continued(ana, await opened(ana)), {}))

    created = [issue for issue in tracker.data.issues.values() if issue.subject == "Only once"]
    assert len(created) == 1
