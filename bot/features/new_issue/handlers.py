"""Opens, refreshes and submits the form for a new issue."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from bot.errors import (
    BotError,
    Forbidden,
    KeyInRequest,
    NotFound,
    NotLinked,
    OutcomeUnknown,
    Refused,
    TooLarge,
    UserError,
)
from bot.features.accounts.accounts import Accounts
from bot.features.files.attach import Files
from bot.features.files.jobs import FileJobs, new_batch
from bot.features.files.views import progress
from bot.features.issues import views
from bot.features.issues.announce import FollowPost, announce_and_confirm
from bot.features.issues.buttons import (
    ChooseProject,
    ChooseTracker,
    MoreFields,
    NewIssueWithFiles,
    OpenDraft,
    OpenIssueForm,
)
from bot.features.issues.creating import Creating, Source
from bot.features.issues.errors import IssueRefused, UnknownSubcommand, fields_of
from bot.features.issues.fields import DESCRIPTION, Draft
from bot.features.issues.inputs import names_in
from bot.features.issues.issues import Assigned, Issues
from bot.features.issues.publicity import Publicity
from bot.features.name_matching import AmbiguousName, UnknownName
from bot.features.new_issue import form as create_form
from bot.features.new_issue import long_description
from bot.features.new_issue import templates as form_templates
from bot.features.new_issue.filling import FormFilling
from bot.features.new_issue.form import TITLE, Shown
from bot.features.new_issue.from_message import draft_from_message
from bot.features.new_issue.metadata import NewIssueMetadata
from bot.features.new_issue.thread import ThreadInclusion
from bot.features.templates.buttons import ChooseTemplate, UseTemplate
from bot.features.templates.templates import Templates
from bot.slack import forms
from bot.slack.blocks import JSON, Block, button_row, shortened
from bot.slack.buttons import ActionExpired
from bot.slack.debounce import Debouncer
from bot.slack.errors import FormExpired
from bot.slack.feature import Feature, Form
from bot.slack.forms import FormResult, loading
from bot.slack.interaction import ButtonPress, FormSubmission, Place, Shortcut, View
from bot.slack.mentions import writer
from bot.slack.posting import Announced, reason
from bot.slack.redaction import without_keys
from bot.slack.replies import FormNotShown, Reply
from bot.store.saved_input import SavedInput

OFFERED = (UserError, Refused, Forbidden, NotFound, TooLarge)
"""Errors that another try in the form may avoid."""


@dataclass(frozen=True)
class CreateFormHandlers:
    """The form for a new issue."""

    accounts: Accounts
    issues: Issues
    creating: Creating
    publicity: Publicity
    filling: FormFilling
    files: Files
    jobs: FileJobs
    thread: ThreadInclusion
    saved: SavedInput
    pauses: Debouncer
    assigned: Assigned
    templates: Templates
    follow_post: FollowPost

    def feature(self) -> Feature:
        return Feature(
            shortcuts={"create_issue": self.open_create, "issue_from_message": self.open_from_message},
            buttons={
                **dict.fromkeys(
                    (ChooseProject, ChooseTracker, ChooseTemplate, MoreFields), self.form_changed
                ),
                UseTemplate: self.open_from_template,
                OpenIssueForm: self.open_create,
                OpenDraft: self.open_draft,
                NewIssueWithFiles: self.open_with_files,
            },
            forms={
                create_form.CALLBACK_ID: Form(self.submit, "Creating the issue in {service}…", looks=True)
            },
        )

    # Opening and refreshing

    async def open_create(self, _: Shortcut | ButtonPress[Any], reply: Reply) -> None:
        """The global shortcut, and the button on the Home tab."""
        await self.open_form(reply, Draft())

    async def open_from_template(self, press: ButtonPress[UseTemplate], reply: Reply) -> None:
        """*Use template* in the list of templates."""
        use = press.button
        await self.open_form(reply, Draft(project=f"#{use.project}", template=f"#{use.template}"))

    async def open_from_message(self, shortcut: Shortcut, reply: Reply) -> None:
        """The message shortcut: the form filled from the message, announced in its thread."""
        await self.open_for_message(reply, shortcut.message)

    async def open_for_message(self, reply: Reply, message: JSON) -> None:
        """The form filled from a message in the reply's channel."""
        await reply.show(loading(TITLE))
        channel, ts = reply.place.channel_id or "", message["ts"]
        thread = Place(channel, message.get("thread_ts") or ts, reply.place.response_url)
        draft, files, offered = await asyncio.gather(
            draft_from_message(reply, message),
            self._files_of(reply, message),
            self.thread.look(reply, message),
        )
        saved = await self.thread.save(reply, offered, message, draft.description) if offered else None
        metadata = NewIssueMetadata(source=Source(channel, ts), files=files, thread=saved)
        await self.open_form(reply.at(thread), draft, metadata)

    async def _files_of(self, reply: Reply, message: JSON) -> str | None:
        """The ID of the saved job for a message's files; None if it has none."""
        if not message.get("files"):
            return None
        return await self.jobs.save(reply, await self.jobs.from_message(reply, message))

    async def open_with_files(self, press: ButtonPress[NewIssueWithFiles], reply: Reply) -> None:
        """*Create a new issue with them*: the form with files that were chosen before."""
        job = await self.jobs.load(reply, press.button.job)
        place = Place.from_json(job.place)
        if reply.in_form:  # this button was the form's answer: the new form replaces it
            await reply.show(loading(TITLE))
        draft, source = Draft(), None
        if job.message and place.channel_id:
            draft = await draft_from_message(reply.at(place), job.message)
            source = Source(place.channel_id, job.message["ts"])
        elif job.issue:
            async with self.accounts.reading(reply.owner) as session:
                issue = await self.issues.one(session, job.issue)
            draft = Draft(
                subject=f"Files for #{issue.id} {issue.subject}",
                project=f"#{issue.project.id}" if issue.project else None,
                values={"desc": f"Files for #{issue.id}."},
            )
        fresh = await self.jobs.save(reply, job.model_copy(update={"issue": None}))
        await self.open_form(reply.at(place), draft, NewIssueMetadata(source=source, files=fresh))

    async def open_form(
        self,
        reply: Reply,
        draft: Draft,
        metadata: NewIssueMetadata = NewIssueMetadata(),  # noqa: B008 - it is frozen
        shown: Shown = Shown(),  # noqa: B008 - it is frozen
    ) -> None:
        """Open the form at once, then fill it with its choices."""
        if not reply.view_id:
            await reply.show(loading(TITLE))
        metadata = metadata.model_copy(update={"place": reply.place.as_json()})
        await reply.show(await self.filling.opened(reply, draft, metadata=metadata, shown=shown))

    async def offer(self, reply: Reply, draft: Draft, error: BotError) -> Block | None:
        """A button that opens the form with what was understood; None if the form can't help."""
        if isinstance(error, NotLinked | KeyInRequest) or not isinstance(error, OFFERED):
            return None
        said = "" if isinstance(error, UnknownSubcommand) else without_keys(reply.wording.sentence(error))
        named = isinstance(error, AmbiguousName | UnknownName | Forbidden | NotFound)
        # A name elsewhere than in the project is a WrongField.
        fields = ("project",) if named else fields_of(error)
        saved = await self.saved.put(
            reply.owner,
            {
                "draft": draft.model_dump(mode="json", exclude_defaults=True),
                "said": said,
                "wrong": fields,
                "needed": fields if isinstance(error, IssueRefused) else (),
            },
        )
        label = "Open form" if said else f"Create issue “{shortened(without_keys(draft.subject), 50)}”"
        return button_row(label, OpenDraft(saved=saved))

    async def open_draft(self, press: ButtonPress[OpenDraft], reply: Reply) -> None:
        """*Open form*: the form with the draft that was saved."""
        await reply.open(loading(TITLE))
        saved = await self.saved.get(reply.owner, press.button.saved)
        if saved is None:
            raise FormExpired("issue")
        shown = Shown(said=saved["said"], wrong=tuple(saved["wrong"]), needed=frozenset(saved["needed"]))
        await self.open_form(reply, Draft.model_validate(saved["draft"]), shown=shown)

    async def form_changed(
        self, press: ButtonPress[ChooseProject | ChooseTracker | ChooseTemplate | MoreFields], reply: Reply
    ) -> None:
        """Another project, tracker or template, or *More fields*: show its fields and keep the rest."""
        if (view := press.view) is None:
            raise ActionExpired
        pressed = press.button
        project = pressed.project if isinstance(pressed, ChooseProject) else None
        template = f"#{pressed.template}" if isinstance(pressed, ChooseTemplate) else None
        shown = Shown(more=isinstance(pressed, MoreFields))
        refreshed = await self.filling.refreshed(reply, view, project, shown, template)
        known = view.json.get("hash")
        over = self.pauses.hash_now(press.form_key, known) if known else None
        try:
            await reply.show(refreshed, over=over)
        except FormNotShown as error:
            # A later choice has its own refresh, and that one has to stay.
            if reason(error) != "hash_conflict":
                raise

    # Submitting

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Create the issue once; on failure the form keeps all entered values."""
        view, metadata = form.view.json, NewIssueMetadata.of(form.view)
        rich = forms.Values(view).rich_text(DESCRIPTION.name) or {}
        draft = create_form.submitted(view, await writer(reply, rich))
        draft = await long_description.complete(self.saved, reply.owner, form.view, draft)
        if missing := create_form.missing(view, draft):
            return FormResult(errors=missing)
        if create_form.outdated(view) or metadata.draft:
            return await self._again(reply, form.view, Shown(said=create_form.OUTDATED))
        draft, errors = await form_templates.checked(self.templates, reply, form.view, draft)
        if errors:
            return FormResult(errors=errors)
        attempted_at = metadata.attempted_at or reply.attempted_at
        started, batch = datetime.now(UTC), new_batch(attempted_at)
        included = await self.thread.included(reply, form, draft.description)
        draft = draft.described(included.description)
        reply.progress = lambda: progress(batch, f"Creating the issue in {reply.wording.service}…")
        try:
            await self.jobs.fill_from_form(reply, form, batch, included.files)
            made = await self.creating.create(
                reply.owner,
                draft,
                reply.channel,
                attempted_at,
                source=metadata.source,
                upload=lambda session: self.files.upload(session, batch),
            )
        except OutcomeUnknown as error:
            metadata = metadata.model_copy(update={"attempted_at": attempted_at or started})
            said = reply.wording.sentence(error)
            return FormResult(view=forms.refilled(view, said, metadata.dump()), said=said)
        except IssueRefused as error:
            if set(error.fields) <= names_in(view):
                raise
            said = reply.wording.sentence(error)
            return await self._again(
                reply, form.view, Shown(said=said, wrong=error.fields, needed=frozenset(error.fields))
            )
        reply.committed = True
        await self.files.attached(reply.owner, made.issue.id, batch)
        if not reply.place.channel_id:
            blocks = views.created(made, reply.wording, Announced.NOWHERE).blocks
            beside = (await self.jobs.results(reply, made.issue.id, batch)).blocks if batch.files else ()
            view = forms.said("Created", [*blocks, *beside])
            return FormResult(view=view, then=partial(self.assigned, reply.owner, made.issue))

        async def announce() -> None:
            if batch.files:
                await reply.privately(await self.jobs.results(reply, made.issue.id, batch))
            follow = self.follow_post if metadata.source and reply.place.thread_ts else None
            await announce_and_confirm(reply, made, self.publicity, included.notes, follow)
            await self.assigned(reply.owner, made.issue)

        return FormResult(then=announce)

    async def _again(self, reply: Reply, view: View, shown: Shown) -> FormResult:
        """The submitted form with all entered values, and what is wrong."""
        return FormResult(view=await self.filling.refreshed(reply, view, None, shown), said=shown.said)
