"""The bot as `issuebot run`, with waits so short that a test sees what happens after them."""

from datetime import timedelta

from bot import scheduler
from bot.cli import main
from bot.slack import abandoned
from bot.store import unfinished
from bot.usecases import digest_clock, digest_delivery

if __name__ == "__main__":
    digest_clock.LEASE = timedelta(seconds=3)
    digest_delivery.LONGEST_POST = 1.0
    digest_delivery.LOOK_AFTER = timedelta(seconds=1)
    scheduler.SECONDS = 1
    unfinished.UNHEARD = timedelta(seconds=6)
    abandoned.SECONDS = 1
    main()
