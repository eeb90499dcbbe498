"""Logging time: the form behind the button on an issue's card."""

import json

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.errors import BotError, NotLinked, OutcomeUnknown, UserError
from bot.slack.grammar.durations import hours
from bot.slack.posting import Announced, Place
from bot.slack.submission import Reply, metadata_of, once, refused, settle
from bot.slack.turn import Turn
from bot.slack.views import forms
from bot.slack.views import timelog as views
from bot.slack.views.blocks import JSON
from bot.slack.views.issue_form import loading
from bot.usecases.timelog import Logged


async def open_pressed(turn: Turn) -> None:
    """The button *Log time*."""
    number = int(turn.action["value"])
    await turn.open(loading("Log time"))
    loggable = await turn.parts.timelog.loggable(turn.owner, number)
    metadata = json.dumps({"issue": number, "place": turn.place.as_json()})
    await turn.show(views.time_form(loggable, await turn.today(), metadata))


async def submit(turn: Turn, ack: AsyncAck) -> None:
    """The form was submitted: log once, say back what was understood."""
    view = turn.body["view"]
    metadata, values = metadata_of(view), forms.Values(view)
    turn = turn.at(Place.from_json(metadata.get("place")))
    try:
        amount = hours(values.text("hours") or "")
    except UserError as error:
        await ack(response_action="errors", errors={"hours": error.sentence(turn.service)})
        return
    activity = values.chosen("activity")
    logged: list[Logged] = []

    async def work() -> Reply:
        try:
            async with once(turn):
                logged.append(
                    await turn.parts.timelog.log(
                        turn.owner,
                        int(metadata["issue"]),
                        amount,
                        activity_id=int(activity) if activity else None,
                        spent_on=values.day("date") or await turn.today(),
                        comment=values.text("comment") or "",
                    )
                )
        except NotLinked:
            raise
        except OutcomeUnknown as error:
            # The interface can't list time entries: only the person can look, so the form isn't sent again.
            return Reply(
                view=views.unknown(turn.style, metadata["issue"], amount, values.text("comment"), error)
            )
        except BotError as error:
            return refused(turn, error)
        return Reply() if turn.place.channel_id else Reply(view=_said(turn, logged))

    await settle(turn, ack, work(), f"Logging it in {turn.service}…")
    if logged and turn.place.channel_id:
        await announce(turn, logged[0])


async def announce(turn: Turn, logged: Logged) -> None:
    """Announce logged time where it was asked for; else say it to the person, and why only to them."""
    why = "the issue is private, or its project is"
    if logged.public:
        announced = await turn.announce(views.announced(logged, turn.style, turn.owner.user_id))
        if announced is Announced.YES:
            return
        why = announced.value
    await turn.answer(views.announced(logged, turn.style, None, why))


def _said(turn: Turn, logged: list[Logged]) -> JSON:
    return forms.said("Logged", views.announced(logged[0], turn.style, None).blocks)
