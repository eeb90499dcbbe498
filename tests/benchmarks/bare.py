"""A minimal Bolt app to compare commands with: it verifies, acknowledges, queries the service and answers.

It makes the requests to the service that the bot makes for the same command, as many at a time. `REQUESTS`
is a JSON object of them by command text, in a list for each round. It uses httpx, as the bot does, or aiohttp
if `BY` says so.
"""

import asyncio
import json
import os
import re
from typing import Any

import aiohttp
import httpx
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

requests: dict[str, list[list[str]]] = json.loads(os.environ["REQUESTS"])
key = {"X-Service-API-Key": os.environ["SERVICE_KEY"]}
by_httpx = httpx.AsyncClient(base_url=os.environ["SERVICE"], headers=key)
by_aiohttp: list[aiohttp.ClientSession] = []
app = AsyncApp(
    client=AsyncWebClient(token="xoxb-1-1-a", base_url=os.environ["SLACK"]),
    signing_secret=os.environ["SECRET"],
)


@app.command(re.compile("^/(tracker|issue|issues)$"))
async def command(ack: AsyncAck, body: dict[str, Any], respond: AsyncRespond) -> None:
    await ack()
    typed = f"{body['command']} {body['text']}".strip()
    answers = [answer for paths in requests[typed] for answer in await asyncio.gather(*map(answered, paths))]
    lines = [said for answer in answers for said in described(answer)]
    section = [{"type": "section", "text": {"type": "mrkdwn", "text": said}} for said in lines]
    await respond(text=lines[0], blocks=section, response_type="ephemeral")


async def answered(path: str) -> Any:
    """Returns the service's response."""
    if os.environ["BY"] == "httpx":
        return (await by_httpx.get(path)).json()
    if not by_aiohttp:  # aiohttp needs the running event loop
        by_aiohttp.append(aiohttp.ClientSession(headers=key))
    async with by_aiohttp[0].get(os.environ["SERVICE"] + path) as answer:
        return await answer.json()


def described(answer: dict[str, Any]) -> list[str]:
    """Returns one line per item in a response."""
    if user := answer.get("user"):
        return [f"You are {user['firstname']} {user['lastname']}"]
    issues = answer.get("issues", ())
    return [f"*#{issue['id']}* {issue['subject']} ({issue['status']['name']})" for issue in issues]


if __name__ == "__main__":
    app.server(port=int(os.environ["PORT"]), host="127.0.0.1", path="/slack/events").start()
