"""The methods that look up users, files and the app itself."""

from bot.sandbox.records import picked
from bot.sandbox.workspace import payloads
from bot.sandbox.workspace.api.call import Arguments
from bot.sandbox.workspace.shapes import ApiError, JsonObject
from bot.sandbox.workspace.state import State


def auth_test(state: State, _: Arguments) -> JsonObject:
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
    user = state.users.get(given.required("user")[0])
    if user is None:
        raise ApiError("user_not_found", "The user doesn't exist.", broken=False)
    mail = "users:read.email" in state.app.scopes
    return {"user": payloads.user_object(state, user, mail=mail, locale=given.flag("include_locale"))}


def users_list(state: State, given: Arguments) -> JsonObject:
    """users.list, in a single page."""
    mail, locale = "users:read.email" in state.app.scopes, given.flag("include_locale")
    members = [payloads.user_object(state, user, mail=mail, locale=locale) for user in state.users.values()]
    return {"members": members, "cache_ts": int(state.clock.now()), "response_metadata": {"next_cursor": ""}}


def files_info(state: State, given: Arguments) -> JsonObject:
    file = state.files.get(given.required("file")[0])
    if file is None or not state.sees_file(file):
        raise ApiError("file_not_found", "The app can't see this file.", broken=False)
    return {"file": payloads.file_object(state, file), "comments": []}


def bots_info(state: State, _: Arguments) -> JsonObject:
    """bots.info, for the app itself."""
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
    return {"team": picked(state.team, "id", "name", "domain")}
