"""Announcing what was created where it was asked for, and taking that back."""

from bot.errors import UserError
from bot.features.issues import announcement_views as views
from bot.features.issues import views as issue_views
from bot.features.issues.issues import Created
from bot.slack import posting
from bot.slack.blocks import JSON
from bot.slack.posting import Announced
from bot.slack.turn import Turn


async def take_back(turn: Turn) -> None:
    """The button *Take back*. Everybody there sees it; whose message it is stands in the message itself."""
    message = turn.body.get("message") or {}
    if _caused_by(message) != views.written(turn.owner):
        raise UserError("Only who caused this message can take it back.")
    if not await posting.withdraw(turn.slack, turn.place, str(message.get("ts"))):
        raise UserError(
            "Slack doesn't say that the message is gone: if it still stands there, an administrator can "
            "delete it."
        )


def _caused_by(message: JSON) -> str | None:
    rows = (block.get("elements") or () for block in message.get("blocks") or ())
    buttons = (element for row in rows for element in row)
    return next((b.get("value") for b in buttons if b.get("action_id") == views.TAKE_BACK), None)


async def tell(turn: Turn, made: Created) -> None:
    """Announce a created issue where it was asked for, and tell the person what nobody else need know."""
    why_private = None if made.exposed else await announce(turn, made)
    if why_private or made.exposed or made.not_taken:
        await turn.answer(issue_views.created(made, turn.style, why_private))


async def announce(turn: Turn, made: Created) -> str | None:
    """Announce a created issue; why only the person is to know, when that is so."""
    if made.issue.is_private:
        return "the issue is private"
    if not made.public:
        return "the project is private, and others here may not be allowed to see it"
    announced = await turn.announce(issue_views.announced(made, turn.style, turn.owner.user_id))
    return None if announced is Announced.YES else announced.value
