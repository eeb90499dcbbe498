"""In which channels digests may be, and who may act on them there."""

from bot.errors import UserError
from bot.slack import members
from bot.slack.audience import shared_outside
from bot.slack.posting import NO_ACCESS, SLACK_FAILED, reason
from bot.slack.replies import Reply
from bot.store.channels import Channel
from bot.store.digests import Digest


async def digest_channel(reply: Reply, channel_id: str | None) -> Channel:
    """The channel, if digests may be posted there. Raises UserError if not, or if Slack doesn't say."""
    if channel_id is None:
        raise UserError("A digest belongs to a channel: choose one.")
    try:
        about = (await reply.slack.conversations_info(channel=channel_id)).get("channel") or {}
    except SLACK_FAILED as error:
        if reason(error) not in NO_ACCESS:
            raise UserError("Slack doesn't tell me who is in that channel: try again in a minute.") from None
        about = {"is_member": False}
    if not about.get("is_im") and not about.get("is_member", True):
        raise UserError("I'm not in that channel: invite me there first with `/invite`, then try again.")
    if about.get("is_archived"):
        raise UserError("That channel is archived: have it opened again, or use another one.")
    shared = shared_outside(about)
    if shared is None:
        raise UserError("Slack doesn't say who can read that channel. Try again in a minute.")
    if shared:
        raise UserError(
            "That channel is shared with people outside your company, so no digest is posted there: use "
            "another one."
        )
    return Channel(reply.owner.team_id, channel_id)


async def require_access(reply: Reply, digest: Digest) -> None:
    """Raises UserError unless the user owns the digest or is in its channel."""
    if digest.owner != reply.owner:
        await require_member(reply, digest.channel_id)


async def require_member(reply: Reply, channel_id: str) -> None:
    """Raises UserError unless the user is in the channel, so that nobody posts into other channels."""
    try:
        joined = await members.includes(reply.slack, channel_id, reply.owner.user_id)
    except SLACK_FAILED:
        raise UserError("Slack doesn't tell me who is in that channel: try again in a minute.") from None
    if not joined:
        raise UserError("You aren't in that channel: join it first, or choose one that you are in.")


def channel_of(reply: Reply) -> Channel:
    if reply.channel is None:
        raise UserError("Digests belong to a channel: type `/digest` in one.")
    return reply.channel
