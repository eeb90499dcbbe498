"""Announces a created issue in the conversation where it was requested."""

from bot.features.issues import views
from bot.features.issues.issues import Created
from bot.slack.posting import Announced
from bot.slack.replies import Reply
from bot.slack.sentences import NOT_ANNOUNCED


async def announce_and_confirm(reply: Reply, made: Created) -> None:
    """Announce a created issue, and send the user privately any changed values and warnings."""
    why_private = None if made.exposed else await announce(reply, made)
    if why_private or made.exposed or made.changed_values:
        await reply.privately(views.created(made, reply.wording, why_private))


async def announce(reply: Reply, made: Created) -> str | None:
    """Announce a created issue; returns the reason if it wasn't announced."""
    if made.issue.is_private:
        return "the issue is private"
    if not made.public:
        return "the project is private, and others here may not be allowed to see it"
    announced = await reply.announce(views.announced(made, reply.wording, reply.owner.user_id))
    return None if announced is Announced.YES else NOT_ANNOUNCED[announced]
