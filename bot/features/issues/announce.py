"""Announces a created issue in the conversation where it was requested."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from bot.features.following.buttons import FollowIssue, StopFollowing
from bot.features.issues import views
from bot.features.issues.buttons import DeleteAnnouncement
from bot.features.issues.creating import Created
from bot.features.issues.publicity import Publicity, exposure_of
from bot.slack.replies import Reply

FollowPost = Callable[[Reply, Created, str], Awaitable[None]]
"""Keeps the post with this `ts`, which announced an issue in a thread, up to date."""


async def announce_and_confirm(
    reply: Reply,
    made: Created,
    publicity: Publicity,
    notes: Sequence[str] = (),
    follow: FollowPost | None = None,
) -> None:
    """Announce a created issue if everyone may see it, and tell the user privately what was understood, with
    `notes` in plain text. `follow` gets the announcement.
    """
    announced, ts, seen = None, None, exposure_of(made.issue)
    if not made.private:
        does = f"{(await reply.profile()).name} created"
        button = StopFollowing if follow else FollowIssue if reply.place.thread_ts else None
        carries = button(issue=made.issue.id, created=True) if button else None
        post = views.posted(does, made.issue, reply.wording, made.mention, carries)
        may_post = partial(publicity.may_post, reply.owner, seen)
        announced, ts = await reply.post(post, may_post)
        if follow and ts:
            await follow(reply, made, ts)
    owner = reply.owner
    delete = DeleteAnnouncement(ts=ts, team_id=owner.team_id, user_id=owner.user_id) if ts else None
    await reply.privately(views.created(made, reply.wording, announced, delete, notes))
