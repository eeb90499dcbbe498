"""Socket Mode, Slack's side (https://docs.slack.dev/apis/events-api/using-socket-mode)."""

import asyncio
import secrets
import uuid
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from bot.sandbox.workspace.delivery import Answer, Kind, Retry, before_timeout
from bot.sandbox.workspace.model import MAX_BODY, JsonObject, as_object, parsed
from bot.sandbox.workspace.state import State

MAX_CONNECTIONS = 10
TICKET_SECONDS = 30.0


@dataclass
class SocketDelivery:
    """The app's open connections; each payload is sent over one of them."""

    state: State
    _tickets: dict[str, float] = field(default_factory=dict, init=False)
    _connections: list[web.WebSocketResponse] = field(default_factory=list, init=False)
    _waiting: dict[str, asyncio.Future[Answer]] = field(default_factory=dict, init=False)

    @property
    def connected(self) -> bool:
        return bool(self._connections)

    def ticket(self) -> str:
        ticket = secrets.token_urlsafe(24)
        now = self.state.clock.now()
        self._tickets = {key: until for key, until in self._tickets.items() if until > now}
        self._tickets[ticket] = now + TICKET_SECONDS
        return ticket

    async def accept(self, request: web.Request) -> web.StreamResponse:
        """Handle GET /link: greet the app and read its acknowledgements until it disconnects."""
        until = self._tickets.pop(request.query.get("ticket", ""), 0.0)
        if until < self.state.clock.now():
            raise web.HTTPForbidden(text="This Socket Mode address was already used or has expired.")
        connection = web.WebSocketResponse(heartbeat=30.0, max_msg_size=MAX_BODY)
        await connection.prepare(request)
        if len(self._connections) >= MAX_CONNECTIONS:
            self.state.violate(
                "Socket Mode", "too_many_websockets", "An app can have at most 10 connections."
            )
            await connection.send_json({"type": "disconnect", "reason": "too_many_websockets"})
            await connection.close()
            return connection
        self._connections.append(connection)
        self.state.changed()
        try:
            await connection.send_json(
                {
                    "type": "hello",
                    "num_connections": len(self._connections),
                    "connection_info": {"app_id": self.state.app.id},
                }
            )
            async for message in connection:
                if message.type is WSMsgType.TEXT:
                    self._acknowledged(message.data)
        finally:
            self._connections.remove(connection)
            self.state.changed()
        return connection

    def _acknowledged(self, text: str) -> None:
        answer = as_object(parsed(text))
        waiting = self._waiting.get(str(answer.get("envelope_id")))
        if waiting is not None and not waiting.done():
            waiting.set_result(Answer("acknowledged", answer.get("payload")))

    async def deliver(
        self, kind: Kind, payload: JsonObject, *, takes_answer: bool, retry: Retry | None = None
    ) -> Answer:
        if not self._connections:
            return Answer("offline")
        connection = self._connections.pop(0)
        self._connections.append(connection)
        envelope: JsonObject = {
            "envelope_id": str(uuid.uuid4()),
            "type": kind,
            "payload": payload,
            "accepts_response_payload": takes_answer,
        }
        if kind == "events_api":
            envelope["retry_attempt"] = retry.number if retry else 0
            envelope["retry_reason"] = retry.reason if retry else ""
        waiting: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[envelope["envelope_id"]] = waiting
        try:
            await connection.send_json(envelope)
            return await before_timeout(self.state, waiting)
        except ConnectionError:
            return Answer("offline")
        finally:
            del self._waiting[envelope["envelope_id"]]

    async def close(self) -> None:
        """Close every connection; reconnection attempts will fail."""
        for connection in tuple(self._connections):
            await connection.close()
