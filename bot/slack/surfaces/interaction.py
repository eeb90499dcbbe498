"""Slack's payloads, checked and parsed once into frozen types; no other module reads a raw payload.

    Interaction             who did it, where, and through which installation
    ├── SlashCommand        `/issue 42`
    ├── Shortcut            a global shortcut, or a message shortcut with its message
    ├── ButtonPress         a button, a menu or a select that acts right away
    ├── FormSubmission      a modal was submitted
    │   └── DetailsEdit     fields or a comment in a Work Object's details were submitted
    ├── FormClosed          a modal with `notify_on_close` was closed
    ├── OptionsRequest      a select asks for options while a user types
    ├── UserMessage         a mention of the bot, or a direct message to it
    └── Event               something happened in the workspace

Sources: https://docs.slack.dev/reference/interaction-payloads, https://docs.slack.dev/reference/events and
https://docs.slack.dev/interactivity/implementing-slash-commands
"""

import re
import time
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Generic, TypeVar

from bot.errors import UserError
from bot.slack.language.tables import without_greeting
from bot.slack.language.tokens import as_typed
from bot.slack.surfaces.blocks import JSON, option_values
from bot.slack.surfaces.buttons import MENU, ActionExpired, Button
from bot.slack.surfaces.forms import Values
from bot.slack.surfaces.rich_input import written
from bot.slack.surfaces.view import View
from bot.store.owner import Owner

DETAILS, COMMENT = "entity_detail", "entity_comment"
"""The types of a view that Slack sends when a user has edited a Work Object's details, or commented there."""
MESSAGES = ("app_mention", "message")  # the events that are messages to the bot
OWN = (*MESSAGES, "reaction_added", "member_joined_channel")  # those that only colleagues may cause
NEW_MESSAGES = frozenset({None, "file_share", "thread_broadcast"})
"""The subtypes of messages that a person has just written."""
HELP = ("?", "-h", "--help")
COMMAND_LENGTH = 8_000
"""The longest command that is parsed: parsing takes a few milliseconds per thousand characters."""


@dataclass(frozen=True)
class Destination:
    """Where to reply: a conversation, a thread in it, or the Home tab.

    `said_there` is whether the user wrote a message to the bot there, which gets its reply in its thread, or
    chose a button of a reply to one.
    """

    channel_id: str | None = None
    thread_ts: str | None = None
    response_url: str | None = field(default=None, repr=False)
    home: bool = False
    said_there: bool = False

    @property
    def direct(self) -> bool:
        """Whether the user and the bot talk in a direct message, which only they read."""
        return self.said_there and (self.channel_id or "").startswith("D")

    def in_thread(self, ts: str) -> "Destination":
        """A thread there, which may have no replies yet; the same place for a direct message."""
        if self.direct:
            return self
        return replace(self, thread_ts=ts, said_there=self.said_there and ts == self.thread_ts)

    def as_json(self) -> JSON:
        """For a view's `private_metadata` or saved input."""
        return {key: value for key, value in asdict(self).items() if value}

    @classmethod
    def from_json(cls, data: object) -> "Destination":
        """Read what `as_json` wrote; drops anything else."""
        known = data if isinstance(data, dict) else {}
        names = ("channel_id", "thread_ts", "response_url")
        texts = {name: known[name] for name in names if isinstance(known.get(name), str)}
        return cls(**texts, home=known.get("home") is True, said_there=known.get("said_there") is True)


@dataclass(frozen=True, kw_only=True)
class Interaction:
    """What all payloads have in common.

    `installation` is the enterprise and team that the app was called through; in a shared channel, users of
    other companies belong to other teams.
    """

    kind: ClassVar[str]
    name: str
    owner: Owner
    place: Destination
    installation: tuple[str | None, str | None] = (None, None)
    trigger_id: str | None = field(default=None, repr=False)
    payload: JSON = field(repr=False)
    view: View | None = None

    @property
    def typed(self) -> str | None:
        """What the user typed, to quote it; None for anything but commands and messages."""
        return None

    @property
    def ignored(self) -> bool:
        """Whether it means nothing to the bot."""
        return False

    @property
    def modal(self) -> View | None:
        """The modal it came from, if any; the Home tab isn't one."""
        return self.view if self.view and self.view.json.get("type") == "modal" else None

    @property
    def form_key(self) -> str:
        return f"{self.owner.team_id}:{self.view.id if self.view else ''}"


@dataclass(frozen=True, kw_only=True)
class SlashCommand(Interaction):
    """A command: `name` includes its slash and prefix, `raw` is the text after it."""

    kind = "command"
    raw: str

    @property
    def text(self) -> str:
        """The text after the command, without a greeting; `help` for `--help`. Raises UserError if it is too
        long.
        """
        if len(self.raw) > COMMAND_LENGTH:
            raise UserError(
                "Your command has {length} characters, and the limit is {longest}. "
                "Shorten it, and attach the rest as a file.",
                length=f"{len(self.raw):,}",
                longest=f"{COMMAND_LENGTH:,}",
            )
        return "help" if self.raw.strip().lower() in HELP else without_greeting(self.raw)

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

    Dispatch reads `carried` into `button`. `block` is the name of the block that it is in.
    `message` is the message it is in, if any; `pressed_at` is Slack's time.
    """

    kind = "action"
    carried: object
    button: Carries = field(default=None)  # type: ignore[assignment] # set by dispatch before a handler runs
    pressed_at: float
    block: str = ""
    message: JSON = field(default_factory=dict, repr=False)
    ephemeral: bool = False

    @property
    def form(self) -> View:
        """The form that it is in. Raises ActionExpired if it is in none."""
        if self.view is None:
            raise ActionExpired
        return self.view

    @property
    def offered(self) -> bool:
        """Whether a menu of its message has it: what a press carries can be forged, the message can't."""
        return f"{self.name} {self.carried}" in option_values(self.message)


def form_claim(owner: Owner, form_id: str, callback_id: str) -> str:
    return f"form:{owner.team_id}:{form_id}:{callback_id}"


@dataclass(frozen=True, kw_only=True)
class FormSubmission(Interaction):
    kind = "form"
    view: View = field()  # required again: without `field()` it has the default of the base class

    @property
    def key(self) -> str:
        """The claim on the form's work: by the form's own ID, if it has one that stays when it is reopened.

        Several forms may share a view ID, one after the other.
        """
        return form_claim(self.owner, self.view.text("form") or self.view.id, self.view.callback_id)


@dataclass(frozen=True, kw_only=True)
class DetailsEdit(FormSubmission):
    """Fields of a Work Object's details were edited, or a comment was written; its view has no blocks."""

    kind = "edit"

    @property
    def comment(self) -> JSON:
        """The rich text of the comment, empty without one."""
        return Values(self.view.json).rich_text("comment_input_block") or {}

    @property
    def typed(self) -> str | None:
        return written(self.comment, "markdown", str) or None


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
    bot_user_id: str = ""

    @property
    def ignored(self) -> bool:
        """Of what Slack tells of everyone, only leaving the company, inviting the bot and reactions to other
        posts than the bot's matter.
        """
        if self.name == "reaction_added":
            return self.event.get("item_user") == self.bot_user_id
        if self.name == "member_joined_channel":
            return self.event.get("user") != self.bot_user_id or not self.event.get("inviter")
        return self.name == "user_change" and not self.event["user"].get("deleted")


@dataclass(frozen=True, kw_only=True)
class UserMessage(Interaction):
    """A mention of the bot, or a direct message to it; `event` is Slack's."""

    kind = "event"
    event: JSON = field(repr=False)
    bot_user_id: str = ""

    @property
    def text(self) -> str:
        """The text as Slack wrote it, without the mentions of the bot and the spaces around them."""
        text, bot = str(self.event.get("text") or ""), re.escape(self.bot_user_id)
        if not bot and self.name != "app_mention":
            return text.strip()
        mention = rf"<@{bot}(?:\|[^<>]*)?>" if bot else r"<@[A-Z0-9]+>"
        command, *others = re.split(mention, text, maxsplit=0 if bot else 1)
        for after in others:
            command, rest = command.rstrip(" \t"), after.lstrip(" \t")
            starts_line = not command or command.endswith("\n")
            command += re.sub(r"^[,:][ \t]+", "", rest) if starts_line else f" {rest}"
        return command.strip()

    @property
    def typed(self) -> str:
        return as_typed(self.text)

    @property
    def ignored(self) -> bool:
        """Whether it isn't a new message of a person of this company."""
        event = self.event
        written = event.get("user") not in (None, "USLACKBOT", self.bot_user_id) and event.get("ts")
        new = event.get("subtype") in NEW_MESSAGES and not (event.get("edited") or event.get("hidden"))
        to_bot = self.name == "app_mention" or event.get("channel_type") == "im"
        here = event.get("channel") and not event.get("bot_id")
        return not (written and new and to_bot and here) or _is_foreign(self.payload)


def read(body: JSON) -> Interaction | None:
    """Parse a payload that was checked before, such as a saved one."""
    container, message, view = (body.get(key) or {} for key in ("container", "message", "view"))
    channel_id = body.get("channel_id") or (body.get("channel") or {}).get("id")
    channel_id = channel_id or container.get("channel_id")
    if container.get("is_ephemeral"):  # Slack shows ephemeral messages only in active threads
        there = container.get("thread_ts")
    else:
        there = "actions" in body and message and str(channel_id).startswith("D")
    place = Destination(
        channel_id=channel_id,
        thread_ts=message.get("thread_ts") or container.get("thread_ts"),
        response_url=body.get("response_url"),
        home=view.get("type") == "home",
        said_there=bool(body.get("said_there") or there),
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
            return _event(body, event, common)
        case {"type": "shortcut" | "message_action"}:
            return Shortcut(name=str(body["callback_id"]), message=message, **common)
        case {"type": "block_actions"}:
            action = body["actions"][0]
            name = str(action["action_id"]).partition(":")[0]
            carried = (action.get("selected_option") or action).get("value")
            if name == MENU:
                name, _, carried = str(carried).partition(" ")
            if (boxes := action.get("selected_options")) is not None:
                carried = ",".join(str(box["value"]) for box in boxes)
            pressed_at = float(action.get("action_ts") or time.time())
            ephemeral = bool(container.get("is_ephemeral"))
            block = str(action.get("block_id") or "").partition(":")[0]
            about = {"carried": carried, "pressed_at": pressed_at, "block": block, "ephemeral": ephemeral}
            return ButtonPress(name=name, message=message, **about, **common)
        case {"type": "view_submission"}:
            submission = DetailsEdit if view.get("type") in (DETAILS, COMMENT) else FormSubmission
            # Slack's documentation has edits of details with this callback ID, and with an empty one.
            return submission(name=str(view.get("callback_id") or "work-object-edit"), **common)
        case {"type": "view_closed"}:
            return FormClosed(name=str(view.get("callback_id")), **common)
        case {"type": "block_suggestion"}:
            about = {"block_id": str(body["block_id"]), "text": str(body.get("value") or "")}
            return OptionsRequest(name=str(body["action_id"]), **about, **common)
    return None


def _event(body: JSON, event: JSON, common: dict[str, Any]) -> Event | UserMessage:
    name = str(event.get("type"))
    bots = (each.get("user_id") for each in body.get("authorizations") or () if each.get("is_bot"))
    about: dict[str, Any] = {"name": name, "event": event, "bot_user_id": next(bots, None) or ""}
    if name not in MESSAGES:
        return Event(**about, **common)
    place = Destination(event.get("channel"), event.get("thread_ts"), said_there=True)
    return UserMessage(**about, **common | {"place": place})


def _is_foreign(body: JSON) -> bool:
    """Whether a message's author is of another company; unknown authors of shared channels are."""
    event, authorization = body["event"], (body.get("authorizations") or [{}])[0]
    at = ["context_team_id", "context_enterprise_id"]
    if not (shared := bool(body.get("is_ext_shared_channel"))):  # its workspace may be the other company's
        at += ["team_id", "enterprise_id"]
    home = {authorization.get("team_id"), authorization.get("enterprise_id"), *map(body.get, at)} - {None}
    author = event.get("user_team") or event.get("source_team") or event.get("team")
    if author is None:
        return shared
    in_organization = any(str(each).startswith("E") for each in home)
    return author not in home and (shared or not in_organization)


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
        shared, ids = known.get("is_ext_shared_channel"), ("enterprise_id", "team_id")
        if shared and event.get("type") in OWN:
            shared, body = False, {key: value for key, value in body.items() if key not in ids}
            known = body | {"team_id": body.get("context_team_id")}
        if known.get("authorizations") and not shared:
            for key in ids:
                known[key] = known.get(key) or known["authorizations"][0].get(key)
        body = known

    where = body.get("team") or {}  # None in an organization-wide installation, as is a view's
    enterprise = (body.get("enterprise") or {}).get("id") or body.get("enterprise_id")
    enterprise = enterprise or where.get("enterprise_id")
    there = where.get("id") or body.get("team_id") or (body.get("view") or {}).get("team_id")
    own = user.get("team_id")
    team = (there or own if enterprise else own or there) or ""
    return Owner(enterprise or None, team, user.get("id") or body.get("user_id") or "")
