"""What rows of typed text leave behind: all that a person can write with the bot, and the messages."""

import sqlite3

from tests.support.office import Office


def written(office: Office) -> str:
    """Everything that a person can write with the bot, in the tracker and in the bot's database."""
    data = office.tracker.data
    with sqlite3.connect(office.directory / "bot.db") as bot:
        tables = ("channels", "issue_templates", "digests")
        rows = [bot.execute(f"SELECT * FROM {table}").fetchall() for table in tables]  # noqa: S608 - constant names
        rows += [bot.execute("SELECT count(*) FROM followed_issues").fetchall()]
    return repr((data.issues, data.time_entries, data.projects, data.users.keys(), rows))


def forget_messages(office: Office) -> None:
    """Empties all conversations: the page sends all messages each time, which costs more with each row."""
    for messages in office.workspace.state.messages.values():
        messages.clear()
