"""Opens, refreshes and submits the form for a new issue."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

from bot.errors import OutcomeUnknown, Refused
from bot.features.accounts.accounts import Accounts, Session
from bot.features.files.attach import Files
from bot.features.files.jobs import FileJobs, new_batch
from bot.features.files.views import progress
from bot.features.issues import views
from bot.features.issues.announce import announce_and_confirm
from bot.features.issues.buttons import ChooseProject, ChooseTracker, OpenIssueForm
from bot.features.issues.fields import FIELDS, Draft, Kind, choices_of
from bot.features.issues.issues import Issues, Source
from bot.features.issues.resolution import Names
from bot.features.new_issue import form as create_form
from bot.features.new_issue.duplicate_handlers import DuplicateHandlers, source_as_json, source_from_metadata
from bot.features.new_issue.form import TITLE
from bot.features.new_issue.from_message import draft_from_message
from bot.features.projects.catalog import Catalogs
from bot.features.projects.projects import Projects
from bot.features.users.people import People
from bot.service.models import Project
from bot.slack import forms
from bot.slack.blocks import JSON, option
from bot.slack.buttons import ActionExpired
from bot.slack.debounce import Debouncer
from bot.slack.feature import Feature, Form
from bot.slack.forms import FormResult, loading, number_in
from bot.slack.interaction import ButtonPress, FormSubmission, OptionsRequest, Place, Shortcut, View
from bot.slack.posting import Announced, reason
from bot.slack.replies import FormNotShown, Reply
from bot.store.owner import Owner

DRAFT_LENGTH = 1500
"""Characters of JSON that a draft may have in the form's metadata."""


class CreateFormHandlers:
    """The form for a new issue and its searched choices."""

    def __init__(
        self,
        issues: Issues,
        accounts: Accounts,
        projects: Projects,
        catalogs: Catalogs,
        people: People,
        *,
        duplicates: DuplicateHandlers,
        files: Files,
        jobs: FileJobs,
        pauses: Debouncer,
    ) -> None:
        self._issues = issues
        self._accounts = accounts
        self._projects = projects
        self._catalogs = catalogs
        self._people = people
        self._duplicates = duplicates
        self._files = files
        self._jobs = jobs
        self._pauses = pauses

    def feature(self) -> Feature:
        choices = {f"issue.{field.name}": self.choice_options for field in FIELDS.values() if field.choices}
        issues = {
            f"issue.{field.name}": self.issue_options for field in FIELDS.values() if field.kind is Kind.ISSUE
        }
        return Feature(
            shortcuts={"create_issue": self.open_create, "issue_from_message": self.open_from_message},
            buttons={
                ChooseProject: self.project_chosen,
                ChooseTracker: self.tracker_chosen,
                OpenIssueForm: self.open_create,
            },
            forms={create_form.CALLBACK_ID: Form(self.submit, "Creating it in {service}…")},
            options={
                ChooseProject.action: self.project_options,
                "issue.custom": self.custom_options,
                **choices,
                **issues,
            },
        )

    # Opening and refreshing

    async def open_create(self, _: Shortcut | ButtonPress[Any], reply: Reply) -> None:
        """The global shortcut, and the button on the Home tab."""
        await self.open_form(reply, Draft())

    async def open_from_message(self, shortcut: Shortcut, reply: Reply) -> None:
        """The message shortcut: the form filled from the message, announced in its thread."""
        if not reply.view_id:
            await reply.show(loading(TITLE))
        message = shortcut.message
        channel, ts = reply.place.channel_id or "", message["ts"]
        thread = Place(channel, message.get("thread_ts") or ts, reply.place.response_url)
        job = None
        if message.get("files"):
            job = await self._jobs.save(reply, await self._jobs.from_message(reply, message))
        draft = await draft_from_message(reply, message)
        await self.open_form(reply.at(thread), draft, Source(channel, ts), files_job=job)

    async def open_form(
        self, reply: Reply, draft: Draft, source: Source | None = None, *, files_job: str | None = None
    ) -> None:
        """Open the form at once, then fill it with its choices.

        `source` is the message that the issue is created from; `files_job` is the id of the `FileJobs` job
        whose files can be attached.
        """
        if not reply.view_id:
            await reply.show(loading(TITLE))
        async with self._accounts.reading(reply.owner) as session:
            project = await self._project(reply, session, draft)
            metadata = {"place": reply.place.as_json(), "source": source_as_json(source), "files": files_job}
            view = await self.filled(reply, session, draft, project, metadata)
        await reply.show(view)

    async def filled(
        self, reply: Reply, session: Session, draft: Draft, project: Project | None, metadata: JSON
    ) -> JSON:
        """The form with the choices of a project."""
        files = await self._jobs.form_field(reply, metadata)
        project_id = project.id if project else None
        looking = self._duplicates.notes(reply, session, draft.subject, project_id, metadata)
        if project is None:
            # The other fields appear once a project is chosen: until then, the metadata keeps their values.
            shown = {key for key, field in FIELDS.items() if field.before_project}
            kept = draft.model_dump(
                mode="json", exclude_defaults=True, exclude={"subject": True, "values": shown}
            )
            if len(json.dumps(kept)) <= DRAFT_LENGTH:
                metadata = metadata | {"draft": kept}
            return create_form.create_form(
                draft, None, (), json.dumps(metadata), notes=await looking, files=files
            )
        catalog, notes = await asyncio.gather(self._catalogs.of(session, project.id), looking)
        meant, errors = await Names(self._people, session, catalog).known(draft)
        required = self._catalogs.required(reply.owner, project.id)
        return create_form.create_form(
            draft,
            project,
            create_form.project_fields(draft, meant, project, catalog, required),
            json.dumps(metadata),
            " ".join(map(reply.wording.sentence, errors)) or None,
            notes=notes,
            files=files,
        )

    async def project_chosen(self, press: ButtonPress[ChooseProject], reply: Reply) -> None:
        """Another project was chosen: offer its choices and keep the typed values."""
        await self._refresh(press, reply, press.button.project)

    async def tracker_chosen(self, press: ButtonPress[ChooseTracker], reply: Reply) -> None:
        """Another tracker was chosen: mark the fields that it requires."""
        await self._refresh(press, reply, None)

    async def _refresh(self, press: ButtonPress[Any], reply: Reply, project_id: int | None) -> None:
        """Show the form for a project, by default the one that is chosen in it."""
        if (view := press.view) is None:
            raise ActionExpired
        refreshed = await self.refreshed_form(reply, view, project_id)
        known = view.json.get("hash")
        over = self._pauses.hash_now(press.form_key, known) if known else None
        try:
            await reply.show(refreshed, over=over)
        except FormNotShown as error:
            # A later choice has its own refresh, and that one has to stay.
            if reason(error) != "hash_conflict":
                raise

    async def refreshed_form(self, reply: Reply, view: View, project_id: int | None = None) -> JSON:
        """The form with another project's choices and all entered values."""
        project_id = project_id or forms.Values(view.json).number("project")
        metadata = dict(view.metadata)
        draft = create_form.carried_over(view.json)
        if kept := metadata.pop("draft", None):
            waiting = Draft.model_validate(kept)
            values = {**waiting.values, **draft.values}
            draft = waiting.model_copy(update={"subject": draft.subject, "values": values})
        async with self._accounts.reading(reply.owner) as session:
            project = await self._projects.by_id(session, project_id) if project_id else None
            return await self.filled(reply, session, draft, project, metadata)

    async def _project(self, reply: Reply, session: Session, draft: Draft) -> Project | None:
        if draft.project is not None:
            return await self._projects.find(session, draft.project)
        if (default := await self._projects.default_in(session, reply.channel)) is not None:
            return default
        projects = await self._projects.visible(session)
        return projects[0] if len(projects) == 1 else None

    # Submitting

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Create the issue once; on failure the form keeps all entered values."""
        view = form.view.json
        draft = create_form.submitted(view)
        if missing := create_form.missing(draft):
            return FormResult(errors=missing)
        if create_form.outdated(view):
            said = create_form.OUTDATED
            again = await self.refreshed_form(reply, form.view)
            return FormResult(view=forms.warned(again, said), said=said)
        attempted, started = form.view.moment("attempted_at"), datetime.now(UTC)
        batch = new_batch(attempted)
        reply.progress = lambda: progress(batch, f"Creating it in {reply.wording.service}…")
        try:
            await self._jobs.fill_from_form(reply, form, batch)
            made = await self._issues.create(
                reply.owner,
                draft,
                reply.channel,
                attempted,
                source=source_from_metadata(form.view.metadata),
                upload=lambda session: self._files.upload(session, batch),
            )
        except OutcomeUnknown as error:
            metadata = {"attempted_at": started.isoformat()} | form.view.metadata
            said = reply.wording.sentence(error)
            return FormResult(view=forms.refilled(view, said, json.dumps(metadata)), said=said)
        except Refused as error:
            self._note_required(reply.owner, view, error)
            raise
        reply.committed = True
        await self._files.attached(reply.owner, made.issue.id, batch)
        if not reply.place.channel_id:
            blocks = views.created(made, reply.wording, Announced.NOWHERE).blocks
            beside = await self._jobs.result_blocks(reply, made, batch)
            return FormResult(view=forms.said("Created", [*blocks, *beside]))

        async def announce() -> None:
            if batch.files:
                await reply.privately(await self._jobs.results(reply, made.issue.id, batch))
            await announce_and_confirm(reply, made)

        return FormResult(then=announce)

    def _note_required(self, owner: Owner, view: JSON, refused: Refused) -> None:
        """Remember the custom fields that were left empty and that the service requires."""
        values, refused_fields = forms.Values(view), forms.at_fields(view, refused.errors) or ()
        project, empty = values.number("project"), create_form.left_empty(view, refused_fields)
        if project and empty:
            self._catalogs.note_required(owner, project, values.number("tracker"), empty)

    # Searched choices

    async def project_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """Projects by name or identifier."""
        found = await self._projects.search(reply.owner, request.text)
        return [option(project.name, str(project.id)) for project in found]

    async def issue_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """Issues by number or subject, in the form's project."""
        project = forms.Values(request.view.json if request.view else {}).number("project")
        async with self._accounts.reading(reply.owner) as session:
            found = await self._issues.suggest(session, request.text, project)
        return [views.issue_option(issue) for issue in found]

    async def choice_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """A select whose choices are too many to list at once."""
        name, tag = request.name.partition(".")[2], request.block_id.partition(":")[2]
        async with self._accounts.reading(reply.owner) as session:
            catalog = await self._catalogs.of(session, number_in(tag) if tag else None)
        sought = request.text.strip().casefold()
        refs = choices_of(catalog).get(name, ())
        return [option(ref.name, str(ref.id)) for ref in refs if sought in ref.name.casefold()]

    async def custom_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """The select of a custom field that has a list of values."""
        name, _, tag = request.block_id.partition(":")
        async with self._accounts.reading(reply.owner) as session:
            catalog = await self._catalogs.of(session, number_in(tag))
        field = catalog.custom_field(number_in(name.removeprefix("cf_")))
        return create_form.custom_values(field, request.text)
