"""The form for a comment, and the messages about added comments."""

from collections.abc import Sequence

from bot.features.comments.comments import Commented, Target
from bot.features.issues.views import issue_field, title, with_reason
from bot.slack.outgoing.outcomes import PostOutcome
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import JSON, Block, Message, section, shortened
from bot.slack.surfaces.buttons import Button, Number
from bot.slack.surfaces.drafts import SavedDraft
from bot.slack.text.mrkdwn import escape, line
from bot.slack.text.wording import Wording

TITLE = "Comment"
EXCERPT_LENGTH = 120
PUBLIC = (
    "{service} doesn't let you write private notes here. Anyone who can see the issue can read your comment."
)


class CommentWithMessage(Button):
    """Opens the form that adds a message to an issue; `saved` is the ID of the saved message and files."""

    action = "comment.with_message"
    issue: Number
    saved: str


class OpenComment(SavedDraft):
    """Opens the form with a comment. `files` is the ID of the saved message that it adds, if any; `after` is
    as in `Comment`, and `checked` whether the user was asked to look for it on the issue.
    """

    action = "comment.open_saved"
    command = "issue"
    issue: Number
    text: str
    files: str | None = None
    after: Number | None = None
    checked: bool = False


class ChooseIssue(Button):
    action = "comment.issue"
    issue: Number


def comment_form(
    target: Target | None,
    wording: Wording,
    text: JSON | None,
    metadata: str,
    *,
    fixed: bool,
    private: bool = False,
    files: Sequence[Block] = (),
    warning: str | None = None,
) -> JSON:
    """The form for a comment on an issue: the one of `target`, if `fixed`, or else one that is chosen in it.

    `text` is a rich text block; `private` checks the box of a private note; `warning` is what was wrong
    before.
    """
    blocks: list[Block] = [_issue(target, wording, fixed=fixed)]
    written = forms.formatted_text("comment", text, placeholder="Write a comment")
    blocks.append(forms.field("comment", "Comment", written, optional=False))
    blocks += files
    if target and target.private_notes:
        box = forms.checkbox("private", "Only for people who can see private notes", checked=private)
        blocks.append(forms.field("private", "Private note", box))
    view = forms.form("comment.add", TITLE, blocks, submit="Add comment", metadata=metadata)
    return forms.warned(view, warning) if warning else view


def _issue(target: Target | None, wording: Wording, *, fixed: bool) -> Block:
    if target and fixed:
        return section(f"On *{title(target.issue, wording)}*")
    return issue_field(ChooseIssue.action, target.issue if target else None, dispatch=True)


def commented(done: Commented, wording: Wording, text: str) -> Message:
    """The private reply about a comment, with its first words."""
    excerpt = shortened(" ".join(text.split()), EXCERPT_LENGTH)
    did = "Added a private note to" if done.private else "Commented on"
    return _answer(done, wording, f"{did} {title(done.issue, wording)}: “{line(excerpt)}”")


def added(done: Commented, wording: Wording, announced: PostOutcome | None) -> Message:
    """The private reply about an added message; unless it was announced, with why. A warning says enough by
    itself.
    """
    issue = done.issue
    answer = _answer(done, wording, f"Added this message to {title(issue, wording)}.")
    if done.privacy_refused or not done.certain:
        return answer
    return with_reason(answer, issue, announced, private=done.private)


def _answer(done: Commented, wording: Wording, text: str) -> Message:
    service, issue = escape(wording.service), title(done.issue, wording)
    if not done.certain:
        text = (
            f"{service} stopped responding, but {issue} has been updated since then. "
            "Check whether your comment is there."
        )
    elif done.privacy_refused:
        text = (
            f"{service} didn't make your comment private. Anyone who can see {issue} can read it. "
            "Open the issue to delete it."
        )
    return Message(text, (section(text),))
