"""The issues that a message may be about, and the question before one is shared in its thread."""

from datetime import date

from bot.features.comments.views import CommentWithMessage
from bot.features.files.views import AttachFromMessage
from bot.features.issues.views import listed, page, title
from bot.features.related.related import RelatedMatches
from bot.features.search.views import NEW_SEARCH
from bot.service.models import Issue
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import (
    JSON,
    Block,
    actions,
    button,
    context,
    divider,
    menu,
    menu_link,
    menu_option,
    section,
)
from bot.slack.surfaces.buttons import Button, Number
from bot.slack.text.mrkdwn import line, link
from bot.slack.text.wording import Wording

TITLE = "Related issues"
SHARING = "Share issue"


class ShareInThread(Button):
    """Posts an issue in the message's thread; `agreed_project` as in `ShareIssue`."""

    action = "related.share"
    issue: Number
    agreed_project: Number | None = None
    saved: str


class SearchEverywhere(Button):
    """Searches all projects for the message's words."""

    action = "related.everywhere"
    saved: str


class FindRelated(Button):
    action = "related.find"
    saved: str


class CreateFromMessage(Button):
    """Opens the form for a new issue, filled from the message, with its `whole` thread."""

    action = "related.create"
    saved: str
    whole: bool = False


def related(
    matches: RelatedMatches, wording: Wording, today: date | None, saved: str, *, files: bool
) -> JSON:
    """The list, each issue with its menu; `files` is whether the message has any."""
    project = matches.project
    where = f"in {line(project.name)}" if project else "in all projects"
    fixed = {"project": project.id} if project else {}
    blocks: list[Block] = [section("No related issues found in any project.")]
    if matches.issues:
        rows = (
            listed(issue, wording, today, fixed=fixed, menu=_menu(issue, wording, saved, files=files))
            for issue in matches.issues
        )
        blocks = [context(f"Closest matches {where}, open issues first"), divider(), *rows, divider()]
    create = button("Create an issue", CreateFromMessage(saved=saved), style="primary")
    everywhere = [button("Search all projects", SearchEverywhere(saved=saved))] if project else []
    return forms.result(TITLE, [*blocks, actions([create, *everywhere, NEW_SEARCH])])


def _menu(issue: Issue, wording: Wording, saved: str, *, files: bool) -> JSON:
    options = []
    if wording.updates_issues:
        options.append(menu_option("Comment", CommentWithMessage(issue=issue.id, saved=saved)))
    if files:
        options.append(menu_option("Attach files", AttachFromMessage(issue=issue.id, saved=saved)))
    if not issue.is_private:
        options.append(menu_option("Share in thread", ShareInThread(issue=issue.id, saved=saved)))
    return menu([*options, menu_link(*page(issue.id, wording))])


def question(issue: Issue, wording: Wording, saved: str) -> JSON:
    """Asks before an issue is shared that others in the thread may not see."""
    text = (
        f"Share {title(issue, wording)} in the thread? Its project isn't public. "
        "Others there may not have permission to see it."
    )
    project = issue.project.id if issue.project else None
    confirmed = ShareInThread(issue=issue.id, agreed_project=project, saved=saved)
    return forms.result(SHARING, [section(text), actions([button(SHARING, confirmed, style="primary")])])


def in_thread(number: int, wording: Wording) -> JSON:
    shared = link(wording.url(number), f"#{number}")
    return forms.result(SHARING, [section(f"I shared {shared} in the thread.")])
