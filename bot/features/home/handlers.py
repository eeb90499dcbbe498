"""Publishes the Home tab, first from the bot's database, then with issues from the service."""

from dataclasses import dataclass

import structlog

from bot.errors import BotError, NotLinked
from bot.features.home import views
from bot.features.home.home import Home, StoredItems
from bot.service.models import Issue, Page
from bot.slack.feature import Feature
from bot.slack.interaction import Event
from bot.slack.posting import SLACK_FAILED, why
from bot.slack.replies import Reply

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class HomeHandlers:
    home: Home

    def feature(self) -> Feature:
        return Feature(events={"app_home_opened": self.opened})

    async def refresh(self, reply: Reply) -> None:
        """Publish the tab again after an action on it. Logs errors, since the action itself succeeded."""
        try:
            await self.show(reply, None, again=True)
        except Exception:
            log.exception("Home tab not refreshed", action="home.not_refreshed")

    async def opened(self, event: Event, reply: Reply) -> None:
        """Publish the Home tab when the user opens it, but not for the app's other tabs."""
        if event.event.get("tab") == "home":
            await self.show(reply, (event.event.get("view") or {}).get("private_metadata"))

    async def show(self, reply: Reply, shown: str | None, *, again: bool = False) -> None:
        """Publish the user's tab twice: right away from the database, then with their open issues.

        The first is skipped if `again` is set or if `shown`, the current tab's state, matches the user's.
        """
        stored = await self.home.stored(reply.owner)
        if stored is None:
            await self._publish(reply, None)
            return
        if not (again or shown == views.state_of(stored)):
            try:
                await self._publish(reply, stored)
            except SLACK_FAILED as error:  # the second publish may still succeed
                log.info(
                    "Home tab not published",
                    action="home.not_published",
                    error=why(error),
                )
        try:
            open_issues = await self.home.open_issues(reply.owner)
        except NotLinked as error:
            await self._publish(reply, None, error=error)
        except BotError as error:
            await self._publish(reply, stored, error=error)
        else:
            await self._publish(reply, stored, open_issues)

    async def _publish(
        self,
        reply: Reply,
        stored: StoredItems | None,
        open_issues: Page[Issue] | None = None,
        *,
        error: BotError | None = None,
    ) -> None:
        said = reply.wording.sentence(error) if error else None
        view = views.home(stored, open_issues, reply.wording, await reply.today(), said)
        await reply.slack.views_publish(user_id=reply.owner.user_id, view=view)
