"""What all the handlers of digests answer with: the channel's list, and notices to owners."""

from bot.features.digests import views
from bot.features.digests.buttons import Act
from bot.features.digests.channels import channel_of
from bot.features.digests.digests import Digests
from bot.slack.blocks import Message
from bot.slack.interaction import ButtonPress
from bot.slack.replies import Reply
from bot.store.digests import Digest


async def show_list(
    reply: Reply, digests: Digests, said: Message | None = None, *, replace: bool = False
) -> None:
    """Show the channel's digests below `said`, the result of the last action."""
    found = await digests.listed(channel_of(reply))
    await reply.privately(views.listing(found, reply.owner, reply.wording, said), replace=replace)


async def notify_owner(reply: Reply, digest: Digest, act: Act) -> None:
    """Tell a digest's owner what someone else did with it."""
    if digest.owner != reply.owner:
        message = views.owner_notice(digest, reply.owner.user_id, act)
        await reply.platform.outbox.tell(digest.owner, message)


def ephemeral(reply: Reply) -> bool:
    """Whether the pressed button is in a message that only this user sees."""
    return isinstance(reply.interaction, ButtonPress) and reply.interaction.ephemeral
