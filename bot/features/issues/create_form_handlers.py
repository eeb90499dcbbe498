"""The form for a new issue, however it is opened: its choices, its refreshes, its submission."""

import asyncio
import json
from datetime import UTC, datetime

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_sdk.errors import SlackApiError

from bot.errors import BotError, OutcomeUnknown, UserError, WrongField
from bot.features.accounts.accounts import Session
from bot.features.files import jobs
from bot.features.files.views import progress
from bot.features.issues import create_form as issue_form
from bot.features.issues import duplicate_handlers as duplicates
from bot.features.issues import views
from bot.features.issues.announce import tell
from bot.features.issues.drafts import draft_from
from bot.features.issues.issues import Created, Draft, Source
from bot.service.models import Project
from bot.slack import forms
from bot.slack.blocks import JSON, option
from bot.slack.posting import Place, reason
from bot.slack.submissions import Reply, at_fields, metadata_of, moment_in, once, refused, settle
from bot.slack.turn import Turn

WAITING = 1500


async def open_create(turn: Turn) -> None:
    """The global shortcut."""
    await open_form(turn, Draft())


async def open_from_message(turn: Turn) -> None:
    """The message shortcut: the form filled from the message, announced in its thread."""
    if not turn.view_id:
        await turn.show(issue_form.loading())
    message = turn.message
    channel, ts = turn.place.channel_id or "", message["ts"]
    thread = Place(channel, message.get("thread_ts") or ts, turn.place.response_url)
    job = await jobs.keep(turn, await jobs.of_message(turn, message)) if message.get("files") else None
    await open_form(turn.at(thread), await draft_from(turn, message), Source(channel, ts), files_job=job)


async def open_form(
    turn: Turn, draft: Draft, source: Source | None = None, *, files_job: str | None = None
) -> None:
    """Open the form at once, then fill it with what can be chosen.

    `source` is what it is made from, `files_job` the job of the files that can come along (see `filejobs`).
    """
    if not turn.view_id:
        await turn.show(issue_form.loading())
    async with turn.parts.accounts.reading(turn.owner) as session:
        project = await _project(turn, session, draft)
        metadata = {"place": turn.place.as_json(), "source": duplicates.written(source), "files": files_job}
        view = await filled(turn, session, draft, project, metadata)
    await turn.show(view)


async def filled(turn: Turn, session: Session, draft: Draft, project: Project | None, metadata: JSON) -> JSON:
    """The form with the choices of a project."""
    files = await jobs.field(turn, metadata)
    about = duplicates.notes(turn, session, draft.subject, project.id if project else None, metadata)
    if project is None:
        # Its fields come with the project: until then, what was asked for waits here.
        told = draft.model_dump(mode="json", exclude_defaults=True, exclude={"subject", "description"})
        if len(json.dumps(told)) <= WAITING:
            metadata = metadata | {"draft": told}
        return issue_form.create_form(draft, None, None, json.dumps(metadata), notes=await about, files=files)
    catalog, notes = await asyncio.gather(turn.parts.catalogs.of(session, project.id), about)
    said = issue_form.unknown(draft, catalog)
    try:
        named = [one for one in (draft.to, *draft.watch) if one]
        found = [await turn.parts.people.find(session, one, catalog) for one in named]
        ids = [f"#{person.id}" for person in found]
        to, watch = (ids[0], ids[1:]) if draft.to else (None, ids)
        draft = draft.model_copy(update={"to": to, "watch": tuple(watch)})
    except UserError as error:
        said.append(turn.sentence(error))
    return issue_form.create_form(
        draft,
        project,
        catalog,
        json.dumps(metadata),
        " ".join(said) or None,
        notes=notes,
        files=files,
        required=turn.parts.catalogs.required(turn.owner, project.id),
    )


async def project_chosen(turn: Turn) -> None:
    """Another project was chosen in the form: offer its choices and keep what was typed."""
    await _refresh(turn, turn.number)


async def tracker_chosen(turn: Turn) -> None:
    """Another tracker was chosen in the form: mark what it requires."""
    await _refresh(turn, forms.Values(turn.view).number("project"))


async def _refresh(turn: Turn, chosen: int | None) -> None:
    view = turn.view
    refreshed = await refreshed_form(turn, view, chosen)
    known = view.get("hash")
    try:
        await turn.show(refreshed, over=turn.parts.pauses.hash_now(turn.form, known) if known else None)
    except SlackApiError as error:
        # A choice made since then has its own refresh, and that one has to stay.
        if reason(error) != "hash_conflict":
            raise


async def refreshed_form(turn: Turn, view: JSON, chosen: int | None) -> JSON:
    """The form with the choices of the project with the id `chosen`, and all that it holds."""
    metadata = metadata_of(view)
    draft = issue_form.carried_over(view)
    if waiting := metadata.pop("draft", None):
        typed = draft.model_dump(include={"subject", "description"})
        draft = Draft.model_validate(waiting).model_copy(update=typed)
    async with turn.parts.accounts.reading(turn.owner) as session:
        project = await turn.parts.projects.by_id(session, chosen) if chosen else None
        return await filled(turn, session, draft, project, metadata)


async def submit(turn: Turn, ack: AsyncAck) -> None:
    """The form was submitted: create once, and keep everything in it when that fails."""
    view = turn.view
    metadata = metadata_of(view)
    turn = turn.at(Place.from_json(metadata.get("place")))
    try:
        draft = issue_form.submitted(view)
    except WrongField as error:
        await at_fields(ack, refused(turn, error).errors or {})
        return
    if missing := _lacking(draft):
        await at_fields(ack, missing)
        return
    made: list[Created] = []
    attempted = moment_in(metadata, "attempted_at")
    load = jobs.load_since(attempted)

    async def work() -> Reply:
        if issue_form.outdated(view):
            again = await refreshed_form(turn, view, forms.Values(view).number("project"))
            said = "The choices below are this project's now: look them over and send it again."
            return Reply(view=forms.warned(again, said), said=said)
        started = datetime.now(UTC)
        try:
            async with once(turn):
                await jobs.choose(turn, metadata, load)
                made.append(
                    await turn.parts.issues.create(
                        turn.owner,
                        draft,
                        turn.channel,
                        attempted,
                        source=duplicates.source_of(metadata),
                        upload=lambda session: turn.parts.files.upload(session, load),
                    )
                )
        except BotError as error:
            if isinstance(error, OutcomeUnknown):
                metadata.setdefault("attempted_at", started.isoformat())
            reply = refused(turn, error, json.dumps(metadata))
            _note_required(turn, reply)
            return reply
        await turn.parts.files.attached(turn.owner, made[0].issue.id, load)
        if turn.place.channel_id:
            return Reply()
        blocks = views.created(made[0], turn.style, None).blocks
        return Reply(view=forms.said("Created", [*blocks, *await jobs.beside(turn, made[0], load)]))

    await settle(turn, ack, work(), lambda: progress(load, f"Creating it in {turn.service}…"))
    if made and turn.place.channel_id:
        if load.files:
            await turn.answer(await jobs.told(turn, made[0].issue.id, load))
        await tell(turn, made[0])


def _note_required(turn: Turn, reply: Reply) -> None:
    """Remember the custom fields that were left empty and that the service complains about."""
    values = forms.Values(turn.view)
    project, empty = values.number("project"), issue_form.left_empty(turn.view, reply.errors or ())
    if project and empty:
        turn.parts.catalogs.note_required(turn.owner, project, values.number("tracker"), empty)


def _lacking(draft: Draft) -> dict[str, str]:
    """Errors at the fields without which there is no issue."""
    missing = {} if draft.subject else {"subject": "Write a subject."}
    return missing if draft.project else missing | {"project": "Choose a project."}


# Choices that are searched as one types


async def project_options(turn: Turn, text: str) -> list[JSON]:
    """Projects by name or identifier."""
    found = await turn.parts.projects.search(turn.owner, text)
    return [option(project.name, str(project.id)) for project in found]


async def parent_options(turn: Turn, text: str) -> list[JSON]:
    """Issues by number or subject, in the form's project."""
    values = forms.Values(turn.body.get("view") or {})
    project = values.number("project")
    async with turn.parts.accounts.reading(turn.owner) as session:
        found = await turn.parts.issues.suggest(session, text, project)
    return [option(f"#{issue.id} {issue.subject}", str(issue.id)) for issue in found]


async def choice_options(turn: Turn, text: str) -> list[JSON]:
    """A select of the form whose choices are too many to be listed at once."""
    name = str(turn.body.get("action_id", "")).partition(".")[2]
    tag = str(turn.body.get("block_id", "")).partition(":")[2]
    async with turn.parts.accounts.reading(turn.owner) as session:
        catalog = await turn.parts.catalogs.of(session, forms.number_in(tag) if tag else None)
    sought = text.strip().casefold()
    refs = issue_form.choices_of(catalog).get(name, ())
    return [option(ref.name, str(ref.id)) for ref in refs if sought in ref.name.casefold()]


async def custom_options(turn: Turn, text: str) -> list[JSON]:
    """The select of a custom field that has a list of values."""
    name, _, tag = str(turn.body.get("block_id", "")).partition(":")
    async with turn.parts.accounts.reading(turn.owner) as session:
        catalog = await turn.parts.catalogs.of(session, forms.number_in(tag))
    return issue_form.custom_values(catalog.custom_field(forms.number_in(name.removeprefix("cf_"))), text)


async def _project(turn: Turn, session: Session, draft: Draft) -> Project | None:
    if draft.project is not None:
        return await turn.parts.projects.find(session, draft.project)
    if (default := await turn.parts.projects.default_in(session, turn.channel)) is not None:
        return default
    projects = await turn.parts.projects.visible(session)
    return projects[0] if len(projects) == 1 else None
