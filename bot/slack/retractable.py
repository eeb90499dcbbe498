"""Public posts with a button that lets the user who caused them delete them."""

from typing import TYPE_CHECKING

from bot.slack import posting
from bot.slack.blocks import JSON, Message, actions, button, confirm
from bot.slack.buttons import DeletePost
from bot.slack.errors import NotYourPost, PostNotDeleted
from bot.slack.interaction import ButtonPress
from bot.store.owner import Owner

if TYPE_CHECKING:
    from bot.slack.replies import Reply


def retractable(message: Message, owner: Owner) -> Message:
    """Add a delete button for this user to the message."""
    question = confirm(
        "Take this message back?",
        "Only the message goes: what it tells of stays as it is.",
        "Take it back",
        style="danger",
    )
    last = button("Take back", _delete_button(owner), confirm=question)
    if message.blocks and (row := message.blocks[-1])["type"] == "actions":
        return Message(message.text, (*message.blocks[:-1], row | {"elements": [*row["elements"], last]}))
    return Message(message.text, (*message.blocks, actions([last])))


async def delete_pressed(press: ButtonPress[DeletePost], reply: "Reply") -> None:
    """Delete a post. Everyone in the channel sees the button, so this checks who caused the post."""
    if _delete_value(press.message) != _delete_button(reply.owner).pack():
        raise NotYourPost
    if not await posting.delete_post(reply.slack, reply.place, str(press.message.get("ts"))):
        raise PostNotDeleted


def _delete_button(owner: Owner) -> DeletePost:
    return DeletePost(enterprise_id=owner.enterprise_id or "", team_id=owner.team_id, user_id=owner.user_id)


def _delete_value(message: JSON) -> str | None:
    """What the message's own delete button carries, whatever the press says."""
    rows = (block.get("elements") or () for block in message.get("blocks") or ())
    buttons = (element for row in rows for element in row)
    return next((b.get("value") for b in buttons if b.get("action_id") == DeletePost.action), None)
