"""Runs the bot like `issuebot run`, with the timings given as JSON in the first argument."""

import asyncio
import json
import sys
from dataclasses import asdict

from bot import app, config, telemetry
from bot.timings import Timings

HASTY = Timings(interval=1, heartbeat_timeout=6, longest_post=4, look_up_after=1)
"""Short enough that a test can wait for crash recovery."""


def command(timings: Timings = HASTY) -> tuple[str, ...]:
    """Returns the command line that starts the bot with these timings."""
    return (sys.executable, "-m", "tests.support.hasty", json.dumps(asdict(timings)))


if __name__ == "__main__":
    settings = config.load()
    telemetry.configure(settings.log_format, settings.log_level, settings.secrets)
    sys.exit(asyncio.run(app.run(settings, Timings(**json.loads(sys.argv[1])))))
