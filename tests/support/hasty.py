"""The bot as `issuebot run`, with the timings, as JSON, that the first argument says."""

import asyncio
import json
import sys
from dataclasses import asdict

from bot import app, config, telemetry
from bot.timings import Timings

HASTY = Timings(interval=1, heartbeat_timeout=6, longest_post=4, look_up_after=1)
"""So short that a test sees what happens after a crash."""


def command(timings: Timings = HASTY) -> tuple[str, ...]:
    """What starts it."""
    return (sys.executable, "-m", "tests.support.hasty", json.dumps(asdict(timings)))


if __name__ == "__main__":
    settings = config.load()
    telemetry.configure(settings.log_format, settings.log_level, settings.secrets)
    sys.exit(asyncio.run(app.run(settings, Timings(**json.loads(sys.argv[1])))))
