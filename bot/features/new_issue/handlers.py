"""Refreshes and submits the form for a new issue."""

from datetime import UTC, datetime
from functools import partial

from bot.errors import OutcomeUnknown
from bot.features.assigned.messenger import AssignmentMessenger
from bot.features.files.attach import Files
from bot.features.files.jobs import FileJobs, new_batch
from bot.features.files.views import progress
from bot.features.following.handlers import FollowHandlers
from bot.features.issues import views
from bot.features.issues.buttons import ChooseProject, ChooseTracker, MoreFields
from bot.features.issues.creating import IssueCreator
from bot.features.issues.field_inputs import names_in
from bot.features.issues.fields import DESCRIPTION, IssueRefused
from bot.features.issues.handlers import IssueHandlers
from bot.features.new_issue import form as create_form
from bot.features.new_issue import long_description
from bot.features.new_issue.filling import FormFilling
from bot.features.new_issue.form import FormState, NewIssueMetadata
from bot.features.new_issue.thread import ThreadInclusion
from bot.features.parts import Parts
from bot.features.templates.buttons import ChooseTemplate
from bot.slack.incoming.debounce import Debouncer
from bot.slack.incoming.feature import Feature, Form
from bot.slack.incoming.interaction import ButtonPress, FormSubmission
from bot.slack.outgoing.posting import Announced, reason
from bot.slack.outgoing.replies import FormNotShown, Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.buttons import ActionExpired
from bot.slack.surfaces.forms import FormResult
from bot.slack.surfaces.view import View
from bot.slack.workspaces.messages import writer


class CreateFormHandlers:
    """The form for a new issue, once it is open; `pauses` knows the forms that change while a user types."""

    def __init__(self, parts: Parts, pauses: Debouncer) -> None:
        self.parts, self.pauses = parts, pauses

    def feature(self) -> Feature:
        return Feature(
            buttons=dict.fromkeys(
                (ChooseProject, ChooseTracker, ChooseTemplate, MoreFields), self.form_changed
            ),
            forms={
                create_form.CALLBACK_ID: Form(self.submit, "Creating the issue in {service}…", looks=True)
            },
        )

    async def form_changed(
        self, press: ButtonPress[ChooseProject | ChooseTracker | ChooseTemplate | MoreFields], reply: Reply
    ) -> None:
        """Another project, tracker or template, or *More fields*: show its fields and keep the rest."""
        if (view := press.view) is None:
            raise ActionExpired
        pressed = press.button
        project = pressed.project if isinstance(pressed, ChooseProject) else None
        template = f"#{pressed.template}" if isinstance(pressed, ChooseTemplate) else None
        shown = FormState(more=isinstance(pressed, MoreFields))
        refreshed = await FormFilling(self.parts).refreshed(reply, view, project, shown, template)
        known = view.json.get("hash")
        over = self.pauses.hash_now(press.form_key, known) if known else None
        try:
            await reply.show(refreshed, over=over)
        except FormNotShown as error:
            # A later choice has its own refresh, and that one has to stay.
            if reason(error) != "hash_conflict":
                raise

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Create the issue once; on failure the form keeps all entered values."""
        view, metadata = form.view.json, NewIssueMetadata.of(form.view)
        rich = forms.Values(view).rich_text(DESCRIPTION.name) or {}
        draft = create_form.submitted(view, await writer(reply, rich), (await reply.profile()).locale)
        draft = await long_description.complete(self.parts.store.saved_input, reply.owner, form.view, draft)
        if missing := create_form.missing(view, draft):
            return FormResult(errors=missing)
        if create_form.outdated(view) or metadata.draft:
            return await self._again(reply, form.view, FormState(said=create_form.OUTDATED))
        draft, errors = await FormFilling(self.parts).checked(reply, form.view, draft)
        if errors:
            return FormResult(errors=errors)
        attempted_at = metadata.attempted_at or reply.attempted_at
        jobs, files = FileJobs(self.parts), Files(self.parts)
        started, batch = datetime.now(UTC), new_batch(attempted_at)
        included = await ThreadInclusion(self.parts).included(reply, form, draft.description)
        draft = draft.described(included.description)
        reply.progress = lambda: progress(batch, f"Creating the issue in {reply.wording.service}…")
        try:
            await jobs.fill_from_form(reply, form, batch, included.files)
            made = await IssueCreator(self.parts).create(
                reply.owner,
                draft,
                reply.channel,
                attempted_at,
                source=metadata.source,
                upload=lambda session: files.upload(session, batch),
            )
        except OutcomeUnknown as error:
            metadata = metadata.model_copy(update={"attempted_at": attempted_at or started})
            said = reply.wording.sentence(error)
            return FormResult.again(view, said, metadata.dump())
        except IssueRefused as error:
            if set(error.fields) <= names_in(view):
                raise
            said = reply.wording.sentence(error)
            return await self._again(
                reply, form.view, FormState(said=said, wrong=error.fields, needed=frozenset(error.fields))
            )
        reply.committed = True
        messenger = AssignmentMessenger(self.parts)
        await files.attached(reply.owner, made.issue.id, batch)
        if not reply.place.channel_id:
            blocks = views.created(made, reply.wording, Announced.NOWHERE).blocks
            beside = (await jobs.results(reply, made.issue.id, batch)).blocks if batch.files else ()
            view = forms.said("Created", [*blocks, *beside])
            return FormResult(view=view, then=partial(messenger.told, reply.owner, made.issue))

        async def announce() -> None:
            if batch.files:
                await reply.privately(await jobs.results(reply, made.issue.id, batch))
            issues, followed = IssueHandlers(self.parts), bool(metadata.source and reply.place.thread_ts)
            announcement = await issues.announce(reply, made, followed=followed)
            if followed and (ts := announcement[1]):
                await FollowHandlers(self.parts).follow_created(reply, made, ts)
            await issues.confirm(reply, made, announcement, included.notes)
            await messenger.told(reply.owner, made.issue)

        return FormResult(then=announce)

    async def _again(self, reply: Reply, view: View, shown: FormState) -> FormResult:
        """The submitted form with all entered values, and what is wrong."""
        return FormResult(
            view=await FormFilling(self.parts).refreshed(reply, view, None, shown), said=shown.said
        )
