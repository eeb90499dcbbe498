"""Digests: posts of what is new, due, stale or closed in a project, and messages about one's own issues."""
