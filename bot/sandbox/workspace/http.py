"""HTTP delivery, Slack's side: every payload is a signed POST to the app's request URL.

Signature: https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

import aiohttp

from bot.sandbox.workspace.delivery import Answer, Kind, Retry, before_timeout
from bot.sandbox.workspace.model import MAX_BODY, JsonObject, parsed
from bot.sandbox.workspace.state import State

SUCCESS = range(200, 300)


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return the `X-Slack-Signature` of a body sent at `timestamp`."""
    base = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()


def encoded(kind: Kind, payload: Mapping[str, object]) -> tuple[str, bytes]:
    """Return content type and body: JSON for events, a form for commands, JSON in a form for the rest."""
    if kind == "events_api":
        return "application/json", json.dumps(payload).encode()
    form = payload if kind == "slash_commands" else {"payload": json.dumps(payload)}
    return "application/x-www-form-urlencoded", urlencode(form).encode()


@dataclass
class HttpDelivery:
    """Posts to one URL; any status other than 2xx is an error.

    It is always `connected`: only a delivery can tell whether the app is listening.
    """

    request_url: str
    signing_secret: str = field(repr=False)
    state: State
    connected: bool = field(default=True, init=False)
    _session: aiohttp.ClientSession | None = field(default=None, init=False)

    async def deliver(
        self,
        kind: Kind,
        payload: JsonObject,
        *,
        takes_answer: bool,  # noqa: ARG002 - HTTP has a body always
        retry: Retry | None = None,
    ) -> Answer:
        if self._session is None:
            self._session = aiohttp.ClientSession(trust_env=False)
        content_type, body = encoded(kind, payload)
        timestamp = str(int(self.state.clock.now()))
        headers = {
            "Content-Type": content_type,
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": signature(self.signing_secret, timestamp, body),
        }
        if retry is not None:
            headers["X-Slack-Retry-Num"] = str(retry.number)
            headers["X-Slack-Retry-Reason"] = retry.reason
        posting = asyncio.create_task(self._post(self._session, body, headers))
        try:
            return await before_timeout(self.state, posting)
        except aiohttp.ClientError:
            return Answer("offline")
        finally:
            posting.cancel()

    async def _post(self, session: aiohttp.ClientSession, body: bytes, headers: dict[str, str]) -> Answer:
        async with session.post(
            self.request_url, data=body, headers=headers, allow_redirects=False
        ) as response:
            raw = b""
            async for chunk in response.content.iter_chunked(64 * 1024):
                raw += chunk
                if len(raw) > MAX_BODY:
                    return Answer("refused")
            if response.status not in SUCCESS:
                return Answer("refused")
            text = raw.decode(errors="replace").strip()
            if not text:
                return Answer("acknowledged")
            return Answer("acknowledged", parsed(text) if text[0] in "{[" else text)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None
