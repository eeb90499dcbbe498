"""Notices that digests stopped or are overdue, for their owners and channels: one message for each reader.

Each reader's notices are one job until the message is being sent; later notices are another job.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.features.digests.buttons import DigestAction
from bot.features.digests.views import act_button, when_of, where, why_paused
from bot.slack.outgoing.outbox import Post
from bot.slack.outgoing.stored import StoredPosts
from bot.slack.surfaces.blocks import Block, Message, context, section
from bot.slack.text.mrkdwn import bold, escape
from bot.slack.text.wording import Wording
from bot.store.digest_notices import Notice, PendingNotice
from bot.store.digests import Digest, Pause, StoredDigests
from bot.store.job import Job, Later
from bot.store.owner import Owner

MAX_DIGESTS = 20  # the most digests in one notice


@dataclass(frozen=True)
class DigestNotices:
    digests: StoredDigests
    posts: StoredPosts
    wording: Wording

    async def send(self, job: Job) -> Later | None:
        """Send one reader's pending notices. A channel that is gone or shared outside gets none."""
        pending = PendingNotice.model_validate(job.content)
        owner = Owner.named(pending.owner)

        async def ready() -> Message | None:
            stored = await self.digests.of_notice(pending)
            digests = [digest for digest in stored if _applies(pending, digest)]
            return self._message(digests, pending) if digests else None

        post = Post(owner=owner, channel_id=pending.channel or owner.user_id, mark=job.key)
        sent = await self.posts.send(job, post, ready)
        return sent if isinstance(sent, Later) else None

    def _message(self, digests: Sequence[Digest], to: PendingNotice) -> Message:
        if to.channel:
            return notice_to_channel(digests, self.wording)
        return notice_to_owner(digests, to.notice, self.wording)


def _applies(notice: PendingNotice, digest: Digest) -> bool:
    """Whether the reader still needs to know it."""
    if notice.channel:
        return digest.paused is not None and digest.paused.told_to_channel
    if digest.owner.name != notice.owner:
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
        case "unsure":
            said = "Slack didn't confirm this post, and I can't check whether it's in the channel."
            hint = "Check the channel. I won't post it again. The next one posts as usual."
        case "delayed":
            said = f"I've been trying to post this for a day, but {service} or Slack isn't responding."
            hint = f"I'll keep trying. If {service} works for you, ask your Issue Bot administrator for help."
        case "stopped":
            said = f"{len(digests)} of your digests stopped." if several else "Your digest stopped."
            live = any(digest.plan.live for digest in digests)
            after = "A live feed goes on from then." if live else "The next post catches up."
            hint = f"Choose *Resume* or type `{wording.command('digest')} resume <number>`. {after}"
    blocks = [_entry(digest, notice, wording) for digest in digests[:MAX_DIGESTS]]
    if len(digests) > MAX_DIGESTS:
        blocks.append(context(f"and {len(digests) - MAX_DIGESTS} more"))
    named = "; ".join(block["text"]["text"] for block in blocks if "text" in block)
    return Message(f"{said} {named}", (section(said), *blocks, context(escape(hint))))


def notice_to_channel(digests: Sequence[Digest], wording: Wording) -> Message:
    blocks = []
    for digest in digests[:MAX_DIGESTS]:
        text = f"Digest {digest.id}: {bold(digest.plan.project)}, {when_of(digest.plan)}"
        why_stopped, take_ownership = (
            why_paused(digest, None, wording),
            act_button(DigestAction.TAKE_OWNERSHIP, digest, None),
        )
        blocks.append(section(f"{text}\n{why_stopped}", take_ownership))
    return Message(" ".join(block["text"]["text"] for block in blocks), tuple(blocks))


def _entry(digest: Digest, notice: Notice, wording: Wording) -> Block:
    text = f"• Digest {digest.id}: {bold(digest.plan.project)} in {where(digest)}, {when_of(digest.plan)}"
    if notice != "stopped":
        return section(text)
    reason_why = why_paused(digest, digest.owner, wording)
    return section(f"{text}\n{reason_why}", accessory=act_button(DigestAction.RESUME, digest, digest.owner))
