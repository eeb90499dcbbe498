"""In which channels digests may be, and who may act on them there."""

from enum import Enum, auto

from bot.errors import UserError
from bot.features.digests.digests import Digests
from bot.slack.audience import is_member, shared_outside
from bot.slack.interaction import FormSubmission
from bot.slack.posting import NO_ACCESS, OUTCOME_UNKNOWN, SLACK_FAILED, reason
from bot.slack.replies import Reply
from bot.store.channels import Channel
from bot.store.digests import Digest


class ChannelProblem(Enum):
    NONE_CHOSEN = auto()
    OUTSIDE_ANY_CHANNEL = auto()
    SLACK_UNREACHABLE = auto()
    BOT_NOT_INVITED = auto()
    ARCHIVED = auto()
    READERS_UNKNOWN = auto()
    SHARED_OUTSIDE = auto()
    USER_NOT_A_MEMBER = auto()
    NO_DIRECT_MESSAGES = auto()


class ChannelRefused(UserError):
    """A digest can't be posted in this channel, or not by this user."""

    why: ChannelProblem


async def digest_channel(reply: Reply, channel_id: str | None) -> Channel:
    """The channel, if digests may be posted there. Raises ChannelRefused."""
    if channel_id is None:
        raise ChannelRefused(ChannelProblem.NONE_CHOSEN)
    try:
        about = (await reply.slack.conversations_info(channel=channel_id)).get("channel") or {}
    except SLACK_FAILED as error:
        if reason(error) not in NO_ACCESS:
            raise ChannelRefused(ChannelProblem.SLACK_UNREACHABLE) from None
        about = {"is_member": False}
    if not about.get("is_im") and not about.get("is_member", True):
        raise ChannelRefused(ChannelProblem.BOT_NOT_INVITED)
    if about.get("is_archived"):
        raise ChannelRefused(ChannelProblem.ARCHIVED)
    shared = shared_outside(about)
    if shared is None:
        raise ChannelRefused(ChannelProblem.READERS_UNKNOWN)
    if shared:
        raise ChannelRefused(ChannelProblem.SHARED_OUTSIDE)
    return Channel(reply.owner.team_id, channel_id)


async def direct_messages(reply: Reply) -> Channel:
    """The user's direct messages with the bot. Raises ChannelRefused."""
    try:
        opened = await reply.slack.conversations_open(users=reply.owner.user_id)
    except SLACK_FAILED as error:
        transient = reason(error) in OUTCOME_UNKNOWN | {"ratelimited"}
        why = ChannelProblem.SLACK_UNREACHABLE if transient else ChannelProblem.NO_DIRECT_MESSAGES
        raise ChannelRefused(why) from None
    return Channel(reply.owner.team_id, str(opened["channel"]["id"]))


async def find_digest(reply: Reply, digests: Digests, digest_id: int | None) -> Digest:
    """A digest that the user may act on: someone else's only while they are in its channel."""
    try:
        digest = await digests.one(reply.owner, reply.channel, digest_id)
    except UserError:  # the error may name the channel's digests, and a form's place can be forged
        if reply.channel and isinstance(reply.interaction, FormSubmission):
            await require_member(reply, reply.channel.channel_id)
        raise
    await require_access(reply, digest)
    return digest


async def require_access(reply: Reply, digest: Digest) -> None:
    """Raises ChannelRefused unless the user owns the digest or is in its channel."""
    if digest.owner != reply.owner:
        await require_member(reply, digest.channel_id)


async def require_member(reply: Reply, channel_id: str) -> None:
    """Raises ChannelRefused unless the user is in the channel, so that nobody posts into other channels."""
    try:
        joined = await is_member(reply.slack, channel_id, reply.owner.user_id)
    except SLACK_FAILED:
        raise ChannelRefused(ChannelProblem.SLACK_UNREACHABLE) from None
    if not joined:
        raise ChannelRefused(ChannelProblem.USER_NOT_A_MEMBER)


def channel_of(reply: Reply) -> Channel:
    if reply.channel is None:
        raise ChannelRefused(ChannelProblem.OUTSIDE_ANY_CHANNEL)
    return reply.channel
