"""The workspace's state as JSON, as one user's page shows it."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.sandbox.people import Person
from bot.sandbox.workspace import payloads
from bot.sandbox.workspace.invite import INVITE
from bot.sandbox.workspace.model import Channel, Command, Details, File, Message, Shortcut, User, View
from bot.sandbox.workspace.shapes import JsonObject
from bot.sandbox.workspace.state import State


@dataclass(frozen=True, slots=True)
class ServicePanel:
    """The service's details on the page's side panel."""

    people: tuple[Person, ...]
    service_url: str
    service_name: str


def _person(state: State, user: User, linked: AbstractSet[str]) -> JsonObject:
    words = user.real_name.split()
    return {
        "id": user.id,
        "name": user.name,
        "display_name": user.real_name if user.is_bot else user.first_name,
        "real_name": user.real_name,
        "title": user.title,
        "color": user.color,
        "initials": "".join(word[0] for word in words[:2]).upper(),
        "tz": user.tz,
        "tz_label": payloads.tz_label(user, state.clock.now()),
        "is_admin": user.is_admin,
        "is_bot": user.is_bot,
        "is_app_user_choice": user.is_choice,
        "note": "linked" if user.id in linked and not user.is_admin else user.note,
    }


def _channel(state: State, channel: Channel, user: User) -> JsonObject:
    other = next(iter(channel.members - {user.id}), "") if channel.kind == "im" else ""
    return {
        "id": channel.id,
        "name": state.users[other].real_name if other else channel.name,
        "kind": channel.kind,
        "topic": channel.topic,
        "is_ext_shared": channel.is_ext_shared,
        "is_archived": channel.is_archived,
        "is_member": user.id in channel.members,
        "bot_is_member": state.app.bot_user_id in channel.members,
        "with": other or None,
    }


def file(found: File) -> JsonObject:
    return {
        "id": found.id,
        "name": found.name,
        "size": found.size,
        "mimetype": found.mimetype,
        "url": f"/page/files/{found.id}",
    }


def _message(state: State, found: Message) -> JsonObject:
    return {
        "ts": found.ts,
        "channel": found.channel,
        "user": found.user,
        "username": state.users[found.user].real_name,
        "text": found.text,
        "blocks": found.blocks,
        "thread_ts": found.thread_ts,
        "reply_count": len(state.replies(found)) if found.thread_ts is None else 0,
        "edited": found.edited is not None,
        "ephemeral": found.to is not None,
        "files": [file(state.files[key]) for key in found.files],
        "is_bot": found.by_app,
        "unfurls": [
            {"url": url, "blocks": shown.get("blocks", []), "has_details": url in found.entities}
            for url, shown in found.unfurls.items()
        ],
    }


def _view(state: State, found: View) -> JsonObject:
    return payloads.view(state, found) | {"errors": found.errors, "busy": found.busy}


def _details(found: Details | None) -> JsonObject | None:
    if found is None:
        return None
    return {"id": found.trigger_id, "entity": found.shown or found.entity, "error": found.error} | {
        "waiting": found.shown is None and found.error is None
    }


def _shortcuts(shortcuts: Iterable[Shortcut]) -> list[JsonObject]:
    return [
        {"callback_id": known.callback_id, "name": known.name, "description": known.description}
        for known in shortcuts
    ]


def _commands(commands: Iterable[Command]) -> list[JsonObject]:
    return [
        {"command": known.command, "description": known.description, "usage_hint": known.usage_hint}
        for known in commands
    ]


def _app(state: State, *, connected: bool) -> JsonObject:
    app = state.app
    return {
        "id": app.id,
        "bot_user_id": app.bot_user_id,
        "name": app.name,
        "connected": connected,
        "commands": _commands(app.commands),
        "global_shortcuts": _shortcuts(known for known in app.shortcuts if not known.on_message),
        "message_shortcuts": _shortcuts(known for known in app.shortcuts if known.on_message),
    }


def _panel(state: State, service_panel: ServicePanel) -> JsonObject:
    return {
        "violations": [
            {
                "id": broken.id,
                "at": datetime.fromtimestamp(broken.at, UTC).isoformat(),
                "where": broken.where,
                "rule": broken.rule,
                "detail": broken.detail,
            }
            for broken in state.violations
        ],
        "keys": [
            {
                "slack_user": known.slack_id if known.in_slack else None,
                "name": known.name,
                "login": known.login,
                "api_key": known.api_key,
                "admin": known.admin,
            }
            for known in service_panel.people
        ],
        "service_url": service_panel.service_url,
        "service_name": service_panel.service_name,
    }


def snapshot(
    state: State, user: User, service_panel: ServicePanel, *, connected: bool, linked: AbstractSet[str]
) -> JsonObject:
    """Return everything `user`'s page needs, and nothing `user` couldn't see in Slack.

    `linked` are the IDs of the users who have linked an account.
    """
    channels = [
        channel
        for channel in state.channels.values()
        if channel.kind == "channel" or user.id in channel.members
    ]
    home = state.homes.get(user.id)
    return {
        "version": state.version,
        "team": {"id": state.team.id, "name": state.team.name},
        "me": _person(state, user, linked),
        "people": [_person(state, known, linked) for known in state.users.values()],
        "app": _app(state, connected=connected),
        "commands": _commands([INVITE]),
        "channels": [_channel(state, channel, user) for channel in channels],
        "messages": {
            channel.id: [
                _message(state, found) for found in state.messages[channel.id] if found.to in (None, user.id)
            ]
            for channel in channels
        },
        "views": [_view(state, found) for found in state.stack(user.id)],
        "home": _view(state, home) if home else None,
        "details": _details(state.details.get(user.id)),
        "panel": _panel(state, service_panel),
    }
