"""Opens, refreshes and submits the form for a new issue."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

from bot.errors import OutcomeUnknown, Refused, UserError
from bot.features.accounts.accounts import Accounts, Session
from bot.features.files.attach import Files
from bot.features.files.jobs import FileJobs, new_batch
from bot.features.files.views import progress
from bot.features.issues import create_form, views
from bot.features.issues.announce import announce_and_confirm
from bot.features.issues.drafts import draft_from_message
from bot.features.issues.duplicate_handlers import DuplicateHandlers, source_as_json, source_from_metadata
from bot.features.issues.issues import Draft, Issues, Source
from bot.features.projects.catalog import Catalogs
from bot.features.projects.projects import Projects
from bot.features.users.people import People
from bot.service.models import Project
from bot.slack import forms
from bot.slack.blocks import JSON, option
from bot.slack.debounce import Debouncer
from bot.slack.feature import Feature, Form
from bot.slack.forms import NONSENSE, FormResult, loading, number_in
from bot.slack.interaction import ButtonPress, FormSubmission, OptionsRequest, Place, Shortcut, View
from bot.slack.posting import reason
from bot.slack.replies import FormNotShown, Reply
from bot.store.owner import Owner

TITLE = "New issue"
DRAFT_LENGTH = 1500
"""Characters of JSON that a draft may have in the form's metadata."""


def _missing_fields(draft: Draft) -> dict[str, str]:
    """Errors at the required fields that are empty."""
    missing = {} if draft.subject else {"subject": "Write a subject."}
    return missing if draft.project else missing | {"project": "Choose a project."}


def _form_of(press: ButtonPress[Any]) -> View:
    if press.view is None:
        raise UserError(NONSENSE)
    return press.view


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
        listed = ("tracker", "status", "priority", "assignee", "category", "version", "watchers")
        return Feature(
            shortcuts={"create_issue": self.open_create, "issue_from_message": self.open_from_message},
            buttons={
                "issue.project": self.project_chosen,
                "issue.tracker": self.tracker_chosen,
                "home.create": self.open_create,
            },
            forms={"issue.create": Form(self.submit, "Creating it in {service}…")},
            options={
                "issue.project": self.project_options,
                "issue.parent": self.parent_options,
                "issue.custom": self.custom_options,
                **{f"issue.{name}": self.choice_options for name in listed},
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
            told = draft.model_dump(mode="json", exclude_defaults=True, exclude={"subject", "description"})
            if len(json.dumps(told)) <= DRAFT_LENGTH:
                metadata = metadata | {"draft": told}
            return create_form.create_form(
                draft, None, None, json.dumps(metadata), notes=await looking, files=files
            )
        catalog, notes = await asyncio.gather(self._catalogs.of(session, project.id), looking)
        said = create_form.unknown(draft, catalog)
        try:
            named = [one for one in (draft.to, *draft.watch) if one]
            found = [await self._people.find(session, one, catalog) for one in named]
            ids = [f"#{person.id}" for person in found]
            to, watch = (ids[0], ids[1:]) if draft.to else (None, ids)
            draft = draft.model_copy(update={"to": to, "watch": tuple(watch)})
        except UserError as error:
            said.append(reply.wording.sentence(error))
        return create_form.create_form(
            draft,
            project,
            catalog,
            json.dumps(metadata),
            " ".join(said) or None,
            notes=notes,
            files=files,
            required=self._catalogs.required(reply.owner, project.id),
        )

    async def project_chosen(self, press: ButtonPress[Any], reply: Reply) -> None:
        """Another project was chosen: offer its choices and keep the typed values."""
        await self._refresh(press, reply, _form_of(press), number_in(press.value))

    async def tracker_chosen(self, press: ButtonPress[Any], reply: Reply) -> None:
        """Another tracker was chosen: mark the fields that it requires."""
        view = _form_of(press)
        await self._refresh(press, reply, view, forms.Values(view.json).number("project"))

    async def _refresh(
        self, press: ButtonPress[Any], reply: Reply, view: View, project_id: int | None
    ) -> None:
        refreshed = await self.refreshed_form(reply, view, project_id)
        known = view.json.get("hash")
        over = self._pauses.hash_now(press.form_key, known) if known else None
        try:
            await reply.show(refreshed, over=over)
        except FormNotShown as error:
            # A later choice has its own refresh, and that one has to stay.
            if reason(error) != "hash_conflict":
                raise

    async def refreshed_form(self, reply: Reply, view: View, project_id: int | None) -> JSON:
        """The form with another project's choices and all entered values."""
        metadata = dict(view.metadata)
        draft = create_form.carried_over(view.json)
        if waiting := metadata.pop("draft", None):
            typed = draft.model_dump(include={"subject", "description"})
            draft = Draft.model_validate(waiting).model_copy(update=typed)
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
        if missing := _missing_fields(draft):
            return FormResult(errors=missing)
        if create_form.outdated(view):
            again = await self.refreshed_form(reply, form.view, forms.Values(view).number("project"))
            said = "The choices below are this project's now: look them over and send it again."
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
            blocks = views.created(made, reply.wording, None).blocks
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

    async def parent_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """Issues by number or subject, in the form's project."""
        project = forms.Values(request.view.json if request.view else {}).number("project")
        async with self._accounts.reading(reply.owner) as session:
            found = await self._issues.suggest(session, request.text, project)
        return [option(f"#{issue.id} {issue.subject}", str(issue.id)) for issue in found]

    async def choice_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """A select whose choices are too many to list at once."""
        name, tag = request.name.partition(".")[2], request.block_id.partition(":")[2]
        async with self._accounts.reading(reply.owner) as session:
            catalog = await self._catalogs.of(session, number_in(tag) if tag else None)
        sought = request.text.strip().casefold()
        refs = create_form.choices_of(catalog).get(name, ())
        return [option(ref.name, str(ref.id)) for ref in refs if sought in ref.name.casefold()]

    async def custom_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """The select of a custom field that has a list of values."""
        name, _, tag = request.block_id.partition(":")
        async with self._accounts.reading(reply.owner) as session:
            catalog = await self._catalogs.of(session, number_in(tag))
        field = catalog.custom_field(number_in(name.removeprefix("cf_")))
        return create_form.custom_values(field, request.text)
