"""The form for a comment, and the messages about added comments."""

from collections.abc import Sequence

from bot.features.comments.buttons import ChooseIssue
from bot.features.comments.comments import Commented, Target
from bot.features.issues.actions import post_menu
from bot.features.issues.views import issue_option, title
from bot.slack import forms
from bot.slack.blocks import JSON, Block, Message, context, section, shortened
from bot.slack.posting import Announced
from bot.slack.sentences import not_posted
from bot.slack.text import escape, line, link, prose
from bot.slack.wording import Wording

TITLE = "Comment"
EXCERPT = 120


def comment_form(
    target: Target | None,
    wording: Wording,
    text: JSON | None,
    metadata: str,
    *,
    fixed: bool,
    files: Sequence[Block] = (),
    said: str | None = None,
) -> JSON:
    """The form for a comment on an issue: the one of `target`, if `fixed`, or else one that is chosen in it.

    `text` is a rich text block; `said` is what was wrong before.
    """
    blocks: list[Block] = [_issue(target, wording, fixed=fixed)]
    written = forms.formatted_text("comment", text, placeholder="Write a comment")
    blocks.append(forms.field("comment", "Comment", written, optional=False))
    blocks += files
    if target and target.private_notes:
        box = forms.checkbox("private", "Hide from people without permission", checked=False)
        blocks.append(forms.field("private", "Private note", box))
    view = forms.form("comment.add", TITLE, blocks, submit="Add comment", metadata=metadata)
    return forms.warned(view, said) if said else view


def _issue(target: Target | None, wording: Wording, *, fixed: bool) -> Block:
    if target and fixed:
        return section(f"On *{title(target.issue, wording)}*")
    chosen = issue_option(target.issue) if target else None
    select = forms.searched(ChooseIssue.action, chosen, "Search by number or subject")
    return forms.field("issue", "Issue", select, optional=False, dispatch=True)


def commented(done: Commented, wording: Wording, text: str) -> Message:
    """The private answer about a comment, with its first words."""
    excerpt = shortened(" ".join(text.split()), EXCERPT)
    did = "Added a private note to" if done.private else "Commented on"
    return _answer(done, wording, f"{did} {title(done.issue, wording)}: “{line(excerpt)}”")


def added(done: Commented, wording: Wording, announced: Announced | None) -> Message:
    """The private answer about an added message, and why it wasn't `announced`."""
    return _answer(
        done, wording, f"Added this message to {title(done.issue, wording)}.", _why_private(done, announced)
    )


def announced(done: Commented, wording: Wording, by: str, permalink: str | None) -> Message:
    """The post about a message that `by` added to an issue."""
    message = link(permalink, "this message") if permalink else "this message"
    text = f"{line(by)} added {message} to {title(done.issue, wording)}"
    return Message(text, (section(text, post_menu(done.issue.id, wording)),))


def _answer(done: Commented, wording: Wording, text: str, why: str | None = None) -> Message:
    service = escape(wording.service)
    if not done.certain:
        text = (
            f"{service} stopped responding, but {title(done.issue, wording)} was updated since. "
            "Check that your comment is there."
        )
    elif done.exposed:
        text = (
            f"Everyone who can see {title(done.issue, wording)} can see your comment: {service} didn't make "
            f"it private. Open the issue to delete it."
        )
    notes = [context(prose(why))] if why else []
    return Message(text, (section(text), *notes))


def _why_private(done: Commented, announced: Announced | None) -> str | None:
    """Why only the user sees the answer; None if it was announced, or can't be."""
    if announced in (Announced.YES, Announced.NOWHERE):
        return None
    if announced is not None:
        return not_posted(announced)
    if done.issue.is_private:
        return "Only you can see this: the issue is private."
    return "Only you can see this: others here may not have access to the comment."
