from slack_sdk.web.async_client import AsyncWebClient

PAGE, PAGES = 1000, 100


async def includes(slack: AsyncWebClient, channel_id: str, user_id: str) -> bool:
    """Whether a user is a member of a conversation. Raises what Slack's client raises."""
    cursor = ""
    for _ in range(PAGES):
        page = await slack.conversations_members(channel=channel_id, limit=PAGE, cursor=cursor or None)
        if user_id in (page.get("members") or ()):
            return True
        cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
        if not cursor:
            break
    return False
