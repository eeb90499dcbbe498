"""Cards below links to issues."""
