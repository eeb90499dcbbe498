"""What Slack sends, parsed once into frozen types; no other module reads a raw payload.

    Interaction             who did it, where, and through which installation
    ├── SlashCommand        `/issue 42`
    ├── Shortcut            a global shortcut, or a message shortcut with its message
    ├── ButtonPress         a button, a menu or a select that acts at once
    ├── FormSubmission      a modal was submitted
    ├── FormClosed          a modal was closed
    ├── OptionsRequest      a select asks for options while a user types
    └── Event               something happened in the workspace

Sources: https://docs.slack.dev/reference/interaction-payloads, https://docs.slack.dev/reference/events and
https://docs.slack.dev/interactivity/implementing-slash-commands
"""

import json
import time
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

from bot.errors import UserError
from bot.slack.blocks import JSON
from bot.slack.buttons import MENU, Button
from bot.slack.grammar.tokens import as_typed
from bot.store.owner import Owner

COMMAND_LENGTH = 8_000
"""The longest command that is parsed: parsing takes a few milliseconds per thousand characters."""


class CommandTooLong(UserError):
    """A command is too long to be parsed."""

    length: int
    longest: int


@dataclass(frozen=True)
class Place:
    """Where to answer: a conversation, a thread in it, or the Home tab."""

    channel_id: str | None = None
    thread_ts: str | None = None
    response_url: str | None = field(default=None, repr=False)
    home: bool = False

    def as_json(self) -> JSON:
        """For a view's `private_metadata` or saved input."""
        return {key: value for key, value in asdict(self).items() if value}

    @classmethod
    def from_json(cls, data: object) -> "Place":
        """Read what `as_json` wrote; drops anything else."""
        known = data if isinstance(data, dict) else {}
        names = ("channel_id", "thread_ts", "response_url")
        texts = {name: known[name] for name in names if isinstance(known.get(name), str)}
        return cls(**texts, home=known.get("home") is True)


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

    def moment(self, name: str) -> datetime | None:
        """A datetime in the metadata; None if missing or invalid."""
        try:
            moment = datetime.fromisoformat(self.text(name) or "")
        except ValueError:
            return None
        return moment if moment.tzinfo else None


@dataclass(frozen=True, kw_only=True)
class Interaction:
    """What all payloads have in common.

    `installation` is the enterprise and team that the app was called through; in a shared channel, users of
    other companies belong to other teams.
    """

    kind: ClassVar[str]
    """The type's name in logs and metrics."""
    name: str
    owner: Owner
    place: Place
    installation: tuple[str | None, str | None]
    trigger_id: str | None = field(default=None, repr=False)
    payload: JSON = field(repr=False)
    view: View | None = None

    @property
    def typed(self) -> str | None:
        """The command as it was typed, to quote it; None for anything but commands."""
        return None

    @property
    def modal(self) -> View | None:
        """The modal it came from, if any; the Home tab isn't one."""
        return self.view if self.view and self.view.json.get("type") == "modal" else None


@dataclass(frozen=True, kw_only=True)
class SlashCommand(Interaction):
    """A command: `name` includes its slash and prefix, `raw` is the text after it."""

    kind = "command"
    raw: str

    @property
    def text(self) -> str:
        """The text after the command. Raises CommandTooLong."""
        if len(self.raw) > COMMAND_LENGTH:
            raise CommandTooLong(len(self.raw), COMMAND_LENGTH)
        return self.raw

    @property
    def typed(self) -> str:
        return f"{self.name} {as_typed(self.raw)}".strip()


@dataclass(frozen=True, kw_only=True)
class Shortcut(Interaction):
    """A shortcut; `message` is Slack's message object for a message shortcut."""

    kind = "shortcut"
    message: JSON = field(default_factory=dict, repr=False)


Carries = TypeVar("Carries", bound=Button)


@dataclass(frozen=True, kw_only=True)
class ButtonPress(Interaction, Generic[Carries]):
    """A button, a menu option or another choice; `name` is its action.

    Dispatch reads `carried` into `button`. `message` is the message it is in, if any; `pressed_at` is Slack's
    time.
    """

    kind = "action"
    carried: object
    button: Carries = field(default=None)  # type: ignore[assignment] # set by dispatch before a handler runs
    pressed_at: float
    message: JSON = field(default_factory=dict, repr=False)
    ephemeral: bool = False

    @property
    def form_key(self) -> str:
        """Identifies the form it is in across workspaces."""
        return f"{self.owner.team_id}:{self.view.id if self.view else ''}"


def form_claim(owner: Owner, view_id: str, callback_id: str) -> str:
    return f"form:{owner.team_id}:{view_id}:{callback_id}"


@dataclass(frozen=True, kw_only=True)
class FormSubmission(Interaction):
    """A submitted form."""

    kind = "form"
    view: View = field()  # required again: without `field()` it has the default of the base class

    @property
    def key(self) -> str:
        """The claim on the form's work; several forms may share a view ID, one after the other."""
        return form_claim(self.owner, self.view.id, self.view.callback_id)


@dataclass(frozen=True, kw_only=True)
class FormClosed(Interaction):
    """A form with `notify_on_close` was closed."""

    kind = "closed"
    view: View = field()  # as above


@dataclass(frozen=True, kw_only=True)
class OptionsRequest(Interaction):
    """A select asks for options that match `text`; `block_id` is the field's."""

    kind = "options"
    block_id: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Event(Interaction):
    """Something happened; `event` is Slack's event object."""

    kind = "event"
    event: JSON = field(repr=False)

    @property
    def ignored(self) -> bool:
        """Whether it means nothing to the bot: Slack tells of everyone's status, and only leaving matters."""
        return self.name == "user_change" and not self.event["user"].get("deleted")


def read(body: JSON) -> Interaction | None:
    """Parse a payload that was validated before, such as a saved one."""
    common = _common(body)
    match body:
        case {"command": str(name)}:
            return SlashCommand(name=name, raw=str(body.get("text") or ""), **common)
        case {"event": dict(event)}:
            return Event(name=str(event.get("type")), event=event, **common)
        case {"type": "shortcut" | "message_action"}:
            return Shortcut(name=str(body["callback_id"]), message=body.get("message") or {}, **common)
        case {"type": "block_actions"}:
            return _pressed(body, common)
        case {"type": "view_submission", "view": dict(view)}:
            return FormSubmission(name=str(view["callback_id"]), **common)
        case {"type": "view_closed", "view": dict(view)}:
            return FormClosed(name=str(view["callback_id"]), **common)
        case {"type": "block_suggestion"}:
            return OptionsRequest(
                name=str(body["action_id"]),
                block_id=str(body["block_id"]),
                text=str(body.get("value") or ""),
                **common,
            )
    return None


def _pressed(body: JSON, common: dict[str, Any]) -> ButtonPress[Any]:
    action = body["actions"][0]
    option = action.get("selected_option")
    name = str(action["action_id"])
    carried = (option if isinstance(option, dict) else action).get("value")
    if name == MENU:
        name, _, carried = str(carried).partition(" ")
    return ButtonPress(
        name=name,
        carried=carried,
        pressed_at=float(action.get("action_ts") or time.time()),
        message=body.get("message") or {},
        ephemeral=bool((body.get("container") or {}).get("is_ephemeral")),
        **common,
    )


def _common(body: JSON) -> dict[str, Any]:
    container, message = body.get("container") or {}, body.get("message") or {}
    place = Place(
        channel_id=body.get("channel_id")
        or (body.get("channel") or {}).get("id")
        or container.get("channel_id"),
        thread_ts=message.get("thread_ts") or container.get("thread_ts"),
        response_url=body.get("response_url"),
        home=(body.get("view") or {}).get("type") == "home",
    )
    return {
        "owner": owner_of(body),
        "place": place,
        "installation": (None, None),
        "trigger_id": body.get("trigger_id"),
        "payload": body,
        "view": View(body["view"]) if body.get("view") else None,
    }


def _authorization(body: JSON) -> JSON:
    """The enterprise and workspace of the installation that an event is for, which Slack may name only here.

    Empty in a channel shared with another company, where the user may belong to that one.
    """
    authorizations = body.get("authorizations")
    if not authorizations or body.get("is_ext_shared_channel"):
        return {}
    return {key: authorizations[0].get(key) for key in ("enterprise_id", "team_id")}


def owner_of(body: JSON) -> Owner:
    """The user who caused a payload; users of other companies have their own team (docs/slack.md, Shared
    channels and people).
    """
    user = body.get("user") or {}
    if isinstance(event := body.get("event"), dict):
        user = event.get("user")
        user = user if isinstance(user, dict) else {"id": user}
        body = _authorization(body) | {key: value for key, value in body.items() if value}
    where = body.get("team") or {}  # None in an organization-wide installation, as is a view's
    enterprise = (
        (body.get("enterprise") or {}).get("id") or body.get("enterprise_id") or where.get("enterprise_id")
    )
    view = body.get("view") or {}
    there = where.get("id") or body.get("team_id") or view.get("team_id")
    own = user.get("team_id")
    team = (there or own if enterprise else own or there) or ""
    return Owner(enterprise or None, team, user.get("id") or body.get("user_id") or "")
