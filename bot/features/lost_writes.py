"""How far back to look for the result of a write whose response was lost."""

from datetime import timedelta

CLOCK_SKEW = timedelta(minutes=5)
"""How far the service's clock may be behind the bot's."""
