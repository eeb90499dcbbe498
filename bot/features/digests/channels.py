"""Digests in their channels: where they may be, who may act there, how they are posted and updated."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot import telemetry
from bot.errors import UserError
from bot.features.digests import message as digest_message
from bot.features.digests.digests import Digests
from bot.features.digests.reading import DigestRun, Ready
from bot.features.issues.publicity import Exposure, Publicity
from bot.service.models import Issue
from bot.slack.incoming.interaction import FormSubmission
from bot.slack.outgoing import outcomes
from bot.slack.outgoing.audience import is_member, shared_outside
from bot.slack.outgoing.outbox import Post
from bot.slack.outgoing.posting import NO_ACCESS, SLACK_FAILED, direct_channel, reason, why
from bot.slack.outgoing.replies import Reply
from bot.slack.outgoing.stored import LookUp, StoredPosts
from bot.slack.surfaces.blocks import JSON, Block, Message
from bot.slack.text.wording import Wording
from bot.store.channels import Channel
from bot.store.digests import Digest, StoredDigests
from bot.store.job import Later
from bot.store.owner import Owner
from bot.ttl_cache import TtlCache

MARK = "issuebot_digest"
FRESH = 60.0
"""Seconds for which the digest in a button press is current. It isn't if the user had to link first."""

log = structlog.get_logger(__name__)


def _slack_unreachable() -> UserError:
    return UserError("Slack isn't responding. Try again in a minute.")


async def digest_channel(reply: Reply, channel_id: str | None) -> Channel:
    """The channel, if digests may be posted there. Raises UserError."""
    if channel_id is None:
        raise UserError("Choose a channel for the digest.")
    try:
        about = (await reply.slack.conversations_info(channel=channel_id)).get("channel") or {}
    except SLACK_FAILED as error:
        if reason(error) not in NO_ACCESS:
            raise _slack_unreachable() from None
        about = {"is_member": False}
    if not about.get("is_im") and not about.get("is_member", True):
        raise UserError("I'm not in this channel. Type `/invite @Issue Bot`, then try again.")
    if about.get("is_archived"):
        raise UserError("That channel is archived. Choose another one.")
    shared = shared_outside(about)
    if shared is None:
        raise UserError("I can't see who's in that channel. Try again in a minute.")
    if shared:
        raise UserError("That channel is shared with people outside your company. Choose another one.")
    return Channel(reply.owner.team_id, channel_id)


async def direct_messages(reply: Reply) -> Channel:
    """The user's direct messages with the bot. Raises UserError."""
    return Channel(reply.owner.team_id, await direct_channel(reply.slack, reply.owner.user_id))


async def digests_here(reply: Reply, digests: Digests) -> tuple[Digest, ...]:
    """The channel's digests. Raises UserError if there are none."""
    if found := await digests.listed(reply.channel) if reply.channel else ():
        return found
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


class DigestPoster:
    """Writes digests, as stored posts."""

    def __init__(self, posts: StoredPosts, wording: Wording) -> None:
        self._posts, self._wording = posts, wording
        self.channel_status = posts.outbox.channel_status

    async def post(
        self, run: DigestRun, ready: Ready, covers: Callable[[], object]
    ) -> outcomes.Outcome | Later | None:
        """Post what `ready` returns when the digest's turn comes; None if it returns None, or the run isn't
        this process's anymore. `covers` is what its job records before.

        The channel is checked right before; after a delay `ready` is called again.
        """

        async def message() -> Message | None:
            edition = await ready()
            return digest_message.message(edition, self._wording) if edition else None

        with telemetry.DIGESTS_WAITING.track_inprogress():
            return await self._posts.post(run.job, _post(run), message, sending=covers, due_at=run.due_at)

    async def look_up(self, run: DigestRun) -> LookUp:
        """Search the channel for the message of this due time."""
        return await self._posts.look_up(run.job, _post(run))


def _post(run: DigestRun) -> Post:
    mark = f"{MARK}:{run.digest.id}:{run.due_at.isoformat()}"
    return Post(owner=run.owner, channel_id=run.digest.channel_id, mark=mark)


def digest_of(posted: Sequence[Block]) -> int | None:
    """The ID of the digest that was posted with these blocks."""
    mark, _, about = str(posted[0].get("block_id") if posted else "").partition(":")
    number = about.partition(":")[0]
    return int(number) if mark == MARK and number.isdecimal() else None


@dataclass
class _Changes:
    """Recent changes to one message: a button press in flight may carry the message from before them."""

    issues: dict[int, Issue] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class DigestRows:
    """Updates single rows of digests; simultaneous updates of one message don't undo each other."""

    def __init__(self, digests: StoredDigests, publicity: Publicity) -> None:
        self._digests = digests
        self._publicity = publicity
        self._recent: TtlCache[tuple[str, str], _Changes] = TtlCache(seconds=FRESH)

    async def show(self, reply: Reply, ts: str, seen: Exposure, message: JSON | None) -> None:
        """Show an issue's current assignee in its row of a digest.

        `message` is the digest from the button press; None reads it from Slack. The row stays as it is if the
        channel may not be shown the issue anymore, outsiders have joined it, or Slack refuses the update.
        """
        slack, channel_id = reply.slack, reply.place.channel_id or ""
        audiences = reply.platform.audiences
        if await audiences.why_not_share(slack, reply.owner.team_id, channel_id) is not None:
            return
        changes = await self._recent.get((channel_id, ts), _no_changes)
        async with changes.lock:
            try:
                digest = message or await _read(slack, channel_id, ts)
                posted = digest.get("blocks") or []
                if seen.issue is None or not await self._may_show(reply.owner, seen, posted):
                    return
                changes.issues[seen.issue.id] = seen.issue
                blocks = digest_message.updated(posted, changes.issues)
                if blocks != posted:
                    text = str(digest.get("text") or "")
                    await slack.chat_update(channel=channel_id, ts=ts, text=text, blocks=blocks)
            except SLACK_FAILED as error:
                log.info("digest row not updated", action="digest.row_not_updated", error=why(error))

    async def _may_show(self, user: Owner, seen: Exposure, posted: Sequence[Block]) -> bool:
        digest_id = digest_of(posted)
        digest = await self._digests.get(user.team_id, digest_id) if digest_id else None
        agreed = digest.agreed_project if digest else None
        return await self._publicity.may_post(user, seen, agreed)


async def _no_changes() -> _Changes:
    return _Changes()


async def _read(slack: AsyncWebClient, channel_id: str, ts: str) -> JSON:
    page = await slack.conversations_history(
        channel=channel_id, oldest=ts, latest=ts, inclusive=True, limit=1
    )
    found: JSON = next(iter(page.get("messages") or ()), {})
    return found if found.get("ts") == ts else {}
