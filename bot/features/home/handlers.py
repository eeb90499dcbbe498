"""The Home tab: shown at once with what the bot remembers, then with what the service answers."""

import structlog

from bot.errors import BotError, NotLinked, StoredSecretError
from bot.features.home import views
from bot.features.home.home import Home, Mine, Remembered
from bot.features.search.handlers import SearchHandlers
from bot.slack import forms
from bot.slack.feature import Feature
from bot.slack.forms import loading
from bot.slack.interaction import (
    ButtonPress,
    Event,
)
from bot.slack.posting import SLACK_FAILED, reason
from bot.slack.replies import Reply

log = structlog.get_logger(__name__)

MINE = "project:any to:me sort:priority:desc,updated:desc"


class HomeHandlers:
    """Publishes the Home tab."""

    def __init__(self, home: Home, search: SearchHandlers) -> None:
        self._home = home
        self._search = search

    def feature(self) -> Feature:
        """What this answers to."""
        return Feature(buttons={"home.mine": self.mine_pressed}, events={"app_home_opened": self.opened})

    async def refresh(self, reply: Reply) -> None:
        """Show the tab again after something was done from it. A failure here fails nothing else."""
        try:
            await self.show(reply, None, again=True)
        except Exception:
            log.exception("not refreshed", action="home.not_refreshed")

    async def opened(self, event: Event, reply: Reply) -> None:
        """The person opened one of the app's tabs."""
        if event.event.get("tab") == "home":
            await self.show(reply, (event.event.get("view") or {}).get("private_metadata"))

    async def show(self, reply: Reply, shown: str | None, *, again: bool = False) -> None:
        """Publish the person's own tab: at once, unless theirs stands there already, and when it is read.

        `shown` is the state of the one that stands there; `again` that it is theirs whatever it was.
        """
        try:
            remembered = await self._home.remembered(reply.owner)
        except StoredSecretError as error:
            await self._publish(reply, None, said=error.sentence(reply.wording.service))
            return
        if remembered is None:
            await self._publish(reply, None)
            return
        if not (again or shown == views.state_of(remembered)):
            try:
                await self._publish(reply, remembered)
            except SLACK_FAILED as error:  # what is read is published all the same
                log.info(
                    "not published", action="home.not_published", error=reason(error) or type(error).__name__
                )
        try:
            mine = await self._home.mine(reply.owner)
        except NotLinked as error:
            await self._publish(reply, None, said=error.sentence(reply.wording.service))
        except BotError as error:
            await self._publish(reply, remembered, said=error.sentence(reply.wording.service))
        else:
            await self._publish(reply, remembered, mine)

    async def mine_pressed(self, _: ButtonPress, reply: Reply) -> None:
        """The button *All …*: the person's open issues, page by page."""
        await reply.open(loading("My open issues"))
        found = await self._search.find(reply, MINE, 0)
        await reply.show(forms.said("My open issues", found.blocks))

    async def _publish(
        self,
        reply: Reply,
        remembered: Remembered | None,
        mine: Mine | None = None,
        *,
        said: str | None = None,
    ) -> None:
        told = reply.wording.prefixed(said) if said else None
        view = views.home(remembered, mine, reply.wording, reply.wording.command, told)
        await reply.slack.views_publish(user_id=reply.owner.user_id, view=view)
