"""The records of a workspace, and JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

JsonObject = dict[str, Any]
MAX_BODY = 1024 * 1024
ChannelKind = Literal["channel", "private", "im"]
Note = Literal["not linked", "administrator", "no account yet", ""]


@dataclass(frozen=True, slots=True)
class Team:
    id: str
    name: str
    domain: str


@dataclass(slots=True)
class User:
    """A workspace member, or an external member of a shared channel (with another `team_id`).

    `commands` are the ones they sent, with their text.
    """

    id: str
    name: str
    real_name: str
    team_id: str
    mail: str = ""
    title: str = ""
    tz: str = "Europe/London"
    locale: str = "en-GB"
    color: str = "#5b6770"
    is_admin: bool = False
    is_bot: bool = False
    is_choice: bool = False
    is_deactivated: bool = False
    note: Note = ""
    commands: set[str] = field(default_factory=set)

    @property
    def first_name(self) -> str:
        return self.real_name.split(" ", 1)[0]

    @property
    def last_name(self) -> str:
        return self.real_name.partition(" ")[2]


@dataclass(slots=True)
class Channel:
    """A conversation; an `im` has two members."""

    id: str
    name: str
    kind: ChannelKind
    members: set[str]
    topic: str = ""
    is_ext_shared: bool = False
    is_archived: bool = False
    created: int = 0
    creator: str = ""


@dataclass(slots=True)
class Message:
    """A message; `to` is the only user who sees an ephemeral one."""

    ts: str
    channel: str
    user: str
    text: str
    blocks: list[JsonObject] = field(default_factory=list)
    thread_ts: str | None = None
    to: str | None = None
    files: list[str] = field(default_factory=list)
    reactions: list[str] = field(default_factory=list)
    edited: str | None = None
    by_app: bool = False
    is_tombstone: bool = False
    unfurls: dict[str, JsonObject] = field(default_factory=dict)
    entities: dict[str, JsonObject] = field(default_factory=dict)
    metadata: JsonObject | None = None


@dataclass(slots=True)
class File:
    """An uploaded file, stored at `path`. `for_app`: a form passed it to the app."""

    id: str
    name: str
    mimetype: str
    path: Path = field(repr=False)
    size: int
    user: str
    created: int
    for_app: bool = False


@dataclass(slots=True)
class View:
    """A modal or Home tab as the app defined it, with the user's input."""

    id: str
    user: str
    type: Literal["modal", "home"]
    body: JsonObject
    hash: str
    root_id: str
    previous_id: str | None = None
    values: JsonObject = field(default_factory=dict)
    errors: dict[str, str] | None = None
    busy: bool = False
    emptied: int = 0  # how often it was left without inputs, which forgets what was entered

    @property
    def blocks(self) -> list[JsonObject]:
        blocks: list[JsonObject] = self.body["blocks"]
        return blocks


@dataclass(slots=True)
class Details:
    """The Work Object details a user opened: the entity, the message that links it, and the app's responses.

    `triggers` are those of the user's actions there. `errors` are at fields, `comments` those shown so far.
    """

    entity: JsonObject
    message: Message
    link: str
    triggers: list[str] = field(default_factory=list)
    presentation: JsonObject | None = None
    error: JsonObject | None = None
    errors: JsonObject = field(default_factory=dict)
    comments: list[JsonObject] | None = None
    cursor: str | None = None
    can_post: bool = False
    comment_error: str | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    id: int
    at: float
    where: str
    rule: str
    detail: str


@dataclass(frozen=True, slots=True)
class Call:
    """A Web API call by the app; `arguments` excludes the token."""

    method: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class Command:
    command: str
    description: str
    usage_hint: str = ""
    should_escape: bool = False


@dataclass(frozen=True, slots=True)
class Shortcut:
    callback_id: str
    name: str
    description: str
    on_message: bool


@dataclass(frozen=True, slots=True)
class App:
    """The installed app, as its manifest describes it."""

    id: str
    bot_id: str
    bot_user_id: str
    name: str
    commands: tuple[Command, ...]
    shortcuts: tuple[Shortcut, ...]
    scopes: tuple[str, ...]
    events: frozenset[str]
    unfurl_domains: frozenset[str]
    entity_types: frozenset[str]
    """The Work Object types the app may show."""
    functions: JsonObject

    @classmethod
    def installed(cls, manifest: Mapping[str, Any]) -> "App":
        """Return the app a manifest describes (https://docs.slack.dev/reference/app-manifest)."""
        features = manifest.get("features", {})
        settings = manifest.get("settings", {})
        previews = features.get("rich_previews", {})
        return cls(
            id="A0ISSUEBOT",
            bot_id="B0ISSUEBOT",
            bot_user_id="U0ISSUEBOT",
            name=features.get("bot_user", {}).get("display_name") or manifest["display_information"]["name"],
            commands=tuple(
                Command(**{field.name: row[field.name] for field in fields(Command) if field.name in row})
                for row in features.get("slash_commands", ())
            ),
            shortcuts=tuple(
                Shortcut(
                    row["callback_id"], row["name"], row.get("description", ""), row["type"] == "message"
                )
                for row in features.get("shortcuts", ())
            ),
            scopes=tuple(manifest.get("oauth_config", {}).get("scopes", {}).get("bot", ())),
            events=frozenset(settings.get("event_subscriptions", {}).get("bot_events", ())),
            unfurl_domains=frozenset(features.get("unfurl_domains", ())),
            functions=manifest.get("functions", {}),
            entity_types=frozenset(previews.get("entity_types", ()) if previews.get("is_active") else ()),
        )


def parsed(text: str | bytes) -> object:
    """Return the JSON in `text`, or None if it is invalid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def as_object(value: object) -> JsonObject:
    """Return `value` if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return `value` if it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []
