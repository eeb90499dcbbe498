"""The chat.* methods (https://docs.slack.dev/reference/methods)."""

from bot.sandbox.workspace import payloads
from bot.sandbox.workspace.api.call import Arguments, visible_channel
from bot.sandbox.workspace.api.entities import attach
from bot.sandbox.workspace.blocks import check_blocks
from bot.sandbox.workspace.model import Channel, JsonObject, Message, as_object
from bot.sandbox.workspace.posting import MAX_TEXT, check_tokens, content, post, replace, thread_of
from bot.sandbox.workspace.state import ApiError, State


def _target(state: State, name: str) -> Channel:
    """Return the conversation to post to: a channel the app is in, or a user's DM."""
    if name in state.users:
        return state.im(name)
    channel = state.channels.get(name)
    member = channel is not None and state.app.bot_user_id in channel.members
    broken = name not in state.lost
    if channel is None or (channel.kind != "channel" and not member):
        raise ApiError("channel_not_found", f"The app can't see the conversation {name}.", broken=broken)
    if not member:
        raise ApiError("not_in_channel", f"The app isn't in #{channel.name}.", broken=broken)
    if channel.is_archived:
        raise ApiError("is_archived", f"#{channel.name} is archived.", broken=False)
    return channel


def _own(state: State, given: Arguments, error: str) -> Message:
    name, ts = given.required("channel", "ts")
    message = state.find(visible_channel(state, name).id, ts)
    if message is None or message.is_tombstone or message.to is not None:
        gone = message is None or message.is_tombstone  # someone may have deleted it
        detail = "The message doesn't exist, or is ephemeral."
        raise ApiError("message_not_found", detail, broken=not gone)
    if not message.by_app:
        raise ApiError(error, "The app didn't post this message.")
    return message


def post_message(state: State, given: Arguments) -> JsonObject:
    channel = _target(state, given.required("channel")[0])
    new_content = content(state, given.all, "chat.postMessage")
    message = post(state, channel, new_content, thread=thread_of(state, channel, given.text("thread_ts")))
    return {"channel": channel.id, "ts": message.ts, "message": payloads.message(state, message)}


def post_ephemeral(state: State, given: Arguments) -> JsonObject:
    name, user = given.required("channel", "user")
    channel = _target(state, name)
    if user not in channel.members:
        raise ApiError("user_not_in_channel", "The user isn't in the channel.")
    new_content = content(state, given.all, "chat.postEphemeral")
    thread = thread_of(state, channel, given.text("thread_ts"))
    first = state.find(channel.id, thread) if thread else None
    if first and not state.replies(first):
        detail = "Slack shows ephemeral messages only in threads that have replies."
        state.violate("chat.postEphemeral", "inactive_thread", detail)
    return {"message_ts": post(state, channel, new_content, to=user, thread=thread).ts}


def update(state: State, given: Arguments) -> JsonObject:
    """chat.update: text is limited to 4,000 characters; omitted blocks and metadata are kept."""
    message = _own(state, given, "cant_update_message")
    if state.channels[message.channel].is_archived:
        raise ApiError("is_inactive", "The message is in an archived channel.", broken=False)
    new: JsonObject = {"blocks": message.blocks, "metadata": message.metadata, **given.all}
    new["metadata"] = new["metadata"] or None  # an empty object removes it
    new_content = content(state, new, "chat.update", max_length=MAX_TEXT)
    replace(state, message, new_content, mark=True)
    payload = payloads.message(state, message)
    return {"channel": message.channel, "ts": message.ts, "text": message.text, "message": payload}


def delete(state: State, given: Arguments) -> JsonObject:
    message = _own(state, given, "cant_delete_message")
    state.remove(message)
    return {"channel": message.channel, "ts": message.ts}


def unfurl(state: State, given: Arguments) -> JsonObject:
    message = state.find(*given.required("channel", "ts"))
    if message is None:
        raise ApiError("cannot_find_message", "The message doesn't exist.")
    metadata = given.all.get("metadata")
    answer = attach(state, message, metadata) if metadata is not None else {}
    for url, unfurl_body in as_object(given.all.get("unfurls")).items():
        if problems := check_blocks(as_object(unfurl_body).get("blocks", []), "message", "/unfurls/blocks"):
            raise ApiError("cannot_unfurl_url", messages=problems)
        check_tokens(state, "chat.unfurl", as_object(unfurl_body).get("blocks"))
        message.unfurls[url] = as_object(unfurl_body)
    state.changed(state.channels[message.channel].members)
    return answer


def permalink(state: State, given: Arguments) -> JsonObject:
    name, ts = given.required("channel", "message_ts")
    channel = visible_channel(state, name)
    message = state.find(channel.id, ts)
    if message is None or message.to is not None:
        raise ApiError("message_not_found", "The message doesn't exist.", broken=False)
    url = f"{state.base_url}archives/{channel.id}/p{ts.replace('.', '')}"
    if message.thread_ts:
        url += f"?thread_ts={message.thread_ts}&cid={channel.id}"
    return {"channel": channel.id, "permalink": url}
