"""How the form offers to include a thread."""

from bot.features.new_issue.thread import FIELD, OfferedThread, Unread
from bot.slack import forms
from bot.slack.blocks import Block, context
from bot.slack.text import prose


def thread_field(offered: OfferedThread) -> Block:
    """The checkbox, or what to do so that the bot can read the thread."""
    if offered.unread:
        return context(prose(_how_to_include(offered.unread, offered.scope)))
    many = f"{offered.total} messages" if offered.total > 1 else "All messages"
    box = forms.checkbox(FIELD, "Include the thread", checked=False)
    return forms.field(FIELD, "Thread", box, hint=f"{many}, with their authors, times, and files")


def _how_to_include(why: Unread, scope: str) -> str:
    """What to do so that the bot can read a thread, in plain text."""
    match why:
        case Unread.SCOPE:
            return f"To include the thread, ask an administrator to grant me the scope `{scope}`."
        case Unread.DIRECT:
            return "I can't read direct messages between people. Copy what matters into the description."
        case _:
            return "To include the thread, invite me with `/invite @Issue Bot` and open this form again."
