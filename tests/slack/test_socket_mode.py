"""Socket Mode details that the end-to-end tests don't cover."""

import logging

import pytest
from pydantic import SecretStr
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.in_flight import PendingRequests
from bot.slack.socket_mode import SocketMode
from bot.slack.waits import Waits
from tests.support.ports import free_port


async def test_failed_connections_are_logged_without_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    slack = AsyncWebClient("xoxb-1", base_url=f"http://127.0.0.1:{free_port()}/api/", retry_handlers=[])
    app = AsyncApp(client=slack, signing_secret="-", logger=logging.getLogger("slack_bolt"))
    socket = SocketMode(app, SecretStr("xapp-1"), slack, PendingRequests(), Waits().ping)

    assert not await socket.connect(1)
    await socket.close()

    said = [record for record in caplog.records if record.getMessage().startswith("Failed to connect")]
    assert said
    assert not any(record.exc_info for record in said)
