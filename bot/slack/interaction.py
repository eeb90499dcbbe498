"""What Slack sends, parsed once into frozen types; nothing after this module reads a raw payload.

    Interaction             who did it, where, and through which installation
    ├── SlashCommand        `/issue 42`
    ├── Shortcut            a global shortcut, or a message shortcut with its message
    ├── ButtonPress         a button, a menu or a select that acts at once
    ├── FormSubmission      a modal was submitted
    ├── FormClosed          a modal was closed
    ├── OptionsRequest      a select asks for options while a person types
    └── Event               something happened in the workspace

Sources: https://docs.slack.dev/reference/interaction-payloads, https://docs.slack.dev/reference/events and
https://docs.slack.dev/interactivity/implementing-slash-commands
"""

import json
import time
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from bot.errors import UserError
from bot.slack.blocks import JSON
from bot.slack.grammar.tokens import as_typed
from bot.slack.payload_schema import check
from bot.store.owner import Owner

COMMAND_LENGTH = 8_000
"""How long a command can be: reading one takes a few milliseconds for each thousand characters."""
EXPIRED = "I can't tell what that was about: begin anew."


@dataclass(frozen=True)
class Place:
    """Where something was asked for: a conversation, a thread in it, or the Home tab; a way to answer."""

    channel_id: str | None = None
    thread_ts: str | None = None
    response_url: str | None = field(default=None, repr=False)
    home: bool = False

    def as_json(self) -> JSON:
        """For a view's `private_metadata` or saved input."""
        told = {
            "channel_id": self.channel_id,
            "thread_ts": self.thread_ts,
            "response_url": self.response_url,
            "home": self.home,
        }
        return {key: value for key, value in told.items() if value}

    @classmethod
    def from_json(cls, data: object) -> "Place":
        """What `as_json` wrote; anything else in it is dropped."""
        known = data if isinstance(data, dict) else {}
        texts = {
            key: known[key]
            for key in ("channel_id", "thread_ts", "response_url")
            if isinstance(known.get(key), str)
        }
        return cls(**texts, home=known.get("home") is True)


@dataclass(frozen=True)
class View:
    """A modal, or the Home tab, as Slack sent it back; `json` is Slack's own object."""

    json: JSON = field(repr=False)

    @property
    def id(self) -> str:
        """Slack's id of the view."""
        return str(self.json["id"])

    @property
    def hash(self) -> str:
        """Which version of the view this is; an update that names an older one is refused."""
        return str(self.json["hash"])

    @property
    def callback_id(self) -> str:
        """Which form it is."""
        return str(self.json.get("callback_id") or "")

    @cached_property
    def metadata(self) -> JSON:
        """Its `private_metadata` as the bot wrote it; empty for anything else."""
        try:
            data = json.loads(self.json.get("private_metadata") or "{}")
        except ValueError:
            return {}
        return data if isinstance(data, dict) else {}

    def text(self, name: str) -> str | None:
        """A text as the bot wrote it into the metadata; None for anything else."""
        value = self.metadata.get(name)
        return value if isinstance(value, str) else None

    def moment(self, name: str) -> datetime | None:
        """A moment as the bot wrote it into the metadata; None for anything else."""
        try:
            moment = datetime.fromisoformat(self.text(name) or "")
        except ValueError:
            return None
        return moment if moment.tzinfo else None


@dataclass(frozen=True, kw_only=True)
class Interaction:
    """What every payload says. `installation` is the enterprise and team whose installation it came to:
    people of other companies in a shared channel have ids of their own.
    """

    name: str
    owner: Owner
    place: Place
    installation: tuple[str | None, str | None]
    trigger_id: str | None = field(default=None, repr=False)
    payload: JSON = field(repr=False)

    @property
    def kind(self) -> str:
        """The type's word in logs and metrics."""
        return KINDS[type(self)]

    @property
    def typed(self) -> str | None:
        """The command as it was typed, to be said back; None for anything that wasn't typed."""
        return None

    @property
    def modal(self) -> View | None:
        """The modal that it came from; the Home tab is none."""
        return None


@dataclass(frozen=True, kw_only=True)
class SlashCommand(Interaction):
    """A command; `name` comes with its slash and prefix, `raw` is what follows it."""

    raw: str

    @property
    def text(self) -> str:
        """What follows the command. Raises UserError when it is too long to be read."""
        if len(self.raw) > COMMAND_LENGTH:
            raise UserError(
                f"Your command has {len(self.raw):,} characters, and I read up to {COMMAND_LENGTH:,}. "
                "Shorten it, and attach the rest as a file."
            )
        return self.raw

    @property
    def typed(self) -> str:
        """The whole line."""
        return f"{self.name} {as_typed(self.raw)}".strip()


@dataclass(frozen=True, kw_only=True)
class Shortcut(Interaction):
    """A shortcut; `message` is Slack's message object for a message shortcut."""

    message: JSON = field(default_factory=dict, repr=False)


@dataclass(frozen=True, kw_only=True)
class _InView(Interaction):
    view: View | None = None

    @property
    def modal(self) -> View | None:
        """The modal that it came from."""
        return self.view if self.view and self.view.json.get("type") == "modal" else None


@dataclass(frozen=True, kw_only=True)
class ButtonPress(_InView):
    """A button or a choice; `message` is the message that it is in, if any, `pressed_at` Slack's time."""

    carried: object
    pressed_at: float
    message: JSON = field(default_factory=dict, repr=False)
    ephemeral: bool = False

    @property
    def form_key(self) -> str:
        """The form that it is in, by an id that no form in another workspace has."""
        return f"{self.owner.team_id}:{self.view.id if self.view else ''}"

    @property
    def value(self) -> str:
        """What the button or the chosen option carries. Raises UserError where that is nothing."""
        if not isinstance(self.carried, str):
            raise UserError(EXPIRED)
        return self.carried


@dataclass(frozen=True, kw_only=True)
class _OfForm(Interaction):
    view: View

    @property
    def modal(self) -> View:
        """The form."""
        return self.view


@dataclass(frozen=True, kw_only=True)
class FormSubmission(_OfForm):
    """A submitted form."""

    @property
    def key(self) -> str:
        """Which form of which workspace this is; one form may take the place of another under one view id."""
        return f"{self.owner.team_id}:{self.view.id}:{self.view.callback_id}"


@dataclass(frozen=True, kw_only=True)
class FormClosed(_OfForm):
    """A form that was closed, where it asks to be told."""


@dataclass(frozen=True, kw_only=True)
class OptionsRequest(_InView):
    """A select asks for what matches `text`; `block_id` is the field's."""

    block_id: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Event(Interaction):
    """Something happened; `event` is Slack's event object, `authorizations` whose app it is for."""

    event: JSON = field(repr=False)


KINDS: dict[type[Interaction], str] = {
    SlashCommand: "command",
    Shortcut: "shortcut",
    ButtonPress: "action",
    FormSubmission: "form",
    FormClosed: "closed",
    OptionsRequest: "options",
    Event: "event",
}


def parse(body: JSON) -> Interaction | None:
    """The interaction in a payload from Slack; None for what nobody did (`url_verification`, `ssl_check`).

    Raises `payload_schema.Malformed`.
    """
    check(body)
    return read(body)


def read(body: JSON) -> Interaction | None:
    """The interaction in a payload that was checked before, such as one that was kept."""
    told = _told(body)
    match body:
        case {"command": str(name)}:
            return SlashCommand(name=name, raw=str(body.get("text") or ""), **told)
        case {"event": dict(event)}:
            return Event(name=str(event.get("type")), event=event, **told)
        case {"type": "shortcut" | "message_action"}:
            return Shortcut(name=str(body["callback_id"]), message=body.get("message") or {}, **told)
        case {"type": "block_actions"}:
            return _pressed(body, told)
        case {"type": "view_submission", "view": dict(view)}:
            return FormSubmission(name=str(view["callback_id"]), view=View(view), **told)
        case {"type": "view_closed", "view": dict(view)}:
            return FormClosed(name=str(view["callback_id"]), view=View(view), **told)
        case {"type": "block_suggestion"}:
            return OptionsRequest(
                name=str(body["action_id"]),
                block_id=str(body["block_id"]),
                text=str(body.get("value") or ""),
                view=_view(body),
                **told,
            )
    return None


def _pressed(body: JSON, told: dict[str, Any]) -> ButtonPress:
    action = body["actions"][0]
    option = action.get("selected_option")
    return ButtonPress(
        name=str(action["action_id"]),
        carried=option.get("value") if isinstance(option, dict) else action.get("value"),
        pressed_at=float(action.get("action_ts") or time.time()),
        message=body.get("message") or {},
        ephemeral=bool((body.get("container") or {}).get("is_ephemeral")),
        view=_view(body),
        **told,
    )


def _view(body: JSON) -> View | None:
    return View(body["view"]) if body.get("view") else None


def _told(body: JSON) -> dict[str, Any]:
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
    }


def _authorization(body: JSON) -> JSON:
    """The enterprise and workspace of the installation that an event is for: Slack may name them only there.

    In a channel that is shared with another company the person may be from there.
    """
    authorizations = body.get("authorizations")
    if not authorizations or body.get("is_ext_shared_channel"):
        return {}
    return {key: authorizations[0].get(key) for key in ("enterprise_id", "team_id")}


def owner_of(body: JSON) -> Owner:
    """Who sent the payload. People of other companies come with their own team (docs/slack.md, Shared
    channels and people).
    """
    user = body.get("user") or {}
    if isinstance(event := body.get("event"), dict):
        user = {"id": event.get("user")}
        body = _authorization(body) | {key: value for key, value in body.items() if value}
    where = body.get("team") or {}  # None in an organization's own installation, as is a view's
    enterprise = (
        (body.get("enterprise") or {}).get("id") or body.get("enterprise_id") or where.get("enterprise_id")
    )
    view = body.get("view") or {}
    there = where.get("id") or body.get("team_id") or view.get("team_id")
    own = user.get("team_id")
    team = (there or own if enterprise else own or there) or ""
    return Owner(enterprise or None, team, user.get("id") or body.get("user_id") or "")
