"""The bot as an operator sees it: metrics, logs, progress and shutdown."""

import asyncio
import io
import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import text

from bot import telemetry
from bot.sandbox.tracker.server import Tracker
from bot.store.channels import Channel
from bot.store.plans import Group
from bot.timings import Timings
from tests.support.bot_process import SECONDS_TO_STOP, Apart, BotProcess, apart
from tests.support.digesting import ANA, requested_plan
from tests.support.office import TEAM, Office
from tests.support.person import Person
from tests.support.reading import JSON, STILL_WORKING, text_of, until, until_so
from tests.support.slackwire import SlackWire
from tests.support.wire import Wire
from tests.support.work import run_due_after

Metrics = dict[str, dict[str, float]]

OPERATIONS = (Path(__file__).parents[1] / "docs" / "operations.md").read_text(encoding="utf-8")
LISTED = re.findall(r"^\| `(issuebot_\w+)` \|", OPERATIONS, re.MULTILINE)
TYPED = "Blueberries"


async def metrics(office: Office) -> Metrics:
    """The values that `/metrics` returns, by name and labels."""
    async with office.http.get(f"http://127.0.0.1:{office.bot.port}/metrics") as answer:
        body = await answer.text()
    values: Metrics = defaultdict(dict)
    for family in text_string_to_metric_families(body):
        for sample in family.samples:
            values[sample.name][json.dumps(sample.labels, sort_keys=True)] = sample.value
    return values


def of(values: Metrics, name: str) -> dict[str, float]:
    """A metric's values; for a histogram, its counts."""
    return values.get(name) or values.get(f"{name}_count") or {}


async def digests_due(office: Office, *groups: Group) -> asyncio.Task[None]:
    """Add digests that are due in one channel; returns the task that posts them."""
    for group in groups:
        plan = requested_plan("webshop", group=group, empty=True)
        await office.digests.add(ANA, Channel(TEAM, office.channel_id("general")), plan)
    return asyncio.create_task(run_due_after(office, timedelta(hours=1)))


async def one_moment(person: Person) -> bool:
    return any(text_of(message) == STILL_WORKING for message in await person.messages())


@pytest.fixture
def log(wired: Person) -> Callable[[], list[JSON]]:  # noqa: ARG001 - the bot sets log levels when it starts
    """The lines that the bot has logged since."""
    stream = io.StringIO()
    telemetry.configure("json", "debug", stream=stream)
    return lambda: [json.loads(line) for line in stream.getvalue().splitlines()]


async def test_documented_metrics_have_no_user_input(service: Tracker, wire: Wire, tmp_path: Path) -> None:
    slack_wire = SlackWire()
    async with Office(tmp_path, tracker=service, wire=wire, slack_wire=slack_wire).opened("ana") as office:
        looks = [await metrics(office)]

        async def shows(name: str, value: float) -> bool:
            looks.append(await metrics(office))
            return of(looks[-1], name) == {"{}": value}

        def moved() -> set[str]:
            return {name for name in LISTED for look in looks if of(look, name) != of(looks[0], name)}

        wire.fail("slow", lasting=True)
        wire.seconds = 60
        asking = asyncio.create_task(Person(office, ANA.user_id).ask(f"/issues {TYPED} status:any"))
        await until(lambda: shows("issuebot_tasks_in_flight", 1))
        wire.heal()
        wire.released.set()
        await asking
        await office.idle()
        slack_wire.lasting = {"chat.postMessage": "slow:30"}
        posting = await digests_due(office, "tracker", "priority")
        await until(lambda: shows("issuebot_digests_waiting", 2))
        slack_wire.released.set()
        await posting
        assert await shows("issuebot_digests_waiting", 0)

    assert moved() == set(LISTED) - {"issuebot_build_info"}
    assert of(looks[0], "issuebot_build_info")
    assert {"process_cpu_seconds_total", "process_resident_memory_bytes", "python_info"} <= looks[0].keys()
    assert TYPED not in str(looks)


@pytest.mark.parametrize("outcome", ["SwitchedOff", "failed"])
async def test_failed_events_are_counted_and_logged(
    wired: Person, wire: Wire, log: Callable[[], list[JSON]], outcome: str
) -> None:
    labels = json.dumps({"name": "event:link_shared", "outcome": outcome})
    before = of(await metrics(wired.office), "issuebot_commands_total").get(labels, 0)
    if outcome == "failed":
        wired.office.may_crash = True
        await wired.office.bot.database.write(lambda connection: connection.execute(text("drop table links")))
    wire.fail("forbid", lasting=True)

    await wired.say(f"See {wire.url}/issues/1")

    async def counted() -> bool:
        return of(await metrics(wired.office), "issuebot_commands_total").get(labels) == before + 1

    await until(counted)
    done = [line for line in log() if line.get("action") == "event:link_shared" and "outcome" in line]
    assert [(line["outcome"], line["team"], line["user"]) for line in done] == [(outcome, TEAM, "U0ANA0001")]


async def test_log_lines_of_a_request_share_a_reference(wired: Person, log: Callable[[], list[JSON]]) -> None:
    await wired.ask("/issues status:any")
    await (await digests_due(wired.office, "tracker"))

    lines = log()
    command, digest = (
        next(line for line in lines if line.get("action") == name and "outcome" in line)
        for name in ("command:/issues", "digest.run")
    )
    assert {"outcome", "ms", "team", "user"} <= command.keys()
    assert {"digest", "due", "outcome", "late_s", "ms", "team", "user"} <= digest.keys()
    for end in (command, digest):
        on_the_way = [line for line in lines if line.get("reference") == end["reference"]]
        assert "service.answered" in {line["action"] for line in on_the_way}


async def _types(person: Person, _: JSON) -> None:
    await person.command("/issues status:any")


async def _presses(person: Person, results: JSON) -> None:
    await person.press(results, "Next ›")


@pytest.mark.parametrize("does", [_types, _presses])
async def test_a_slow_service_is_reported_to_the_user_once(
    wired: Person, wire: Wire, does: Callable[[Person, JSON], Awaitable[None]]
) -> None:
    results = await wired.ask("/issues status:any")
    wired.office.wait(still_working=0.05)
    wire.seconds = 60
    wire.fail("slow", lasting=True)
    await does(wired, results)
    await until(lambda: one_moment(wired))
    before = len(await wired.messages())

    answer = await wired.after(asyncio.to_thread(wire.released.set))

    assert "recently updated first" in text_of(answer)
    messages = await wired.messages()
    assert len(messages) == before + (does is _types)
    assert [text_of(message) for message in messages].count(STILL_WORKING) == 1


async def test_a_slow_form_shows_progress(wired: Person, wire: Wire) -> None:
    wired.office.wait(still_working=0.05)
    await wired.shortcut("create_issue")
    form = await wired.form("New issue")
    wire.seconds = 0.3
    wire.fail("slow")
    await wired.choose(form, "Project", "Web Shop")

    await until_so(lambda: not len(wired.office.bot.in_flight))

    assert wire.full_waits == 1
    assert not await one_moment(wired)


async def test_a_bot_whose_database_refuses_writes_is_not_ready(tmp_path: Path) -> None:
    timings = Timings(interval=0.1, heartbeat_timeout=1)
    async with Office(tmp_path, timings=timings).opened() as office:

        async def ready() -> JSON:
            async with office.http.get(f"http://127.0.0.1:{office.bot.port}/readyz") as answer:
                result: JSON = await answer.json()
                return result | {"status": answer.status}

        assert (await ready())["database"]
        with closing(sqlite3.connect(tmp_path / "bot.db", isolation_level=None)) as database:
            database.execute(
                "create trigger full before update on processes"
                " begin select raise(fail, 'database or disk is full'); end"
            )
            await until(lambda: _is(ready, database=False, ready=False, status=503))

            database.execute("drop trigger full")
            await until(lambda: _is(ready, database=True, ready=True, status=200))


async def _is(look: Callable[[], Awaitable[JSON]], **expected: object) -> bool:
    return expected.items() <= (await look()).items()


async def test_a_bot_that_slack_refuses_logs_it(tmp_path: Path) -> None:
    variables = {"SLACK_BOT_TOKEN": "xoxb-refused"}
    async with Apart(tmp_path, variables=variables).opened() as office:
        bot = BotProcess(office)
        starting = asyncio.create_task(bot.start())  # which ends when the bot is ready
        await until_so(lambda: bot.alive and "dependency unreachable" in bot.printed)
        starting.cancel()
        await bot.end()

        assert re.search("dependency unreachable.*invalid_auth.*slack", bot.printed)


async def test_a_draining_bot_is_not_ready_but_still_answers(tmp_path: Path) -> None:
    office = Apart(tmp_path, transport="http")
    async with apart(office) as bot:
        ana = Person(office, "U0ANA0001")
        bot.process.terminate()
        await until(lambda: _draining(bot))

        assert "/issues to:me" in text_of(await ana.ask("/tracker help"))
        assert "bot.stopped" not in bot.printed

        assert await asyncio.wait_for(bot.process.wait(), SECONDS_TO_STOP) == 0
        assert "bot.stopped" in bot.printed
        assert "Traceback" not in bot.printed
    assert office.violations() == []


async def _draining(bot: BotProcess) -> bool:
    return not await bot.is_ready()
