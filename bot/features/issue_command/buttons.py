"""What the buttons of questions about `/issue` carry."""

from bot.features.issues.fields import Draft
from bot.slack.surfaces.buttons import Number
from bot.slack.surfaces.drafts import SavedDraft


class ChangeSeveral(SavedDraft):
    """Changes these issues as the text says."""

    action = "issue.change_several"
    issues: tuple[Number, ...]
    text: str


class CreateSeveral(SavedDraft):
    """Creates an issue with each of these subjects."""

    action = "issue.create_several"
    drafts: tuple[Draft, ...]
