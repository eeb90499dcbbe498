"""Attaching files to an issue: `/issue attach`, the button on its card, and a message's files."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.errors import BotError, ServiceError, Unauthorized, UserError
from bot.features.accounts.accounts import Session
from bot.features.files import views
from bot.features.files.attach import CantAttach, Load, State
from bot.features.files.jobs import Job, Wanted, fill, keep, kept, load_since, of_message, told
from bot.features.issues.create_form import loading
from bot.features.timelog.commands import issue_named
from bot.slack import forms, posting
from bot.slack.blocks import JSON, option
from bot.slack.dispatch import message_kept
from bot.slack.files import name_of
from bot.slack.posting import Place
from bot.slack.submissions import Reply, claimed, finish, followed, metadata_of, once, refused, settle
from bot.slack.turn import Turn

RETRIED = "These files were tried again already: look at what came of it."


async def open_pressed(turn: Turn) -> None:
    """The button *Attach files*."""
    await open_form(turn, turn.number)


async def open_form(turn: Turn, number: int) -> None:
    """Open the form for an issue that the person sees."""
    await turn.open(loading("Attach files"))
    async with turn.parts.accounts.reading(turn.owner) as session:
        await turn.parts.issues.one(session, number)
    await turn.show(views.files_form(number, json.dumps({"issue": number, "place": turn.place.as_json()})))


async def open_from_message(turn: Turn) -> None:
    """The message shortcut: which of its files, to which issue."""
    if not turn.view_id:
        await turn.show(loading("Attach files"))
    message = turn.message
    turn = turn.at(Place(turn.place.channel_id, message.get("thread_ts") or message["ts"]))
    async with turn.parts.accounts.reading(turn.owner) as session:
        job = await of_message(turn, message)
        issue = await _named_in(turn, session, message)
    if not job.files:
        raise UserError(f"None of these files can be attached. {'; '.join(job.lost)}.")
    job_id = await keep(turn, job.model_copy(update={"message": message_kept(message)}))
    known = [(one.id, one.name) for one in job.files]
    metadata = json.dumps({"files": job_id, "place": turn.place.as_json()})
    await turn.show(views.message_form(known, job.lost, issue, job_id, metadata))


async def submit(turn: Turn, ack: AsyncAck) -> None:
    """A form was submitted: carry the files over, say how far each is, then what became of it."""
    view = turn.view
    metadata, values = metadata_of(view), forms.Values(view)
    turn = turn.at(Place.from_json(metadata.get("place")))
    number = forms.number_in(metadata.get("issue") or values.chosen("issue"))
    load = load_since(None)

    async def work() -> Reply:
        try:
            async with once(turn):
                if metadata.get("files"):
                    job = await kept(turn, str(metadata["files"]))
                    job = job.model_copy(update={"files": _named(job.files, values)})
                else:
                    files = [
                        Wanted(id=str(file.get("id")), name=name_of(file)) for file in values.files("files")
                    ]
                    job = Job(files=tuple(files), place=turn.place.as_json(), own=True)
                await fill(turn, load, job.files, own=job.own)
                return await _carry(turn, number, load, job)
        except BotError as error:
            return refused(turn, error)

    await settle(turn, ack, work(), lambda: _progress(turn, load))


async def retry_pressed(turn: Turn) -> None:
    """The button *Retry*: only what failed, and nothing twice."""
    job_id = turn.value
    job = await kept(turn, job_id)
    in_form = turn.in_form
    if not in_form:
        await turn.open(loading("Attach files"))
    pressed = turn.place
    turn = turn.at(Place.from_json(job.place))
    load = load_since(job.since)
    async with claimed(turn, f"retry:{job_id}", RETRIED):
        await fill(turn, load, job.files, own=job.own)
        work = asyncio.create_task(_carry(turn, job.issue or 0, load, job))
        reply = await followed(turn, work, lambda: _progress(turn, load), "")
    if not in_form:
        await posting.dismiss(turn.slack, pressed)
    await finish(turn, reply)


async def describe_pressed(turn: Turn) -> None:
    """The button *Rename or describe*."""
    issue, _, attachment = turn.value.partition(":")
    number = forms.number_in(issue)
    await turn.open(loading("Rename or describe"))
    found = await turn.parts.files.own(turn.owner, number, forms.number_in(attachment))
    await turn.show(views.describe_form(found, json.dumps({"issue": number, "attachment": found.id})))


async def submit_description(turn: Turn, ack: AsyncAck) -> None:
    """Another name or description was sent; sending it twice does no harm."""
    metadata, values = metadata_of(turn.view), forms.Values(turn.view)
    number, attachment = forms.number_in(metadata.get("issue")), forms.number_in(metadata.get("attachment"))
    name = values.text("name") or ""
    description = values.text("description") or ""

    async def work() -> Reply:
        try:
            await turn.parts.files.describe(turn.owner, number, attachment, name, description)
        except BotError as error:
            return refused(turn, error)
        said = views.described(number, name, description, turn.style)
        return Reply(view=forms.said("Files", said.blocks), message=said)

    await settle(turn, ack, work(), f"Saving it in {turn.service}…")


async def issue_options(turn: Turn, text: str) -> list[JSON]:
    """Issues by number or subject, everywhere."""
    async with turn.parts.accounts.reading(turn.owner) as session:
        found = await turn.parts.issues.suggest(session, text, None)
    return [option(f"#{issue.id} {issue.subject}", str(issue.id)) for issue in found]


async def _carry(turn: Turn, number: int, load: Load, job: Job) -> Reply:
    try:
        await turn.parts.files.attach(turn.owner, number, load)
    except CantAttach as error:
        job_id = await keep(turn, job.model_copy(update={"issue": number}))
        said = views.new_instead(number, error, job_id, turn.style)
        return Reply(view=forms.said("Files", said.blocks), message=said)
    except Unauthorized:
        raise
    except ServiceError as error:
        if not job.own:
            raise
        for one in load.in_state(
            State.WAITING, State.UPLOADED
        ):  # no form can be given back the files that were in it
            one.end(State.FAILED, error)
    said = await told(turn, number, load, own=job.own, rows=job.rows)
    return Reply(view=forms.said("Files", said.blocks), message=said)


async def _named_in(turn: Turn, session: Session, message: JSON) -> JSON | None:
    """The issue that the message names, where the person sees it."""
    number = issue_named(str(message.get("text") or ""), turn.parts.client.base_url)
    if number is None:
        return None
    with suppress(UserError):
        issue = await turn.parts.issues.one(session, number)
        return option(f"#{issue.id} {issue.subject}", str(issue.id))
    return None


def _progress(turn: Turn, load: Load) -> str:
    return views.progress(load, f"Carrying the files to {turn.service}…")


def _named(wanted: Sequence[Wanted], values: forms.Values) -> tuple[Wanted, ...]:
    """The ticked ones, with the names and descriptions that were given in the form."""
    ticked = values.all_chosen("files")
    return tuple(
        Wanted(
            id=one.id,
            name=(values.text(f"name_{index}") or one.name).strip(),
            description=(values.text(f"description_{index}") or "").strip(),
        )
        for index, one in enumerate(wanted)
        if one.id in ticked
    )
