"""The page's endpoints: messages, uploads, and access from loopback only."""

import pytest

from bot.sandbox.people import PEOPLE
from bot.sandbox.workspace.server import Workspace
from tests.sandbox.workspace.harness import SERVICE_URL, App, Page

GENERAL, SHOP, LEADERS = "C0GENERAL01", "C0WEBSHOP01", "C0LEADERS01"


async def test_snapshot_contains_only_what_the_user_may_see(page: Page, workspace: Workspace) -> None:
    state = await page.state()
    assert [p["real_name"] for p in state["people"] if p["is_app_user_choice"]] == [
        "Ana Ruiz",
        "Ben Okafor",
        "Chris Lindqvist",
        "Gwen Adair",
    ]
    notes = ["not linked", "not linked", "administrator", "no account yet"]
    assert [p["note"] for p in state["people"][:4]] == notes
    assert {c["name"] for c in state["channels"]} >= {"general", "webshop", "mobile", "partners", "Issue Bot"}
    assert state["app"]["commands"][0]["command"] == "/issue"
    assert [key["login"] for key in state["panel"]["keys"]] == [person.login for person in PEOPLE]
    assert state["panel"]["service_url"] == SERVICE_URL
    assert any(message["files"] for message in state["messages"][SHOP])
    assert {m["username"] for m in state["messages"]["C0PARTNERS1"]} == {"Lena Fuchs", "Ana Ruiz"}
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


async def test_only_own_messages_can_be_edited(page: Page) -> None:
    ts = (await page.post("message", channel=GENERAL, text="helo"))["ts"]
    assert await page.post("edit", channel=GENERAL, ts=ts, text="hello @Ben Okafor") == {"ok": True}

    first, *_, message = (await page.state())["messages"][GENERAL]
    assert (message["text"], message["edited"], message["ts"]) == ("hello <@U0BEN0001>", True, ts)
    assert (await page.post("edit", channel=GENERAL, ts=ts, text=" "))["error"] == "Type a message first."
    rejected = await page.post("edit", channel=GENERAL, ts=first["ts"], text="x")
    assert rejected["error"] == "You can only edit your own messages."


async def test_direct_messages_between_people_are_hidden_from_others_and_the_app(
    app: App, page: Page
) -> None:
    channel = (await page.post("direct", **{"with": "U0BEN0001"}))["channel"]
    assert (await page.post("direct", **{"with": "U0BEN0001"}))["channel"] == channel
    await page.post("message", channel=channel, text="Between us")
    shown = next(one for one in (await page.state())["channels"] if one["id"] == channel)
    assert (shown["with"], shown["name"]) == ("U0BEN0001", "Ben Okafor")
    page.user = "U0CHRIS01"
    assert channel not in (await page.state())["messages"]
    assert await app.error(app.web.conversations_info(channel=channel)) == "channel_not_found"
    for other in ("U0CHRIS01", "U0LENA0001", "U0NOBODY01"):
        assert (await page.post("direct", **{"with": other}))[
            "error"
        ] == "This person isn't in the workspace."


async def test_invite_adds_people_and_the_app(page: Page, workspace: Workspace) -> None:
    invited = "/invite @Ben Okafor @Issue Bot"
    leaders = workspace.state.channels[LEADERS]

    assert await page.post("command", channel=LEADERS, text=invited) == {"ok": True}

    assert leaders.members >= {"U0BEN0001", workspace.state.app.bot_user_id}
    page.user = "U0BEN0001"
    assert LEADERS in {channel["id"] for channel in (await page.state())["channels"]}


async def test_invalid_invitations_are_rejected(page: Page, workspace: Workspace) -> None:
    im = workspace.state.im(page.user).id
    nobody = await page.post("command", channel=LEADERS, text="/invite")
    assert nobody["error"] == "Type who to add, such as /invite @someone."
    direct = await page.post("command", channel=im, text="/invite @Ben Okafor")
    assert direct["error"] == "You can't add people to a direct message."
    async with page.events() as events:
        await page.post("command", channel=LEADERS, text="/invite @Lena Fuchs")
        told = await events.receive_json()

    assert told["text"] == "Lena Fuchs is from another company and can't join #leadership."
    assert "U0LENA0001" not in workspace.state.channels[LEADERS].members


async def test_only_affected_pages_are_notified(app: App, page: Page) -> None:
    async with page.events() as events:
        await app.web.chat_postMessage(channel=GENERAL, text="News")
        told = await events.receive_json()
    assert told == {"type": "changed", "version": (await page.state())["version"]}


async def test_uploaded_file_is_shared_and_downloadable_by_the_bot(
    app: App, page: Page, workspace: Workspace
) -> None:
    content = b"x" * 2_000_000
    uploaded = (await page.upload("a “b”.log", content, "text/plain"))["files"][0]
    assert (uploaded["name"], uploaded["size"]) == ("a “b”.log", 2_000_000)
    assert await app.error(app.web.files_info(file=uploaded["id"])) == "file_not_found"
    await page.post("message", channel=GENERAL, file_ids=[uploaded["id"]])
    async with page.session.get(page.url + uploaded["url"].removeprefix("/")) as response:
        assert response.headers["Content-Disposition"].startswith("attachment")
        assert await response.read() == content
    found = (await app.web.files_info(file=uploaded["id"]))["file"]
    address = found["url_private_download"]
    headers = {"Authorization": f"Bearer {workspace.bot_token}"}
    async with page.session.get(address, headers=headers) as response:
        assert await response.read() == content
    async with page.session.get(address) as response:
        assert (response.status, response.content_type) == (200, "text/html")
    assert [broken.rule for broken in workspace.violations] == ["file_not_allowed"]


async def test_files_in_shared_channels_need_files_info(app: App, page: Page) -> None:
    uploaded = (await page.upload("plan.txt", b"plan", "text/plain"))["files"][0]
    shared = "C0PARTNERS1"
    ts = (await page.post("message", channel=shared, text="Here", file_ids=[uploaded["id"]]))["ts"]
    await page.post("shortcut", callback_id="issue_from_message", channel=shared, ts=ts)
    file = (await app.next())["message"]["files"][0]
    assert (file["file_access"], file["id"]) == ("check_file_info", uploaded["id"])
    assert "url_private" not in file


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
async def test_cross_site_requests_are_rejected(
    page: Page, method: str, path: str, headers: dict[str, str]
) -> None:
    async with page.session.request(method, page.url + path, headers=headers) as response:
        assert response.status == 403


async def test_only_the_page_and_its_files_are_served(page: Page) -> None:
    async with page.session.get(page.url) as response:
        assert (response.status, response.headers["Cache-Control"]) == (200, "no-store")
    async with page.session.get(f"{page.url}static/..%2Fserver.py") as response:
        assert response.status == 404
    async with page.session.get(f"{page.url}page/state", params={"user": "U0NOBODY01"}) as response:
        assert (await response.json())["error"] == "This person isn't in the workspace."


async def test_permalink_opens_the_page(app: App, page: Page, workspace: Workspace) -> None:
    ts = workspace.messages[SHOP][0].ts
    link = (await app.web.chat_getPermalink(channel=SHOP, message_ts=ts))["permalink"]
    async with page.session.get(link, allow_redirects=False) as response:
        assert response.headers["Location"] == f"/#U0ANA0001/{SHOP}"
