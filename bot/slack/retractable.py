"""Posts that the person who caused them can delete."""

from bot.slack.blocks import Message, actions, button, confirm
from bot.store.owner import Owner

TAKE_BACK = "announcement.take_back"


def retractable(message: Message, owner: Owner) -> Message:
    """The message with a button at its end; whose it is travels in the button's value."""
    question = confirm(
        "Take this message back?",
        "Only the message goes: what it tells of stays as it is.",
        "Take it back",
        style="danger",
    )
    last = button("Take back", TAKE_BACK, written(owner), confirm=question)
    if message.blocks and (row := message.blocks[-1])["type"] == "actions":
        return Message(message.text, (*message.blocks[:-1], row | {"elements": [*row["elements"], last]}))
    return Message(message.text, (*message.blocks, actions([last])))


def written(owner: Owner) -> str:
    """An owner as a button's value."""
    return ":".join((owner.enterprise_id or "", owner.team_id, owner.user_id))
