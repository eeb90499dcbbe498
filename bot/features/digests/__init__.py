"""Digests: posts of a project's new, due, stale, closed or changed issues, and messages about one's own."""
