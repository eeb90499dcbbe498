"""The methods that look up users, files and the app itself."""

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
    return {"user": payloads.user_object(state, user, locale=given.flag("include_locale"))}


def files_info(state: State, given: Arguments) -> JsonObject:
    file = state.files.get(given.required("file")[0])
    if file is None or not state.sees_file(file):
        raise ApiError("file_not_found", "The app can't see this file.", broken=False)
    return {"file": payloads.file_object(state, file), "comments": []}
