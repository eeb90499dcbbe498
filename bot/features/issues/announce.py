"""Announcing what was created where it was asked for, and taking that back."""

from bot.errors import UserError
from bot.features.issues import announcement_views as views
from bot.features.issues import views as issue_views
from bot.features.issues.issues import Created
from bot.slack import posting
from bot.slack.blocks import JSON
from bot.slack.posting import Announced
from bot.slack.replies import Reply
from bot.slack.interaction import (
    ButtonPress,
    Event,
    FormClosed,
    FormSubmission,
    OptionsRequest,
    Shortcut,
    SlashCommand,
    Place,
)
from bot.slack.forms import FormResult, number_in


def _caused_by(message: JSON) -> str | None:
    rows = (block.get("elements") or () for block in message.get("blocks") or ())
    buttons = (element for row in rows for element in row)
    return next((b.get("value") for b in buttons if b.get("action_id") == views.TAKE_BACK), None)


class Announcements:
    """TODO"""

    def __init__(
        self,
    ) -> None:
        pass

    async def take_back(self, press: ButtonPress, reply: Reply) -> None:
        """The button *Take back*. Everybody there sees it; whose message it is stands in the message itself."""
        message = reply.body.get("message") or {}
        if _caused_by(message) != views.written(reply.owner):
            raise UserError("Only who caused this message can take it back.")
        if not await posting.withdraw(reply.slack, reply.place, str(message.get("ts"))):
            raise UserError(
                "Slack doesn't say that the message is gone: if it still stands there, an administrator can "
                "delete it."
            )

    async def tell(self, reply: Reply, made: Created) -> None:
        """Announce a created issue where it was asked for, and tell the person what nobody else need know."""
        why_private = None if made.exposed else await self.announce(reply, made)
        if why_private or made.exposed or made.not_taken:
            await reply.privately(issue_views.created(made, reply.wording, why_private))

    async def announce(self, reply: Reply, made: Created) -> str | None:
        """Announce a created issue; why only the person is to know, when that is so."""
        if made.issue.is_private:
            return "the issue is private"
        if not made.public:
            return "the project is private, and others here may not be allowed to see it"
        announced = await reply.announce(issue_views.announced(made, reply.wording, reply.owner.user_id))
        return None if announced is Announced.YES else announced.value
