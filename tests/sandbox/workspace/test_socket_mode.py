"""From a person's act to the app over Socket Mode, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bot.sandbox.workspace.server import Workspace
    from tests.sandbox.workspace.conftest import App, Page

GENERAL = "C0GENERAL01"


def texts(state: dict[str, Any], channel: str = GENERAL) -> list[str]:
    return [message["text"] for message in state["messages"][channel]]


async def test_command_reaches_the_app_and_its_answer_is_private(app: App, page: Page, workspace: Workspace) -> None:
    answer = await page.post("command", channel=GENERAL, text="/issue new Can't pay <b> to:@ben in #webshop")
    assert answer == {"ok": True}
    payload = await app.next()
    assert payload["command"] == "/issue"
    assert payload["text"] == "new Can't pay &lt;b&gt; to:<@U0BEN0001|ben> in <#C0WEBSHOP01|webshop>"
    assert payload["user_id"] == "U0ANA0001"
    assert payload["channel_name"] == "general"
    async with page.session.post(payload["response_url"], json={"text": "Created #1"}) as response:
        assert response.status == 200
    state = await page.until(lambda state: "Created #1" in texts(state))
    assert [m["ephemeral"] for m in state["messages"][GENERAL] if m["text"] == "Created #1"] == [True]
    page.user = "U0BEN0001"
    assert "Created #1" not in texts(await page.state())
    assert workspace.violations == []
