"""Mentions of the bot and direct messages to it, read like commands."""
