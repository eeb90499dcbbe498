"""Stops everything that runs with the key of a user whom Slack has deactivated, and deletes the key.

Slack sends an event, which may get lost; so background work also asks for its owner's profile now and then.
"""

import time
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import structlog

from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature
from bot.slack.incoming.interaction import Event
from bot.slack.outgoing.posting import SLACK_FAILED
from bot.slack.outgoing.replies import Reply
from bot.store.digests import Pause
from bot.store.owner import Owner
from bot.ttl_cache import TtlCache

ASK_EVERY = 3600.0
LATE = timedelta(minutes=1)
"""How long before somebody linked an event is from a time when they were away, whatever the clocks say."""
MAX_A_MINUTE = 30
"""How many profiles are asked for in a minute: Slack allows about 100 for everything that the bot does."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Departures:
    parts: Parts
    _asked: TtlCache[Owner, bool] = field(default_factory=lambda: TtlCache(ASK_EVERY, 10_000), init=False)
    _lately: deque[float] = field(default_factory=deque, init=False)

    def feature(self) -> Feature:
        return Feature(retryable_events={"user_change": self.changed})

    async def changed(self, event: Event, _: Reply) -> None:
        """A user was deactivated; one of another company isn't this workspace's to say."""
        own = event.event["user"].get("team_id")
        if not (event.owner.enterprise_id or own in {None, event.installation[1]}):
            return
        linked_at = await self.parts.store.links.linked_at(event.owner)
        if linked_at and linked_at > _moment_of(event) + LATE:
            log.info("late event ignored", action="account.came_back", user=event.owner.user_id)
            return
        await self.left(event.owner)

    async def seen(self, team_id: str, user_id: str) -> None:
        """Slack says that a user is deactivated; never raises."""
        try:
            for owner in await self.parts.store.links.owners(team_id, user_id):
                await self.left(owner)
        except Exception:
            log.exception("deactivated user not handled", action="account.not_deactivated", user=user_id)

    async def left(self, owner: Owner) -> None:
        """Stop the user's digests and follows, and delete their key; the digests' channels are told."""
        digests = await self.parts.store.digests.stop_all(owner, Pause.LEFT)
        followed = await self.parts.store.followed.of(owner)
        await self.parts.store.followed.end(followed)
        linked = await self.parts.store.links.delete(owner)
        if digests or followed or linked:
            about = {"team": owner.team_id, "user": owner.user_id}
            counts = {"digests": digests, "followed": len(followed)}
            log.info("user deactivated in Slack", action="account.deactivated", **about, **counts)

    async def check(self, owner: Owner) -> None:
        """Ask Slack for the user's profile, unless it was asked lately; then `seen` is called if needed."""
        if self._asked.peek(owner) or not self._may_ask():
            return
        try:
            slack = await self.parts.workspaces.client(owner.enterprise_id, owner.team_id)
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
