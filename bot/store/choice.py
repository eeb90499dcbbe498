"""A value of the service that settings refer to."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """A value such as a tracker or a person, as ID and name."""

    id: int
    name: str
