"""The result of a check, and how it is printed."""

import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

CLOCK_SKEW = 60
"""How many seconds this machine's clock may be off: Slack's requests fail from five minutes on."""


@dataclass(frozen=True)
class Finding:
    name: str
    sentence: str
    fine: bool

    def __str__(self) -> str:
        return f"{'ok   ' if self.fine else 'error'} {self.name}: {self.sentence}"


def fine(name: str, sentence: str) -> Finding:
    return Finding(name, sentence, fine=True)


def wrong(name: str, sentence: str) -> Finding:
    """Return a failed finding; `sentence` says how to fix it."""
    return Finding(name, sentence, fine=False)


def clock(whose: str, date: str | None) -> Finding | None:
    """Compare this machine's clock with a response's `Date` header; None if they agree or there is none."""
    try:
        ahead = round(time.time() - parsedate_to_datetime(date or "").timestamp())
    except ValueError:
        return None
    if abs(ahead) <= CLOCK_SKEW:
        return None
    way = "ahead of" if ahead > 0 else "behind"
    return wrong("clock", f"This machine's clock is {abs(ahead)} s {way} {whose}. Sync both with NTP.")
