"""Public posts that the user who caused them can delete."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bot.slack import posting
from bot.slack.blocks import JSON, Block, Element, Message, actions, confirm, menu, menu_option
from bot.slack.buttons import MENU, ActionExpired, DeletePost
from bot.slack.errors import NotYourPost, PostNotDeleted
from bot.slack.interaction import ButtonPress
from bot.store.owner import Owner

if TYPE_CHECKING:
    from bot.slack.replies import Reply

MENU_OPTIONS = 5


async def retractable(message: Message, reply: "Reply") -> Message:
    """Add *Delete post*, for this user, to the message's menu, or else in a menu of its own."""
    return deletable(message, reply.owner, (await reply.profile()).first_name, reply.wording.service)


def deletable(message: Message, owner: Owner, first_name: str, service: str) -> Message:
    """As `retractable`, for `owner`."""
    return Message(message.text, _with_menu(message.blocks, delete_menu(owner, first_name, service)))


def delete_menu(owner: Owner, first_name: str, service: str) -> Element:
    """A menu with *Delete post* only, which says who may use it and asks first."""
    label = f"Delete post (only {first_name})" if first_name else "Delete post"
    option = menu_option(label, _delete(owner))
    return menu([option], confirm=delete_question(f"Nothing changes in {service}."))


def delete_question(then: str) -> JSON:
    """The confirmation before a post is deleted; `then` says what stays."""
    return confirm("Delete this post?", then, "Delete post", style="danger")


def _with_menu(blocks: tuple[Block, ...], delete: Element) -> tuple[Block, ...]:
    """The blocks with the option in their first menu with room, or else the menu beside their buttons."""
    for n, block in enumerate(blocks):
        old = block.get("accessory") or {}
        if old.get("action_id") == MENU and len(old["options"]) < MENU_OPTIONS:
            return (
                *blocks[:n],
                block | {"accessory": menu([*old["options"], *delete["options"]])},
                *blocks[n + 1 :],
            )
    last = blocks[-1] if blocks else {}
    if last.get("type") == "actions":
        return (*blocks[:-1], last | {"elements": [*last["elements"], delete]})
    return (*blocks, actions([delete]))


async def delete_pressed(press: ButtonPress[DeletePost], reply: "Reply") -> None:
    """Delete a post. Everyone in the channel sees its menu, so this checks who caused the post.

    The post itself says who, whatever the press carries.
    """
    delete = DeletePost.unpack(next(_delete_values(press.message), None))
    if delete != _delete(reply.owner):
        raise NotYourPost((await reply.profile_of(delete.user_id)).first_name)
    if not await posting.delete_post(reply.slack, reply.place, str(press.message.get("ts"))):
        raise PostNotDeleted


def poster_of(message: JSON) -> Owner | None:
    try:
        delete = DeletePost.unpack(next(_delete_values(message), None))
    except ActionExpired:
        return None
    return Owner(delete.enterprise_id or None, delete.team_id, delete.user_id)


def _delete(owner: Owner) -> DeletePost:
    return DeletePost(enterprise_id=owner.enterprise_id or "", team_id=owner.team_id, user_id=owner.user_id)


def _delete_values(message: JSON) -> Iterator[str]:
    """What the message's own *Delete post* carries: an option, or a button in older posts."""
    for block in message.get("blocks") or ():
        elements: list[Element] = [*(block.get("elements") or ()), block.get("accessory") or {}]
        for element in elements:
            if element.get("action_id") == DeletePost.action:
                yield str(element.get("value"))
            for option in element.get("options") or ():
                action, _, carried = str(option.get("value")).partition(" ")
                if action == DeletePost.action:
                    yield carried
