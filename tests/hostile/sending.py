"""Sends requests to the bot as anyone could: signed like Slack's, forged, or as raw bytes."""

import asyncio
import io
import time
from collections.abc import Mapping
from dataclasses import dataclass

from bot.sandbox.workspace.delivery import Kind
from bot.sandbox.workspace.http import encoded, signature
from tests.support.office import Office
from tests.support.reading import JSON

FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Answer:
    """The bot's HTTP response."""

    status: int
    text: str


def signed(
    office: Office, body: bytes, *, content_type: str = FORM, at: float | None = None
) -> dict[str, str]:
    """Returns the headers with which Slack sends this body to this office's bot."""
    timestamp = str(int(time.time() if at is None else at))
    return {
        "Content-Type": content_type,
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": signature(office.workspace.signing_secret, timestamp, body),
    }


async def post(office: Office, body: bytes, headers: Mapping[str, str], query: str = "") -> Answer:
    """Posts a body to the bot, which must be in HTTP mode."""
    url = f"http://127.0.0.1:{office.bot.port}/slack/events{query}"
    async with office.http.post(url, data=io.BytesIO(body), headers=headers) as answer:
        return Answer(answer.status, await answer.text())


async def send(office: Office, kind: Kind, payload: JSON) -> Answer:
    """Sends a signed payload, encoded as its kind requires."""
    content_type, body = encoded(kind, payload)
    return await post(office, body, signed(office, body, content_type=content_type))


async def raw(office: Office, *parts: bytes, pause: float = 0, seconds: float = 10) -> bytes:
    """Returns what the bot sends before it closes the connection; raises TimeoutError after `seconds`."""
    reader, writer = await asyncio.open_connection("127.0.0.1", office.bot.port)
    try:
        for part in parts:
            writer.write(part)
            await asyncio.sleep(pause)
        async with asyncio.timeout(seconds):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()
