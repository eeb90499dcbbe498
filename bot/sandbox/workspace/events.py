"""The Events API: delivers the events the app subscribes to, and retries unacknowledged ones.

Sources: https://docs.slack.dev/apis/events-api and …/reference/events.
"""

import re
from urllib.parse import urlsplit
from uuid import uuid4

from bot.sandbox.workspace import payloads
from bot.sandbox.workspace.delivery import Exchange, Retry
from bot.sandbox.workspace.model import Channel, JsonObject, Message, User, as_object

LINK = re.compile(r"<(https?://[^|<>\s]{1,2000})(?:\|[^<>]{0,2000})?>")
OF_THREADS = ("reply_count", "reply_users", "latest_reply")
REASONS = {"timeout": "timeout", "refused": "http_error", "offline": "connection_failed"}


def deliver(exchange: Exchange, kind: str, about: JsonObject, message: Message | None = None) -> None:
    """Deliver an event, about `message` if given, if the app subscribes to its kind."""
    state = exchange.state
    if kind not in state.app.events:
        return
    name, _, place = kind.partition(".")
    inner: JsonObject = {"type": name, "event_ts": state.new_ts(), **about}
    inner |= {"channel_type": place} if place else {}
    if message:
        inner |= {"channel": message.channel, "message_ts": message.ts}
        inner |= {"thread_ts": message.thread_ts} if message.thread_ts else {}
    channel = state.channels.get(as_object(about.get("item")).get("channel") or inner.get("channel") or "")
    payload = payloads.event(state, inner, shared=channel is not None and channel.is_ext_shared)
    exchange.background_tasks.start(_tell(exchange, payload))


async def _tell(exchange: Exchange, payload: JsonObject) -> None:
    """Deliver one event; retry after each of `state.retry_seconds` until it is acknowledged."""
    answer = await exchange.deliver("events_api", payload, takes_answer=False)
    for number, wait in enumerate(exchange.state.retry_seconds, start=1):
        if answer.outcome == "acknowledged":
            return
        if answer.outcome != "offline":
            detail = "The app didn't acknowledge this event. Slack will retry."
            exchange.state.violate(payload["event"]["type"], f"event_{answer.outcome}", detail)
        await exchange.state.clock.sleep(wait)
        retry = Retry(number, REASONS[answer.outcome])
        answer = await exchange.deliver("events_api", payload, takes_answer=False, retry=retry)


def home_opened(exchange: Exchange, user: User) -> None:
    state = exchange.state
    about: JsonObject = {"user": user.id, "channel": state.im(user.id).id, "tab": "home"}
    if home := state.homes.get(user.id):
        about["view"] = payloads.view(state, home)
    deliver(exchange, "app_home_opened", about)


def user_changed(exchange: Exchange, user: User) -> None:
    profile = payloads.user_object(exchange.state, user, locale=True)
    deliver(exchange, "user_change", {"user": profile})


def joined(exchange: Exchange, channel: Channel, user: User, *, inviter: User) -> None:
    """Report that a person or the app joined a channel, if the app is in it."""
    state = exchange.state
    if state.app.bot_user_id in channel.members:
        kind = "C" if channel.kind == "channel" else "G"
        about = {"user": user.id, "channel": channel.id, "channel_type": kind, "team": user.team_id}
        deliver(exchange, "member_joined_channel", about | {"inviter": inviter.id})


def reacted(exchange: Exchange, user: User, message: Message) -> None:
    """Report the latest reaction to a message, where the app is a member."""
    if exchange.state.app.bot_user_id in exchange.state.channels[message.channel].members:
        item = {"type": "message", "channel": message.channel, "ts": message.ts}
        about = {"user": user.id, "reaction": message.reactions[-1], "item_user": message.user, "item": item}
        deliver(exchange, "reaction_added", about)


def step_executed(exchange: Exchange, user: User, name: str, inputs: JsonObject) -> str:
    """Execute a step of a workflow for a user; return the execution's ID."""
    state = exchange.state
    function = state.app.functions[name]
    given = function["input_parameters"]["properties"]
    parameters = [{"name": key, **each} for key, each in given.items()]
    about: JsonObject = {
        "callback_id": name,
        "title": function["title"],
        "type": "app",
        "app_id": state.app.id,
    }
    context = {key: {"id": user.id, "secret": state.new_id("S")} for key in given if key == "act_as"}
    execution = state.new_id("Fx")
    state.steps[execution] = None
    about |= {"id": state.new_id("Fn"), "input_parameters": parameters}
    inner: JsonObject = {"function": about}
    inner |= {"inputs": context | inputs, "function_execution_id": execution, "bot_access_token": "xwfp-0"}
    deliver(exchange, "function_executed", inner)
    return execution


def _with_app(exchange: Exchange, channel: Channel) -> bool:
    """Return whether a conversation is a user's direct messages with the app."""
    return channel.kind == "im" and exchange.state.app.bot_user_id in channel.members


def _message(exchange: Exchange, message: Message) -> JsonObject:
    """Return a message as its events have it."""
    state = exchange.state
    payload = payloads.message(state, message)
    about = {key: value for key, value in payload.items() if key not in ("type", *OF_THREADS)}
    if message.files:
        about["subtype"] = "file_share"
    if state.channels[message.channel].is_ext_shared:
        team = state.users[message.user].team_id
        about |= {"user_team": team, "source_team": team}
    return about | {"client_msg_id": str(uuid4()), "channel": message.channel}


def edited(exchange: Exchange, message: Message) -> None:
    """Report that a user edited a message: a direct one to the app, or one that mentions it."""
    inner = _message(exchange, message) | {"event_ts": exchange.state.new_ts()}
    if _with_app(exchange, exchange.state.channels[message.channel]):
        changed = {"subtype": "message_changed", "hidden": True, "message": {"type": "message", **inner}}
        changed |= {"ts": inner["event_ts"], "event_ts": inner["event_ts"], "channel": message.channel}
        deliver(exchange, "message.im", changed)
    elif mentions_app(exchange, message):
        deliver(exchange, "app_mention", inner)


def mentions_app(exchange: Exchange, message: Message) -> bool:
    bot = exchange.state.app.bot_user_id
    return f"<@{bot}>" in message.text and bot in exchange.state.channels[message.channel].members


def posted(exchange: Exchange, message: Message) -> None:
    """Report a user's message to the app, and the links in it, as far as the app subscribes to them."""
    state = exchange.state
    channel = state.channels[message.channel]
    inner = _message(exchange, message) | {"event_ts": message.ts}
    if _with_app(exchange, channel):
        deliver(exchange, "message.im", inner)
    elif mentions_app(exchange, message):
        deliver(exchange, "app_mention", inner)
    service = urlsplit(state.service_url).netloc
    links = []
    for url in dict.fromkeys(LINK.findall(message.text)):
        address = urlsplit(url)
        host = address.hostname or ""
        registered = any(host == domain or host.endswith(f".{domain}") for domain in state.app.unfurl_domains)
        if registered or address.netloc == service:
            links.append({"url": url.replace("&amp;", "&"), "domain": host})
    if not links:
        return
    about = {
        "user": message.user,
        "is_bot_user_member": state.app.bot_user_id in channel.members,
        "unfurl_id": f"{channel.id}-{message.ts}",
        "source": "conversations_history",
        "links": links,
    }
    deliver(exchange, "link_shared", about, message)
