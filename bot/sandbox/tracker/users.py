"""POST /users.json, GET and PUT /users/{id}.json; GET /roles/{id}.json when enabled."""

import re
import secrets
from dataclasses import replace

from aiohttp import web

from bot.sandbox.tracker import shapes
from bot.sandbox.tracker.call import Body, Call, HttpError, ValidationError, is_blank, too_long
from bot.sandbox.tracker.data import ACTIVE_USER, LOCKED_USER, REGISTERED_USER, User, free_id

MIN_PASSWORD = 8
_LABELS = {
    "login": ("Login", 60),
    "firstname": ("First name", 30),
    "lastname": ("Last name", 255),
    "mail": ("Email", 254),
}
_FORMS = {
    "login": re.compile(r"[a-z0-9_.@-]*", re.ASCII | re.IGNORECASE),
    "mail": re.compile(r"[^@\s]{1,64}@[^@\s.]{1,63}(\.[^@\s.]{1,63}){1,9}"),
}


async def get_user(call: Call) -> web.Response:
    """Return a user by ID or `current`. Responds 401, and 404 for hidden users too."""
    if call.request.match_info["id"] == "current":
        user = call.user
    else:
        user = call.path_row(call.data.users)
        if not call.viewer.sees_user(user):
            raise HttpError(404)
    return web.json_response({"user": shapes.user(call.data, user, call.viewer, call.includes())})


async def get_role(call: Call) -> web.Response:
    """Return a role with its permissions. Responds 401 and 404."""
    call.require(call.viewer.user is not None)
    role = call.path_row(call.data.roles)
    return web.json_response({"role": shapes.ref(role) | {"permissions": sorted(role.rights)}})


async def create_user(call: Call) -> web.Response:
    """Create an account, as an administrator; the response contains its API key.

    Responds 401, 403, 422, and 500 for an unparsed body, as the service does.
    """
    call.require(call.viewer.admin)
    sent = await call.body("user")
    if not sent:
        raise HttpError(500)
    blank = User(free_id(call.data.users, call.data.groups), "", "", "", "", secrets.token_hex(20))
    blank.created_on = call.now
    user = _changed(call, blank, sent)
    call.data.users[user.id] = user
    return call.created("user", shapes.user(call.data, user, call.viewer), f"/users/{user.id}")


async def update_user(call: Call) -> web.Response:
    """Change an account, as an administrator. Responds 401, 403, 404, 422."""
    call.require(call.viewer.admin)
    user = call.path_row(call.data.users)
    call.data.users[user.id] = _changed(call, user, await call.body("user"))
    return call.updated()


def _changed(call: Call, user: User, sent: Body) -> User:
    user = replace(user, updated_on=call.now)
    errors = []
    others = [other for other in call.data.users.values() if other.id != user.id]
    for name, (label, most) in _LABELS.items():
        text = sent.text(name) if name in sent else getattr(user, name)
        if is_blank(text):
            errors.append(f"{label} cannot be blank")
        elif long := too_long(label, text, most):
            errors += long
        elif name in _FORMS and text.casefold() in {str(getattr(one, name)).casefold() for one in others}:
            errors.append(f"{label} has already been taken")
        elif name in _FORMS and not _FORMS[name].fullmatch(text):
            errors.append(f"{label} is invalid")
        setattr(user, name, text)
    password = sent.get("password")
    if password is not None and len(str(password)) < MIN_PASSWORD:
        errors.append(f"Password is too short (minimum is {MIN_PASSWORD} characters)")
    if errors:
        raise ValidationError(*errors)
    if password is not None or sent.flag("generate_password"):
        user.passwd_changed_on = call.now
    user.admin = sent.flag("admin", default=user.admin)
    user.must_change_passwd = sent.flag("must_change_passwd", default=user.must_change_passwd)
    status = sent.number("status")
    if status in (ACTIVE_USER, REGISTERED_USER, LOCKED_USER):
        user.status = status
    return user
