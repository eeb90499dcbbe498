"""`python -m bot` is the same program as `issuebot`."""

from bot.cli import main

main()
