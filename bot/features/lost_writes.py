"""How long and how far back to look for the result of a write whose response was lost."""

from collections.abc import Sequence
from datetime import timedelta

CLOCK_SKEW = timedelta(minutes=5)
"""How far the service's clock may be behind the bot's."""
LOOKS: Sequence[float] = (0.2, 1.5)
"""Delays in seconds before each look, since the service may still be processing the write."""
