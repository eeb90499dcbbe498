"""Public posts with a button that lets the user who caused them delete them."""

from typing import TYPE_CHECKING, Any

from bot.errors import UserError
from bot.slack import posting
from bot.slack.blocks import JSON, Message, actions, button, confirm
from bot.slack.interaction import ButtonPress
from bot.store.owner import Owner

if TYPE_CHECKING:
    from bot.slack.replies import Reply

TAKE_BACK = "announcement.take_back"


def retractable(message: Message, owner: Owner) -> Message:
    """Add a delete button to the message; its value identifies the user."""
    question = confirm(
        "Take this message back?",
        "Only the message goes: what it tells of stays as it is.",
        "Take it back",
        style="danger",
    )
    last = button("Take back", TAKE_BACK, packed(owner), confirm=question)
    if message.blocks and (row := message.blocks[-1])["type"] == "actions":
        return Message(message.text, (*message.blocks[:-1], row | {"elements": [*row["elements"], last]}))
    return Message(message.text, (*message.blocks, actions([last])))


def packed(owner: Owner) -> str:
    """The owner as a button value."""
    return ":".join((owner.enterprise_id or "", owner.team_id, owner.user_id))


async def delete_pressed(press: ButtonPress[Any], reply: "Reply") -> None:
    """Delete a post. Everyone in the channel sees the button, so this checks who caused the post."""
    if _caused_by(press.message) != packed(reply.owner):
        raise UserError("Only who caused this message can take it back.")
    if not await posting.delete_post(reply.slack, reply.place, str(press.message.get("ts"))):
        raise UserError(
            "Slack doesn't say that the message is gone: if it still stands there, an administrator can "
            "delete it."
        )


def _caused_by(message: JSON) -> str | None:
    rows = (block.get("elements") or () for block in message.get("blocks") or ())
    buttons = (element for row in rows for element in row)
    return next((b.get("value") for b in buttons if b.get("action_id") == TAKE_BACK), None)
