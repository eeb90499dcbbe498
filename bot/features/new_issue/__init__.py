"""The form for a new issue."""
