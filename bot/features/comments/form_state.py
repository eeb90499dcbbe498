"""What the form for a comment remembers, and what opens it again."""

from pydantic import BaseModel, ConfigDict

from bot.slack.buttons import Number
from bot.slack.metadata import Metadata


class CommentMetadata(Metadata):
    """Of the form: the `issue`, unless it is chosen there; the job `files` of the message that is added;
    `after` as in `Comment`; and whether the user was asked to check if the comment is there (`checked`).
    """

    issue: Number | None = None
    files: str | None = None
    after: Number | None = None
    checked: bool = False


class SavedComment(BaseModel):
    """A typed comment whose form can be opened; `said` is what was wrong, the others are as in
    `CommentMetadata`.
    """

    model_config = ConfigDict(frozen=True)

    issue: Number
    text: str
    said: str
    files: str | None = None
    after: Number | None = None
    checked: bool = False
