"""User interactions: each becomes a payload, is delivered, and takes effect through its acknowledgement.

Slack's own `/invite` adds users and apps to a channel. For modals, see https://docs.slack.dev/surfaces/modals.
"""

import re

from bot.sandbox.workspace import events, payloads
from bot.sandbox.workspace.blocks import elements_of, rule
from bot.sandbox.workspace.delivery import Exchange, Gone, PageError
from bot.sandbox.workspace.forms import VALUE_KEYS, entered, faults, update_view
from bot.sandbox.workspace.model import Channel, Command, JsonObject, Message, User, View, as_list, as_object
from bot.sandbox.workspace.posting import as_command, content, post
from bot.sandbox.workspace.state import ApiError, State

COPIED = ("text", "value", "style", "placeholder", "confirm")
NO_OPTIONS = "The options couldn't be loaded. Try again."
WHERE = "view_submission"
INVITE = Command("/invite", "Add people or an app to this channel", "@someone", should_escape=True)
MENTIONED = re.compile(r"<@([A-Z0-9]+)\|")


def command(exchange: Exchange, user: User, channel: Channel, typed: str) -> None:
    """Run a slash command as typed, name first; raises PageError when there is none with it."""
    state = exchange.state
    name, _, text = typed.strip().partition(" ")
    if name == INVITE.command:
        _invite(exchange, user, channel, typed)
        return
    known = next((known for known in state.app.commands if known.command == name), None)
    if known is None:
        raise PageError(f"{name} is not a valid command.")
    user.commands.add(typed.strip())
    text = text.strip()
    payload: JsonObject = {
        "token": payloads.VERIFICATION_TOKEN,
        "team_id": state.team.id,
        "team_domain": state.team.domain,
        "channel_id": channel.id,
        "channel_name": payloads.channel_name(channel),
        "user_id": user.id,
        "user_name": user.name,
        "command": name,
        "text": as_command(state, text) if known.should_escape else text,
        "api_app_id": state.app.id,
        "is_enterprise_install": "false",
        "response_url": exchange.response_urls.issue("commands", user.id, channel.id),
        "trigger_id": exchange.triggers.issue(user.id),
    }

    async def run() -> None:
        answer = await exchange.deliver("slash_commands", payload, takes_answer=True)
        gone = channel.id not in state.channels
        if exchange.missed(user, name, answer) or gone or not answer.payload:
            return
        reply = answer.payload if isinstance(answer.payload, dict) else {"text": str(answer.payload)}
        try:
            new_content = content(state, reply, name)
        except ApiError as api_error:
            state.violate(name, api_error.error, api_error.detail)
            state.toast(user.id, f"{name} failed with the error “{api_error.error}”.")
            return
        post(state, channel, new_content, to=None if reply.get("response_type") == "in_channel" else user.id)

    exchange.background_tasks.start(run())


def shortcut(
    exchange: Exchange, user: User, callback_id: str, channel: Channel | None, message: Message | None
) -> None:
    """Run a shortcut, on `message` if given; raises PageError when the app has no such shortcut."""
    state = exchange.state
    named = (
        known.name
        for known in state.app.shortcuts
        if known.callback_id == callback_id and known.on_message == (message is not None)
    )
    name = next(named, None)
    if name is None or (message is not None and message.to is not None):
        raise PageError("The app doesn't have this shortcut.")
    payload = payloads.interaction(state, "message_action" if message else "shortcut", user)
    payload |= {
        "callback_id": callback_id,
        "action_ts": state.new_ts(),
        "trigger_id": exchange.triggers.issue(user.id),
    }
    if message is not None and channel is not None:
        payload |= {
            "channel": payloads.place(channel),
            "message": payloads.message(state, message),
            "message_ts": message.ts,
            "response_url": exchange.response_urls.issue("app", user.id, channel.id),
        }
    exchange.background_tasks.start(_interact(exchange, user, f"“{name}”", payload))


async def _interact(exchange: Exchange, user: User, where: str, payload: JsonObject) -> None:
    """Deliver an interaction whose acknowledgement must be empty."""
    answer = await exchange.deliver("interactive", payload, takes_answer=False)
    if not exchange.missed(user, where, answer) and answer.payload not in (None, "", {}):
        exchange.state.violate(
            payload["type"], "ack_with_body", "The acknowledgement must have an empty body."
        )


def act(
    exchange: Exchange,
    user: User,
    source: Message | View,
    block_id: str,
    posted: JsonObject,
    *,
    values: object,
) -> None:
    """Press a button or change an input; raises Gone when the element doesn't exist."""
    state = exchange.state
    part = _part(source, block_id, str(posted.get("action_id")))
    action: JsonObject = {
        "type": part["type"],
        "action_id": part["action_id"],
        "block_id": block_id,
        "action_ts": state.new_ts(),
    }
    action |= {key: part[key] for key in part if key in COPIED or key.startswith("initial_")}
    key = "selected_option" if part["type"] == "overflow" else VALUE_KEYS.get(part["type"])
    if key is not None:
        action[key] = posted.get(key)
    in_modal = isinstance(source, View) and source.type == "modal"
    payload = payloads.interaction(state, "block_actions", user) | {
        "actions": [action],
        "trigger_id": exchange.triggers.issue(user.id, in_modal=in_modal),
    }
    if isinstance(source, View):
        source.values = entered(source.blocks, values, source.values)
    else:
        payload |= {
            "state": {"values": entered(source.blocks, values)},
            "response_url": exchange.response_urls.issue("actions", user.id, source.channel, source.ts),
        }
    payload |= _surface(exchange, source)
    exchange.background_tasks.start(_interact(exchange, user, state.app.name, payload))


def _part(source: Message | View, block_id: str, action_id: str) -> JsonObject:
    for block in source.blocks:
        for part in elements_of(block) if block["block_id"] == block_id else ():
            if part.get("action_id") == action_id:
                return part
    raise Gone("This message or form was removed.")


def _surface(exchange: Exchange, source: Message | View) -> JsonObject:
    state = exchange.state
    if isinstance(source, View):
        return {
            "container": {"type": "view", "view_id": source.id},
            "view": payloads.view(state, source),
        }
    container: JsonObject = {
        "type": "message",
        "message_ts": source.ts,
        "channel_id": source.channel,
        "is_ephemeral": source.to is not None,
    }
    if source.thread_ts:
        container["thread_ts"] = source.thread_ts
    surface: JsonObject = {
        "container": container,
        "channel": payloads.place(state.channels[source.channel]),
    }
    if source.to is None:
        surface["message"] = payloads.message(state, source)
    return surface


async def suggest(
    exchange: Exchange, user: User, source: Message | View, block_id: str, action_id: str, *, typed: str
) -> JsonObject:
    """Ask the app for an external select's options.

    Raises Gone when the select doesn't exist, PageError without a valid response in time.
    """
    _part(source, block_id, action_id)
    payload = payloads.interaction(exchange.state, "block_suggestion", user) | _surface(exchange, source)
    payload |= {"block_id": block_id, "action_id": action_id, "value": typed}
    answer = await exchange.deliver("interactive", payload, takes_answer=True)
    where = f"options of {action_id}"
    if answer.outcome != "acknowledged":
        if answer.outcome != "offline":
            detail = "The app didn't return options within 3 seconds."
            exchange.state.violate(where, "operation_timeout", detail)
        raise PageError(NO_OPTIONS)
    if problems := [*rule("suggestions")(answer.payload, "")]:
        exchange.state.violate(where, "invalid_options", "; ".join(problems))
        raise PageError(NO_OPTIONS)
    return {"options": as_object(answer.payload)["options"]}


def _invite(exchange: Exchange, user: User, channel: Channel, typed: str) -> None:
    """Add everyone mentioned in `typed` and confirm to `user`; raises PageError when no one can be added."""
    state = exchange.state
    if channel.kind == "im":
        raise PageError("You can't add people to a direct message.")
    mentioned = [state.users[user_id] for user_id in MENTIONED.findall(as_command(state, typed))]
    if not mentioned:
        raise PageError(f"Type who to add, such as {INVITE.command} {INVITE.usage_hint}.")
    for invited in mentioned:
        where = f"#{channel.name}"
        if invited.id in channel.members:
            state.toast(user.id, f"{invited.real_name} is already in {where}.")
        elif invited.team_id != state.team.id:
            state.toast(user.id, f"{invited.real_name} is from another company and can't join {where}.")
        else:
            state.invite(channel.id, invited.id)
            events.joined(exchange, channel, invited, inviter=user)
            state.toast(user.id, f"{invited.real_name} joined {where}.", "info")


def submit(exchange: Exchange, user: User, view: View, posted: object) -> dict[str, str]:
    """Submit a modal; return validation errors by block ID, in which case nothing was sent.

    Raises PageError for a modal that isn't on top or is already being submitted.
    """
    state = exchange.state
    if state.stack(user.id)[-1:] != [view]:
        raise PageError("This form is no longer open.")
    if view.busy:
        raise PageError("This form is already being submitted.")
    view.values = entered(view.blocks, posted, view.values)
    if errors := faults(view.blocks, view.values):
        return errors
    view.busy, view.errors = True, None
    state.changed((user.id,))
    exchange.background_tasks.start(_submit(exchange, user, view))
    return {}


def _with_files(state: State, value: JsonObject) -> JsonObject:
    """Return an input's value; files are passed to the app, so that it can read them."""
    if value["type"] != "file_input":
        return value
    chosen = [state.files.get(str(as_object(file).get("id"))) for file in as_list(value["files"])]
    files = []
    for file in chosen:
        if file is not None:
            file.for_app = True
            files.append(payloads.file_object(state, file))
    return {"type": "file_input", "files": files}


async def _submit(exchange: Exchange, user: User, view: View) -> None:
    state = exchange.state
    values = {
        block_id: {action_id: _with_files(state, value) for action_id, value in actions.items()}
        for block_id, actions in view.values.items()
    }
    payload = payloads.interaction(state, WHERE, user) | {
        "view": payloads.view(state, view) | {"state": {"values": values}},
        "trigger_id": exchange.triggers.issue(user.id, in_modal=True),
        "response_urls": [],
    }
    answer = await exchange.deliver("interactive", payload, takes_answer=True)
    view.busy = False
    state.changed((user.id,))
    missed = exchange.missed(user, f"“{view.body['title']['text']}”", answer)
    if missed or view.id not in state.views:
        return
    try:
        _obey(state, view, answer.payload)
    except ApiError as error:
        state.violate(WHERE, error.error, error.detail)
        state.toast(user.id, "We had some trouble connecting. Try again?")


def _obey(state: State, view: View, answer: object) -> None:
    if answer in (None, "", {}):
        state.close(view)
        return
    body = as_object(answer)
    match body.get("response_action"):
        case "clear":
            state.close_all(view.user)
        case "update":
            update_view(state, view, body.get("view"))
        case "errors":
            _show_errors(state, view, as_object(body.get("errors")))
        case _:
            detail = "response_action must be clear, update or errors."
            raise ApiError("invalid_response_action", detail)


def _show_errors(state: State, view: View, errors: JsonObject) -> None:
    inputs = {block["block_id"] for block in view.blocks if block["type"] == "input"}
    astray = sorted(set(errors) - inputs)
    if astray or not errors:
        raise ApiError("invalid_errors", f"The form has no input blocks called {astray}.")
    view.errors = {block_id: str(sentence) for block_id, sentence in errors.items()}
    state.changed((view.user,))


def close(exchange: Exchange, user: User, view: View, *, everything: bool) -> None:
    """Close a modal, or all of them; notify the app if it asked for that."""
    state = exchange.state
    if view.type == "home":
        raise PageError("The Home tab can't be closed.")
    clear = everything or bool(view.body["clear_on_close"])
    for one in state.stack(user.id)[::-1] if clear else [view]:
        state.close(one)
        if one.body["notify_on_close"]:
            exchange.background_tasks.start(_closed(exchange, user, one, clear=clear))


async def _closed(exchange: Exchange, user: User, view: View, *, clear: bool) -> None:
    payload = payloads.interaction(exchange.state, "view_closed", user)
    payload |= {"view": payloads.view(exchange.state, view), "is_cleared": clear}
    answer = await exchange.deliver("interactive", payload, takes_answer=False)
    if answer.outcome == "timeout":
        detail = "The app didn't acknowledge this within 3 seconds."
        exchange.state.violate("view_closed", "operation_timeout", detail)
