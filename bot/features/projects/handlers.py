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


class ProjectHandlers:
    """TODO"""

    def __init__(self, projects: TODO_projects, accounts: TODO_accounts, pauses: TODO_pauses) -> None:
        self._projects = projects
        self._accounts = accounts
        self._pauses = pauses

    async def list_projects(self, reply: Reply, text: str) -> None:
        """The projects that the person sees."""
        found = await self._projects.search(reply.owner, text)
        await reply.privately(views.projects(found, text, reply.wording, reply.wording.command("tracker")))

    async def show(self, reply: Reply, wanted: str) -> None:
        """One project."""
        shown = await self._projects.show(reply.owner, wanted)
        await reply.privately(
            views.project(shown, reply.wording, await reply.wording.mrkdwn(shown.description))
        )

    async def default_command(self, reply: Reply, request: ShowDefault | SetDefault | ClearDefault) -> None:
        """`/tracker default …`."""
        match request:
            case ShowDefault():
                await self.show_default(reply)
            case SetDefault(project=wanted):
                await self.set_default(reply, wanted)
            case ClearDefault():
                await self.clear_default(reply)

    async def set_default(self, reply: Reply, wanted: str) -> None:
        """Make a project this channel's own."""
        if reply.channel is None:
            raise UserError("Only a channel can have a project of its own: use this command in one.")
        project = await self._projects.set_default(reply.owner, reply.channel, wanted)
        await reply.privately(sentence(f"New issues and searches here are in {project.name} from now on."))

    async def show_default(self, reply: Reply) -> None:
        """Which project is this channel's own, and how to change that."""
        async with self._accounts.reading(reply.owner) as session:
            project = await self._projects.default_in(session, reply.channel)
        change = f"`{reply.wording.command('tracker')} default"
        if project is None:
            said = f"This channel has no project of its own that you see; {change} website` gives it one."
        else:
            said = (
                f"This channel's project is {project.name}; {change} website` gives it another, "
                f"{change} none` none."
            )
        await reply.privately(sentence(said))

    async def clear_default(self, reply: Reply) -> None:
        """Leave the channel without a project of its own."""
        if reply.channel is not None:
            await self._projects.clear_default(reply.owner, reply.channel)
        await reply.privately(sentence("This channel has no project of its own any more."))

    async def default_pressed(self, press: ButtonPress, reply: Reply) -> None:
        """The button *Make it this channel's project*."""
        await self.set_default(reply, press.value)

    async def open_form(self, reply: Reply, name: str) -> None:
        """The form for a new project."""
        await reply.open(loading("New project"))
        await self._accounts.whoami(reply.owner)
        draft = ProjectDraft(name, identifier_of(name))
        await reply.show(views.new_form(draft, json.dumps({"place": reply.place.as_json()})))

    async def name_typed(self, press: ButtonPress, reply: Reply) -> None:
        """The name was typed: suggest an identifier, once the person pauses."""
        view, pauses = press.view.json, self._pauses
        if not await pauses.come(FORMKEY, press.pressed_at) or (form := views.suggesting(view)) is None:
            return
        now = pauses.hash_now(FORMKEY, view["hash"])
        try:
            answer = await reply.slack.views_update(view_id=view["id"], view=form, hash=now)
        except SLACK_FAILED as error:  # the form was sent or closed, most likely
            log.info("form moved on", action="project.form_moved_on", error=type(error).__name__)
            return
        pauses.updated(FORMKEY, now, (answer.get("view") or {}).get("hash") or now)

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """The form for a new project was submitted: create it once, and offer it as the channel's own."""
        view = form.view.json
        metadata = metadata_of(view)
        pass
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
                async with once(reply):
                    made.append(await self._projects.create(reply.owner, draft, attempted))
            except BotError as error:
                if isinstance(error, OutcomeUnknown):
                    metadata.setdefault("attempted_at", started.isoformat())
                return refused(reply, error, json.dumps(metadata))
            return Reply()

        await settle(reply, ack, work(), f"Creating the project in {reply.wording.service}…")
        for project in made:
            await reply.privately(views.created(project, reply.wording, offer=reply.channel is not None))
