"""What a feature handles: each feature builds one `Feature`, and dispatch reads nothing else."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from bot.slack.blocks import JSON
from bot.slack.buttons import Button
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

Handler = Callable[[Handled, Reply], Awaitable[JSON | None]]
"""May return a saved request, which runs next."""
Submit = Callable[[FormSubmission, Reply], Awaitable[FormResult]]
Options = Callable[[OptionsRequest, Reply], Awaitable[list[JSON]]]


@dataclass(frozen=True)
class Form:
    """A modal's submit handler, and the text shown while it is slow.

    `doing` is plain text with `{service}` for the service's name. A form acts once however often it is
    submitted, unless it is `repeatable`. One that `looks` does what an earlier submission, lost in a crash,
    may have done: it looks that up first (`Reply.attempted_at`).
    """

    submit: Submit
    doing: str
    repeatable: bool = False
    looks: bool = False


@dataclass(frozen=True)
class Feature:
    """Handlers by what they answer to: a command without slash and prefix, a callback ID, what a button
    carries, the action ID of a select, or an event type.
    """

    commands: Mapping[str, Handler[SlashCommand]] = field(default_factory=dict)
    shortcuts: Mapping[str, Handler[Shortcut]] = field(default_factory=dict)
    buttons: Mapping[type[Button] | str, Handler[ButtonPress[Any]]] = field(default_factory=dict)
    forms: Mapping[str, Form] = field(default_factory=dict)
    closed: Mapping[str, Handler[FormClosed]] = field(default_factory=dict)
    options: Mapping[str, Options] = field(default_factory=dict)
    events: Mapping[str, Handler[Event]] = field(default_factory=dict)
    settled_events: Mapping[str, Handler[Event]] = field(default_factory=dict)
    """Events that must not be lost: Slack repeats them until the handler succeeds."""


def merged(features: Sequence[Feature]) -> Feature:
    """Combine all features into one, buttons by action. Raises ValueError if two handle the same name."""
    tables: dict[str, Any] = {}
    for table in fields(Feature):
        tables[table.name] = together = {}
        for feature in features:
            for key, handle in getattr(feature, table.name).items():
                name, handler = (
                    (key, handle) if isinstance(key, str) else (key.action, unpacking(key, handle))
                )
                if name in together:
                    raise ValueError(f"two features claim {table.name} {name}")
                together[name] = handler
    return Feature(**tables)


def unpacking(button: type[Button], handler: Handler[ButtonPress[Any]]) -> Handler[ButtonPress[Any]]:
    """The handler of a button, given what the button carries. Raises ActionExpired if that can't be read."""

    async def handle(press: ButtonPress[Any], reply: Reply) -> JSON | None:
        return await handler(replace(press, button=button.unpack(press.carried)), reply)

    return handle
