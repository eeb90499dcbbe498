"""Publishes the Home tab, first from the bot's database, then with issues from the service."""

import structlog

from bot.errors import BotError, NotLinked
from bot.features.home import views
from bot.features.home.views import StoredItems
from bot.features.parts import Parts
from bot.service.filters import IssueFilters, Sort
from bot.service.models import Issue, Page
from bot.slack.incoming.feature import Feature, On
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.interaction import Event
from bot.slack.workspaces.slack_errors import SLACK_FAILED, why
from bot.store.owner import Owner

log = structlog.get_logger(__name__)


MAX_ISSUES, MAX_CREATED, MAX_ENTRIES = 10, 5, 5


class HomeHandlers:
    def __init__(self, parts: Parts) -> None:
        self.client, self.store, self.accounts = parts.client, parts.store, parts.accounts

    def feature(self) -> Feature:
        return Feature(events={"app_home_opened": On(self.opened)})

    async def opened(self, event: Event, reply: Reply) -> None:
        """Publish the Home tab when the user opens it, but not for the app's other tabs."""
        if event.event.get("tab") == "home":
            await self.publish(reply, (event.event.get("view") or {}).get("private_metadata"), again=False)

    async def publish(self, reply: Reply, state: str | None = None, *, again: bool = True) -> None:
        """Publish the user's tab twice: right away from the database, then with their open issues.

        The first is skipped `again`, after an action on the tab, or if the user's is the `state` that it has.
        """
        stored = await self._stored(reply.owner)
        if stored is None:
            await self._publish(reply, None)
            return
        if not (again or state == views.state_of(stored)):
            try:
                await self._publish(reply, stored)
            except SLACK_FAILED as error:  # the second publish may still succeed
                log.info("Home tab not published", action="home.not_published", error=why(error))

        try:
            open_issues = await self._open_issues(reply.owner)
        except NotLinked as error:
            await self._publish(reply, None, error=error)
        except BotError as error:
            await self._publish(reply, stored, error=error)
        else:
            await self._publish(reply, stored, open_issues)

    async def _stored(self, owner: Owner) -> StoredItems | None:
        """The user's items in the bot's database. None if they aren't linked."""
        link = await self.store.links.get(owner)
        if link is None:
            return None
        created = await self.store.created_issues.latest(owner, MAX_CREATED)
        entries = await self.store.time_entries.latest(owner, MAX_ENTRIES)
        digests = await self.store.digests.of_owner(owner)
        topics = await self.store.notices.topics(owner)
        return StoredItems(link, created, entries, digests, topics.keys())

    async def _open_issues(self, owner: Owner) -> Page[Issue]:
        """The first open issues assigned to the user or their groups, highest priority first."""
        sort = (Sort("priority", descending=True), Sort("updated_on", descending=True))
        filters = IssueFilters(assigned_to=("me",), status="open", sort=sort)
        async with self.accounts.reading(owner) as session:
            return await self.client.list_issues(session.key, filters, limit=MAX_ISSUES)

    async def _publish(
        self,
        reply: Reply,
        stored: StoredItems | None,
        open_issues: Page[Issue] | None = None,
        *,
        error: BotError | None = None,
    ) -> None:
        problem = reply.wording.sentence(error) if error else None
        view = views.home(stored, open_issues, reply.wording, await reply.today(), problem)
        await reply.slack.views_publish(user_id=reply.owner.user_id, view=view)
