"""Attaching files to issues: those of the user's computer, and those of Slack messages."""
