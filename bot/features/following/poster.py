"""Keeps the posts that follow issues up to date in Slack, and adds the lines below them."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.features.accounts.views import link_offer
from bot.features.digests.poster import BROKEN, LOCKED_OUT, MARGIN, MESSAGES, PAGES, SlackPoster
from bot.features.following import views
from bot.features.following.buttons import FollowIssue, StopFollowing
from bot.features.following.posts import Looked, Sent
from bot.features.following.reading import Seen
from bot.slack import posting
from bot.slack.blocks import JSON, Message
from bot.slack.posting import SLACK_FAILED, reason
from bot.slack.replies import Platform
from bot.slack.retractable import deletable
from bot.slack.workspaces import Workspaces
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
    """Implements `posts.ThreadPoster` with Slack. `digests` knows the channels and Slack's clock."""

    def __init__(self, workspaces: Workspaces, platform: Platform, digests: SlackPoster) -> None:
        self._workspaces = workspaces
        self._platform = platform
        self.channel_status = digests.channel_status
        self.slack_time = digests.slack_time

    async def update(self, followed: Followed, seen: Seen) -> Sent:
        """Show the issue in its post, with `chat.update`."""
        owner = followed.owner
        poster = Owner(owner.enterprise_id, owner.team_id, followed.posted_by)
        follow = StopFollowing(issue=followed.issue_id, created=followed.created)

        async def write(slack: AsyncWebClient) -> object:
            message = await built(slack, self._platform, poster, seen, follow)
            content = posting.for_update(message)
            return await slack.chat_update(channel=followed.channel_id, ts=followed.ts, **content)

        return await self._sent(owner, write)

    async def tell(self, followed: Followed, seen: Seen) -> Sent:
        """Add the line with `chat.postMessage`."""
        message = views.closed_line(seen, self._platform.wording, _block_id(followed))

        async def write(slack: AsyncWebClient) -> object:
            return await slack.chat_postMessage(
                channel=followed.channel_id,
                thread_ts=followed.thread_ts,
                metadata={"event_type": EVENT_TYPE, "event_payload": {"line": _block_id(followed)}},
                **message.as_arguments(),
            )

        return await self._sent(followed.owner, write)

    async def find_line(self, followed: Followed, sent_at: datetime, longest: timedelta) -> Looked:
        """Search the thread's replies from around the time when the line was sent."""
        cursor: str | None = None
        try:
            slack = await self._slack(followed.owner)
            for _ in range(PAGES):
                page = await slack.conversations_replies(
                    channel=followed.channel_id,
                    ts=followed.thread_ts,
                    oldest=str((sent_at - MARGIN).timestamp()),
                    latest=str((sent_at + longest + MARGIN).timestamp()),
                    limit=MESSAGES,
                    cursor=cursor,
                )
                if any(_is_line(message, followed) for message in page.get("messages") or ()):
                    return Looked.FOUND
                cursor = (page.get("response_metadata") or {}).get("next_cursor")
                if not page.get("has_more"):
                    return Looked.ABSENT
        except SlackApiError as error:
            log.warning("line not looked up", action="follow.look_up", error=reason(error))
            passes = reason(error) in BROKEN | LOCKED_OUT - {"missing_scope"}
            return Looked.LATER if passes else Looked.HIDDEN
        except SLACK_FAILED as error:
            log.warning("line not looked up", action="follow.look_up", error=type(error).__name__)
            return Looked.LATER
        return Looked.HIDDEN

    async def notify_owner(self, owner: Owner, posts: int) -> None:
        """Send one direct message."""
        offer = link_offer(views.key_rejected(self._platform.wording, posts))
        await posting.to_person(await self._slack(owner), owner.user_id, offer)

    async def _slack(self, owner: Owner) -> AsyncWebClient:
        return await self._workspaces.client(owner.enterprise_id, owner.team_id)

    async def _sent(self, owner: Owner, write: Callable[[AsyncWebClient], Awaitable[object]]) -> Sent:
        try:
            await write(await self._slack(owner))
        except SlackApiError as error:
            why = reason(error)
            log.info("Slack refused a followed issue", action="follow.refused", error=why)
            if why in LOCKED_OUT:
                return Sent.LATER
            return Sent.UNSURE if why in BROKEN else Sent.GONE
        except aiohttp.ClientConnectorError:
            return Sent.LATER
        except SLACK_FAILED as error:
            log.warning("followed issue unconfirmed", action="follow.unsure", error=type(error).__name__)
            return Sent.UNSURE
        return Sent.DONE


def _block_id(followed: Followed) -> str:
    """The block ID of a line: Slack returns it without an extra scope."""
    return f"{EVENT_TYPE}:{followed.id}:{followed.told}"


def _is_line(message: JSON, followed: Followed) -> bool:
    return any(block.get("block_id") == _block_id(followed) for block in message.get("blocks") or ())
