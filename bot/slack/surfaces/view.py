"""A view as Slack sent it back, and what a form remembers in its `private_metadata`: one frozen model each.

A subclass of `Metadata` declares what it keeps as fields:

    class EditMetadata(Metadata):
        entry: Number
"""

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.slack.surfaces.blocks import JSON
from bot.slack.surfaces.buttons import ActionExpired
from bot.slack_limits import METADATA_LENGTH


@dataclass(frozen=True)
class View:
    """A modal or the Home tab, as Slack sent it back; `json` is Slack's object."""

    json: JSON = field(repr=False)

    @property
    def id(self) -> str:
        return str(self.json["id"])

    @property
    def hash(self) -> str:
        """The view's version; Slack rejects an update that names an older one."""
        return str(self.json["hash"])

    @property
    def callback_id(self) -> str:
        return str(self.json.get("callback_id") or "")

    @cached_property
    def metadata(self) -> JSON:
        """The bot's `private_metadata`; empty if invalid."""
        try:
            data = json.loads(self.json.get("private_metadata") or "{}")
        except ValueError:
            return {}
        return data if isinstance(data, dict) else {}

    def text(self, name: str) -> str | None:
        """A text in the metadata; None if missing or invalid."""
        value = self.metadata.get(name)
        return value if isinstance(value, str) else None


class Metadata(BaseModel):
    """The metadata of every form: the place where its result is announced, which dispatch reads."""

    model_config = ConfigDict(frozen=True, defer_build=True)
    place: dict[str, Any] = {}

    def dump(self) -> str:
        """JSON without defaults. Raises ValueError if Slack's limit is exceeded."""
        text = self.model_dump_json(exclude_defaults=True)
        if len(text) > METADATA_LENGTH:
            raise ValueError(f"{type(self).__name__} has {len(text)} characters")
        return text

    @classmethod
    def of(cls, view: View | None) -> Self:
        """Read what `dump` wrote. Raises ActionExpired for anything else."""
        try:
            return cls.model_validate(view.metadata if view else None)
        except ValidationError:
            raise ActionExpired from None
