"""Handles *Follow in this thread* and *Stop following*, and follows what was created from a message."""

from contextlib import suppress
from functools import partial

import structlog

from bot.errors import UserError
from bot.features.following import views
from bot.features.following.following import Following, Seen, ThreadPlace, TooManyFollowed
from bot.features.following.poster import ThreadPoster, built
from bot.features.following.runs import FollowRuns
from bot.features.issues.buttons import FollowIssue, StopFollowing
from bot.features.issues.creating import Created
from bot.features.issues.publicity import Publicity, exposure_of
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature
from bot.slack.incoming.interaction import ButtonPress
from bot.slack.outgoing import posting
from bot.slack.outgoing.claims import announced_once
from bot.slack.outgoing.posting import NOT_ANNOUNCED, Announced, NotDelivered, Place, poster_of
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.blocks import sentence
from bot.slack.surfaces.buttons import ActionExpired

log = structlog.get_logger(__name__)


class FollowHandlers:
    def __init__(self, parts: Parts) -> None:
        self.parts, self.following, self.publicity = parts, Following(parts), Publicity(parts)
        self.claims = parts.store.claims

    def feature(self) -> Feature:
        runs = FollowRuns(self.parts, ThreadPoster(self.parts))
        return Feature(
            buttons={FollowIssue: self.follow_pressed, StopFollowing: self.stop_pressed},
            work={"followed issues": runs},
        )

    async def follow_created(self, reply: Reply, made: Created, ts: str) -> None:
        """Keep the announcement of an issue that was created from a message up to date; never raises."""
        try:
            issue = made.issue
            seen = Seen(issue, exposure_of(issue), bool(issue.status and issue.status.is_closed))
            await self.following.start(reply.owner, seen, _place_of(reply), ts, agreed=None, created=True)
        except TooManyFollowed as error:
            with suppress(NotDelivered):
                await reply.privately(sentence(reply.wording.sentence(error)))
        except Exception:
            log.exception("created issue not followed", action="follow.not_started", issue=made.issue.id)

    async def follow_pressed(self, press: ButtonPress[FollowIssue], reply: Reply) -> None:
        """*Follow in this thread*: keep the post up to date, or from a card, a new one."""
        pressed = press.button
        place = _place_of(reply, pressed.thread)
        ts = await self.following.post_in(place, pressed.issue)
        if ts and await posting.is_deleted(reply.slack, place.channel_id, ts):
            await self.following.stop(
                reply.owner, pressed.issue, place
            )  # so that it can be followed there again
        seen = await self.following.may_follow(reply.owner, pressed.issue, place)
        if seen.exposure.asks(pressed.agreed):
            await reply.privately(views.question(seen, reply.wording, place.ts))
        elif pressed.thread:
            await self._follow_in_new_post(reply, seen, place, pressed.agreed)
        else:
            await self._follow_in_post(press, reply, seen, place)

    async def _follow_in_new_post(
        self, reply: Reply, seen: Seen, place: ThreadPlace, agreed: int | None
    ) -> None:
        number = seen.issue.id
        ts: str | None = None

        async def announce() -> Announced:
            nonlocal ts
            stop = StopFollowing(issue=number)
            post = views.post(seen, reply.wording, (await reply.profile()).name, stop)
            announced, ts = await reply.at(Place(place.channel_id, place.ts)).post(
                post, partial(self.publicity.may_post, reply.owner, seen.exposure, agreed)
            )
            return announced

        twice = f"follow:{place.channel_id}:{place.ts}:{number}"
        announced = await announced_once(self.claims, twice, announce)
        if announced is not Announced.YES:
            raise _not_followed(number, announced)
        if ts:
            await self.following.start(reply.owner, seen, place, ts, agreed=agreed)

    async def _follow_in_post(
        self, press: ButtonPress[FollowIssue], reply: Reply, seen: Seen, place: ThreadPlace
    ) -> None:
        owner, channel, ts = reply.owner, place.channel_id, str(press.message.get("ts"))
        why_not = await reply.platform.audiences.why_not_share(reply.slack, owner.team_id, channel)
        if why_not is not None:
            raise _not_followed(seen.issue.id, why_not)
        created, poster = press.button.created, poster_of(press.message) or owner
        stop = StopFollowing(issue=seen.issue.id, created=created)
        message = await built(reply.slack, reply.platform, poster, seen, stop)
        agreed = press.button.agreed
        if not await self.publicity.may_post(owner, seen.exposure, agreed):
            raise _not_followed(seen.issue.id, Announced.HIDDEN)
        await self.following.start(
            owner, seen, place, ts, agreed=agreed, posted_by=poster.user_id, created=created
        )
        if not await posting.update(reply.slack, channel, ts, message):
            await reply.privately(sentence("I'll keep this post up to date."))

    async def stop_pressed(self, press: ButtonPress[StopFollowing], reply: Reply) -> None:
        """*Stop following*: the post stays as it is, except for its menu."""
        place = _place_of(reply)
        await self.following.stop(reply.owner, press.button.issue, place)
        message = views.stopped(press.message, press.button)
        if not await posting.update(reply.slack, place.channel_id, str(press.message.get("ts")), message):
            await reply.privately(sentence("I stopped updating this post."))


def _not_followed(number: int, why: Announced) -> UserError:
    if why is Announced.UNSURE:
        return UserError("Slack didn't confirm the post. Check the thread before you try again.")
    return UserError("#{number} can't be followed here: {why}.", number=number, why=NOT_ANNOUNCED[why])


def _place_of(reply: Reply, carried: str = "") -> ThreadPlace:
    """The thread where a button was pressed, or that it carried. Raises ActionExpired if there's none."""
    channel, ts = reply.place.channel_id, carried or reply.place.thread_ts
    if not channel or not ts:
        raise ActionExpired
    return ThreadPlace(channel, ts)
