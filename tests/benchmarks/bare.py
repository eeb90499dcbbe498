"""A minimal Bolt app to compare commands with: it verifies, acknowledges, queries the service and answers.

It makes the requests to the service that the bot makes for the same command, in one round.
"""

import asyncio
import os
import re
from typing import Any

import httpx
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

OWN = "/users/current.json"
REQUESTS = {
    "/tracker whoami": [OWN],
    "/issue 7": [
        "/issues.json?include=attachments%2Crelations&issue_id=7&status_id=%2A&offset=0&limit=1",
        "/issues.json?status_id=%2A&parent_id=7&sort=id&offset=0&limit=100",
        OWN,
        "/issues.json?issue_id=1&status_id=%2A&offset=0&limit=1",
        OWN,
    ],
    "/issues": ["/issues.json?status_id=open&sort=updated_on%3Adesc&offset=0&limit=10", OWN],
}
key = {"X-Service-API-Key": os.environ["SERVICE_KEY"]}
service = httpx.AsyncClient(base_url=os.environ["SERVICE"], headers=key)
app = AsyncApp(
    client=AsyncWebClient(token="xoxb-1-1-a", base_url=os.environ["SLACK"]),
    signing_secret=os.environ["SECRET"],
)


@app.command(re.compile("^/(tracker|issue|issues)$"))
async def command(ack: AsyncAck, body: dict[str, Any], respond: AsyncRespond) -> None:
    await ack()
    typed = f"{body['command']} {body['text']}".strip()
    answers = await asyncio.gather(*map(service.get, REQUESTS[typed]))
    lines = [line for answer in answers for line in described(answer.json())]
    section = [{"type": "section", "text": {"type": "mrkdwn", "text": line}} for line in lines]
    await respond(text=lines[0], blocks=section, response_type="ephemeral")


def described(answer: dict[str, Any]) -> list[str]:
    """Returns one line per item in a response."""
    if user := answer.get("user"):
        return [f"You are {user['firstname']} {user['lastname']}"]
    issues = answer.get("issues", ())
    return [f"*#{issue['id']}* {issue['subject']} ({issue['status']['name']})" for issue in issues]


if __name__ == "__main__":
    app.server(port=int(os.environ["PORT"]), host="127.0.0.1", path="/slack/events").start()
