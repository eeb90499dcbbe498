"""Announcing a created issue where it was asked for."""

from bot.features.issues import views
from bot.features.issues.issues import Created
from bot.slack.posting import Announced
from bot.slack.replies import Reply


async def tell(reply: Reply, made: Created) -> None:
    """Announce a created issue where it was asked for, and tell the person what nobody else needs to know."""
    why_private = await announce(reply, made)
    if why_private or made.not_taken:
        await reply.privately(views.created(made, reply.wording, why_private))


async def announce(reply: Reply, made: Created) -> str | None:
    """Announce a created issue; why only the person is told, when that is so."""
    if made.issue.is_private:
        return "the issue is private"
    if made.meant_private:
        return f"you asked for a private issue, and {reply.wording.service} didn't make it one"
    if not made.public:
        return "the project is private, and others here may not be allowed to see it"
    announced = await reply.announce(views.announced(made, reply.wording, reply.owner.user_id))
    return None if announced is Announced.YES else announced.value
