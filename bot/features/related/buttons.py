"""What the buttons of the list of related issues carry; `job` is the ID of the saved message."""

from bot.slack.surfaces.buttons import Button, Number


class ShareInThread(Button):
    """Posts an issue in the message's thread; `agreed` as in `ShareIssue`."""

    action = "related.share"
    issue: Number
    agreed: Number | None = None
    job: str


class SearchEverywhere(Button):
    """Searches all projects for the message's words."""

    action = "related.everywhere"
    job: str


class FindRelated(Button):
    """Lists the issues that the message may be about."""

    action = "related.find"
    job: str


class CreateFromMessage(Button):
    """Opens the form for a new issue, filled from the message, with its `whole` thread."""

    action = "related.create"
    job: str
    whole: bool = False
