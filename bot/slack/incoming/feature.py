"""What a feature handles: each feature builds one `Feature`, and dispatch reads nothing else."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from bot.errors import BotError
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces import interaction
from bot.slack.surfaces.blocks import JSON
from bot.slack.surfaces.buttons import Button
from bot.slack.surfaces.drafts import SavedDraft
from bot.slack.surfaces.forms import FormResult
from bot.worker import BatchHandler, JobHandler

Handled = TypeVar("Handled", bound=interaction.Interaction)

Handler = Callable[[Handled, Reply], Awaitable[JSON | None]]  # may return a saved request, which runs next
Press = Handler[interaction.ButtonPress[Any]]
Submit = Callable[[interaction.FormSubmission, Reply], Awaitable[FormResult]]
Options = Callable[[interaction.OptionsRequest, Reply], Awaitable[list[JSON]]]


class Interrupted(BotError):
    """The process stopped, or crashed, while it was handling a request."""

    says = "I was restarted while working on this. Check whether it went through."


@dataclass(frozen=True)
class Form:
    """A modal's submit handler, and the text shown while it is slow.

    `doing` is plain text with `{service}` for the service's name. A form acts once however often it is
    submitted, unless it is `repeatable`. One that `looks` does what an earlier submission, lost in a crash,
    may have done: it looks that up first (`Reply.tried_at`).
    """

    submit: Submit
    doing: str
    repeatable: bool = False
    looks: bool = False


@dataclass(frozen=True)
class On:
    """An event's handler, and how often it runs.

    One that is `resumed` runs again in another process if this one crashes or stops; one that `retries` also
    runs again after an unexpected error, such as a database that is down. They check what they have done.
    A `repeatable` one runs as often as Slack sends the event, for events that look the same the next time
    they happen; if it `must_succeed`, Slack repeats the event until it does.
    """

    handle: Handler[interaction.Event]
    resumed: bool = False
    retries: bool = False
    repeatable: bool = False
    must_succeed: bool = False

    async def __call__(self, event: interaction.Event, reply: Reply) -> JSON | None:
        return await self.handle(event, reply)


@dataclass(frozen=True)
class Feature:
    """Handlers by their trigger: a command without slash and prefix, a callback ID, what a button
    carries, the action ID of a select, or an event type.
    """

    commands: Mapping[str, Handler[interaction.SlashCommand]] = field(default_factory=dict)
    shortcuts: Mapping[str, Handler[interaction.Shortcut]] = field(default_factory=dict)
    buttons: Mapping[type[Button] | str, Press] = field(default_factory=dict)
    forms: Mapping[str, Form] = field(default_factory=dict)
    edits: Mapping[str, Handler[interaction.DetailsEdit]] = field(default_factory=dict)
    """Edits of a Work Object's details: its response has at most errors at fields (`Reply.acknowledge`)."""
    closed: Mapping[str, Handler[interaction.FormClosed]] = field(default_factory=dict)
    options: Mapping[str, Options] = field(default_factory=dict)
    messages: Mapping[str, Handler[interaction.UserMessage]] = field(default_factory=dict)
    """By the type of the event."""
    events: Mapping[str, On] = field(default_factory=dict)
    jobs: Mapping[str, JobHandler | BatchHandler] = field(default_factory=dict)
    """What the worker does, by the kind of job."""


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


def unpacking(button: type[Button], handler: Press) -> Press:
    """The handler of a button, given what the button carries, or what was saved for it.

    Raises ActionExpired if that can't be read, and the `expired` of what isn't saved anymore.
    """

    async def handle(press: interaction.ButtonPress[Any], reply: Reply) -> JSON | None:
        carried: Button | None = None
        if not issubclass(button, SavedDraft):
            carried = button.unpack(press.carried)
        elif (carried := await reply.saved(button, str(press.carried))) is None:
            raise button.expired()
        return await handler(replace(press, button=carried), reply)

    return handle
