"""The actions on an issue: the same ones in the same order on its card, in rows and on posts."""

from collections.abc import Awaitable, Callable, Sequence

from bot.errors import BotError
from bot.features.comments.buttons import CommentOnIssue
from bot.features.editing.buttons import EditIssue
from bot.features.files.buttons import OpenFilesForm
from bot.features.following.buttons import FollowIssue, StopFollowing
from bot.features.issues.buttons import AssignToMe, ShareListedIssue, ShowIssue
from bot.features.timelog.buttons import OpenTimeForm
from bot.service.optional import UPDATE_ISSUE
from bot.slack.blocks import (
    JSON,
    Block,
    Element,
    actions,
    button,
    link_button,
    menu,
    menu_link,
    menu_option,
)
from bot.slack.buttons import Button
from bot.slack.retractable import MENU_OPTIONS
from bot.slack.wording import Wording

SHARE, ASSIGN = "Share here", "Assign to me"
FOLLOW, STOP_FOLLOWING = "Follow in this thread", "Stop following"
Action = tuple[str, Button]
"""A button's text, and what it carries."""


def _actions(assign: AssignToMe, wording: Wording) -> list[Action]:
    """The actions in their order. Those that change the issue are left out if the service can't do that."""
    number = assign.issue
    changes: list[Action] = [
        (ASSIGN, assign),
        ("Edit", EditIssue(issue=number)),
        ("Comment", CommentOnIssue(issue=number)),
    ]
    others: list[Action] = [
        ("Log time", OpenTimeForm(issue=number)),
        ("Attach files", OpenFilesForm(issue=number)),
    ]
    return others if wording.lacks(UPDATE_ISSUE) else [*changes, *others]


def issue_buttons(number: int, wording: Wording, *first: Element) -> list[Element]:
    """The buttons of an issue's card, after the `first` ones."""
    others = [button(text, carries) for text, carries in _actions(AssignToMe(issue=number), wording)]
    return [*first, *others, link_button(*_page(number, wording))]


def open_buttons(number: int, wording: Wording, *more: Element) -> Block:
    """Buttons for an issue's card, for its page in the service, and `more`."""
    show = button("Show issue", ShowIssue(issue=number))
    return actions([show, link_button(*_page(number, wording)), *more], block_id=f"open-{number}")


def opening(number: int | None, wording: Wording) -> Callable[[BotError], Awaitable[Block | None]]:
    """Offers the buttons of an issue below an error, if the issue is known."""

    async def open_it(_: BotError) -> Block | None:
        return open_buttons(number, wording) if number else None

    return open_it


def open_option(number: int, wording: Wording) -> JSON:
    """The menu option that opens an issue's page in the service."""
    return menu_link(*_page(number, wording))


def row_menu(number: int, wording: Wording, *, share: bool) -> Element:
    """The `…` menu of an issue in a list that one person sees."""
    share_option = [menu_option(SHARE, ShareListedIssue(issue=number))] if share else []
    return _menu(share_option, AssignToMe(issue=number), wording, room=MENU_OPTIONS)


def post_menu(
    number: int,
    wording: Wording,
    *,
    assign: AssignToMe | None = None,
    follow: FollowIssue | StopFollowing | None = None,
    thread: str | None = None,
) -> Element:
    """The `…` menu of an issue in a post, with room for *Delete post*.

    `assign` replaces what *Assign to me* carries. `follow` is for a post that can be kept up to date itself.
    Any other post names the `thread` it is in, if any, which can follow the issue in a post of its own.
    """
    if thread and follow is None:
        follow = FollowIssue(issue=number, thread=thread)
    text = STOP_FOLLOWING if isinstance(follow, StopFollowing) else FOLLOW
    last = [menu_option(text, follow)] if follow else []
    return _menu([], assign or AssignToMe(issue=number), wording, last, room=MENU_OPTIONS - 1)


def _menu(
    first: list[JSON], assign: AssignToMe, wording: Wording, last: Sequence[JSON] = (), *, room: int
) -> Element:
    """A menu with all actions, or with as many as there's room for, `last` and *More actions*."""
    options = [*first, *(menu_option(text, carries) for text, carries in _actions(assign, wording))]
    options.append(open_option(assign.issue, wording))
    if len(options) + len(last) > room:
        more = menu_option("More actions", ShowIssue(issue=assign.issue))
        return menu([*options[: room - 1 - len(last)], *last, more])
    return menu([*options, *last])


def _page(number: int, wording: Wording) -> tuple[str, str]:
    return f"Open in {wording.service}", wording.url(number)
