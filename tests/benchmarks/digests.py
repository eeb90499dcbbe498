"""Many digests of two hundred projects and twenty owners, due at the same time: requests and duration.

    python -m tests.benchmarks.digests

posts as many as each line of standard input says, and prints the result. The local Slack enforces Slack's
rate limits: 300 messages a minute per workspace, so a thousand take at least 200 seconds. Service, Slack and
bot share one process.
"""

import asyncio
import json
import sys
import time
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import SecretStr

from bot import telemetry
from bot.app import Bot
from bot.config import Settings
from bot.sandbox.people import PEOPLE
from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import Data, Issue, Project, User, free_id, put
from bot.sandbox.tracker.server import Tracker
from bot.sandbox.workspace.model import Channel
from bot.sandbox.workspace.server import Workspace
from bot.slack.manifest import manifest
from bot.store.digest_plans import Plan
from bot.store.digests import Start
from bot.store.owner import Owner
from bot.store.vault import Vault
from tests.benchmarks.processes import running
from tests.benchmarks.table import Row

PROJECTS, OWNERS, CHANNELS, ISSUES = 200, 20, 200, 600
TEAM = "T0HARBOR01"
A_MINUTE = 300
HOUR = timedelta(hours=1)
ADDED_A_SECOND = 50  # a low estimate: all of them must exist before they are due


async def rows(directory: Path, count: int) -> list[Row]:
    """Posts this many at once, in a separate process."""
    async with running(directory, "tests.benchmarks.digests") as side:
        told = await side.ask(str(count), 60 + 2 * count)
    assert told["posted"] == count, told
    assert not told["violations"], told
    name = f"{count} digests due at once"
    return [
        Row(f"{name}, beside what Slack's rates force", told["seconds"], told["forced"], "s"),
        Row(f"{name}: requests to the service", told["requests"], None, "requests"),
        Row(f"{name}: CPU, service and Slack with it", told["cpu"], None, "s"),
    ]


def company(users: int, projects: int) -> Data:
    """Returns data where everyone is in every project."""
    data = defaults.fresh()
    for number in range(1, users + 1):
        mail = f"u{number}@x.example"
        put(data.users, User(number, f"u{number}", "User", str(number), mail, f"key-{number}"))
    for number in range(1, projects + 1):
        project = Project(number, f"Project {number}", f"p{number}", tracker_ids=(defaults.BUG,))
        put(data.projects, project)
        for user in data.users.values():
            data.join(project, user, defaults.DEVELOPER)
    return data


def reported(data: Data, author: int, project: int, subject: str, at: datetime) -> Issue:
    """Adds an open bug."""
    number = free_id(data.issues)
    issue = Issue(number, project, defaults.BUG, defaults.NEW, defaults.NORMAL, author, subject)
    issue.created_on = issue.updated_on = at
    return put(data.issues, issue)


def busy_company(now: datetime) -> Data:
    """Returns a company whose projects all have recent issues."""
    data = company(OWNERS, PROJECTS)
    for number in range(ISSUES):
        at = now - timedelta(minutes=30) + timedelta(seconds=number)
        project = number % PROJECTS + 1
        reported(data, number % OWNERS + 1, project, f"Something is broken in {project}", at)
    return data


async def add_digests(bot: Bot, now: datetime, count: int) -> None:
    """Adds digests that are all due now, an hour after their last run."""
    for number in range(1, OWNERS + 1):
        owner = Owner(None, TEAM, f"U{number}")
        await bot.store.links.put(owner, SecretStr(f"key-{number}"), number, f"User {number}")
    for number in range(count):
        await bot.store.digests.add(
            Owner(None, TEAM, f"U{number % OWNERS + 1}"),
            "User",
            f"C{number % CHANNELS:09}",
            Plan(
                project_id=number % PROJECTS + 1,
                project=f"Project {number % PROJECTS + 1}",
                schedule=f"daily {now:%H:%M}",
                zone="UTC",
            ),
            next_due=now,
            start=Start(covered_to=now - HOUR),
            now=now - HOUR,
        )


def requests() -> dict[str, int]:
    """Returns the requests to the service so far, by operation."""
    return {
        sample.labels["operation"]: int(sample.value)
        for metric in telemetry.SERVICE_REQUESTS.collect()
        for sample in metric.samples
        if sample.name.endswith("_total")
    }


async def measure(count: int) -> dict[str, Any]:
    """Runs the benchmark once and returns its results."""
    telemetry.configure("console", "warning")
    now = (datetime.now(UTC) + timedelta(seconds=5 + count / ADDED_A_SECOND)).replace(microsecond=0)
    async with AsyncExitStack() as closing:
        directory = closing.enter_context(TemporaryDirectory())
        tracker = Tracker(busy_company(now))
        await tracker.start()
        closing.push_async_callback(tracker.stop)
        workspace = Workspace(manifest=manifest("socket"), people=PEOPLE)
        for number in range(CHANNELS):
            name = f"C{number:09}"
            members = {workspace.state.app.bot_user_id}
            workspace.state.add_channel(Channel(name, name.lower(), "channel", members))
        await workspace.start(port=0)
        closing.push_async_callback(workspace.stop)
        bot = Bot(
            Settings(
                slack_bot_token=SecretStr(workspace.bot_token),
                slack_app_token=SecretStr(workspace.app_token),
                slack_api_url=workspace.api_url,
                service_base_url=tracker.url,
                database_url=f"sqlite:///{Path(directory) / 'bot.db'}",
                encryption_keys=(Vault.generate_key(),),
                host="127.0.0.1",
                port=0,
            )
        )
        await bot.start()
        closing.push_async_callback(bot.stop, 5)
        await add_digests(bot, now, count)

        def posts() -> int:
            return sum(bool(m.metadata) for those in workspace.state.messages.values() for m in those)

        while datetime.now(UTC) < now:
            await asyncio.sleep(0.05)
        cpu, started = time.process_time(), time.monotonic()
        forced = count / A_MINUTE * 60
        while posts() < count and time.monotonic() - started < 3 * forced:
            await asyncio.sleep(0.1)
        return {
            "posted": posts(),
            "seconds": time.monotonic() - started,
            "forced": forced,
            "requests": sum(requests().values()),
            "cpu": time.process_time() - cpu,
            "violations": len(workspace.violations),
        }


def main() -> None:
    for line in sys.stdin:
        sys.stdout.write(json.dumps(asyncio.run(measure(int(line)))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
