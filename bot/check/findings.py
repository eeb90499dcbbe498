"""What is found about a variable, and how it is said."""

import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

CLOCK_SKEW = 60
"""Seconds that this machine's clock may be wrong: Slack's requests are refused from five minutes on."""


@dataclass(frozen=True)
class Finding:
    """What was found about a variable: fine, or wrong with how to mend it."""

    name: str
    sentence: str
    fine: bool

    def __str__(self) -> str:
        return f"{'ok   ' if self.fine else 'wrong'} {self.name}: {self.sentence}"


def fine(name: str, sentence: str) -> Finding:
    """Nothing is to be done about this variable."""
    return Finding(name, sentence, fine=True)


def wrong(name: str, sentence: str) -> Finding:
    """The sentence says what is to be done."""
    return Finding(name, sentence, fine=False)


def clock(whose: str, date: str | None) -> Finding | None:
    """What an answer's `Date` header says of this machine's clock; None where that is nothing bad."""
    try:
        ahead = round(time.time() - parsedate_to_datetime(date or "").timestamp())
    except ValueError:
        return None
    if abs(ahead) <= CLOCK_SKEW:
        return None
    way = "ahead of" if ahead > 0 else "behind"
    return wrong("clock", f"this machine's is {abs(ahead)} s {way} {whose}: set it, best with NTP on both")
