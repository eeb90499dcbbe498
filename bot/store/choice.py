"""Values of the service that settings refer to, and what a template fills in."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Choice:
    """A value such as a tracker or a person, as ID and name."""

    id: int
    name: str


@dataclass(frozen=True)
class TemplateContent:
    """What a template fills in. `description` is in the service's format."""

    prefix: str = ""
    description: str = ""
    choices: Mapping[str, Choice] = field(default_factory=dict)
    """The issue's fields that have a choice, by option key."""
    required: tuple[str, ...] = ()
    """The headings of the description under which something must be written."""
