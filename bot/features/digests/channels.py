"""In which channels digests may be, and who may act on them there."""

from enum import Enum, auto

from bot.errors import UserError
from bot.slack import members
from bot.slack.audience import shared_outside
from bot.slack.posting import NO_ACCESS, SLACK_FAILED, reason
from bot.slack.replies import Reply
from bot.store.channels import Channel
from bot.store.digests import Digest


class ChannelProblem(Enum):
    NONE_CHOSEN = auto()
    NO_CHANNEL = auto()
    """The command was typed outside any conversation."""
    NO_ANSWER = auto()
    """Slack can't be asked at the moment."""
    NOT_INVITED = auto()
    """The bot isn't in it."""
    ARCHIVED = auto()
    READERS_UNKNOWN = auto()
    """Slack doesn't say whether it is shared."""
    SHARED = auto()
    """With people outside the company."""
    NOT_A_MEMBER = auto()
    """The user isn't in it."""


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
            raise ChannelRefused(ChannelProblem.NO_ANSWER) from None
        about = {"is_member": False}
    if not about.get("is_im") and not about.get("is_member", True):
        raise ChannelRefused(ChannelProblem.NOT_INVITED)
    if about.get("is_archived"):
        raise ChannelRefused(ChannelProblem.ARCHIVED)
    shared = shared_outside(about)
    if shared is None:
        raise ChannelRefused(ChannelProblem.READERS_UNKNOWN)
    if shared:
        raise ChannelRefused(ChannelProblem.SHARED)
    return Channel(reply.owner.team_id, channel_id)


async def require_access(reply: Reply, digest: Digest) -> None:
    """Raises ChannelRefused unless the user owns the digest or is in its channel."""
    if digest.owner != reply.owner:
        await require_member(reply, digest.channel_id)


async def require_member(reply: Reply, channel_id: str) -> None:
    """Raises ChannelRefused unless the user is in the channel, so that nobody posts into other channels."""
    try:
        joined = await members.includes(reply.slack, channel_id, reply.owner.user_id)
    except SLACK_FAILED:
        raise ChannelRefused(ChannelProblem.NO_ANSWER) from None
    if not joined:
        raise ChannelRefused(ChannelProblem.NOT_A_MEMBER)


def channel_of(reply: Reply) -> Channel:
    if reply.channel is None:
        raise ChannelRefused(ChannelProblem.NO_CHANNEL)
    return reply.channel
