"""Searches of issues."""
