"""What Slack knows of a person: their name and time zone, remembered for ten minutes."""

from dataclasses import dataclass
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.usecases.recent import Recent

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Profile:
    """A Slack user as far as the bot needs to know them."""

    user_id: str
    name: str
    zone: ZoneInfo


class Profiles:
    """Reads `users.info`; where Slack doesn't answer, the id stands for the name and UTC for the zone."""

    def __init__(self) -> None:
        self._recent: Recent[str, Profile] = Recent(seconds=600)

    async def of(self, slack: AsyncWebClient, user_id: str) -> Profile:
        """The person's profile; never raises for what Slack can't tell."""

        async def read() -> Profile:
            answer = await slack.users_info(user=user_id, include_locale=True)
            user = answer.get("user") or {}
            profile = user.get("profile") or {}
            name = (
                profile.get("real_name")
                or user.get("real_name")
                or profile.get("display_name")
                or user.get("name")
            )
            return Profile(user_id, name or user_id, _zone(user.get("tz")))

        try:
            return await self._recent.get(user_id, read)
        except (SlackApiError, OSError, TimeoutError) as error:
            log.warning("profile_unknown", action="users.info", error=type(error).__name__)
            return Profile(user_id, user_id, ZoneInfo("UTC"))


def _zone(name: object) -> ZoneInfo:
    try:
        return ZoneInfo(str(name or "UTC"))
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")
