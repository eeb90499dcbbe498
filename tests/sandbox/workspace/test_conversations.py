"""Lists of conversations, and their history; more about them, and metadata: tests/features/digests."""

from bot.sandbox.workspace.server import Workspace
from tests.sandbox.workspace.harness import App, Json

GENERAL, SHOP, MOBILE, LEADERS = "C0GENERAL01", "C0WEBSHOP01", "C0MOBILE001", "C0LEADERS01"
BOT = "U0ISSUEBOT"
BOTH = "public_channel,private_channel"
NAMES = ["general", "webshop", "mobile", "triage", "partners"]


async def listed(app: App, **arguments: object) -> tuple[list[str], str]:
    """Return the names on a page of conversations, and the next page's cursor."""
    answer = await app.web.api_call("users.conversations", params={"types": BOTH, **arguments})
    channels: list[Json] = answer["channels"]
    assert not any("is_member" in channel for channel in channels)  # Slack omits it here
    return [channel["name"] for channel in channels], answer["response_metadata"]["next_cursor"]


async def test_conversations_have_pages_without_archived(app: App, workspace: Workspace) -> None:
    assert await listed(app) == (NAMES, "")
    first, cursor = await listed(app, limit=3)
    second, end = await listed(app, limit=3, cursor=cursor)
    assert (first, second, end) == (NAMES[:3], NAMES[3:], "")

    workspace.state.archive(MOBILE)
    assert (await listed(app))[0] == NAMES
    assert "mobile" not in (await listed(app, exclude_archived="true"))[0]
    workspace.state.delete(SHOP)
    workspace.state.invite(LEADERS, BOT)
    workspace.state.kick(GENERAL, BOT)
    assert (await listed(app))[0] == ["mobile", "triage", "leadership", "partners"]
    assert "leadership" not in (await listed(app, user="U0BEN0001"))[0]


async def test_history_paginates_from_either_end(app: App, workspace: Workspace) -> None:
    workspace.messages[GENERAL].clear()
    ts = [(await app.web.chat_postMessage(channel=GENERAL, text=str(n)))["ts"] for n in range(5)]
    await app.web.chat_postEphemeral(channel=GENERAL, user="U0ANA0001", text="not in the history")

    async def read(**arguments: object) -> tuple[str, str]:
        answer = await app.web.api_call(
            "conversations.history", params={"channel": GENERAL, "limit": 2, **arguments}
        )
        cursor = answer["response_metadata"]["next_cursor"]
        assert answer["has_more"] is bool(cursor)
        return "".join(message["text"] for message in answer["messages"]), cursor

    newest, cursor = await read()
    middle, cursor = await read(cursor=cursor)
    assert (newest, middle, await read(cursor=cursor)) == ("43", "21", ("0", ""))

    oldest, cursor = await read(oldest=ts[0])
    assert (oldest, await read(oldest=ts[0], cursor=cursor)) == ("21", ("43", ""))
    assert (await read(oldest=ts[0], inclusive="true"))[0] == "10"
    assert await read(oldest=ts[1], latest=ts[4]) == ("32", "")


async def test_deleted_parent_of_a_thread_stays_as_a_tombstone(app: App, workspace: Workspace) -> None:
    parent = (await app.web.chat_postMessage(channel=GENERAL, text="0"))["ts"]
    await app.web.chat_postMessage(channel=GENERAL, text="1", thread_ts=parent)
    await app.web.chat_delete(channel=GENERAL, ts=parent)

    first, second = (await app.web.conversations_replies(channel=GENERAL, ts=parent))["messages"]

    assert (first["text"], second["text"]) == ("This message was deleted.", "1")
    assert (first["subtype"], first["reply_count"]) == ("tombstone", 1)
    assert workspace.violations == []
