"""The `/issue` command, above the features that it leads to."""
