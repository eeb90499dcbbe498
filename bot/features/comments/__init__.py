"""Comments on issues, also such that add a Slack message."""
