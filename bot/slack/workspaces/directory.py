"""Looks up Slack users: name, time zone and locale, cached for ten minutes."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import UserError
from bot.slack.language.values import NoZone
from bot.slack.workspaces.slack_errors import SLACK_FAILED
from bot.store.links import Links
from bot.store.owner import Owner
from bot.ttl_cache import TtlCache

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Profile:
    user_id: str
    name: str
    zone: ZoneInfo | NoZone
    first_name: str = ""
    last_name: str = ""
    handle: str = ""
    locale: str = ""  # language and region, such as `es-ES`; empty if unknown
    mail: str = ""  # needs the scope `users:read.email`
    company: str = ""  # the ID of the person's organization, or else of their workspace; empty if unknown
    is_bot: bool = False
    deleted: bool = False

    def works_with(self, owner: Owner) -> bool:
        """Whether it is a person of the owner's company; False if Slack doesn't say."""
        return not self.is_bot and self.company in (owner.team_id, owner.enterprise_id)


class Profiles:
    """Caches `users.info`. Falls back to a linked user's last known zone.

    `on_deactivated` is called with the team and ID of a user whom Slack says to be deactivated.
    """

    on_deactivated: Callable[[str, str], Awaitable[None]] | None = None

    def __init__(self, links: Links) -> None:
        self._links = links
        self._recent: TtlCache[tuple[str, str], Profile] = TtlCache(seconds=600)

    async def of(self, slack: AsyncWebClient, team_id: str, user_id: str, *, fresh: bool = False) -> Profile:
        """Return a user's profile as that workspace knows them; never raises if Slack fails."""
        if fresh:
            self._recent.discard((team_id, user_id))

        async def read() -> Profile:
            answer = await slack.users_info(user=user_id, include_locale=True)
            user = answer.get("user") or {}
            profile = user.get("profile") or {}
            if user.get("deleted") and self.on_deactivated:
                await self.on_deactivated(team_id, user_id)
            named = (profile.get("real_name"), user.get("real_name"), profile.get("display_name"))
            name = str(next(filter(None, named), user.get("name")) or "")
            first_name, _, last_name = name.partition(" ")
            enterprise_id = (user.get("enterprise_user") or {}).get("enterprise_id")
            return Profile(
                user_id,
                name or "Someone",
                await self._zone(team_id, user_id, user.get("tz")),
                first_name=profile.get("first_name") or first_name,
                last_name=profile.get("last_name") or last_name,
                handle=user.get("name") or "",
                locale=user.get("locale") or "",
                mail=profile.get("email") or "",
                company=enterprise_id or user.get("team_id") or "",
                is_bot=bool(user.get("is_bot")),
                deleted=bool(user.get("deleted")),
            )

        try:
            return await self._recent.get((team_id, user_id), read)
        except SLACK_FAILED as error:
            log.warning(
                "could not read a Slack profile", action="profile.unknown", error=type(error).__name__
            )
            return Profile(user_id, "Someone", await self._zone(team_id, user_id))

    async def colleague(self, slack: AsyncWebClient, asker: Owner, user_id: str) -> Profile:
        """A colleague's profile, read now. Raises UserError if Slack doesn't return it, for an app, and for
        people who left or work elsewhere.
        """
        profile = await self.of(slack, asker.team_id, user_id, fresh=True)
        if not profile.company:
            raise UserError("I couldn't get that person's profile from Slack. Try again in a minute.")
        if profile.is_bot or profile.deleted:
            raise UserError(
                "You mentioned an app or a deactivated account. Mention a person who's active in Slack."
            )
        if not profile.works_with(asker):
            raise UserError(
                "The person you mentioned is from another company. Use `{/tracker user new}` on its own to "
                "create an account that isn't linked to anyone in Slack."
            )
        return profile

    async def _zone(self, team_id: str, user_id: str, name: object = None) -> ZoneInfo | NoZone:
        """Return the zone from Slack, and store it; else the stored one."""
        if zone := _zone_named(name):
            await self._links.keep_zone(team_id, user_id, zone.key)
        return zone or _zone_named(await self._links.zone(team_id, user_id)) or NoZone.UNKNOWN


def _zone_named(name: object) -> ZoneInfo | None:
    try:
        return ZoneInfo(str(name)) if name else None
    except (ZoneInfoNotFoundError, OSError, ValueError):
        return None
