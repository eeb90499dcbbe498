"""What the form for a new issue remembers while it is open."""

from pydantic import AwareDatetime

from bot.features.issues.creating import Source
from bot.slack.metadata import Metadata


class NewIssueMetadata(Metadata):
    """The strings are IDs of saved input: `files` of a job, `thread` of an offered thread, `rest` of a
    description that is too long for the form, and `draft` of what waits for a project.

    `source` is the message that the issue is created from. `template` is the ID of the one that filled the
    form in, and `more` is whether *More fields* was pressed. `attempted_at` is when an attempt ended with an
    unknown outcome.
    """

    source: Source | None = None
    files: str | None = None
    thread: str | None = None
    rest: str | None = None
    draft: str | None = None
    template: int = 0
    more: bool = False
    attempted_at: AwareDatetime | None = None
