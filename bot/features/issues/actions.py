"""The actions on an issue: the same ones in the same order on its card, in rows and on posts."""

from bot.features.files.buttons import OpenFilesForm
from bot.features.issues.buttons import AssignToMe, ShareListedIssue, ShowIssue
from bot.features.timelog.buttons import OpenTimeForm
from bot.slack.blocks import Block, Element, actions, button, link_button, menu, menu_link, menu_option
from bot.slack.buttons import Button
from bot.slack.wording import Wording

SHARE, ASSIGN = "Share here", "Assign to me"


def issue_buttons(number: int, wording: Wording, share: Element | None) -> list[Element]:
    """The buttons of an issue's card; `share` comes first."""
    first = [share] if share else []
    others = [button(text, carries) for text, carries in _actions(AssignToMe(issue=number))]
    return [*first, *others, link_button(*_page(number, wording))]


def open_buttons(number: int, wording: Wording, *more: Element) -> Block:
    """Buttons for an issue's card, for its page in the service, and `more`."""
    show = button("Show issue", ShowIssue(issue=number))
    return actions([show, link_button(*_page(number, wording)), *more], block_id=f"open-{number}")


def assign_button(number: int) -> Element:
    return button(ASSIGN, AssignToMe(issue=number))


def issue_menu(
    number: int, wording: Wording, *, share: bool = False, assign: AssignToMe | None = None
) -> Element:
    """The `…` menu of an issue in a row or a post. `assign` replaces what *Assign to me* carries."""
    first: list[tuple[str, Button]] = [(SHARE, ShareListedIssue(issue=number))] if share else []
    others = _actions(assign or AssignToMe(issue=number))
    options = [menu_option(text, carries) for text, carries in (*first, *others)]
    return menu([*options, menu_link(*_page(number, wording))])


def _actions(assign: AssignToMe) -> list[tuple[str, Button]]:
    return [
        (ASSIGN, assign),
        ("Log time", OpenTimeForm(issue=assign.issue)),
        ("Attach files", OpenFilesForm(issue=assign.issue)),
    ]


def _page(number: int, wording: Wording) -> tuple[str, str]:
    return f"Open in {wording.service}", wording.url(number)
