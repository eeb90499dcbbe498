"""What Slack sends, checked and parsed once into frozen types; no other module reads a raw payload.

    Interaction             who did it, where, and through which installation
    ├── SlashCommand        `/issue 42`
    ├── Shortcut            a global shortcut, or a message shortcut with its message
    ├── ButtonPress         a button, a menu or a select that acts at once
    ├── FormSubmission      a modal was submitted
    ├── FormClosed          a modal with `notify_on_close` was closed
    ├── OptionsRequest      a select asks for options while a user types
    └── Event               something happened in the workspace

Sources: https://docs.slack.dev/reference/interaction-payloads, https://docs.slack.dev/reference/events and
https://docs.slack.dev/interactivity/implementing-slash-commands
"""

import json
import time
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bot.errors import UserError
from bot.slack.language.tokens import as_typed
from bot.slack.outgoing.posting import Place
from bot.slack.surfaces.blocks import JSON
from bot.slack.surfaces.buttons import MENU, Button
from bot.slack.surfaces.view import View
from bot.store.owner import Owner

log = structlog.get_logger(__name__)

COMMAND_LENGTH = 8_000
"""The longest command that is parsed: parsing takes a few milliseconds per thousand characters."""


@dataclass(frozen=True, kw_only=True)
class Interaction:
    """What all payloads have in common.

    `installation` is the enterprise and team that the app was called through; in a shared channel, users of
    other companies belong to other teams.
    """

    kind: ClassVar[str]
    name: str
    owner: Owner
    place: Place
    installation: tuple[str | None, str | None] = (None, None)
    trigger_id: str | None = field(default=None, repr=False)
    payload: JSON = field(repr=False)
    view: View | None = None

    @property
    def typed(self) -> str | None:
        """The command as it was typed, to quote it; None for anything but commands."""
        return f"{self.name} {as_typed(self.raw)}".strip() if isinstance(self, SlashCommand) else None

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
        """The text after the command. Raises UserError if it is too long."""
        if len(self.raw) > COMMAND_LENGTH:
            raise UserError(
                "Your command has {length} characters, and the limit is {longest}. "
                "Shorten it, and attach the rest as a file.",
                length=f"{len(self.raw):,}",
                longest=f"{COMMAND_LENGTH:,}",
            )
        return self.raw


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
        return f"{self.owner.team_id}:{self.view.id if self.view else ''}"


def form_claim(owner: Owner, view_id: str, callback_id: str) -> str:
    return f"form:{owner.team_id}:{view_id}:{callback_id}"


@dataclass(frozen=True, kw_only=True)
class FormSubmission(Interaction):
    kind = "form"
    view: View = field()  # required again: without `field()` it has the default of the base class

    @property
    def key(self) -> str:
        """The claim on the form's work; several forms may share a view ID, one after the other."""
        return form_claim(self.owner, self.view.id, self.view.callback_id)


@dataclass(frozen=True, kw_only=True)
class FormClosed(Interaction):
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
    kind = "event"
    event: JSON = field(repr=False)

    @property
    def ignored(self) -> bool:
        """Whether it means nothing to the bot: Slack tells of everyone's status, and only leaving matters."""
        return self.name == "user_change" and not self.event["user"].get("deleted")


def read(body: JSON) -> Interaction | None:
    """Parse a payload that was checked before, such as a saved one."""
    container, message, view = (body.get(key) or {} for key in ("container", "message", "view"))
    channel_id = body.get("channel_id") or (body.get("channel") or {}).get("id")
    place = Place(
        channel_id=channel_id or container.get("channel_id"),
        thread_ts=message.get("thread_ts") or container.get("thread_ts"),
        response_url=body.get("response_url"),
        home=view.get("type") == "home",
    )
    common: dict[str, Any] = {
        "owner": _owner(body),
        "place": place,
        "trigger_id": body.get("trigger_id"),
        "payload": body,
        "view": View(view) if view else None,
    }
    match body:
        case {"command": str(name)}:
            return SlashCommand(name=name, raw=str(body.get("text") or ""), **common)
        case {"event": dict(event)}:
            return Event(name=str(event.get("type")), event=event, **common)
        case {"type": "shortcut" | "message_action"}:
            return Shortcut(name=str(body["callback_id"]), message=message, **common)
        case {"type": "block_actions"}:
            action = body["actions"][0]
            name, carried = str(action["action_id"]), (action.get("selected_option") or action).get("value")
            if name == MENU:
                name, _, carried = str(carried).partition(" ")
            pressed_at = float(action.get("action_ts") or time.time())
            ephemeral = bool(container.get("is_ephemeral"))
            about = {"carried": carried, "pressed_at": pressed_at, "ephemeral": ephemeral, "message": message}
            return ButtonPress(name=name, **about, **common)
        case {"type": "view_submission"}:
            return FormSubmission(name=str(view.get("callback_id")), **common)
        case {"type": "view_closed"}:
            return FormClosed(name=str(view.get("callback_id")), **common)
        case {"type": "block_suggestion"}:
            about = {"block_id": str(body["block_id"]), "text": str(body.get("value") or "")}
            return OptionsRequest(name=str(body["action_id"]), **about, **common)
    return None


def _owner(body: JSON) -> Owner:
    """The user who caused a payload; users of other companies have their own team (docs/slack.md, Shared
    channels and people).

    Slack may name an event's installation only in its authorizations; in a channel shared with another
    company these say nothing of the user.
    """
    user = body.get("user") or {}
    if isinstance(event := body.get("event"), dict):
        user = event.get("user")
        user = user if isinstance(user, dict) else {"id": user}
        known = {key: value for key, value in body.items() if value}
        if known.get("authorizations") and not known.get("is_ext_shared_channel"):
            for key in ("enterprise_id", "team_id"):
                known.setdefault(key, known["authorizations"][0].get(key))
        body = known
    where = body.get("team") or {}  # None in an organization-wide installation, as is a view's
    enterprise = (body.get("enterprise") or {}).get("id") or body.get("enterprise_id")
    enterprise = enterprise or where.get("enterprise_id")
    there = where.get("id") or body.get("team_id") or (body.get("view") or {}).get("team_id")
    own = user.get("team_id")
    team = (there or own if enterprise else own or there) or ""
    return Owner(enterprise or None, team, user.get("id") or body.get("user_id") or "")


# The shape of payloads, as far as the bot relies on it; anything else is rejected.

Id = Annotated[str, Field(pattern=r"^[!-~]{1,255}$")]
Moment = Annotated[str, Field(pattern=r"^[0-9]{1,12}(\.[0-9]{1,12})?$")]
Parts = list[dict[str, Any]]
REQUIRED = {
    "command": ("user_id", "trigger_id"),
    "block_actions": ("user", "actions", "trigger_id"),
    "view_submission": ("user", "view"),
    "view_closed": ("user", "view"),
    "shortcut": ("user", "callback_id", "trigger_id"),
    "message_action": ("user", "callback_id", "trigger_id", "channel", "message"),
    "block_suggestion": ("user", "action_id", "block_id"),
    "event_callback": ("event",),
}
"""Required fields by payload type; a command has no type of its own."""
REQUIRED_OF_EVENT = {
    "app_home_opened": ("user",),
    "link_shared": ("message_ts", "links"),
    "entity_details_requested": ("user", "trigger_id"),
    "team_access_revoked": ("team_ids",),
    "user_change": ("user",),
}


class Malformed(Exception):
    """An invalid payload; the message names the place and never quotes the payload."""


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, defer_build=True, hide_input_in_errors=True)

    def require(self, *names: str) -> Self:
        """The same part. Raises ValueError if one of these fields is missing."""
        if missing := [name for name in names if getattr(self, name) is None]:
            raise ValueError(f"without {missing[0]}")
        return self


class _Installed(_Part):
    """An installation; Bolt reads an event's from any payload."""

    team_id: Id | None = None
    enterprise_id: Id | None = None


class _Identified(_Installed):
    id: Id


class _Text(_Part):
    text: str


class _Option(_Part):
    value: str
    text: _Text | None = None


class _Entered(_Part):
    value: str | None = None
    selected_option: _Option | None = None
    selected_options: list[_Option] | None = None
    selected_conversation: str | None = None
    selected_date: str | None = None
    files: Parts | None = None


class _Action(_Entered):
    action_id: str
    action_ts: Moment | None = None


class _Container(_Part):
    channel_id: Id | None = None
    message_ts: Moment | None = None
    thread_ts: Moment | None = None


class _Shown(_Part):
    type: str
    elements: Parts | None = None


class _Message(_Part):
    ts: Moment
    thread_ts: Moment | None = None
    text: str | None = None
    user: Id | None = None
    blocks: list[_Shown] | None = None
    attachments: Parts | None = None
    files: Parts | None = None


class _Block(_Part):
    type: str
    block_id: str
    label: _Text | None = None
    text: _Text | None = None
    element: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _check_complete(self) -> Self:
        return self.require("label", "element") if self.type == "input" else self


class _State(_Part):
    values: dict[str, dict[str, _Entered]] = {}


class _View(_Identified):
    type: str
    hash: str
    callback_id: str = ""
    private_metadata: str = ""
    title: _Text | None = None
    blocks: list[_Block]
    state: _State = _State()

    @model_validator(mode="after")
    def _check_complete(self) -> Self:
        return self.require("title") if self.type == "modal" else self


class _Link(_Part):
    url: str


class _Reference(_Part):
    type: str | None = None
    id: str | None = None


class _Changed(_Identified):
    deleted: bool = False


class _Event(_Part):
    type: str
    user: Id | _Changed | None = None
    channel: Id | None = None
    tab: str | None = None
    source: str | None = None
    links: list[_Link] | None = None
    message_ts: str | None = None
    trigger_id: str | None = None
    external_ref: _Reference | None = None
    view: _View | None = None
    team_ids: list[Id] | None = None

    @model_validator(mode="after")
    def _check_complete(self) -> Self:
        if isinstance(self.user, str if self.type == "user_change" else _Changed):
            raise ValueError("user of another type")  # noqa: TRY004 - what pydantic turns into an error
        return self.require(*REQUIRED_OF_EVENT.get(self.type, ()))


class _Payload(_Installed):
    type: str | None = None
    command: str | None = None
    callback_id: str | None = None
    action_id: str | None = None
    block_id: str | None = None
    user_id: Id | None = None
    channel_id: Id | None = None
    authorizations: list[_Installed] | None = None
    user: _Identified | None = None
    team: _Identified | None = None
    enterprise: _Identified | None = None
    channel: _Identified | None = None
    container: _Container | None = None
    message: _Message | None = None
    view: _View | None = None
    actions: Annotated[list[_Action], Field(min_length=1)] | None = None
    event: _Event | None = None
    text: str | None = None
    value: str | None = None
    action_ts: Moment | None = None
    trigger_id: str | None = None
    response_url: str | None = None

    @model_validator(mode="after")
    def _check_complete(self) -> Self:
        kind = "command" if self.command is not None else self.type
        if kind not in REQUIRED or (self.event and kind != "event_callback") or self.type == "command":
            raise ValueError("unknown type")
        return self.require(*REQUIRED[kind])


def parse(body: object) -> Interaction | None:
    """Check a payload and parse it; None for Slack's own checks (`url_verification`, `ssl_check`).

    Raises Malformed for a payload that matches none of the shapes that the bot handles.
    """
    if not isinstance(body, dict):
        raise Malformed("not an object")
    try:
        json.dumps(body, ensure_ascii=False).encode()
        slack_checks = body.get("type") == "url_verification" or "ssl_check" in body
        if slack_checks and "command" not in body and "event" not in body:
            return None
        _Payload.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        what = first["msg"] if first["type"] == "value_error" else first["type"]
        # No deeper: those names may come from the payload.
        raise Malformed(" ".join([what, *map(str, first["loc"][:2])])) from None
    except (UnicodeEncodeError, RecursionError) as error:
        raise Malformed(type(error).__name__) from None
    return read(body)


def log_malformed(error: Exception) -> None:
    why = str(error) if isinstance(error, Malformed) else type(error).__name__
    log.warning("malformed payload", action="slack.malformed", why=why)
