"""Socket Mode: the bot connects to Slack and receives payloads over that connection."""

import asyncio
import logging
import time
from typing import Any

from pydantic import SecretStr
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.adapter.socket_mode.async_internals import send_async_response
from slack_bolt.adapter.socket_mode.internals import build_headers
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.incoming.http import PendingRequests
from bot.slack.incoming.payload import log_malformed, parse
from bot.slack.workspaces.web_client import no_redirects


class SocketMode:
    def __init__(
        self,
        app: AsyncApp,
        token: SecretStr,
        slack: AsyncWebClient,
        pending: PendingRequests,
        ping_seconds: float,
    ) -> None:
        # slack_sdk leaves some of its methods untyped.
        handler = _Handler(app, token.get_secret_value(), web_client=slack, ping_interval=ping_seconds)
        handler.pending = pending
        self._client: Any = handler.client
        self._client.logger.addFilter(_one_line)
        tracing = no_redirects()
        tracing.on_request_start.append(self._clear_url)
        tracing.freeze()
        self._client.aiohttp_client_session.trace_configs.append(tracing)
        self._connecting: asyncio.Task[None] | None = None

    async def connect(self, seconds: float) -> bool:
        """Connect; returns False if that takes longer than `seconds`, and keeps trying."""
        self._connecting = asyncio.create_task(self._client.connect())
        done, _ = await asyncio.wait({self._connecting}, timeout=seconds)
        return bool(done)

    async def is_connected(self) -> bool:
        return bool(await self._client.is_connected())

    async def _clear_url(self, *_: object) -> None:
        """Clear the single-use URL, which slack_sdk would retry forever if connecting fails."""
        self._client.wss_uri = None

    async def close(self) -> None:
        client = self._client
        await client.close()
        tasks = [self._connecting, client.message_processor, client.current_session_monitor]
        tasks.append(client.message_receiver)
        running = [task for task in tasks if task is not None]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def _one_line(record: logging.LogRecord) -> bool:
    """Log filter: no traceback for failed connections, which are logged every few seconds."""
    if record.getMessage().startswith("Failed to connect"):
        record.exc_info = None
    return True


class _Handler(AsyncSocketModeHandler):
    pending: PendingRequests

    async def handle(self, client: SocketModeClient, req: SocketModeRequest) -> None:  # type: ignore[override] # as the base class does to its own base
        try:
            interaction = parse(req.payload)
            asked = AsyncBoltRequest(mode="socket_mode", body=req.payload, headers=build_headers(req))
            asked.context["interaction"] = interaction
        except Exception as error:  # noqa: BLE001 - as in http.py
            log_malformed(error)
            return
        with self.pending.one():
            await send_async_response(client, req, await self.app.async_dispatch(asked), time.time())
