"""What a feature answers to; a feature's `__init__` builds one of these, and dispatch reads nothing else."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from bot.slack.blocks import JSON
from bot.slack.forms import FormResult
from bot.slack.interaction import (
    ButtonPress,
    Event,
    FormClosed,
    FormSubmission,
    Interaction,
    OptionsRequest,
    Shortcut,
    SlashCommand,
)
from bot.slack.replies import Reply

Handled = TypeVar("Handled", bound=Interaction)

Handler = Callable[[Handled, Reply], Awaitable[None]]
Submit = Callable[[FormSubmission, Reply], Awaitable[FormResult]]
Options = Callable[[OptionsRequest, Reply], Awaitable[list[JSON]]]


@dataclass(frozen=True)
class Form:
    """A modal's submission: what it does, and what stands in its place while that takes long.

    `doing` is plain text with `{service}` for the service's name. A form acts once however often it is
    submitted, unless it is `repeatable`.
    """

    submit: Submit
    doing: str
    repeatable: bool = False


@dataclass(frozen=True)
class Feature:
    """Handlers by name: a command without slash and prefix, a callback id, an action id, an event's type."""

    commands: Mapping[str, Handler[SlashCommand]] = field(default_factory=dict)
    shortcuts: Mapping[str, Handler[Shortcut]] = field(default_factory=dict)
    buttons: Mapping[str, Handler[ButtonPress]] = field(default_factory=dict)
    forms: Mapping[str, Form] = field(default_factory=dict)
    closed: Mapping[str, Handler[FormClosed]] = field(default_factory=dict)
    options: Mapping[str, Options] = field(default_factory=dict)
    events: Mapping[str, Handler[Event]] = field(default_factory=dict)
    settled_events: Mapping[str, Handler[Event]] = field(default_factory=dict)
    """Events that must not be lost: Slack repeats one until its handler succeeds."""


def merged(features: Sequence[Feature]) -> Feature:
    """All features as one. Raises ValueError when two of them claim the same name."""
    tables: dict[str, Any] = {}
    for table in fields(Feature):
        tables[table.name] = together = {}
        for feature in features:
            for name, handler in getattr(feature, table.name).items():
                if name in together:
                    raise ValueError(f"two features claim {table.name} {name}")
                together[name] = handler
    return Feature(**tables)
