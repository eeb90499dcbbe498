"""What the buttons of questions about `/issue` carry."""

from bot.slack.surfaces.buttons import Number
from bot.slack.surfaces.drafts import SavedDraft


class ChangeSeveral(SavedDraft):
    """Changes these issues as the text says."""

    action = "issue.change_several"
    issues: tuple[Number, ...]
    text: str
