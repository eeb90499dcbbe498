"""Attaching files to an issue: `/issue attach`, and the button on its card."""

import json

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.errors import BotError, NotLinked
from bot.slack.files import incoming
from bot.slack.posting import Place
from bot.slack.submission import Reply, metadata_of, once, refused, settle
from bot.slack.turn import Turn
from bot.slack.views import files as views
from bot.slack.views import forms
from bot.slack.views.issue_form import loading


async def open_pressed(turn: Turn) -> None:
    """The button *Attach files*."""
    await open_form(turn, int(turn.action["value"]))


async def open_form(turn: Turn, number: int) -> None:
    """Open the form for an issue that the person sees."""
    await turn.open(loading("Attach files"))
    async with turn.parts.accounts.reading(turn.owner) as session:
        await turn.parts.issues.one(session, number)
    await turn.show(views.files_form(number, json.dumps({"issue": number, "place": turn.place.as_json()})))


async def submit(turn: Turn, ack: AsyncAck) -> None:
    """The form was submitted: carry each file over, then say what became of it."""
    view = turn.body["view"]
    metadata = metadata_of(view)
    turn = turn.at(Place.from_json(metadata.get("place")))
    number = int(metadata["issue"])
    files = [incoming(turn.slack, turn.parts.file_hosts, file) for file in forms.Values(view).files("files")]

    async def work() -> Reply:
        try:
            async with once(turn):
                outcomes = await turn.parts.files.attach(turn.owner, number, files)
        except NotLinked:
            raise
        except BotError as error:
            return refused(turn, error)
        return Reply(view=forms.said("Files", views.attached(number, outcomes, turn.style).blocks))

    await settle(turn, ack, work(), f"Carrying the files to {turn.service}…")
