"""What a form remembers in its `private_metadata`: one frozen model per form.

A subclass declares what it keeps as fields:

    class EditMetadata(Metadata):
        entry: Number
"""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.slack.buttons import ActionExpired
from bot.slack.interaction import View

LONGEST = 3000
"""https://docs.slack.dev/reference/views/modal-views"""


class Metadata(BaseModel):
    """What every form may keep: the place where its result is announced, which dispatch reads."""

    model_config = ConfigDict(frozen=True, defer_build=True)
    place: dict[str, Any] = {}

    def dump(self) -> str:
        """JSON without defaults. Raises ValueError if Slack's limit is exceeded."""
        text = self.model_dump_json(exclude_defaults=True)
        if len(text) > LONGEST:
            raise ValueError(f"{type(self).__name__} has {len(text)} characters")
        return text

    @classmethod
    def of(cls, view: View | None) -> Self:
        """Read what `dump` wrote. Raises ActionExpired for anything else."""
        try:
            return cls.model_validate(view.metadata if view else None)
        except ValidationError:
            raise ActionExpired from None
