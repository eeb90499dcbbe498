"""Handles *Follow in this thread* and *Stop following*, and follows what was created from a message."""

from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import structlog

from bot.errors import UserError
from bot.features.following import views
from bot.features.following.buttons import FollowIssue, StopFollowing
from bot.features.following.following import Following, Thread, TooManyFollowed
from bot.features.following.poster import built
from bot.features.following.reading import Seen
from bot.features.issues.creating import Created
from bot.features.issues.publicity import Publicity, exposure_of
from bot.slack import posting
from bot.slack.blocks import sentence
from bot.slack.buttons import ActionExpired
from bot.slack.claims import announced_once
from bot.slack.feature import Feature
from bot.slack.interaction import ButtonPress, Place
from bot.slack.posting import Announced, NotAnnounced, NotDelivered
from bot.slack.replies import Reply
from bot.slack.retractable import poster_of
from bot.store.claims import Claims

log = structlog.get_logger(__name__)


class NotFollowed(UserError):
    """The thread can't follow the issue, or it is unknown whether its post is there."""

    number: int
    why: NotAnnounced


@dataclass(frozen=True)
class FollowHandlers:
    """Follows issues in threads."""

    following: Following
    publicity: Publicity
    claims: Claims

    def feature(self) -> Feature:
        return Feature(buttons={FollowIssue: self.follow_pressed, StopFollowing: self.stop_pressed})

    async def follow_created(self, reply: Reply, made: Created, ts: str) -> None:
        """Keep the announcement of an issue that was created from a message up to date; never raises."""
        try:
            issue = made.issue
            seen = Seen(issue, exposure_of(issue), bool(issue.status and issue.status.is_closed))
            await self.following.start(reply.owner, seen, _thread_of(reply), ts, agreed=None, created=True)
        except TooManyFollowed as error:
            with suppress(NotDelivered):
                await reply.privately(sentence(reply.wording.sentence(error)))
        except Exception:
            log.exception("created issue not followed", action="follow.not_started", issue=made.issue.id)

    async def follow_pressed(self, press: ButtonPress[FollowIssue], reply: Reply) -> None:
        """*Follow in this thread*: keep the post up to date, or from a card, a new one."""
        pressed = press.button
        thread = _thread_of(reply, pressed.thread)
        await self._stop_if_deleted(reply, pressed.issue, thread)
        seen = await self.following.may_follow(reply.owner, pressed.issue, thread)
        if seen.exposure.asks(pressed.agreed):
            await reply.privately(views.question(seen, reply.wording, thread.ts))
        elif pressed.thread:
            await self._follow_in_new_post(reply, seen, thread, pressed.agreed)
        else:
            await self._follow_in_post(press, reply, seen, thread)

    async def _stop_if_deleted(self, reply: Reply, number: int, thread: Thread) -> None:
        """Stop following in a post that was deleted, so that the thread can follow the issue again."""
        ts = await self.following.post_in(thread, number)
        if ts and await posting.is_deleted(reply.slack, thread.channel_id, ts):
            await self.following.stop(reply.owner, number, thread)

    async def _follow_in_new_post(self, reply: Reply, seen: Seen, thread: Thread, agreed: int | None) -> None:
        number = seen.issue.id
        ts: str | None = None

        async def announce() -> Announced:
            nonlocal ts
            stop = StopFollowing(issue=number)
            post = views.post(seen, reply.wording, (await reply.profile()).name, stop)
            announced, ts = await reply.at(Place(thread.channel_id, thread.ts)).post(
                post, partial(self.publicity.may_post, reply.owner, seen.exposure, agreed)
            )
            return announced

        twice = f"follow:{thread.channel_id}:{thread.ts}:{number}"
        announced = await announced_once(self.claims, twice, announce)
        if announced is not Announced.YES:
            raise NotFollowed(number, announced)
        if ts:
            await self.following.start(reply.owner, seen, thread, ts, agreed=agreed)

    async def _follow_in_post(
        self, press: ButtonPress[FollowIssue], reply: Reply, seen: Seen, thread: Thread
    ) -> None:
        owner, channel, ts = reply.owner, thread.channel_id, str(press.message.get("ts"))
        why_not = await reply.platform.audiences.why_not_share(reply.slack, owner.team_id, channel)
        if why_not is not None:
            raise NotFollowed(seen.issue.id, why_not)
        created, poster = press.button.created, poster_of(press.message) or owner
        stop = StopFollowing(issue=seen.issue.id, created=created)
        message = await built(reply.slack, reply.platform, poster, seen, stop)
        agreed = press.button.agreed
        if not await self.publicity.may_post(owner, seen.exposure, agreed):
            raise NotFollowed(seen.issue.id, Announced.HIDDEN)
        await self.following.start(
            owner, seen, thread, ts, agreed=agreed, posted_by=poster.user_id, created=created
        )
        if not await posting.update(reply.slack, channel, ts, message):
            await reply.privately(sentence("I'll keep this post up to date."))

    async def stop_pressed(self, press: ButtonPress[StopFollowing], reply: Reply) -> None:
        """*Stop following*: the post stays as it is, except for its menu."""
        thread = _thread_of(reply)
        await self.following.stop(reply.owner, press.button.issue, thread)
        message = views.stopped(press.message, press.button)
        if not await posting.update(reply.slack, thread.channel_id, str(press.message.get("ts")), message):
            await reply.privately(sentence("I stopped updating this post."))


def _thread_of(reply: Reply, carried: str = "") -> Thread:
    """The thread where a button was pressed, or that it carried. Raises ActionExpired if there's none."""
    channel, ts = reply.place.channel_id, carried or reply.place.thread_ts
    if not channel or not ts:
        raise ActionExpired
    return Thread(channel, ts)
