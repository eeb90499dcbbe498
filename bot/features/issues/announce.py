"""Announces a created issue in the conversation where it was requested."""

from bot.features.issues import views
from bot.features.issues.issues import Created
from bot.slack.posting import Announced
from bot.slack.replies import Reply


async def announce_and_confirm(reply: Reply, made: Created) -> None:
    """Announce a created issue if everyone may see it, and tell the user privately what they need to know."""
    announced = None
    if made.public:
        announced = await reply.announce(views.announced(made, reply.wording, (await reply.profile()).name))
    if announced is not Announced.YES or made.changes:
        await reply.privately(views.created(made, reply.wording, announced))
