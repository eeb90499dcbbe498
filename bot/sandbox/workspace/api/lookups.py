"""The methods that tell about people, conversations, files and the app itself."""

from bot.sandbox.workspace import payloads
from bot.sandbox.workspace.api.call import Arguments, need_channel_scope, need_scope, visible_channel
from bot.sandbox.workspace.model import Channel
from bot.sandbox.workspace.shapes import JsonObject, Refused
from bot.sandbox.workspace.state import State

TYPES = {"public_channel": "channel", "private_channel": "private", "im": "im"}


def auth_test(state: State, _: Arguments) -> JsonObject:
    """auth.test."""
    return {
        "url": state.base_url,
        "team": state.team.name,
        "user": state.users[state.app.bot_user_id].name,
        "team_id": state.team.id,
        "user_id": state.app.bot_user_id,
        "bot_id": state.app.bot_id,
        "is_enterprise_install": False,
    }


def users_info(state: State, given: Arguments) -> JsonObject:
    """users.info."""
    user = state.users.get(given.required("user")[0])
    if user is None:
        raise Refused("user_not_found", "There is no such person.", broken=False)
    mail = "users:read.email" in state.app.scopes
    return {"user": payloads.user_object(state, user, mail=mail, locale=given.flag("include_locale"))}


def users_list(state: State, given: Arguments) -> JsonObject:
    """users.list, in one page."""
    mail, locale = "users:read.email" in state.app.scopes, given.flag("include_locale")
    members = [payloads.user_object(state, user, mail=mail, locale=locale) for user in state.users.values()]
    return {"members": members, "cache_ts": int(state.clock.now()), "response_metadata": {"next_cursor": ""}}


def _readable(state: State, given: Arguments, right: str) -> Channel:
    channel = visible_channel(state, given.required("channel")[0])
    need_channel_scope(state, channel, right)
    return channel


def conversations_info(state: State, given: Arguments) -> JsonObject:
    """conversations.info."""
    channel = _readable(state, given, "read")
    shown = payloads.conversation(state, channel)
    if given.flag("include_num_members"):
        shown["num_members"] = len(channel.members)
    if given.flag("include_locale"):
        shown["locale"] = "en-GB"
    return {"channel": shown}


def conversations_open(state: State, given: Arguments) -> JsonObject:
    """conversations.open with one person."""
    need_scope(state, "im:write")
    user = given.required("users")[0]
    if user not in state.users:
        raise Refused("user_not_found", "There is no such person.", broken=False)
    return {"channel": {"id": state.im(user).id}}


def conversations_members(state: State, given: Arguments) -> JsonObject:
    """conversations.members, in one page."""
    channel = _readable(state, given, "read")
    return {"members": sorted(channel.members), "response_metadata": {"next_cursor": ""}}


def conversations_list(state: State, given: Arguments) -> JsonObject:
    """conversations.list, in one page."""
    kinds = {TYPES.get(name.strip()) for name in (given.text("types") or "public_channel").split(",")}
    found = []
    for channel in state.channels.values():
        if channel.kind in kinds and (channel.kind == "channel" or state.app.bot_user_id in channel.members):
            need_channel_scope(state, channel, "read")
            found.append(payloads.conversation(state, channel))
    return {"channels": found, "response_metadata": {"next_cursor": ""}}


def _of_history(state: State, given: Arguments) -> Channel:
    channel = _readable(state, given, "history")
    if state.app.bot_user_id not in channel.members:
        raise Refused("not_in_channel", f"The app is not a member of #{channel.name}.", broken=False)
    return channel


def conversations_history(state: State, given: Arguments) -> JsonObject:
    """conversations.history: the newest first, without replies."""
    channel = _of_history(state, given)
    oldest, latest = given.text("oldest") or "0", given.text("latest") or "9" * 20
    inclusive, limit = given.flag("inclusive"), given.number("limit", 100)
    found = [
        message
        for message in state.messages[channel.id][::-1]
        if message.to is None
        and message.thread_ts is None
        and (
            float(oldest) < float(message.ts) < float(latest)
            or (inclusive and message.ts in (oldest, latest))
        )
    ]
    shown = [payloads.message(state, message) for message in found[:limit]]
    return {"messages": shown, "has_more": len(found) > limit, "pin_count": 0}


def conversations_replies(state: State, given: Arguments) -> JsonObject:
    """conversations.replies: the message, then its replies, the oldest first."""
    channel = _of_history(state, given)
    message = state.find(channel.id, given.required("ts")[0])
    if message is None or message.to is not None:
        raise Refused("thread_not_found", "There is no such message.", broken=False)
    parent = state.find(channel.id, message.thread_ts) if message.thread_ts else message
    thread = [parent, *state.replies(parent)] if parent else [message]
    return {"messages": [payloads.message(state, one) for one in thread], "has_more": False}


def files_info(state: State, given: Arguments) -> JsonObject:
    """files.info."""
    file = state.files.get(given.required("file")[0])
    if file is None or not state.sees_file(file):
        raise Refused("file_not_found", "The app can't see this file.", broken=False)
    return {"file": payloads.file_object(state, file), "comments": []}


def bots_info(state: State, _: Arguments) -> JsonObject:
    """bots.info: the app itself."""
    return {
        "bot": {
            "id": state.app.bot_id,
            "deleted": False,
            "name": state.app.name,
            "updated": int(state.clock.now()),
            "app_id": state.app.id,
            "user_id": state.app.bot_user_id,
        }
    }


def team_info(state: State, _: Arguments) -> JsonObject:
    """team.info."""
    return {"team": {"id": state.team.id, "name": state.team.name, "domain": state.team.domain}}
