"""Stops background work and deletes data of users who left and of workspaces that removed the app."""

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import structlog

from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature, On
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.blocks import JSON
from bot.slack.surfaces.interaction import Event
from bot.slack.workspaces.slack_errors import SLACK_FAILED, TOKEN_REFUSED, reason
from bot.slack.workspaces.tokens import NotInstalled, TokenUnusable
from bot.store.digests import Pause
from bot.store.owner import Owner
from bot.ttl_cache import TtlCache

ASK_EVERY = 3600.0
LATE_AFTER = timedelta(minutes=1)
"""How long before somebody linked an event is from a time when they were away, whatever the clocks say."""
MAX_A_MINUTE = 30
"""How many profiles are asked for in a minute: Slack allows about 100 for everything that the bot does."""
SECONDS_TO_ANSWER = 2.5  # below Slack's limit of three seconds to acknowledge an event

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Departures:
    """Stops everything that runs with the key of a user whom Slack has deactivated, and deletes the key.

    Slack sends an event, which may get lost; so background work also asks for its owner's profile now and
    then.
    """

    parts: Parts
    _asked: TtlCache[Owner, bool] = field(default_factory=lambda: TtlCache(ASK_EVERY, 10_000), init=False)
    _lately: deque[float] = field(default_factory=deque, init=False)

    def feature(self) -> Feature:
        return Feature(events={"user_change": On(self.changed, repeatable=True, must_succeed=True)})

    async def changed(self, event: Event, _: Reply) -> None:
        """A user was deactivated; one of another company isn't this workspace's to say."""
        own = event.event["user"].get("team_id")
        if not (event.owner.enterprise_id or own in {None, event.installation[1]}):
            return
        linked_at = await self.parts.store.links.linked_at(event.owner)
        if linked_at and linked_at > _moment_of(event) + LATE_AFTER:
            log.info("late event ignored", action="account.came_back", user=event.owner.user_id)
            return
        await self.left(event.owner)

    async def handle_deactivation(self, team_id: str, user_id: str) -> None:
        """Slack says that a user is deactivated; never raises."""
        try:
            for owner in await self.parts.store.links.owners(team_id, user_id):
                await self.left(owner)
        except Exception:
            log.exception("deactivated user not handled", action="account.not_deactivated", user=user_id)

    async def left(self, owner: Owner) -> None:
        """Stop the user's digests and follows, delete their key, and notify the digests' channels."""
        await self.parts.accounts.stop_work(owner, Pause.LEFT, tell_owner=False)
        if await self.parts.store.links.delete(owner):
            about = {"team": owner.team_id, "user": owner.user_id}
            log.info("user deactivated in Slack", action="account.deactivated", **about)

    async def check(self, owner: Owner) -> None:
        """Ask Slack for the user's profile, unless it was asked lately, to notice a deactivated one."""
        if self._asked.peek(owner) or not self._may_ask():
            return
        try:
            slack = await self.parts.workspaces.of(owner)
            await self.parts.platform.profiles.of(slack, owner.team_id, owner.user_id, fresh=True)
        except SLACK_FAILED as error:
            log.info("profile not read", action="account.unknown", error=type(error).__name__)
        else:
            self._asked.put(owner, True)  # noqa: FBT003 - all that is cached

    def _may_ask(self) -> bool:
        now = time.monotonic()
        while self._lately and self._lately[0] < now - 60:
            self._lately.popleft()
        if len(self._lately) >= MAX_A_MINUTE:
            return False
        self._lately.append(now)
        return True


def _moment_of(event: Event) -> datetime:
    """When Slack says that it happened; now if it doesn't."""
    at = event.payload.get("event_time")
    return datetime.fromtimestamp(at, UTC) if isinstance(at, int) else datetime.now(UTC)


@dataclass(frozen=True)
class Uninstall:
    """Deletes a workspace's data once Slack confirms that the app was removed from it.

    Slack may repeat an event even after the app was reinstalled, so the handler tries the workspace's token
    first and deletes data only if Slack refuses it. It raises any other failure, and Slack retries the event.
    """

    parts: Parts

    def feature(self) -> Feature:
        return Feature(
            events={
                "app_uninstalled": On(self.uninstalled, repeatable=True, must_succeed=True),
                "team_access_revoked": On(self.team_access_revoked, repeatable=True, must_succeed=True),
                "tokens_revoked": On(self.tokens_revoked, repeatable=True),
            },
        )

    async def uninstalled(self, event: Event, _: Reply) -> None:
        """Delete the data of the workspace or organization unless the app is still installed."""
        enterprise_id, team_id = _installation_of(event.payload)
        about = {"team": team_id, "enterprise": enterprise_id}
        if await self._token_works(enterprise_id, team_id):
            log.info("app still installed", action="slack.still_installed", **about)
        else:
            await self.parts.store.installations.remove(enterprise_id, team_id)
            log.info("workspace data deleted", action="slack.uninstalled", **about)

    async def team_access_revoked(self, event: Event, _: Reply) -> None:
        """Delete the data of workspaces that the organization's installation no longer covers."""
        enterprise_id = _installation_of(event.payload)[0]

        async def handle_workspace(team_id: str) -> None:
            if await self._token_works(enterprise_id, team_id, within=team_id):
                log.info("app still installed", action="slack.still_installed", team=team_id)
            else:
                await self.parts.store.installations.forget_team(team_id)
                log.info("workspace data deleted", action="slack.access_revoked", team=team_id)

        await asyncio.gather(*map(handle_workspace, event.event["team_ids"]))

    async def tokens_revoked(self, event: Event, _: Reply) -> None:
        """Log that the bot's token no longer works, without deleting anything.

        The token may have been replaced, and a removed app gets its own event, `app_uninstalled`.
        """
        if not (event.event.get("tokens") or {}).get("bot"):
            return
        enterprise_id, team_id = _installation_of(event.payload)
        if not await self._token_works(enterprise_id, team_id):
            log.error(
                "Slack revoked the bot's token. Set SLACK_BOT_TOKEN to the new one and restart, or open "
                "/slack/install to install the app again. No data was deleted.",
                action="slack.token_revoked",
                team=team_id,
                enterprise=enterprise_id,
            )

    async def _token_works(
        self, enterprise_id: str | None, team_id: str | None, *, within: str | None = None
    ) -> bool:
        """Whether Slack accepts the installation's token, in the organization's workspace `within` if given.

        Raises any Slack error that doesn't settle the question.
        """
        try:
            slack = await self.parts.workspaces.client(enterprise_id, team_id)
        except TokenUnusable:
            raise
        except NotInstalled:
            return False
        # auth.test checks the whole organization, even when the app was removed from this workspace.
        call = slack.users_conversations(team_id=within, limit=1) if within else slack.auth_test()

        try:
            async with asyncio.timeout(SECONDS_TO_ANSWER):
                await call
        except SLACK_FAILED as error:
            if reason(error) not in TOKEN_REFUSED:
                raise
            return False
        return True


def _installation_of(payload: JSON) -> tuple[str | None, str | None]:
    """The event's organization and workspace. The workspace is None for an organization-wide installation."""
    installation: JSON = (payload.get("authorizations") or [payload])[0]
    enterprise_id = installation.get("enterprise_id") or payload.get("enterprise_id")
    if installation.get("is_enterprise_install"):
        return enterprise_id, None
    return enterprise_id, installation.get("team_id") or payload.get("team_id")
