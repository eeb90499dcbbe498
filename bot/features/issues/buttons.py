"""What the buttons, menus and selects of issues carry."""

from bot.errors import Offer
from bot.slack.surfaces.blocks import shortened
from bot.slack.surfaces.buttons import Button, Number

COMMENT_SHOWN = 50  # how many characters of a comment its button has


class ShowIssue(Button):
    action = "issue.show"
    issue: Number


class ShowMore(Button):
    """Shows an issue's card with the whole description."""

    action = "issue.more"
    issue: Number


class ShareListedIssue(Button):
    """In a menu, which can't ask first."""

    action = "issue.share_listed"
    issue: Number


class ShareIssue(Button):
    """On a card. `agreed_project` is the project that isn't public which its question is about, if any."""

    action = "issue.share"
    issue: Number
    agreed_project: Number | None = None


class AssignToMe(Button):
    """`holder` is the assignee that the user agreed to replace."""

    action = "issue.assign"
    issue: Number
    holder: Number | None = None


class AssignInDetails(AssignToMe):
    """In a link's details, which are then shown again."""

    action = "details.assign"


class SetStatus(Button):
    """An option of the *Status* select on a card."""

    action = "issue.set_status"
    issue: Number
    status: Number


class EditIssue(Button):
    action = "issue.edit"
    issue: Number


class CommentOnIssue(Button):
    action = "comment.open"
    issue: Number


class OpenTimeForm(Button):
    action = "time.open"
    issue: Number


class OpenFilesForm(Button):
    action = "files.open"
    issue: Number


class FollowIssue(Button):
    """On a post in a thread, which is then kept up to date; `created` is whether it announces the issue.

    On a card, and on a post about something else, `thread` is where a new post goes, or without one, the
    user's direct messages. `agreed_project` is the project that isn't public which its question is about, if
    it asks.
    """

    action = "issue.follow"
    issue: Number
    created: bool = False
    agreed_project: Number | None = None
    thread: str = ""


class StopFollowing(Button):
    """On the post that is kept up to date; on a reply about it, with its `channel` and `thread`."""

    action = "issue.unfollow"
    issue: Number
    created: bool = False
    channel: str = ""
    thread: str = ""


class IncludeComments(Button):
    """On the post that is kept up to date: whether new comments are quoted below it."""

    action = "issue.comments"
    issue: Number
    on: bool


class OpenIssueForm(Button):
    action = "home.create"


class ContinueDraft(Button):
    action = "issue.continue_draft"


class DiscardDraft(Button):
    action = "issue.discard_draft"


class MoreFields(Button):
    action = "issue.more_fields"


class NewIssueWithFiles(Button):
    """`saved` is the ID of the saved files."""

    action = "files.new"
    saved: str


class ChooseProject(Button):
    action = "issue.project"
    project: Number


class ChooseValue(Button):
    """A choice in any other field of an issue in a form; the field is its block's."""

    action = "issue.value"


class TypeSubject(Button):
    action = "issue.subject"
    subject: str = ""


def comment_offer(text: str, number: int) -> Offer:
    """A button that adds a typed text as a comment."""
    return Offer(f"Comment “{shortened(text, COMMENT_SHOWN)}”", f"{number} comment {text}")
