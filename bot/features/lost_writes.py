"""A write whose answer never came: how long, and how far back, one looks for what it may have made."""

from datetime import timedelta

CLOCK_SKEW = timedelta(minutes=5)
"""How far the service's clock may be behind ours."""
LOOKS = (0.2, 1.5)
"""Seconds to wait before each look: the service may still be at work."""
