"""Steps that workflows execute: for whom, how often, and with which texts."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.sandbox.tracker.data import Issue
from bot.sandbox.tracker.server import Tracker
from bot.slack.text.to_service import FORMATS, TextFormat, inert
from bot.timings import Delays
from tests.features.mentions.talking import deliver
from tests.support.office import Office
from tests.support.person import DM, Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, text_of
from tests.support.slackwire import SlackWire
from tests.support.wire import Wire

WANTED = {"project": "webshop", "subject": "Laptop is broken", "description": "It beeps"}


@pytest.fixture
def service() -> Tracker:
    return demo_tracker(issue_reads=True)


async def run(person: Person, step: str, **inputs: Any) -> JSON:
    """Executes a step for the person; returns its `outputs` or `error`."""
    started = await person._post("step", callback_id=step, inputs=inputs)
    await person.office.idle()
    ended = person.office.workspace.state.steps[started["execution"]]
    assert ended is not None
    return ended


def made(office: Office) -> list[Issue]:
    return [one for one in office.tracker.data.issues.values() if one.subject == WANTED["subject"]]


async def test_a_step_creates_an_issue_in_silence(office: Office, ana: Person, linked_ben: Person) -> None:
    before = await ana.messages()

    ended = await run(linked_ben, "create_issue", **WANTED, tracker="support", priority="high")

    [issue] = made(office)
    assert ended == {"outputs": {"issue_number": issue.id, "issue_link": office.link_to(issue)}}
    data = office.tracker.data
    assert data.users[issue.author_id].login == "ben"
    assert data.trackers[issue.tracker_id].name == "Support"
    assert data.priorities[issue.priority_id].name == "High"
    assert await ana.messages() == before


async def test_a_step_comments_on_an_issue(office: Office, ana: Person) -> None:
    for named in ("12", "#12", office.link_to(office.tracker.data.issues[12])):
        ended = await run(ana, "comment_on_issue", issue=named, text=f"Seen by {named}")
        assert ended["outputs"]["issue_number"] == 12
        assert office.tracker.data.issues[12].notes[-1].text.startswith("Seen by")


@pytest.mark.parametrize(
    ("step", "inputs", "expected"),
    [
        ("create_issue", WANTED | {"project": "nosuch"}, "nosuch"),
        ("create_issue", WANTED | {"project": ""}, "has no project"),
        ("create_issue", WANTED | {"subject": " "}, "subject"),
        ("create_issue", WANTED | {"priority": "nosuch"}, "nosuch"),
        ("comment_on_issue", {"issue": "the last one", "text": "Hi"}, "has no issue number"),
        ("comment_on_issue", {"issue": "99999", "text": "Hi"}, "99999"),
        ("comment_on_issue", {"issue": "12", "text": ""}, "has no comment"),
        ("comment_on_issue", {"issue": "https://elsewhere.example/issues/1", "text": "Hi"}, "link"),
    ],
)
async def test_a_step_that_cannot_be_done_fails_with_a_sentence(
    office: Office, ana: Person, step: str, inputs: JSON, expected: str
) -> None:
    ended = await run(ana, step, **inputs)

    assert expected in ended["error"]
    assert made(office) == []


@pytest.mark.parametrize("claimed", ["U0ANA0001", {"id": "U0ANA0001"}, {"secret": "x"}, None, ["U0ANA0001"]])
async def test_only_slack_says_for_whom_a_step_runs(office: Office, ana: Person, claimed: Any) -> None:
    ended = await run(ana, "create_issue", **WANTED, act_as=claimed)

    assert "who this step acts for" in ended["error"]
    assert made(office) == []


async def test_a_context_in_an_input_of_another_type_is_refused(office: Office, ana: Person) -> None:
    context = {"id": ana.user_id, "secret": "x"}
    declared = [{"type": "object", "name": "act_as"}]
    office.workspace.state.steps["Fx1"] = None

    await deliver(
        office,
        "function_executed",
        function={"callback_id": "create_issue", "input_parameters": declared},
        inputs=WANTED | {"act_as": context},
        function_execution_id="Fx1",
    )

    assert "who this step acts for" in (office.workspace.state.steps["Fx1"] or {})["error"]
    assert made(office) == []


async def test_an_unlinked_person_gets_link_account_and_the_step_fails(office: Office, ben: Person) -> None:
    ended = await run(ben, "create_issue", **WANTED)

    assert "in the direct message I sent you" in ended["error"]
    message = await ben.sees(lambda m: "Link account" in text_of(m), DM)
    assert "workflow" in text_of(message)
    assert made(office) == []


@pytest.mark.parametrize("change", [{"is_bot": True}, {"team_id": "T0OTHER"}])
async def test_bots_and_outsiders_are_not_asked_to_link(office: Office, change: JSON) -> None:
    users, stranger = office.workspace.state.users, Person(office, "U0GWEN001")
    users[stranger.user_id] = replace(users[stranger.user_id], **change)

    ended = await run(stranger, "create_issue", **WANTED)

    assert "Only people in this company" in ended["error"]
    assert await stranger.direct() == []


async def test_a_step_does_nothing_for_someone_who_has_left(office: Office, linked_ben: Person) -> None:
    await run(linked_ben, "create_issue", **WANTED)
    office.workspace.state.users[linked_ben.user_id].is_deactivated = True  # without Slack's event

    await run(linked_ben, "create_issue", **WANTED)

    assert len(made(office)) == 1


async def test_the_subject_is_plain_text(office: Office, ana: Person) -> None:
    written = "Access for <@U0BEN0001> &amp; <https://x.example|the *till*>"

    await run(ana, "create_issue", **WANTED | {"subject": written})

    assert office.newest_issue().subject == "Access for @Ben Okafor & the *till*"


async def executed(
    office: Office, person: Person, execution: str, step: str = "create_issue", **inputs: str
) -> None:
    """Delivers an execution as an event of its own."""
    declared = [{"type": "slack#/types/user_context", "name": "act_as"}]
    office.workspace.state.steps.setdefault(execution, None)
    await deliver(
        office,
        "function_executed",
        function={"callback_id": step, "input_parameters": declared},
        inputs=(inputs or WANTED) | {"act_as": {"id": person.user_id, "secret": "x"}},
        function_execution_id=execution,
    )


async def test_a_repeated_execution_creates_nothing_twice(office: Office, ana: Person) -> None:
    await asyncio.gather(*(executed(office, ana, "Fx1") for _ in range(3)))
    assert len(made(office)) == 1

    await executed(office, ana, "Fx2")
    assert len(made(office)) == 2


COMMENTED = {"issue": "12", "text": "Seen"}


@pytest.mark.parametrize(("step", "inputs"), [("create_issue", WANTED), ("comment_on_issue", COMMENTED)])
async def test_a_step_without_an_answer_is_done_once(tmp_path: Path, step: str, inputs: JSON) -> None:
    wire, delays = SlackWire(), Delays(lookups=(0.05, 0.1))
    async with Office(
        tmp_path, tracker=demo_tracker(issue_reads=True), slack_wire=wire, delays=delays, may_crash=True
    ).opened("ana") as office:
        ana, ended = Person(office, "U0ANA0001"), office.workspace.state.steps
        wire.lasting = {"functions.completeSuccess": "503 before it"}
        await executed(office, ana, "Fx1", step, **inputs)
        assert ended == {"Fx1": None}

        wire.lasting = {}
        await executed(office, ana, "Fx1", step, **inputs)

        done = [one.id for one in made(office)]
        done += [12 for note in office.tracker.data.issues[12].notes if note.text == "Seen"]
        assert [(ended["Fx1"] or {})["outputs"]["issue_number"]] == done


@pytest.mark.parametrize("live", ["https://evil.example", "HTTPS://evil.example", "www.evil", "WWW.evil"])
async def test_a_strangers_link_is_no_link_in_a_comment(office: Office, ana: Person, live: str) -> None:
    await run(ana, "comment_on_issue", issue="12", text=f"See {live} for more")

    written = office.tracker.data.issues[12].notes[-1].text
    assert live not in written
    assert live in written.replace("\u200b", "")


@pytest.mark.parametrize("text_format", ["markdown", "textile"])
def test_a_strangers_text_mentions_and_links_nothing(text_format: TextFormat) -> None:
    live = "@ana #12 https://evil.example www.evil.example [[Wiki]] {{include(x)}} user:ana <!channel>"

    text = inert(live, str, FORMATS[text_format])

    for each in ("@ana", "#12", "://", "www.", "[[", "{{", "user:ana", "<!"):
        assert each not in text
    assert text.replace("\u200b", "").count("evil.example") == 2


async def test_a_service_that_is_down_is_a_sentence(wired: Person, wire: Wire) -> None:
    wire.fail("429", lasting=True)

    ended = await run(wired, "create_issue", **WANTED)

    assert "Tracker" in ended["error"]


async def test_an_uncertain_comment_asks_to_be_checked(wired: Person, wire: Wire) -> None:
    wire.fail("lose the answer", "PUT /issues", lasting=True)

    ended = await run(wired, "comment_on_issue", issue="12", text="Seen")

    assert "Check #12 before you try again." in ended["error"]
