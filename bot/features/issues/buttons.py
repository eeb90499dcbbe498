"""What the buttons, menus and selects of issues carry."""

from bot.slack.buttons import Button, Number


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
    """On a card. `agreed` is the project that isn't public which its question asks about, if it asks."""

    action = "issue.share"
    issue: Number
    agreed: Number | None = None


class AssignToMe(Button):
    """`holder` is the assignee that the user agreed to replace."""

    action = "issue.assign"
    issue: Number
    holder: Number | None = None


class TakeIssue(AssignToMe):
    """In a digest's row, which is then updated; `digest` is the digest's `ts`."""

    action = "issue.take"
    digest: str = ""


class DeleteAnnouncement(Button):
    """On the private answer to the user who created the issue; `ts` is the announcement's."""

    action = "issue.delete_post"
    ts: str
    team_id: str
    user_id: str


class OpenIssueForm(Button):
    action = "home.create"


class OpenDraft(Button):
    """Opens the create form with a saved draft; `saved` is its ID."""

    action = "issue.open_draft"
    saved: str


class MoreFields(Button):
    action = "issue.more_fields"


class NewIssueWithFiles(Button):
    """`job` is the ID of the saved files."""

    action = "files.new"
    job: str


class ChooseProject(Button):
    action = "issue.project"
    project: Number


class ChooseTracker(Button):
    action = "issue.tracker"
    tracker: Number | None = None


class TypeSubject(Button):
    action = "issue.subject"
    subject: str = ""
