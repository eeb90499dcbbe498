"""`/tracker projects`, `project`, `project new` and `default`."""

import json
from datetime import UTC, datetime

import structlog
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.errors import BotError, OutcomeUnknown, UserError
from bot.features.accounts.commands import ClearDefault, SetDefault, ShowDefault
from bot.features.issues.create_form import loading
from bot.features.name_matching import identifier_of
from bot.features.projects import views
from bot.features.projects.projects import ProjectDraft
from bot.service.models import Project
from bot.slack import forms
from bot.slack.blocks import sentence
from bot.slack.posting import SLACK_FAILED, Place
from bot.slack.submissions import Reply, at_fields, metadata_of, moment_in, once, refused, settle
from bot.slack.turn import Turn

log = structlog.get_logger(__name__)


async def list_projects(turn: Turn, text: str) -> None:
    """The projects that the person sees."""
    found = await turn.parts.projects.search(turn.owner, text)
    await turn.answer(views.projects(found, text, turn.style, turn.parts.command("tracker")))


async def show(turn: Turn, wanted: str) -> None:
    """One project."""
    shown = await turn.parts.projects.show(turn.owner, wanted)
    await turn.answer(views.project(shown, turn.style, await turn.style.mrkdwn(shown.description)))


async def default_command(turn: Turn, request: ShowDefault | SetDefault | ClearDefault) -> None:
    """`/tracker default …`."""
    match request:
        case ShowDefault():
            await show_default(turn)
        case SetDefault(project=wanted):
            await set_default(turn, wanted)
        case ClearDefault():
            await clear_default(turn)


async def set_default(turn: Turn, wanted: str) -> None:
    """Make a project this channel's own."""
    if turn.channel is None:
        raise UserError("Only a channel can have a project of its own: use this command in one.")
    project = await turn.parts.projects.set_default(turn.owner, turn.channel, wanted)
    await turn.answer(sentence(f"New issues and searches here are in {project.name} from now on."))


async def show_default(turn: Turn) -> None:
    """Which project is this channel's own, and how to change that."""
    async with turn.parts.accounts.reading(turn.owner) as session:
        project = await turn.parts.projects.default_in(session, turn.channel)
    change = f"`{turn.parts.command('tracker')} default"
    if project is None:
        said = f"This channel has no project of its own that you see; {change} website` gives it one."
    else:
        said = (
            f"This channel's project is {project.name}; {change} website` gives it another, "
            f"{change} none` none."
        )
    await turn.answer(sentence(said))


async def clear_default(turn: Turn) -> None:
    """Leave the channel without a project of its own."""
    if turn.channel is not None:
        await turn.parts.projects.clear_default(turn.owner, turn.channel)
    await turn.answer(sentence("This channel has no project of its own any more."))


async def default_pressed(turn: Turn) -> None:
    """The button *Make it this channel's project*."""
    await set_default(turn, turn.value)


async def open_form(turn: Turn, name: str) -> None:
    """The form for a new project."""
    await turn.open(loading("New project"))
    await turn.parts.accounts.whoami(turn.owner)
    draft = ProjectDraft(name, identifier_of(name))
    await turn.show(views.new_form(draft, json.dumps({"place": turn.place.as_json()})))


async def name_typed(turn: Turn) -> None:
    """The name was typed: suggest an identifier, once the person pauses."""
    view, pauses = turn.view, turn.parts.pauses
    if not await pauses.come(turn.form, turn.acted_at) or (form := views.suggesting(view)) is None:
        return
    now = pauses.hash_now(turn.form, view["hash"])
    try:
        answer = await turn.slack.views_update(view_id=view["id"], view=form, hash=now)
    except SLACK_FAILED as error:  # the form was sent or closed, most likely
        log.info("form moved on", action="project.form_moved_on", error=type(error).__name__)
        return
    pauses.updated(turn.form, now, (answer.get("view") or {}).get("hash") or now)


async def submit(turn: Turn, ack: AsyncAck) -> None:
    """The form for a new project was submitted: create it once, and offer it as the channel's own."""
    view = turn.view
    metadata = metadata_of(view)
    turn = turn.at(Place.from_json(metadata.get("place")))
    draft = views.submitted(view)
    if not draft.identifier:
        field = forms.Values(view).block_ids["identifier"]
        said = "Type one: lower case letters, digits and dashes. None could be made of the name."
        await at_fields(ack, {field: said})
        return
    made: list[Project] = []

    async def work() -> Reply:
        attempted = moment_in(metadata, "attempted_at")
        started = datetime.now(UTC)
        try:
            async with once(turn):
                made.append(await turn.parts.projects.create(turn.owner, draft, attempted))
        except BotError as error:
            if isinstance(error, OutcomeUnknown):
                metadata.setdefault("attempted_at", started.isoformat())
            return refused(turn, error, json.dumps(metadata))
        return Reply()

    await settle(turn, ack, work(), f"Creating the project in {turn.service}…")
    for project in made:
        await turn.answer(views.created(project, turn.style, offer=turn.channel is not None))
