"""The app manifest: everything that Slack must know about the bot. Add new commands and shortcuts here."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

Mode = Literal["socket", "http"]


@dataclass(frozen=True)
class Command:
    """A slash command, without its slash and prefix."""

    name: str
    description: str
    usage_hint: str


COMMANDS = (
    Command(
        "issue",
        "Create, show, or change an issue",
        "new <subject> | <number> [close] | <number> comment <text> | template | attach <number> | help",
    ),
    Command("issues", "Search issues", "[text] [status: to: priority: updated:] | help"),
    Command("timelog", "Log time on an issue", "<number> <duration> [comment] | edit | help"),
    Command(
        "digest",
        "Post issues on a schedule",
        "add <project> <schedule> | me <schedule> | now | pause | resume | change | remove | help",
    ),
    Command(
        "tracker",
        "Manage your account and this channel's project",
        "link | unlink | whoami | projects | project | default <project> | emoji | user | help",
    ),
)

SHORTCUTS = (
    ("create_issue", "global", "Create an issue", "Open the form for a new issue"),
    ("search_issues", "global", "Search issues", "Find issues by text, project, assignee, and more"),
    ("issue_from_message", "message", "Create an issue", "Create an issue from this message"),
    ("find_from_message", "message", "Find related issues", "Find issues related to this message"),
    ("files_to_issue", "message", "Attach files to an issue", "Attach this message's files to an issue"),
    ("comment_from_message", "message", "Comment on an issue", "Add this message to an issue as a comment"),
    ("log_time", "global", "Log time", "Log time on an issue"),
    ("time_from_message", "message", "Log time", "Log time on the issue in this message"),
)
"""A callback ID, where it is (everywhere or in a message's menu), a name and a description."""

ACT_AS, USER_CONTEXT = "act_as", "slack#/types/user_context"


@dataclass(frozen=True)
class Input:
    """A text that a workflow gives a step."""

    title: str
    description: str
    required: bool = True


@dataclass(frozen=True)
class Step:
    """A step of Slack's Workflow Builder; `inputs` by name, besides the person for whom it runs."""

    callback_id: str
    title: str
    description: str
    inputs: Mapping[str, Input]

    @property
    def definition(self) -> dict[str, Any]:
        texts = {
            name: {"type": "string", "title": each.title, "description": each.description}
            for name, each in self.inputs.items()
        }
        person = {"type": USER_CONTEXT, "title": "Act as", "description": "Who does this in the tracker"}
        outputs = {
            "issue_number": {"type": "integer", "title": "Issue number", "description": "Such as 42"},
            "issue_link": {"type": "string", "title": "Issue link", "description": "The issue's address"},
        }
        needed = [name for name, each in self.inputs.items() if each.required]
        return {
            "title": self.title,
            "description": self.description,
            "input_parameters": {"properties": {**texts, ACT_AS: person}, "required": [*needed, ACT_AS]},
            "output_parameters": {"properties": outputs, "required": [*outputs]},
        }


STEPS = (
    Step(
        "create_issue",
        "Create an issue",
        "Create an issue in your tracker",
        {
            "project": Input("Project", "Its name or identifier"),
            "subject": Input("Subject", "One line"),
            "description": Input("Description", "Plain text", required=False),
            "tracker": Input("Tracker", "Such as Bug", required=False),
            "priority": Input("Priority", "Such as High", required=False),
        },
    ),
    Step(
        "comment_on_issue",
        "Comment on an issue",
        "Add a comment to an issue in your tracker",
        {"issue": Input("Issue number", "Such as 42"), "text": Input("Comment", "Plain text")},
    ),
)

# What each is for. Slack asks administrators to grant them.
SCOPES = {
    "commands": "add slash commands and shortcuts",
    "chat:write": "post created and shared issues, and digests",
    "channels:read": "see whether a channel is archived or shared with other companies",
    "groups:read": "the same for private channels",
    "im:read": "the same for direct messages",
    "im:write": "open direct messages for personal digests",
    "mpim:read": "the same for group messages",
    "app_mentions:read": "answer mentions",
    "channels:history": "read threads for issues and comments, and find a digest posted before a crash",
    "groups:history": "the same for private channels",
    "im:history": "answer direct messages",
    "mpim:history": "the same for group messages",
    "users:read": "read users' names, languages, and time zones, and notice who is deactivated",
    "users:read.email": "compare a linked account's email, and fill in the form for a new account",
    "reactions:read": "notice the emoji that creates issues, and read the message",
    "links:read": "notice links to issues",
    "links:write": "show a preview below them",
    "files:read": "download files to attach to issues",
}

OPTIONAL = frozenset({"channels:history", "groups:history", "mpim:history", "reactions:read"})
"""The scopes that administrators may decline."""

DESCRIPTION = "Create, find, and track issues in Slack, under your own name."
LONG_DESCRIPTION = (
    "Issue Bot brings your issue tracker into Slack. Create an issue from a message, a form, or one line. "
    "Search issues and share them in a channel. Log time and attach files. Get a project's new issues in a "
    "channel, on the schedule you choose. Everyone links their own account, so the tracker shows who did "
    "what, and answers show each person only what they may see."
)
EVENTS = (
    *("app_home_opened", "app_mention", "message.im", "member_joined_channel", "reaction_added"),
    *("function_executed", "link_shared", "entity_details_requested", "entity_comments_requested"),
    *("app_uninstalled", "tokens_revoked", "user_change"),
)
ORGANIZATION_EVENTS = ("team_access_revoked",)
"""Events that Slack sends only to apps that organizations can install."""
EVENTS_PATH = "/slack/events"
INSTALL_PATH = "/slack/install"
REDIRECT_PATH = "/slack/oauth_redirect"


def manifest(
    mode: Mode = "socket",
    url: str | None = None,
    prefix: str = "",
    service_url: str | None = None,
    *,
    several: bool = False,
) -> dict[str, Any]:
    """The manifest, in the shape of Slack's schema.

    `url` is the bot's address; raises ValueError if it is missing in HTTP mode or for `several` workspaces.
    Links to `service_url` unfurl if Slack accepts its host.
    """
    root = (url or "").rstrip("/").removesuffix(EVENTS_PATH)
    if (mode == "http" or several) and not re.match(r"https?://[^/\s]", root):
        raise ValueError("HTTP mode and several workspaces need --url, the bot's https:// URL.")
    address = root + EVENTS_PATH if mode == "http" else None
    request = {"request_url": address} if address else {}
    options = {"message_menu_options_url": address} if address else {}
    events = [*EVENTS, *(ORGANIZATION_EVENTS if several else ())]
    return {
        "display_information": {
            "name": "Issue Bot",
            "description": DESCRIPTION,
            "long_description": LONG_DESCRIPTION,
            "background_color": "#1f3a5f",
        },
        "features": _features(address, prefix, service_url),
        "oauth_config": {
            **({"redirect_urls": [root + REDIRECT_PATH]} if several else {}),
            "scopes": {"bot": list(SCOPES), "bot_optional": [scope for scope in SCOPES if scope in OPTIONAL]},
        },
        "functions": {step.callback_id: step.definition for step in STEPS},
        "settings": {
            "event_subscriptions": {**request, "bot_events": events},
            "interactivity": {"is_enabled": True, **request, **options},
            "org_deploy_enabled": True,  # or workflows have no steps
            "function_runtime": "remote",
            "socket_mode_enabled": mode == "socket",
            "token_rotation_enabled": several,
        },
    }


def _features(address: str | None, prefix: str, service_url: str | None) -> dict[str, Any]:
    return {
        "app_home": {
            "home_tab_enabled": True,
            "messages_tab_enabled": True,
            "messages_tab_read_only_enabled": False,
        },
        "bot_user": {"display_name": "Issue Bot", "always_online": True},
        "shortcuts": [
            {"name": name, "type": kind, "callback_id": callback_id, "description": description}
            for callback_id, kind, name, description in SHORTCUTS
        ],
        "rich_previews": {"is_active": True, "entity_types": ["slack#/entities/task"]},
        **({"unfurl_domains": [domain]} if (domain := unfurl_domain(service_url)) else {}),
        "slash_commands": [
            {
                "command": f"/{prefix}{c.name}",
                **({"url": address} if address else {}),
                "description": c.description,
                "usage_hint": c.usage_hint,
                "should_escape": True,
            }
            for c in COMMANDS
        ],
    }


def unfurl_domain(service_url: str | None) -> str | None:
    """The host whose links unfurl; None if Slack doesn't accept it, such as an IP or a bare name."""
    host = urlsplit(service_url or "").hostname or ""
    named = re.fullmatch(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)+", host)
    return host if named and not re.fullmatch(r"[0-9.]+", host) else None


def to_yaml(value: Mapping[str, Any]) -> str:
    """The manifest as YAML; supports only the shapes that a manifest has."""
    return "\n".join(_lines(value, "")) + "\n"


def _lines(value: Mapping[str, Any] | Sequence[Any], indent: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, Mapping | list):
                yield f"{indent}{key}:"
                yield from _lines(item, indent + "  ")
            else:
                yield f"{indent}{key}: {_scalar(item)}"
        return
    for item in value:
        if isinstance(item, Mapping):
            first, *rest = _lines(item, indent + "  ")
            yield f"{indent}- {first.lstrip()}"
            yield from rest
        else:
            yield f"{indent}- {_scalar(item)}"


def _scalar(value: str | bool) -> str:  # noqa: FBT001 - a manifest's values are texts and booleans
    """A plain word if it is unambiguous, otherwise quoted as in JSON."""
    if isinstance(value, str) and re.fullmatch(
        r"[a-z]+_[a-z_]+|[a-z]+:[a-z:.]+|(?!true|false|null)[a-z]{3,}", value
    ):
        return value
    return json.dumps(value, ensure_ascii=False)
