"""Handles `/issue 42 follow`, *Follow*, *Stop following* and *Include comments*, and follows what was created
from a message.
"""

from contextlib import suppress
from functools import partial

import structlog

from bot.errors import UserError
from bot.features.following import views
from bot.features.following.following import Following, IssueSnapshot, ThreadPlace
from bot.features.following.poster import ThreadPoster, built
from bot.features.following.runs import FollowedReads, FollowerReads
from bot.features.issues.buttons import FollowIssue, IncludeComments, StopFollowing
from bot.features.issues.creating import Created
from bot.features.issues.publicity import Publicity, exposure_of
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature
from bot.slack.outgoing import posting
from bot.slack.outgoing.outcomes import NOT_ANNOUNCED, PostOutcome
from bot.slack.outgoing.posting import NotDelivered, poster_of
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.blocks import JSON, sentence
from bot.slack.surfaces.buttons import ActionExpired
from bot.slack.surfaces.interaction import ButtonPress, Destination
from bot.store.followed import FOLLOWED, FOLLOWER
from bot.store.owner import Owner

log = structlog.get_logger(__name__)


class FollowHandlers:
    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.following, self.publicity = parts.shared(Following), parts.shared(Publicity)

    def feature(self) -> Feature:
        return Feature(
            buttons={
                FollowIssue: self.follow_pressed,
                StopFollowing: self.stop_pressed,
                IncludeComments: self.comments_pressed,
            },
            jobs={
                FOLLOWER: FollowerReads(self.parts),
                FOLLOWED: FollowedReads(self.parts, self.parts.shared(ThreadPoster)),
            },
        )

    async def follow_created(self, reply: Reply, made: Created, ts: str) -> None:
        """Keep the announcement of an issue that was created from a message up to date; never raises."""
        try:
            issue = made.issue
            snapshot = IssueSnapshot(issue, exposure_of(issue), bool(issue.status and issue.status.is_closed))
            place = await _place_of(reply)
            await self.following.start(reply.owner, snapshot, place, ts, created=True)
        except UserError as error:
            with suppress(NotDelivered):
                await reply.privately(sentence(reply.wording.sentence(error)))
        except Exception:
            log.exception("created issue not followed", action="follow.not_started", issue=made.issue.id)

    async def follow_pressed(self, press: ButtonPress[FollowIssue], reply: Reply) -> None:
        """*Follow*: keep the post up to date, or from a card a new one, in the thread it names if any."""
        pressed = press.button
        kept = press if press.offered and poster_of(press.message) and not pressed.thread else None
        thread = None if kept else pressed.thread
        await self.follow(reply, pressed.issue, thread, pressed.agreed_project, kept)

    async def follow(
        self,
        reply: Reply,
        number: int,
        thread: str | None = None,
        agreed_project: int | None = None,
        press: ButtonPress[FollowIssue] | None = None,
    ) -> None:
        """`/issue 42 follow`: follow in the thread of the command or mention, else in a direct message.

        `press` is that of the post to keep up to date, if it isn't a new one.
        """
        place = await _place_of(reply, thread)
        snapshot = await self.following.may_follow(reply.owner, number, place, agreed_project)
        there = await self.following.there(reply.owner, number, place)
        if there and not await posting.is_deleted(reply.slack, there.channel_id, there.ts):
            await reply.privately(views.followed(there, already=True))
            return
        await self.following.make_room(reply.owner, there)
        if snapshot.exposure.asks and not place.direct:
            await reply.privately(views.question(snapshot, reply.wording, place.ts))
        elif press and place.channel_id == reply.place.channel_id:
            await self._follow_in_post(press, reply, snapshot, place)
        else:
            await self._follow_in_new_post(reply, snapshot, place)

    async def unfollow(self, reply: Reply, number: int) -> None:
        """`/issue 42 unfollow`: wherever the user follows it."""
        ended = await self.following.stop_all(reply.owner, number)
        text = f"You're no longer following #{number}." if ended else f"You aren't following #{number}."
        await reply.privately(sentence(text))

    async def _follow_in_new_post(self, reply: Reply, snapshot: IssueSnapshot, place: ThreadPlace) -> None:
        number = snapshot.issue.id
        ts: str | None = None

        async def announce() -> PostOutcome:
            nonlocal ts
            stop = StopFollowing(issue=number)
            by = (await reply.profile()).name
            post = views.post(snapshot, reply.wording, by, stop, direct=place.direct)
            announced, ts = await reply.at(Destination(place.channel_id, place.ts or None)).post(
                post, partial(self._why_not_show, reply.owner, snapshot, place)
            )
            return announced

        twice = f"follow:{place.channel_id}:{place.ts}:{number}"
        await reply.announce_once(twice, announce, partial(_not_followed, number))
        if ts:
            followed = await self.following.start(reply.owner, snapshot, place, ts)
            if place.channel_id != reply.place.channel_id:
                await reply.privately(views.followed(followed, already=False))

    async def _why_not_show(
        self, owner: Owner, snapshot: IssueSnapshot, place: ThreadPlace
    ) -> PostOutcome | None:
        return None if place.direct else await self.publicity.why_not_show(owner, snapshot.exposure)

    async def _follow_in_post(
        self, press: ButtonPress[FollowIssue], reply: Reply, snapshot: IssueSnapshot, place: ThreadPlace
    ) -> None:
        owner, channel, ts = reply.owner, place.channel_id, str(press.message.get("ts"))
        why_not = await reply.platform.conversations.why_not_share(reply.slack, owner.team_id, channel)
        if why_not is not None:
            raise _not_followed(snapshot.issue.id, why_not)

        created, poster = press.button.created, poster_of(press.message) or owner
        stop = StopFollowing(issue=snapshot.issue.id, created=created)
        message = await built(reply.slack, reply.platform, poster, snapshot, stop, direct=place.direct)
        if why_not := await self._why_not_show(owner, snapshot, place):
            raise _not_followed(snapshot.issue.id, why_not)

        by = poster.user_id
        await self.following.start(owner, snapshot, place, ts, posted_by=by, created=created)
        if not await posting.update(reply.slack, channel, ts, message):
            await reply.privately(sentence("I'll keep this post up to date."))

    async def stop_pressed(self, press: ButtonPress[StopFollowing], reply: Reply) -> None:
        """*Stop following*: the post stays as it is, except for its menu."""
        stop = press.button
        if not (stop.thread or press.offered):
            raise ActionExpired
        carried = ThreadPlace(stop.channel, stop.thread)
        place = carried if stop.thread else _thread_of(reply, press.message)
        await self.following.stop(reply.owner, stop.issue, place, reply.place.channel_id)
        if stop.thread:
            await reply.privately(sentence(f"I stopped updating #{stop.issue} in that thread."), replace=True)
            return
        message = views.stopped(press.message, stop)
        if not await posting.update(reply.slack, place.channel_id, str(press.message.get("ts")), message):
            await reply.privately(sentence("I stopped updating this post."))

    async def comments_pressed(self, press: ButtonPress[IncludeComments], reply: Reply) -> None:
        """*Include comments* and *Leave out comments*."""
        pressed, place = press.button, _thread_of(reply, press.message)
        if not await self.following.include_comments(reply.owner, pressed.issue, place, on=pressed.on):
            raise UserError("This post isn't kept up to date anymore. Follow the issue again.")
        message = views.including(press.message, pressed)
        await posting.update(reply.slack, place.channel_id, str(press.message.get("ts")), message)
        text = "I'll quote new comments below this post." if pressed.on else "I won't quote new comments."
        await reply.privately(sentence(text))


def _not_followed(number: int, why: PostOutcome) -> UserError:
    if why is PostOutcome.UNCONFIRMED:
        return UserError("Slack didn't confirm the post. Check the thread before you try again.")
    return UserError("#{number} can't be followed here: {why}.", number=number, why=NOT_ANNOUNCED[why])


async def _place_of(reply: Reply, thread: str | None = None) -> ThreadPlace:
    """The thread, by default the reply's, or the user's direct messages if there's none. Raises UserError."""
    here, ts = reply.place.channel_id or "", (reply.place.thread_ts if thread is None else thread) or ""
    if ts and not here.startswith("D"):
        return ThreadPlace(here, ts)
    direct = await posting.direct_channel(reply.slack, reply.owner.user_id)
    return ThreadPlace(here if ts else direct, ts, direct=not ts or here == direct)


def _thread_of(reply: Reply, message: JSON) -> ThreadPlace:
    """Return the post's thread, or the one below it. Raises ActionExpired if there's none."""
    channel, ts = reply.place.channel_id, reply.place.thread_ts or message.get("ts")
    if not channel or not ts:
        raise ActionExpired
    return ThreadPlace(channel, ts)
