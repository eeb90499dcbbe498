"""Taking back what was announced in a conversation."""

from bot.errors import UserError
from bot.slack import posting
from bot.slack.turn import Turn
from bot.slack.views import announcements as views


async def take_back(turn: Turn) -> None:
    """The button *Take back*. Everybody there sees it; the message is the bot's own, so its value holds."""
    caused_by = str(turn.action.get("value") or "")
    if caused_by != views.written(turn.owner):
        raise UserError("Only who caused this message can take it back.")
    container = turn.body.get("container") or {}
    if not await posting.withdraw(turn.slack, turn.place, str(container.get("message_ts") or "")):
        raise UserError("Slack didn't take the message back: an administrator can delete it.")
