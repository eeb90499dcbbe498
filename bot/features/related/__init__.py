"""Issues that a message may be about."""
