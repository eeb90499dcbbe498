"""What a user does in a Work Object's details: opens them, edits fields, presses buttons, reads comments.

Sources: https://docs.slack.dev/messaging/work-objects-implementation and …/work-objects-comments.
"""

from urllib.parse import urlsplit

from bot.sandbox.workspace import events, payloads
from bot.sandbox.workspace.delivery import Exchange
from bot.sandbox.workspace.model import Details, JsonObject, Message, User, as_object


def opened(exchange: Exchange, user: User, message: Message, url: str) -> None:
    """Report that a user opened the details of the Work Object for a link."""
    details = exchange.state.details[user.id] = Details(message.entities[url], message, url)
    _tell(exchange, user, details, "entity_details_requested", {"user_locale": user.locale})


def act(exchange: Exchange, user: User, details: Details, body: JsonObject) -> None:
    """Save edited `values`, press the button of an `action_id`, post a `comment`, or show more comments."""
    if "comment" in body:
        details.comment_error = None
        exchange.background_tasks.start(_comment(exchange, user, details, as_object(body["comment"])))
    elif "values" in body:
        details.errors, details.error = {}, None
        exchange.background_tasks.start(_save(exchange, user, details, as_object(body["values"])))
    elif "action_id" in body:
        exchange.background_tasks.start(_press(exchange, user, details, str(body["action_id"])))
    else:
        page: JsonObject = {"limit": exchange.state.comments_limit}
        page |= {"cursor": details.cursor} if details.cursor else {}
        _tell(exchange, user, details, "entity_comments_requested", page)


def _trigger(exchange: Exchange, user: User, details: Details) -> JsonObject:
    details.triggers.append(exchange.triggers.issue(user.id))
    exchange.state.changed((user.id,))
    entity = details.entity
    return {
        "trigger_id": details.triggers[-1],
        "external_ref": entity["external_ref"],
        "entity_url": entity["url"],
        "app_unfurl_url": details.link,
    }


def _tell(exchange: Exchange, user: User, details: Details, kind: str, more: JsonObject) -> None:
    link = {"url": details.link, "domain": urlsplit(details.link).hostname or ""}
    about = {"user": user.id, "link": link, **_trigger(exchange, user, details), **more}
    events.deliver(exchange, kind, about, details.message)


async def _save(exchange: Exchange, user: User, details: Details, values: JsonObject) -> None:
    """Submit an edit; the response is empty or has errors at fields."""
    state, about = exchange.state, _trigger(exchange, user, details)
    payload = payloads.interaction(state, "view_submission", user) | {"trigger_id": about.pop("trigger_id")}
    view = {"id": state.new_id("V"), "type": "entity_detail", "callback_id": "work-object-edit", **about}
    payload["view"] = view | {"state": {"values": values}}
    answer = await exchange.deliver("interactive", payload, takes_answer=True)
    if exchange.missed(user, "The edit", answer) or answer.payload in (None, "", {}):
        return
    body = as_object(answer.payload)
    details.errors = as_object(body.get("errors"))
    if body.get("response_action") != "errors" or not details.errors or details.errors.keys() - values.keys():
        state.violate(
            "view_submission", "invalid_errors", "An edit's response has errors at its fields only."
        )
    state.changed((user.id,))


async def _comment(exchange: Exchange, user: User, details: Details, rich_text: JsonObject) -> None:
    """Submit a comment; the response is empty."""
    state, about = exchange.state, _trigger(exchange, user, details)
    payload = payloads.interaction(state, "view_submission", user) | {"trigger_id": about.pop("trigger_id")}
    view = {"id": state.new_id("V"), "type": "entity_comment", "callback_id": "work-object-post-comment"}
    element = {"type": "rich_text_input", "rich_text_value": rich_text}
    values = {"comment_input_block": {"comment_input_action": element}}
    payload["view"] = view | about | {"external_id": "", "state": {"values": values}}
    answer = await exchange.deliver("interactive", payload, takes_answer=True)
    if exchange.missed(user, "The comment", answer):
        details.comment_error = "The app didn't respond."
        state.changed((user.id,))
    elif answer.payload not in (None, "", {}):
        details.comment_error = str(as_object(answer.payload).get("errors"))
        state.changed((user.id,))


async def _press(exchange: Exchange, user: User, details: Details, action_id: str) -> None:
    state, about, message = exchange.state, _trigger(exchange, user, details), details.message
    entity = details.presentation or details.entity
    places = as_object(entity["entity_payload"].get("actions")).values()
    chosen = next(one for buttons in places for one in buttons if one["action_id"] == action_id)
    action = {
        "type": "button",
        "action_id": action_id,
        "value": chosen.get("value"),
        "action_ts": state.new_ts(),
    }
    payload = payloads.interaction(state, "block_actions", user) | {
        "actions": [action],
        "trigger_id": about.pop("trigger_id"),
        "container": {
            "type": "entity_detail",
            "channel_id": message.channel,
            "message_ts": message.ts,
            **about,
        },
        "channel": payloads.place(state.channels[message.channel]),
    }
    exchange.missed(user, state.app.name, await exchange.deliver("interactive", payload, takes_answer=False))
