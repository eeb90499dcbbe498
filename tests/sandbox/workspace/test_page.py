"""The page's endpoints: messages, uploads, and access from loopback only."""

import pytest

from bot.sandbox.people import PEOPLE
from bot.sandbox.workspace.server import Workspace
from tests.sandbox.workspace.harness import SERVICE_URL, App, Page

GENERAL, SHOP, LEADERS = "C0GENERAL01", "C0WEBSHOP01", "C0LEADERS01"


async def test_snapshot_contains_only_what_the_user_may_see(page: Page, workspace: Workspace) -> None:
    state = await page.state()
    choices = [p["real_name"] for p in state["people"] if p["is_app_user_choice"]]
    assert choices == ["Ana Ruiz", "Ben Okafor", "Chris Lindqvist", "Gwen Adair"]
    assert {c["name"] for c in state["channels"]} >= {"general", "webshop", "mobile", "partners", "Issue Bot"}
    assert state["app"]["commands"][0]["command"] == "/issue"
    assert [key["login"] for key in state["panel"]["keys"]] == [person.login for person in PEOPLE]
    assert state["panel"]["service_url"] == SERVICE_URL
    page.user = "U0BEN0001"
    assert LEADERS not in {channel["id"] for channel in (await page.state())["channels"]}
    rejected = await page.post("message", channel=LEADERS, text="Let me in")
    assert rejected["error"] == "You're not a member of this channel."
    assert workspace.violations == []


async def test_messages_encode_mentions_channels_and_links(page: Page) -> None:
    text = "Hi @Ben Okafor, ben@harbor.example & @nobody: #mobile <x> https://shop.example. "
    text += "[the <shop>](https://shop.example/a?b=1&c=2), [x](y)"
    await page.post("message", channel=GENERAL, text=text)
    message = (await page.state())["messages"][GENERAL][-1]
    assert message["text"] == (
        "Hi <@U0BEN0001>, ben@harbor.example &amp; @nobody: <#C0MOBILE001|mobile> &lt;x&gt; "
        "<https://shop.example>. <https://shop.example/a?b=1&amp;c=2|the &lt;shop&gt;>, [x](y)"
    )
    await page.post("message", channel=GENERAL, text="Below", thread_ts=message["ts"])
    *_, parent, reply = (await page.state())["messages"][GENERAL]
    assert (parent["reply_count"], reply["thread_ts"]) == (1, parent["ts"])
    assert (await page.post("message", channel=GENERAL, text="  "))["ok"] is False
    assert (await page.post("delete", channel=GENERAL, ts=reply["ts"])) == {"ok": True}
    page.user = "U0BEN0001"
    assert (await page.post("delete", channel=GENERAL, ts=parent["ts"]))["ok"] is False


async def test_only_people_of_the_workspace_can_be_invited(page: Page, workspace: Workspace) -> None:
    leaders = workspace.state.channels[LEADERS]
    async with page.events() as events:
        await page.post("command", channel=LEADERS, text="/invite @Lena Fuchs")
        notice = await events.receive_json()
    await page.post("command", channel=LEADERS, text="/invite @Ben Okafor @Issue Bot")

    assert notice["text"] == "Lena Fuchs is from another company and can't join #leadership."
    assert leaders.members >= {"U0BEN0001", workspace.state.app.bot_user_id}
    assert "U0LENA0001" not in leaders.members


async def test_app_hears_who_joins_its_channels(app: App, page: Page, workspace: Workspace) -> None:
    for invited in ("@Ben Okafor", "@Issue Bot", "@Gwen Adair"):  # Ben comes before the app
        await page.post("command", channel=LEADERS, text=f"/invite {invited}")

    heard = [(await app.next())["event"] for _ in range(2)]
    assert {event["user"] for event in heard} == {workspace.state.app.bot_user_id, "U0GWEN001"}
    expected = {
        "type": "member_joined_channel",
        "channel": LEADERS,
        "channel_type": "G",
        "inviter": page.user,
    }
    assert all(event.items() >= expected.items() for event in heard)


async def test_replies_count_without_the_parent_deleted_and_private_ones(app: App, page: Page) -> None:
    parent = (await page.post("message", channel=GENERAL, text="Parent"))["ts"]

    async def count() -> int:
        messages = {message["ts"]: message for message in (await page.state())["messages"][GENERAL]}
        return int(messages[parent]["reply_count"])

    counts = [await count()]
    reply = (await page.post("message", channel=GENERAL, text="One", thread_ts=parent))["ts"]
    counts.append(await count())
    own = (await app.web.chat_postMessage(channel=GENERAL, text="Two", thread_ts=reply))["ts"]
    await app.web.chat_postEphemeral(channel=GENERAL, user=page.user, text="Private", thread_ts=parent)
    counts.append(await count())
    await app.web.chat_delete(channel=GENERAL, ts=own)
    counts.append(await count())

    assert counts == [0, 1, 2, 1]


async def test_upload_size_is_limited(page: Page, workspace: Workspace) -> None:
    workspace.state.max_file_size = 100_000
    rejected = await page.upload("huge.bin", bytes(1_000_000), "application/octet-stream")
    assert rejected == {"ok": False, "error": "A file can be at most 1 GB."}


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "page/state", {"Host": "sandbox.example"}),
        ("GET", "page/state", {"Origin": "https://evil.example"}),
        ("POST", "page/message", {}),
        ("POST", "page/message", {"X-Sandbox": "1", "Origin": "http://127.0.0.1:1"}),
    ],
)
async def test_other_sites_are_rejected(page: Page, method: str, path: str, headers: dict[str, str]) -> None:
    async with page.session.request(method, page.url + path, headers=headers) as response:
        assert response.status == 403


async def test_only_the_page_and_its_files_are_served(page: Page) -> None:
    async with page.session.get(page.url) as response:
        assert (response.status, response.headers["Cache-Control"]) == (200, "no-store")
    async with page.session.get(f"{page.url}static/..%2Fserver.py") as response:
        assert response.status == 404
    async with page.session.get(f"{page.url}page/state", params={"user": "U0NOBODY01"}) as response:
        assert (await response.json())["error"] == "This person isn't in the workspace."
