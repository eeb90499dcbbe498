"""The project commands of `/tracker`: projects, project, project new and default."""

from datetime import UTC, datetime
from functools import partial
from typing import Any

from pydantic import AwareDatetime

from bot.access.name_matching import UnclearName, identifier_of, meant
from bot.errors import OutcomeUnknown
from bot.features.parts import Parts
from bot.features.projects import views
from bot.features.projects.views import MakeDefault, ShowProject
from bot.service.inputs import NewProject
from bot.slack.incoming.debounce import Debouncer
from bot.slack.incoming.feature import Feature, Form
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.forms import FormResult, loading
from bot.slack.surfaces.interaction import ButtonPress, FormSubmission
from bot.slack.surfaces.view import Metadata


class ProjectMetadata(Metadata):
    """Of the form for a new project: when an attempt began whose outcome is unknown."""

    tried_at: AwareDatetime | None = None


class ProjectHandlers:
    def __init__(self, parts: Parts) -> None:
        self.projects, self.accounts = parts.projects, parts.accounts
        self.pauses = Debouncer(parts.delays.typing)

    def feature(self) -> Feature:
        return Feature(
            buttons={
                views.NAME_TYPED: self.name_typed,
                MakeDefault: lambda press, reply: self.set_default(reply, str(press.button.project)),
                ShowProject: lambda press, reply: self.show(reply, str(press.button.project)),
            },
            forms={"project.new": Form(self.submit, "Creating the project in {service}…")},
        )

    async def list_projects(self, reply: Reply, text: str) -> None:
        projects = await self.projects.search(reply.owner, text)
        await reply.privately(views.projects(projects, text, reply.wording))

    async def show(self, reply: Reply, name: str, *, members: bool = False) -> None:
        """Show a project; if its `members` were asked for, say where they are listed."""
        try:
            project = await self.projects.show(reply.owner, name)
        except UnclearName as error:
            await self._offer(reply, error, ShowProject)
            return
        description = await reply.wording.mrkdwn(project.description)
        await reply.privately(views.project(project, reply.wording, description, members=members))

    async def set_default(self, reply: Reply, name: str) -> None:
        channel = reply.own_channel
        try:
            project = await self.projects.set_default(reply.owner, channel, name)
        except UnclearName as error:
            await self._offer(reply, error, MakeDefault)
        else:
            await reply.privately(views.default_set(project, channel))

    async def show_default(self, reply: Reply) -> None:
        channel = reply.own_channel
        async with self.accounts.reading(reply.owner) as session:
            visible = await self.projects.visible(session)
            project = await self.projects.default_in(session, channel)
        await reply.privately(views.default(project, visible, channel, reply.wording))

    async def clear_default(self, reply: Reply) -> None:
        channel = reply.own_channel
        await self.projects.clear_default(reply.owner, channel)
        await reply.privately(views.default_cleared(channel))

    async def _offer(self, reply: Reply, error: UnclearName, action: type[MakeDefault | ShowProject]) -> None:
        """Offer the projects that may be meant, or else all. Raises the error if there is none."""
        candidates = meant(error)
        if not candidates:
            raise error
        await reply.privately(views.candidates(reply.wording.sentence(error), candidates, action))

    async def open_form(self, reply: Reply, name: str) -> None:
        await reply.open(loading("New project"))
        await self.accounts.whoami(reply.owner)
        draft = NewProject(name=name, identifier=identifier_of(name))
        await reply.show(views.new_form(draft, ProjectMetadata(place=reply.place.as_json()).dump()))

    async def name_typed(self, press: ButtonPress[Any], reply: Reply) -> None:
        """Suggest an identifier once the user stops typing the name."""
        if press.view is None or not await self.pauses.wait(press.form_key, press.pressed_at):
            return
        view = press.view.json
        if (form := views.with_suggestion(view)) is not None:
            await self.pauses.update(reply.slack, press, view, form, "project.form_moved_on")

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        view, metadata = form.view.json, ProjectMetadata.of(form.view)
        draft = views.submitted(view)
        if not draft.identifier:
            field = forms.Values(view).block_ids["identifier"]
            return FormResult(errors={field: "Enter an identifier. I can't make one from this name."})

        started = datetime.now(UTC)
        try:
            project = await self.projects.create(reply.owner, draft, metadata.tried_at)
        except OutcomeUnknown as error:
            later = metadata.model_copy(update={"tried_at": metadata.tried_at or started})
            return FormResult.again(view, reply.wording.sentence(error), later.dump())
        created = views.created(project, reply.wording, offer=reply.channel is not None)
        return FormResult(then=partial(reply.privately, created))
