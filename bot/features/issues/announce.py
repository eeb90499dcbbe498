"""Announces a created issue in the conversation where it was requested."""

from collections.abc import Sequence

from bot.features.issues import views
from bot.features.issues.buttons import DeleteAnnouncement
from bot.features.issues.issues import Created
from bot.slack.replies import Reply


async def announce_and_confirm(reply: Reply, made: Created, notes: Sequence[str] = ()) -> None:
    """Announce a created issue if everyone may see it, and tell the user privately what was understood, with
    `notes` in plain text.
    """
    announced = ts = None
    if made.public:
        post = views.announced(made, reply.wording, (await reply.profile()).name)
        announced, ts = await reply.post(post)
    owner = reply.owner
    delete = DeleteAnnouncement(ts=ts, team_id=owner.team_id, user_id=owner.user_id) if ts else None
    await reply.privately(views.created(made, reply.wording, announced, delete, notes))
