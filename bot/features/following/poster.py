"""Keeps the posts that follow issues up to date in Slack, and adds the lines below them."""

from collections.abc import Awaitable
from datetime import datetime

import structlog
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.features.accounts.views import link_offer
from bot.features.background.outcomes import Absent, Found, Hidden, Outcome, Posted, Unfinished
from bot.features.background.slack import MARGIN, MESSAGES, PAGES, BackgroundSlack, seconds_to_next_search
from bot.features.following import views
from bot.features.following.buttons import FollowIssue, StopFollowing
from bot.features.following.reading import Seen
from bot.slack import posting
from bot.slack.blocks import Message
from bot.slack.posting import SLACK_FAILED, why
from bot.slack.replies import Platform
from bot.slack.retractable import deletable
from bot.store.followed import Followed
from bot.store.owner import Owner

EVENT_TYPE = "issuebot_followed"

log = structlog.get_logger(__name__)


async def built(
    slack: AsyncWebClient,
    platform: Platform,
    poster: Owner,
    seen: Seen,
    follow: FollowIssue | StopFollowing,
) -> Message:
    """The post that `poster` caused, who can delete it."""
    profile = await platform.profiles.of(slack, poster.team_id, poster.user_id)
    message = views.post(seen, platform.wording, profile.name, follow)
    return deletable(message, poster, profile.first_name, platform.wording.service)


class SlackThreadPoster:
    """Implements `showing.ThreadPoster` with Slack."""

    def __init__(self, slack: BackgroundSlack, platform: Platform) -> None:
        self._slack = slack
        self._platform = platform
        self.channel_status = slack.channel_status
        self.slack_time = slack.slack_time

    async def update(self, followed: Followed, seen: Seen) -> Outcome:
        """Show the issue in its post, with `chat.update`."""
        owner = followed.owner
        poster = Owner(owner.enterprise_id, owner.team_id, followed.posted_by)
        follow = StopFollowing(issue=followed.issue_id, created=followed.created)

        async def write(slack: AsyncWebClient) -> AsyncSlackResponse:
            message = await built(slack, self._platform, poster, seen, follow)
            content = posting.for_update(message)
            return await slack.chat_update(channel=followed.channel_id, ts=followed.ts, **content)

        return await self._slack.sent(owner, write, action="follow.update")

    async def tell(self, followed: Followed, seen: Seen) -> Outcome:
        """Add the line with `chat.postMessage`."""
        block_id = _block_id(followed)
        message = views.closed_line(seen, self._platform.wording, block_id)

        def write(slack: AsyncWebClient) -> Awaitable[AsyncSlackResponse]:
            return slack.chat_postMessage(
                channel=followed.channel_id,
                thread_ts=followed.thread_ts,
                metadata={"event_type": EVENT_TYPE, "event_payload": {"line": block_id}},
                **message.as_arguments(),
            )

        return await self._slack.sent(followed.owner, write, action="follow.tell")

    async def find_line(self, followed: Followed, within: tuple[datetime, datetime]) -> Found:
        """Search the thread's replies from around the time when the line was sent."""
        first, last = within
        block_id, cursor = _block_id(followed), None
        try:
            slack = await self._slack.client(followed.owner)
            for _ in range(PAGES):
                page = await slack.conversations_replies(
                    channel=followed.channel_id,
                    ts=followed.thread_ts,
                    oldest=str((first - MARGIN).timestamp()),
                    latest=str((last + MARGIN).timestamp()),
                    limit=MESSAGES,
                    cursor=cursor,
                )
                for message in page.get("messages") or ():
                    if any(block.get("block_id") == block_id for block in message.get("blocks") or ()):
                        return Posted(str(message["ts"]))
                cursor = (page.get("response_metadata") or {}).get("next_cursor")
                if not page.get("has_more"):
                    return Absent()
        except SLACK_FAILED as error:
            log.warning("line not looked up", action="follow.look_up", error=why(error))
            seconds = seconds_to_next_search(error)
            return Hidden() if seconds is None else Unfinished(seconds)
        return Hidden()

    async def notify_owner(self, owner: Owner, posts: int) -> None:
        """Send one direct message."""
        offer = link_offer(views.key_rejected(self._platform.wording, posts))
        await posting.to_person(await self._slack.client(owner), owner.user_id, offer)


def _block_id(followed: Followed) -> str:
    """The block ID of a line: Slack returns it without an extra scope."""
    return f"{EVENT_TYPE}:{followed.id}:{followed.told}"
