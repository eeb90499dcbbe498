"""The bot as `issuebot run`, with timings so short that a test sees what happens after a crash."""

import asyncio
import sys

from bot import app, config, telemetry
from bot.timings import Timings

TIMINGS = Timings(interval=1, heartbeat_timeout=6, longest_post=4, look_up_after=1)

if __name__ == "__main__":
    settings = config.load()
    telemetry.configure(settings.log_format, settings.log_level, settings.secrets)
    sys.exit(asyncio.run(app.run(settings, TIMINGS)))
