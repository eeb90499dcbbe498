"""The Home tab: shown at once with what the bot remembers, then with what the service answers."""

import structlog
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.errors import BotError, NotLinked, StoredSecretError
from bot.features.home import views
from bot.features.home.home import Mine, Remembered
from bot.features.issues.create_form import loading
from bot.features.search import handlers as search
from bot.slack import forms
from bot.slack.dispatch import Submission
from bot.slack.posting import SLACK_FAILED, Place, reason
from bot.slack.replies import Reply
from bot.slack.interaction import (
    ButtonPress,
    Event,
    FormClosed,
    FormSubmission,
    OptionsRequest,
    Shortcut,
    SlashCommand,
    Place,
)
from bot.slack.forms import FormResult, number_in

log = structlog.get_logger(__name__)

MINE = "project:any to:me sort:priority:desc,updated:desc"


def refreshing(submission: Submission) -> Submission:
    """The same submission of a form; the Home tab is shown anew after it where the form came from there."""

    async def submit(turn: Turn, ack: AsyncAck) -> None:
        await submission(turn, ack)
        if Place.from_json(metadata_of(turn.view).get("place")).home:
            try:
                await show(turn, None, again=True)
            except Exception:  # the form did what it was for: nothing after that makes a failure of it
                log.exception("not refreshed", action="home.not_refreshed")

    return submit


class HomeHandlers:
    """TODO"""

    def __init__(self, home: TODO_home) -> None:
        self._home = home

    async def opened(self, event: Event, reply: Reply) -> None:
        """The person opened one of the app's tabs."""
        event = event.event
        if event.get("tab") == "home":
            await self.show(reply, (event.get("view") or {}).get("private_metadata"))

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

    async def mine_pressed(self, press: ButtonPress, reply: Reply) -> None:
        """The button *All …*: the person's open issues, page by page."""
        await reply.open(loading("My open issues"))
        found = await search.find(reply, MINE, 0)
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
