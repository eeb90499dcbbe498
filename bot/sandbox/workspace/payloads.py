"""Slack's JSON for users, messages, files, views and event envelopes, as the app receives it.

Sources: https://docs.slack.dev/reference/interaction-payloads, …/reference/events, …/reference/objects.
"""

import secrets
from datetime import datetime, timedelta
from urllib.parse import quote
from zoneinfo import ZoneInfo

from bot.sandbox import picked
from bot.sandbox.workspace.model import Channel, File, JsonObject, Message, User, View
from bot.sandbox.workspace.state import State

VERIFICATION_TOKEN = "sandbox-verification"
NOT_OF_FILES = (
    *("editable", "is_external", "is_public", "public_url_shared", "display_as_bot", "is_starred"),
    "has_rich_preview",
)
OUTSIDE_NAMES = {"private": "privategroup", "im": "directmessage"}


def channel_name(channel: Channel) -> str:
    """Return a channel's name for a payload; only public channels have their own."""
    return OUTSIDE_NAMES.get(channel.kind, channel.name)


def place(channel: Channel) -> JsonObject:
    return {"id": channel.id, "name": channel_name(channel)}


def interaction(state: State, kind: str, user: User) -> JsonObject:
    """Return the fields all interaction payloads share."""
    return {
        "type": kind,
        "team": picked(state.team, "id", "domain"),
        "user": picked(user, "id", "name", "team_id") | {"username": user.name},
        "api_app_id": state.app.id,
        "token": VERIFICATION_TOKEN,
        "enterprise": None,
        "is_enterprise_install": False,
    }


def time_zone(user: User, at: float) -> JsonObject:
    local = datetime.fromtimestamp(at, ZoneInfo(user.tz))
    offset = local.utcoffset() or timedelta()
    return {"tz": user.tz, "tz_label": local.tzname(), "tz_offset": int(offset.total_seconds())}


def user_object(state: State, user: User, *, locale: bool) -> JsonObject:
    """Return a user in the format of `users.info`."""
    now = state.clock.now()
    profile: JsonObject = {
        **dict.fromkeys(("real_name", "real_name_normalized"), user.real_name),
        **dict.fromkeys(("display_name", "display_name_normalized"), user.name),
        "first_name": user.first_name,
        "last_name": user.last_name,
        "title": user.title,
        "team": user.team_id,
        **dict.fromkeys(("status_text", "status_emoji"), ""),
    }
    if "users:read.email" in state.app.scopes and not user.is_bot:
        profile["email"] = user.mail
    if user.is_bot:
        profile |= {"api_app_id": state.app.id, "bot_id": state.app.bot_id, "always_active": True}
    answer: JsonObject = {
        "id": user.id,
        "team_id": user.team_id,
        "name": user.name,
        "deleted": user.is_deactivated,
        "color": user.color.removeprefix("#"),
        "real_name": user.real_name,
        **time_zone(user, now),
        "profile": profile,
        "is_admin": user.is_admin,
        "is_owner": user.is_admin,
        "is_bot": user.is_bot,
        **dict.fromkeys(("is_primary_owner", "is_restricted", "is_ultra_restricted", "is_app_user"), False),
        "is_stranger": user.team_id != state.team.id,
        "updated": int(now),
    }
    if locale:
        answer["locale"] = user.locale
    return answer


def conversation(state: State, channel: Channel) -> JsonObject:
    """Return a channel in the format of `conversations.info`."""
    answer: JsonObject = {
        "id": channel.id,
        "created": channel.created,
        "is_archived": channel.is_archived,
        "is_im": channel.kind == "im",
        "is_org_shared": False,
        "context_team_id": state.team.id,
        "updated": channel.created * 1000,
    }
    if channel.kind == "im":
        other = next(iter(channel.members - {state.app.bot_user_id}))
        return answer | {"user": other, "is_user_deleted": False, "is_open": True, "priority": 0}
    return answer | {
        "name": channel.name,
        "name_normalized": channel.name,
        "is_channel": channel.kind == "channel",
        "is_group": channel.kind == "private",
        "is_mpim": False,
        "is_private": channel.kind == "private",
        "is_general": channel.name == "general",
        "is_shared": channel.is_ext_shared,
        "is_ext_shared": channel.is_ext_shared,
        "is_pending_ext_shared": False,
        "is_member": state.app.bot_user_id in channel.members,
        "creator": channel.creator,
        "topic": {"value": channel.topic, "creator": channel.creator, "last_set": channel.created},
        "purpose": {"value": "", "creator": "", "last_set": 0},
        "previous_names": [],
        "shared_team_ids": [state.team.id],
    }


def file_object(state: State, file: File) -> JsonObject:
    """Return a file with the URLs the bot's token can open."""
    stem = f"{state.base_url}files-pri/{state.team.id}-{file.id}"
    name = quote(file.name, safe="")
    extension = file.name.rpartition(".")[2].lower()
    return {
        **picked(file, "id", "name", "created", "mimetype", "size", "user"),
        "timestamp": file.created,
        "title": file.name,
        "filetype": extension,
        "pretty_type": extension.upper(),
        "user_team": state.team.id,
        "mode": "hosted",
        **dict.fromkeys(("external_type", "username"), ""),
        **dict.fromkeys(NOT_OF_FILES, False),
        "url_private": f"{stem}/{name}",
        "url_private_download": f"{stem}/download/{name}",
        "permalink": f"{state.base_url}files/{file.user}/{file.id}/{name}",
        "file_access": "visible",
    }


def shared_file(state: State, file: File, channel: Channel) -> JsonObject:
    """Return a file in a message; in a shared channel only its ID, for `files.info`."""
    if not channel.is_ext_shared:
        return file_object(state, file)
    return {
        **picked(file, "id", "created", "user"),
        "mode": "file_access",
        "file_access": "check_file_info",
        "timestamp": file.created,
    }


def message(state: State, row: Message, *, metadata: bool = True) -> JsonObject:
    answer: JsonObject = {
        "type": "message",
        **picked(row, "user", "ts", "text"),
        "team": state.users[row.user].team_id,
    }
    if row.is_tombstone:
        answer |= {"subtype": "tombstone", "user": "USLACKBOT", "hidden": True}
    elif row.by_app:
        answer |= {
            "bot_id": state.app.bot_id,
            "app_id": state.app.id,
            "bot_profile": {
                "id": state.app.bot_id,
                "app_id": state.app.id,
                "user_id": state.app.bot_user_id,
                "name": state.app.name,
                "deleted": False,
                "team_id": state.team.id,
            },
        }
    if row.blocks:
        answer["blocks"] = row.blocks
    if row.files:
        channel = state.channels[row.channel]
        answer["files"] = [shared_file(state, state.files[key], channel) for key in row.files]
        answer["upload"] = False
    if row.edited is not None:
        answer["edited"] = {"user": row.user, "ts": row.edited}
    if metadata and row.metadata is not None:
        answer["metadata"] = row.metadata
    replies = state.replies(row)
    if row.thread_ts is not None:
        answer["thread_ts"] = row.thread_ts
        parent = state.find(row.channel, row.thread_ts)
        if parent is not None:
            answer["parent_user_id"] = parent.user
    elif replies:
        answer |= {
            "thread_ts": row.ts,
            "reply_count": len(replies),
            "reply_users": sorted({reply.user for reply in replies}),
            "latest_reply": replies[-1].ts,
        }
    return answer


def view(state: State, row: View) -> JsonObject:
    answer = {
        "id": row.id,
        "team_id": state.team.id,
        "type": row.type,
        **row.body,
        "state": {"values": row.values},
        "hash": row.hash,
        "root_view_id": row.root_id,
        "previous_view_id": row.previous_id,
        "app_id": state.app.id,
        "app_installed_team_id": state.team.id,
        "bot_id": state.app.bot_id,
    }
    if row.type == "home":
        answer |= {
            "title": {"type": "plain_text", "text": "View Title", "emoji": True},
            "submit": None,
            "close": None,
        }
    return answer


def event(state: State, inner: JsonObject, *, shared: bool) -> JsonObject:
    """Return the Events API envelope for one event."""
    return {
        "token": VERIFICATION_TOKEN,
        "team_id": state.team.id,
        "context_team_id": state.team.id,
        "context_enterprise_id": None,
        "api_app_id": state.app.id,
        "event": inner,
        "type": "event_callback",
        "event_id": state.new_id("Ev"),
        "event_time": int(state.clock.now()),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": state.team.id,
                "user_id": state.app.bot_user_id,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": shared,
        "event_context": "4-" + secrets.token_hex(16),
    }
