"""The web page's endpoints: state, user actions, files, and a WebSocket for changes."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from aiohttp import WSMsgType, web

from bot.sandbox.loopback import Handler
from bot.sandbox.workspace import details, events, interactions, uploads
from bot.sandbox.workspace.delivery import Exchange, Gone, PageError
from bot.sandbox.workspace.model import Channel, JsonObject, Message, User, View, as_list, as_object, parsed
from bot.sandbox.workspace.posting import as_message
from bot.sandbox.workspace.snapshot import ServicePanel, snapshot
from bot.sandbox.workspace.state import State, Watcher

PAGE = Path(__file__).parent / "page"
COALESCE_SECONDS = 0.03
MAX_LENGTH = 12_000
Act = Callable[[User, JsonObject], Awaitable[JsonObject | None]]
IGNORED_WHEN_GONE = {"action", "suggest", "close"}
"""As in Slack, nothing happens where a form or message closed or changed before these arrived."""
Linked = Callable[[], Awaitable[AbstractSet[str]]]
"""Returns the IDs of the users who have linked an account."""


@web.middleware
async def page_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Respond to impossible requests with 400 and the sentence that the page shows."""
    try:
        return await handler(request)
    except PageError as mistake:
        return web.json_response({"ok": False, "error": str(mistake)}, status=400)


@dataclass
class PageApi:
    """The endpoints under /page/, and the page's static files."""

    exchange: Exchange
    service_panel: ServicePanel
    linked: Linked | None = None
    _sockets: set[web.WebSocketResponse] = field(default_factory=set, init=False)

    @property
    def _state(self) -> State:
        return self.exchange.state

    def routes(self) -> list[web.RouteDef]:
        acts: dict[str, Act] = {
            "message": self._message,
            "command": self._command,
            "shortcut": self._shortcut,
            "action": self._action,
            "suggest": self._suggest,
            "submit": self._submit,
            "close": self._close,
            "home": self._home,
            "edit": self._edit,
            "delete": self._delete,
            "direct": self._direct,
            "details": self._details,
            "react": self._react,
            "step": self._step,
        }
        return [
            web.get("/", self._index),
            web.get("/static/{name}", self._static),
            web.get("/page/state", self._snapshot),
            web.get("/page/events", self._news),
            web.get("/page/files/{file}", partial(uploads.show, self._state)),
            web.post("/page/upload", partial(uploads.receive, self._state)),
            *(web.post(f"/page/{name}", partial(self._answer, name, act)) for name, act in acts.items()),
        ]

    async def _answer(self, name: str, act: Act, request: web.Request) -> web.StreamResponse:
        body = as_object(parsed(await request.read()))
        try:
            answer = await act(self._user(body.get("user")), body)
        except Gone:
            if name not in IGNORED_WHEN_GONE:
                raise
            answer = {"gone": True}
        return web.json_response({"ok": True, **(answer or {})})

    def _user(self, user_id: object) -> User:
        user = self._state.users.get(str(user_id))
        if user is None or not user.is_choice:
            raise PageError("This person isn't in the workspace.")
        return user

    def _channel(self, user: User, channel_id: object) -> Channel:
        channel = self._state.channels.get(str(channel_id))
        if channel is None or user.id not in channel.members:
            raise PageError("You're not a member of this channel.")
        return channel

    def _open_channel(self, user: User, channel_id: object) -> Channel:
        channel = self._channel(user, channel_id)
        if channel.is_archived:
            raise PageError("This channel is archived, so you can't post in it.")
        return channel

    def _message_at(self, user: User, channel_id: object, ts: object, *, deleted: bool = False) -> Message:
        """Return a message that the user sees; with `deleted`, also the tombstone that heads a thread."""
        message = self._state.find(self._channel(user, channel_id).id, str(ts))
        gone = message is None or (message.is_tombstone and not deleted)
        if message is None or gone or message.to not in (None, user.id):
            raise Gone("This message was deleted.")
        return message

    def _view(self, user: User, view_id: object) -> View:
        home = self._state.homes.get(user.id)
        view = home if home and home.id == view_id else self._state.views.get(str(view_id))
        if view is None or view.user != user.id:
            raise Gone("This form is no longer open.")
        return view

    def _source(self, user: User, body: JsonObject) -> Message | View:
        source = as_object(body.get("source"))
        if "view" in source:
            return self._view(user, as_object(source["view"]).get("id"))
        where = as_object(source.get("message"))
        return self._message_at(user, where.get("channel"), where.get("ts"))

    async def _index(self, _: web.Request) -> web.StreamResponse:
        return web.FileResponse(PAGE / "index.html", headers={"Cache-Control": "no-store"})

    async def _static(self, request: web.Request) -> web.StreamResponse:
        path = PAGE / request.match_info["name"]
        if path.parent != PAGE or not path.is_file():
            raise web.HTTPNotFound
        return web.FileResponse(path, headers={"Cache-Control": "no-store"})

    async def _snapshot(self, request: web.Request) -> web.StreamResponse:
        user_id = request.query.get("user") or next(
            user.id for user in self._state.users.values() if user.is_choice
        )
        user = self._user(user_id)
        connected, linked = (
            self.exchange.delivery.connected,
            await self.linked() if self.linked else frozenset(),
        )
        body = snapshot(self._state, user, self.service_panel, connected=connected, linked=linked)
        return web.json_response(body, headers={"Cache-Control": "no-store"})

    async def _news(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(heartbeat=30.0, max_msg_size=4096)
        watcher = Watcher(request.query.get("user", ""))
        self._state.watchers.add(watcher)
        try:
            await socket.prepare(request)
            self._sockets.add(socket)
            await self._listen(socket, watcher)
        except ConnectionResetError:
            pass  # the page was closed before the connection was ready
        finally:
            self._state.watchers.discard(watcher)
            self._sockets.discard(socket)
        return socket

    async def _listen(self, socket: web.WebSocketResponse, watcher: Watcher) -> None:
        telling = asyncio.create_task(self._tell(socket, watcher))
        try:
            async for message in socket:
                if message.type is not WSMsgType.TEXT:
                    break
        finally:
            telling.cancel()

    async def _tell(self, socket: web.WebSocketResponse, watcher: Watcher) -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                await watcher.wake.wait()
                await asyncio.sleep(COALESCE_SECONDS)
                changed, toasts = watcher.take()
                if changed:
                    await socket.send_json({"type": "changed", "version": self._state.version})
                for toast in toasts:
                    await socket.send_json(toast)

    async def close(self) -> None:
        for socket in tuple(self._sockets):
            await socket.close()

    async def _message(self, user: User, body: JsonObject) -> JsonObject:
        channel = self._open_channel(user, body.get("channel"))
        text = self._typed(body)
        files = [key for key in map(str, as_list(body.get("file_ids"))) if key in self._state.files]
        if not text and not files:
            raise PageError("Type a message first.")
        parent = body.get("thread_ts")
        thread = self._message_at(user, channel.id, parent, deleted=True) if parent else None
        message = Message(
            ts=self._state.new_ts(),
            channel=channel.id,
            user=user.id,
            text=as_message(self._state, text),
            thread_ts=(thread.thread_ts or thread.ts) if thread else None,
            files=files,
        )
        self._state.post(message)
        events.posted(self.exchange, message)
        return {"ts": message.ts}

    @staticmethod
    def _typed(body: JsonObject) -> str:
        text = str(body.get("text") or "").strip()
        if len(text) > MAX_LENGTH:
            raise PageError("This message is too long to send.")
        return text

    async def _edit(self, user: User, body: JsonObject) -> None:
        message = self._message_at(user, self._open_channel(user, body.get("channel")).id, body.get("ts"))
        text = self._typed(body)
        if message.user != user.id:
            raise PageError("You can only edit your own messages.")
        if not text and not message.files:
            raise PageError("Type a message first.")
        message.text, message.edited = as_message(self._state, text), self._state.new_ts()
        self._state.changed(self._state.channels[message.channel].members)
        events.edited(self.exchange, message)

    async def _direct(self, user: User, body: JsonObject) -> JsonObject:
        other = self._state.users.get(str(body.get("with")))
        if other is None or other.team_id != self._state.team.id or other.id == user.id:
            raise PageError("This person isn't in the workspace.")
        channel = self._state.im(user.id, other.id)
        self._state.changed(channel.members)
        return {"channel": channel.id}

    async def _command(self, user: User, body: JsonObject) -> None:
        channel = self._open_channel(user, body.get("channel"))
        interactions.command(self.exchange, user, channel, str(body.get("text") or ""))

    async def _shortcut(self, user: User, body: JsonObject) -> None:
        channel = self._channel(user, body["channel"]) if body.get("channel") else None
        message = self._message_at(user, body.get("channel"), body["ts"]) if body.get("ts") else None
        interactions.shortcut(self.exchange, user, str(body.get("callback_id")), channel, message)

    async def _action(self, user: User, body: JsonObject) -> None:
        source, block_id = self._source(user, body), str(body.get("block_id"))
        action = as_object(body.get("action"))
        interactions.act(self.exchange, user, source, block_id, action, values=body.get("values"))

    async def _suggest(self, user: User, body: JsonObject) -> JsonObject:
        source, block_id = self._source(user, body), str(body.get("block_id"))
        action_id, typed = str(body.get("action_id")), str(body.get("value") or "")
        return await interactions.suggest(self.exchange, user, source, block_id, action_id, typed=typed)

    async def _submit(self, user: User, body: JsonObject) -> JsonObject:
        view = self._view(user, body.get("view_id"))
        faults = interactions.submit(self.exchange, user, view, body.get("values"))
        return {"ok": False, "errors": faults} if faults else {}

    async def _close(self, user: User, body: JsonObject) -> None:
        view = self._view(user, body.get("view_id"))
        interactions.close(self.exchange, user, view, everything=body.get("all") is True)

    async def _home(self, user: User, _: JsonObject) -> None:
        events.home_opened(self.exchange, user)

    async def _details(self, user: User, body: JsonObject) -> None:
        if body.get("close"):
            self._state.details.pop(user.id, None)
            self._state.changed((user.id,))
            return
        if "url" in body:
            message, url = self._message_at(user, body.get("channel"), body.get("ts")), str(body["url"])
            if url not in message.entities:
                raise PageError("This link has no details.")
            details.opened(self.exchange, user, message, url)
        elif opened := self._state.details.get(user.id):
            details.act(self.exchange, user, opened, body)

    async def _react(self, user: User, body: JsonObject) -> None:
        message = self._message_at(user, body.get("channel"), body.get("ts"))
        message.reactions.append(str(body.get("name")))
        self._state.changed(self._state.channels[message.channel].members)
        events.reacted(self.exchange, user, message)

    async def _step(self, user: User, body: JsonObject) -> JsonObject:
        name, inputs = str(body.get("callback_id")), as_object(body.get("inputs"))
        if name not in self._state.app.functions:
            raise PageError("The app doesn't have this step.")
        return {"execution": events.step_executed(self.exchange, user, name, inputs)}

    async def _delete(self, user: User, body: JsonObject) -> None:
        message = self._message_at(user, body.get("channel"), body.get("ts"))
        if user.id not in (message.to, message.user):
            raise PageError("You can only delete your own messages.")
        self._state.remove(message)
