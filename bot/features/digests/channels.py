"""Digests in their channels: where they may be, and who may act there; and notices that digests stopped or
are overdue, for their owners and channels, one message for each reader.

Each reader's notices are one job until the message is being sent; later notices are another job.
"""

from collections.abc import Sequence

from bot.errors import UserError
from bot.features.digests.buttons import DigestAction
from bot.features.digests.digests import Digests
from bot.features.digests.views import act_button, when_of, where, why_paused
from bot.features.parts import Parts
from bot.slack.outgoing.conversations import conversation, is_member
from bot.slack.outgoing.outbox import Post
from bot.slack.outgoing.outcomes import NotPosted
from bot.slack.outgoing.posting import direct_channel
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.blocks import Block, Message, context, section
from bot.slack.surfaces.interaction import FormSubmission
from bot.slack.text.mrkdwn import bold, escape
from bot.slack.text.wording import Wording
from bot.slack.workspaces.slack_errors import NO_ACCESS, SLACK_FAILED, reason
from bot.store.channels import Channel
from bot.store.digests import Digest, Pause, StoredDigests
from bot.store.jobs import Job, Later
from bot.store.notices import Notice, PendingNotice

MAX_DIGESTS = 20  # the most digests in one notice


def _slack_unreachable() -> UserError:
    return UserError("Slack isn't responding. Try again in a minute.")


async def digest_channel(reply: Reply, channel_id: str | None) -> Channel:
    """The channel, if digests may be posted there. Raises UserError."""
    if channel_id is None:
        raise UserError("Choose a channel for the digest.")
    try:
        there = await conversation(reply.slack, channel_id)
    except SLACK_FAILED as error:
        if reason(error) not in NO_ACCESS:
            raise _slack_unreachable() from None
        there = None
    if there is None or not there.has_bot:
        raise UserError("I'm not in this channel. Type `/invite @Issue Bot`, then try again.")
    if there.archived:
        raise UserError("That channel is archived. Choose another one.")
    if there.shared is None:
        raise UserError("I can't see who's in that channel. Try again in a minute.")
    if there.shared:
        raise UserError("That channel is shared with people outside your company. Choose another one.")
    return Channel(reply.owner.team_id, channel_id)


async def direct_messages(reply: Reply) -> Channel:
    """The user's direct messages with the bot. Raises UserError."""
    return Channel(reply.owner.team_id, await direct_channel(reply.slack, reply.owner.user_id))


async def digests_here(reply: Reply, digests: StoredDigests) -> tuple[Digest, ...]:
    """The channel's digests. Raises UserError if there are none."""
    if here := await digests.in_channel(reply.channel) if reply.channel else ():
        return here
    raise UserError("This channel has no digests. Add one with `{/digest} add <project> daily 9`.")


async def find_digest(reply: Reply, digests: Digests, digest_id: int) -> Digest:
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
    """Raises UserError unless the user owns the digest or is in its channel."""
    if digest.owner != reply.owner:
        await require_member(reply, digest.channel_id)


async def require_member(reply: Reply, channel_id: str) -> None:
    """Raises UserError unless the user is in the channel, so that nobody posts into other channels."""
    try:
        joined = await is_member(reply.slack, channel_id, reply.owner.user_id)
    except SLACK_FAILED:
        raise _slack_unreachable() from None
    if not joined:
        raise UserError("You're not in that channel. Join it first, or choose another one.")


async def send_notice(parts: Parts, job: Job) -> Later | None:
    """Send one reader's pending notices. A channel that is gone or shared outside gets none."""
    pending, wording = PendingNotice.model_validate(job.content), parts.platform.wording

    async def ready() -> Message | NotPosted:
        stored = await parts.store.digests.of_notice(pending)
        digests = [digest for digest in stored if _applies(pending, digest)]
        if not digests:
            return NotPosted()
        if pending.channel:
            return notice_to_channel(digests, wording)
        return notice_to_owner(digests, pending.notice, wording)

    owner = pending.owner
    post = Post(owner=owner, channel_id=pending.channel or owner.user_id, mark=job.key)
    return await parts.platform.posts.send(job, post, ready)


def _applies(notice: PendingNotice, digest: Digest) -> bool:
    """Whether the reader still needs to know it."""
    if notice.channel:
        return digest.paused is not None and digest.paused.told_to_channel
    if digest.owner != notice.owner:
        return False
    match notice.notice:
        case "stopped":
            return digest.paused not in (None, Pause.PERSON)
        case "delayed":
            return digest.paused is None and digest.period_from < notice.digests[digest.id]
    return True


def notice_to_owner(digests: Sequence[Digest], notice: Notice, wording: Wording) -> Message:
    service, several = escape(wording.service), len(digests) > 1
    match notice:
        case "unconfirmed":
            text = "Slack didn't confirm this post, and I can't check whether it's in the channel."
            hint = "Check the channel. I won't post it again. The next one posts as usual."
        case "delayed":
            text = f"I've been trying to post this for a day, but {service} or Slack isn't responding."
            hint = f"I'll keep trying. If {service} works for you, ask your Issue Bot administrator for help."
        case "stopped":
            text = f"{len(digests)} of your digests stopped." if several else "Your digest stopped."
            live = any(digest.plan.live for digest in digests)
            after = "A live feed posts issues created from then on." if live else "The next post catches up."
            hint = f"Choose *Resume* or type `{wording.command('digest')} resume <number>`. {after}"
    blocks = [_entry(digest, notice, wording) for digest in digests[:MAX_DIGESTS]]
    if len(digests) > MAX_DIGESTS:
        blocks.append(context(f"and {len(digests) - MAX_DIGESTS} more"))
    named = (block["text"]["text"] for block in blocks if "text" in block)
    return Message("\n".join((text, *named)), (section(text), *blocks, context(escape(hint))))


def notice_to_channel(digests: Sequence[Digest], wording: Wording) -> Message:
    blocks = []
    for digest in digests[:MAX_DIGESTS]:
        text = f"Digest {digest.id}: {bold(digest.plan.project)}, {when_of(digest.plan)}"
        take_ownership = act_button(DigestAction.TAKE_OWNERSHIP, digest, None)
        blocks.append(section(f"{text}\n{why_paused(digest, None, wording)}", take_ownership))
    return Message(" ".join(block["text"]["text"] for block in blocks), tuple(blocks))


def _entry(digest: Digest, notice: Notice, wording: Wording) -> Block:
    text = f"• Digest {digest.id}: {bold(digest.plan.project)} in {where(digest)}, {when_of(digest.plan)}"
    if notice != "stopped":
        return section(text)
    resume = act_button(DigestAction.RESUME, digest, digest.owner)
    return section(f"{text}\n{why_paused(digest, digest.owner, wording)}", resume)
