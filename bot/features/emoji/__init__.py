"""An emoji that creates issues: `/tracker emoji :ticket:` turns it on for a channel."""
