"""The form for a new issue, however it is opened: its choices, its refreshes, its submission."""

import asyncio
import json
from datetime import UTC, datetime

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
from bot.slack.forms import FormResult, number_in
from bot.slack.interaction import (
    ButtonPress,
    FormSubmission,
    OptionsRequest,
    Place,
    Shortcut,
    reason,
)
from bot.slack.replies import Reply

WAITING = 1500


def _lacking(draft: Draft) -> dict[str, str]:
    """Errors at the fields without which there is no issue."""
    missing = {} if draft.subject else {"subject": "Write a subject."}
    return missing if draft.project else missing | {"project": "Choose a project."}


# Choices that are searched as one types


class CreateFormHandlers:
    """TODO"""

    def __init__(
        self,
        accounts: TODO_accounts,
        catalogs: TODO_catalogs,
        people: TODO_people,
        pauses: TODO_pauses,
        projects: TODO_projects,
        issues: TODO_issues,
        files: TODO_files,
    ) -> None:
        self._accounts = accounts
        self._catalogs = catalogs
        self._people = people
        self._pauses = pauses
        self._projects = projects
        self._issues = issues
        self._files = files

    async def open_create(self, reply: Reply) -> None:
        """The global shortcut."""
        await self.open_form(reply, Draft())

    async def open_from_message(self, shortcut: Shortcut, reply: Reply) -> None:
        """The message shortcut: the form filled from the message, announced in its thread."""
        if not reply.view_id:
            await reply.show(issue_form.loading("New issue"))
        message = shortcut.message
        channel, ts = reply.place.channel_id or "", message["ts"]
        thread = Place(channel, message.get("thread_ts") or ts, reply.place.response_url)
        job = await jobs.keep(reply, await jobs.of_message(reply, message)) if message.get("files") else None
        await self.open_form(
            reply.at(thread), await draft_from(reply, message), Source(channel, ts), files_job=job
        )

    async def open_form(
        self, reply: Reply, draft: Draft, source: Source | None = None, *, files_job: str | None = None
    ) -> None:
        """Open the form at once, then fill it with what can be chosen.

        `source` is what it is made from, `files_job` the job of the files that can come along (see `filejobs`).
        """
        if not reply.view_id:
            await reply.show(issue_form.loading("New issue"))
        async with self._accounts.reading(reply.owner) as session:
            project = await self._project(reply, session, draft)
            metadata = {
                "place": reply.place.as_json(),
                "source": duplicates.written(source),
                "files": files_job,
            }
            view = await self.filled(reply, session, draft, project, metadata)
        await reply.show(view)

    async def filled(
        self, reply: Reply, session: Session, draft: Draft, project: Project | None, metadata: JSON
    ) -> JSON:
        """The form with the choices of a project."""
        files = await jobs.field(reply, metadata)
        about = duplicates.notes(reply, session, draft.subject, project.id if project else None, metadata)
        if project is None:
            # Its fields come with the project: until then, what was asked for waits here.
            told = draft.model_dump(mode="json", exclude_defaults=True, exclude={"subject", "description"})
            if len(json.dumps(told)) <= WAITING:
                metadata = metadata | {"draft": told}
            return issue_form.create_form(
                draft, None, None, json.dumps(metadata), notes=await about, files=files
            )
        catalog, notes = await asyncio.gather(self._catalogs.of(session, project.id), about)
        said = issue_form.unknown(draft, catalog)
        try:
            named = [one for one in (draft.to, *draft.watch) if one]
            found = [await self._people.find(session, one, catalog) for one in named]
            ids = [f"#{person.id}" for person in found]
            to, watch = (ids[0], ids[1:]) if draft.to else (None, ids)
            draft = draft.model_copy(update={"to": to, "watch": tuple(watch)})
        except UserError as error:
            said.append(reply.wording.sentence(error))
        return issue_form.create_form(
            draft,
            project,
            catalog,
            json.dumps(metadata),
            " ".join(said) or None,
            notes=notes,
            files=files,
            required=self._catalogs.required(reply.owner, project.id),
        )

    async def project_chosen(self, press: ButtonPress, reply: Reply) -> None:
        """Another project was chosen in the form: offer its choices and keep what was typed."""
        await self._refresh(reply, number_in(press.value))

    async def tracker_chosen(self, reply: Reply) -> None:
        """Another tracker was chosen in the form: mark what it requires."""
        await self._refresh(reply, forms.Values(reply.view).number("project"))

    async def _refresh(self, reply: Reply, chosen: int | None) -> None:
        view = reply.view
        refreshed = await self.refreshed_form(reply, view, chosen)
        known = view.get("hash")
        try:
            await reply.show(refreshed, over=self._pauses.hash_now(FORMKEY, known) if known else None)
        except SlackApiError as error:
            # A choice made since then has its own refresh, and that one has to stay.
            if reason(error) != "hash_conflict":
                raise

    async def refreshed_form(self, reply: Reply, view: JSON, chosen: int | None) -> JSON:
        """The form with the choices of the project with the id `chosen`, and all that it holds."""
        metadata = metadata_of(view)
        draft = issue_form.carried_over(view)
        if waiting := metadata.pop("draft", None):
            typed = draft.model_dump(include={"subject", "description"})
            draft = Draft.model_validate(waiting).model_copy(update=typed)
        async with self._accounts.reading(reply.owner) as session:
            project = await self._projects.by_id(session, chosen) if chosen else None
            return await self.filled(reply, session, draft, project, metadata)

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """The form was submitted: create once, and keep everything in it when that fails."""
        view = form.view.json
        metadata = metadata_of(view)
        pass
        try:
            draft = issue_form.submitted(view)
        except WrongField as error:
            await at_fields(ack, refused(reply, error).errors or {})
            return
        if missing := _lacking(draft):
            await at_fields(ack, missing)
            return
        made: list[Created] = []
        attempted = moment_in(metadata, "attempted_at")
        load = jobs.load_since(attempted)

        async def work() -> Reply:
            if issue_form.outdated(view):
                again = await self.refreshed_form(reply, view, forms.Values(view).number("project"))
                said = "The choices below are this project's now: look them over and send it again."
                return Reply(view=forms.warned(again, said), said=said)
            started = datetime.now(UTC)
            try:
                async with once(reply):
                    await jobs.choose(reply, metadata, load)
                    made.append(
                        await self._issues.create(
                            reply.owner,
                            draft,
                            reply.channel,
                            attempted,
                            source=duplicates.source_of(metadata),
                            upload=lambda session: self._files.upload(session, load),
                        )
                    )
            except BotError as error:
                if isinstance(error, OutcomeUnknown):
                    metadata.setdefault("attempted_at", started.isoformat())
                reply = refused(reply, error, json.dumps(metadata))
                self._note_required(reply, reply)
                return reply
            await self._files.attached(reply.owner, made[0].issue.id, load)
            if reply.place.channel_id:
                return Reply()
            blocks = views.created(made[0], reply.wording, None).blocks
            return Reply(view=forms.said("Created", [*blocks, *await jobs.beside(reply, made[0], load)]))

        await settle(reply, ack, work(), lambda: progress(load, f"Creating it in {reply.wording.service}…"))
        if made and reply.place.channel_id:
            if load.files:
                await reply.privately(await jobs.told(reply, made[0].issue.id, load))
            await tell(reply, made[0])

    def _note_required(self, reply: Reply, reply: Reply) -> None:
        """Remember the custom fields that were left empty and that the service complains about."""
        values = forms.Values(reply.view)
        project, empty = values.number("project"), issue_form.left_empty(reply.view, reply.errors or ())
        if project and empty:
            self._catalogs.note_required(reply.owner, project, values.number("tracker"), empty)

    async def project_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """Projects by name or identifier."""
        found = await self._projects.search(reply.owner, request.text)
        return [option(project.name, str(project.id)) for project in found]

    async def parent_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """Issues by number or subject, in the form's project."""
        values = forms.Values(reply.body.get("view") or {})
        project = values.number("project")
        async with self._accounts.reading(reply.owner) as session:
            found = await self._issues.suggest(session, request.text, project)
        return [option(f"#{issue.id} {issue.subject}", str(issue.id)) for issue in found]

    async def choice_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """A select of the form whose choices are too many to be listed at once."""
        name = str(reply.body.get("action_id", "")).partition(".")[2]
        tag = str(reply.body.get("block_id", "")).partition(":")[2]
        async with self._accounts.reading(reply.owner) as session:
            catalog = await self._catalogs.of(session, forms.number_in(tag) if tag else None)
        sought = request.text.strip().casefold()
        refs = issue_form.choices_of(catalog).get(name, ())
        return [option(ref.name, str(ref.id)) for ref in refs if sought in ref.name.casefold()]

    async def custom_options(self, reply: Reply, text: str) -> list[JSON]:
        """The select of a custom field that has a list of values."""
        name, _, tag = str(reply.body.get("block_id", "")).partition(":")
        async with self._accounts.reading(reply.owner) as session:
            catalog = await self._catalogs.of(session, forms.number_in(tag))
        return issue_form.custom_values(catalog.custom_field(forms.number_in(name.removeprefix("cf_"))), text)

    async def _project(self, reply: Reply, session: Session, draft: Draft) -> Project | None:
        if draft.project is not None:
            return await self._projects.find(session, draft.project)
        if (default := await self._projects.default_in(session, reply.channel)) is not None:
            return default
        projects = await self._projects.visible(session)
        return projects[0] if len(projects) == 1 else None
