"""The workspace's state as JSON, as one user's page shows it."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.sandbox import picked
from bot.sandbox.people import Person
from bot.sandbox.workspace import payloads
from bot.sandbox.workspace.interactions import INVITE
from bot.sandbox.workspace.model import Channel, Command, Details, File, JsonObject, Message, User, View
from bot.sandbox.workspace.state import State


@dataclass(frozen=True, slots=True)
class ServicePanel:
    """The service's details on the page's side panel."""

    people: Sequence[Person]
    service_name: str


def _person(state: State, user: User, linked: AbstractSet[str]) -> JsonObject:
    words = user.real_name.split()
    return {
        **picked(user, "id", "name", "real_name", "title", "color", "is_admin", "is_bot"),
        **payloads.time_zone(user, state.clock.now()),
        "display_name": user.real_name if user.is_bot else user.first_name,
        "initials": "".join(word[0] for word in words[:2]).upper(),
        "is_app_user_choice": user.is_choice,
        "note": "linked" if user.id in linked and not user.is_admin else user.note,
    }


def _channel(state: State, channel: Channel, user: User) -> JsonObject:
    other = next(iter(channel.members - {user.id}), "") if channel.kind == "im" else ""
    return {
        **picked(channel, "id", "kind", "topic", "is_ext_shared", "is_archived"),
        "name": state.users[other].real_name if other else channel.name,
        "is_member": user.id in channel.members,
        "bot_is_member": state.app.bot_user_id in channel.members,
        "with": other or None,
    }


def file(row: File) -> JsonObject:
    return picked(row, "id", "name", "size", "mimetype") | {"url": f"/page/files/{row.id}"}


def _message(state: State, row: Message) -> JsonObject:
    return {
        **picked(row, "ts", "channel", "user", "text", "blocks", "thread_ts", "reactions"),
        "username": state.users[row.user].real_name,
        "reply_count": len(state.replies(row)) if row.thread_ts is None else 0,
        "edited": row.edited is not None,
        "ephemeral": row.to is not None,
        "files": [file(state.files[key]) for key in row.files],
        "is_bot": row.by_app,
        "unfurls": [
            {"url": url, "blocks": unfurl.get("blocks", []), "has_details": url in row.entities}
            for url, unfurl in row.unfurls.items()
        ],
    }


def _view(state: State, row: View) -> JsonObject:
    return payloads.view(state, row) | picked(row, "errors", "busy", "emptied")


def _details(row: Details | None) -> JsonObject | None:
    if row is None:
        return None
    return picked(row, "error", "errors", "comments", "cursor", "can_post", "comment_error") | {
        "id": row.triggers[0],
        "entity": row.presentation or row.entity,
        "waiting": row.presentation is None and row.error is None,
    }


def _commands(commands: Iterable[Command]) -> list[JsonObject]:
    return [picked(known, "command", "description", "usage_hint") for known in commands]


def _shortcuts(state: State, *, on_message: bool) -> list[JsonObject]:
    known = (shortcut for shortcut in state.app.shortcuts if shortcut.on_message == on_message)
    return [picked(shortcut, "callback_id", "name", "description") for shortcut in known]


def _panel(state: State, service_panel: ServicePanel) -> JsonObject:
    return {
        "violations": [
            picked(broken, "id", "where", "rule", "detail")
            | {"at": datetime.fromtimestamp(broken.at, UTC).isoformat()}
            for broken in state.violations
        ],
        "keys": [
            picked(known, "name", "login", "api_key", "admin")
            | {"slack_user": known.slack_id if known.in_slack else None}
            for known in service_panel.people
        ],
        "steps": state.app.functions,
        "executions": state.steps,
        "service_url": state.service_url,
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
        "team": picked(state.team, "id", "name"),
        "me": _person(state, user, linked)
        | {"commands": sorted(user.commands), "is_linked": user.id in linked},
        "people": [_person(state, known, linked) for known in state.users.values()],
        "app": picked(state.app, "id", "bot_user_id", "name")
        | {
            "connected": connected,
            "commands": _commands(state.app.commands),
            "global_shortcuts": _shortcuts(state, on_message=False),
            "message_shortcuts": _shortcuts(state, on_message=True),
        },
        "commands": _commands([INVITE]),
        "channels": [_channel(state, channel, user) for channel in channels],
        "messages": {
            channel.id: [
                _message(state, row) for row in state.messages[channel.id] if row.to in (None, user.id)
            ]
            for channel in channels
        },
        "views": [_view(state, row) for row in state.stack(user.id)],
        "home": _view(state, home) if home else None,
        "details": _details(state.details.get(user.id)),
        "panel": _panel(state, service_panel),
    }
