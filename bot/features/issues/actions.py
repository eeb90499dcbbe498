"""The actions on an issue: the same ones in the same order on its card, in rows and on posts."""

from bot.features.files.buttons import OpenFilesForm
from bot.features.issues.buttons import AssignToMe, ShareListedIssue, ShowIssue
from bot.features.timelog.buttons import OpenTimeForm
from bot.slack.blocks import Element, button, link_button, menu, menu_link, menu_option
from bot.slack.buttons import Button
from bot.slack.wording import Wording

SHARE = "Share here"


def issue_buttons(number: int, wording: Wording, share: Element | None) -> list[Element]:
    """The buttons of an issue's card; `share` comes first."""
    first = [share] if share else []
    others = [button(text, carries) for text, carries in _actions(AssignToMe(issue=number))]
    return [*first, *others, link_button(*_page(number, wording))]


def other_ways(number: int, wording: Wording) -> list[Element]:
    """The buttons below a change that the bot can't make."""
    show = button(f"Show #{number}", ShowIssue(issue=number), style="primary")
    assign = button("Assign to me", AssignToMe(issue=number))
    return [show, assign, link_button(*_page(number, wording))]


def issue_menu(
    number: int, wording: Wording, *, share: bool = False, assign: AssignToMe | None = None
) -> Element:
    """The `…` menu of an issue in a row or a post. `assign` replaces what *Assign to me* carries."""
    actions = _actions(assign or AssignToMe(issue=number))
    if share:
        actions.insert(0, (SHARE, ShareListedIssue(issue=number)))
    options = [menu_option(text, carries) for text, carries in actions]
    return menu([*options, menu_link(*_page(number, wording))])


def _actions(assign: AssignToMe) -> list[tuple[str, Button]]:
    return [
        ("Assign to me", assign),
        ("Log time", OpenTimeForm(issue=assign.issue)),
        ("Attach files", OpenFilesForm(issue=assign.issue)),
    ]


def _page(number: int, wording: Wording) -> tuple[str, str]:
    return f"Open in {wording.service}", wording.url(number)
