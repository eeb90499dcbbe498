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
from bot.slack.submissions import metadata_of
from bot.slack.turn import Turn

log = structlog.get_logger(__name__)

MINE = "project:any to:me sort:priority:desc,updated:desc"


async def opened(turn: Turn) -> None:
    """The person opened one of the app's tabs."""
    event = turn.body["event"]
    if event.get("tab") == "home":
        await show(turn, (event.get("view") or {}).get("private_metadata"))


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


async def show(turn: Turn, shown: str | None, *, again: bool = False) -> None:
    """Publish the person's own tab: at once, unless theirs stands there already, and when it is read.

    `shown` is the state of the one that stands there; `again` that it is theirs whatever it was.
    """
    try:
        remembered = await turn.parts.home.remembered(turn.owner)
    except StoredSecretError as error:
        await _publish(turn, None, said=error.sentence(turn.service))
        return
    if remembered is None:
        await _publish(turn, None)
        return
    if not (again or shown == views.state_of(remembered)):
        try:
            await _publish(turn, remembered)
        except SLACK_FAILED as error:  # what is read is published all the same
            log.info(
                "not published", action="home.not_published", error=reason(error) or type(error).__name__
            )
    try:
        mine = await turn.parts.home.mine(turn.owner)
    except NotLinked as error:
        await _publish(turn, None, said=error.sentence(turn.service))
    except BotError as error:
        await _publish(turn, remembered, said=error.sentence(turn.service))
    else:
        await _publish(turn, remembered, mine)


async def mine_pressed(turn: Turn) -> None:
    """The button *All …*: the person's open issues, page by page."""
    await turn.open(loading("My open issues"))
    found = await search.find(turn, MINE, 0)
    await turn.show(forms.said("My open issues", found.blocks))


async def _publish(
    turn: Turn, remembered: Remembered | None, mine: Mine | None = None, *, said: str | None = None
) -> None:
    told = turn.worded(said) if said else None
    view = views.home(remembered, mine, turn.style, turn.parts.command, told)
    await turn.slack.views_publish(user_id=turn.owner.user_id, view=view)
