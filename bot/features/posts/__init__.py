"""What every post of the bot has: *Delete post*, and links that Slack opens itself."""

from bot.errors import UserError
from bot.slack.incoming.feature import Feature
from bot.slack.outgoing import posting
from bot.slack.outgoing.posting import poster_of
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.buttons import ActionExpired, DeletePost, OpenPage
from bot.slack.surfaces.interaction import ButtonPress


async def delete_pressed(press: ButtonPress[DeletePost], reply: Reply) -> None:
    """Delete a post. Everyone in the channel sees its menu, so this checks who caused the post.

    The post itself says who, because the button's content can be forged. Raises UserError if it stays.
    """
    by = poster_of(press.message)
    if by is None:
        raise ActionExpired
    if by != reply.owner:
        who = (await reply.profile(by.user_id)).first_name or "the person who triggered it"
        raise UserError("Only {who} can delete this post.", who=who)
    if not await posting.delete_post(reply.slack, reply.place, str(press.message.get("ts"))):
        raise UserError(
            "Slack didn't confirm that the post was deleted. If it's still there, ask a "
            "workspace admin to delete it."
        )


async def link_pressed(_press: ButtonPress[OpenPage], _reply: Reply) -> None:
    """Do nothing. Slack opens the link itself but expects the press to be acknowledged."""


FEATURE = Feature(buttons={DeletePost: delete_pressed, OpenPage: link_pressed})
