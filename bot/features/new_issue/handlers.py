"""Handles the form for a new issue: its selects, each change, typing, and its submission."""

import math
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

import structlog

from bot.errors import BotError, WrongField
from bot.features.files.attach import Batch, Files
from bot.features.files.selections import SavedSelections, new_batch
from bot.features.files.views import progress
from bot.features.following.handlers import FollowHandlers
from bot.features.issues import buttons, views
from bot.features.issues.creating import Created, IssueCreator
from bot.features.issues.field_inputs import custom_values, names_in
from bot.features.issues.fields import DESCRIPTION, FIELDS, FieldType, IssueRefused
from bot.features.issues.handlers import IssueHandlers
from bot.features.issues.issues import Issues
from bot.features.new_issue import form as create_form
from bot.features.new_issue import long_description
from bot.features.new_issue.filling import FormFilling
from bot.features.new_issue.form import FormState, NewIssueMetadata
from bot.features.new_issue.thread import ThreadInclusion
from bot.features.new_issue.unfinished import UnfinishedForms, offer_in, unfinished, with_offer
from bot.features.notices.messenger import AssignmentMessenger
from bot.features.parts import Parts
from bot.features.templates.views import ChooseTemplate
from bot.slack.incoming.debounce import Debouncer
from bot.slack.incoming.feature import Feature, Form
from bot.slack.language.options import CUSTOM_FIELD
from bot.slack.outgoing.messages import writer
from bot.slack.outgoing.outcomes import PostOutcome
from bot.slack.outgoing.replies import FormNotShown, Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import JSON, option
from bot.slack.surfaces.forms import FormResult
from bot.slack.surfaces.interaction import ButtonPress, FormSubmission, OptionsRequest
from bot.slack.surfaces.view import View
from bot.slack.workspaces.slack_errors import reason

log = structlog.get_logger(__name__)


class CreateFormHandlers:
    """The form for a new issue, once it is open; `pauses` knows the forms that change while a user types."""

    def __init__(self, parts: Parts) -> None:
        self.parts, self.pauses = parts, Debouncer(parts.delays.typing)
        self.unfinished = parts.shared(UnfinishedForms)
        self.issues, self.filling = parts.shared(Issues), parts.shared(FormFilling)
        self.selections, self.files = parts.shared(SavedSelections), parts.shared(Files)
        self.inclusion, self.creator = parts.shared(ThreadInclusion), parts.shared(IssueCreator)
        self.messenger = parts.shared(AssignmentMessenger)

    def feature(self) -> Feature:
        changes = (buttons.ChooseProject, ChooseTemplate, buttons.MoreFields)
        doing = "Creating the issue in {service}…"
        return Feature(
            buttons={
                **dict.fromkeys(changes, self.form_changed),
                buttons.ChooseValue: self.value_chosen,
                buttons.TypeSubject: self.subject_typed,
                buttons.ContinueDraft: self.continue_pressed,
                buttons.DiscardDraft: self.discard_pressed,
            },
            forms={create_form.CALLBACK_ID: Form(self.submit, doing, looks=True)},
            options={
                buttons.ChooseProject.action: self.project_options,
                buttons.ChooseValue.action: self.value_options,
            },
        )

    # While a user fills it in

    async def project_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        projects = await self.parts.projects.search(reply.owner, request.text)
        return [option(project.name, str(project.id)) for project in projects]

    async def value_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """The choices of an issue's field, in any form, that are searched as the user types."""
        name, sought = request.block_id.partition(":")[0], request.text.strip().casefold()
        field = next((field for field in FIELDS.values() if field.name == name), None)
        project = _project_of(request.block_id)
        if field and field.kind is FieldType.ISSUE:
            chosen = forms.Values(request.view.json if request.view else {}).number("project")
            issues = await self.issues.suggest(reply.owner, request.text, chosen or project)
            return [views.issue_option(issue) for issue in issues]

        custom = () if field else (forms.number_in(name.removeprefix(CUSTOM_FIELD)),)
        parts = (field.choices,) if field and field.choices else ()
        async with self.parts.accounts.reading(reply.owner) as session:
            catalog = await self.parts.catalogs.of(session, project, parts, custom)
        if field is None:
            return custom_values(catalog.custom_field(*custom), request.text)
        refs = (ref for ref in field.offered(catalog) if sought in ref.name.casefold())
        return [option(ref.name, str(ref.id)) for ref in refs]

    async def value_chosen(self, press: ButtonPress[buttons.ChooseValue], reply: Reply) -> None:
        """A choice that changes other fields only if it is the tracker, and some trackers require more."""
        project = forms.Values(press.form.json).number("project") or 0
        if press.block == "tracker" and self.parts.catalogs.required(reply.owner, project):
            await self.form_changed(press, reply)
        else:
            await self.unfinished.keep(reply.owner, press.form, press.pressed_at)

    async def subject_typed(self, press: ButtonPress[buttons.TypeSubject], reply: Reply) -> None:
        """The subject changed: once the user pauses, look for similar issues."""
        view, source = press.form.json, NewIssueMetadata.of(press.form).source
        if not await self.pauses.wait(press.form_key, press.pressed_at):
            return
        await self.unfinished.keep(reply.owner, press.form, press.pressed_at)
        project = forms.Values(view).number("project")
        try:
            async with self.parts.accounts.reading(reply.owner) as session:
                notes = await self.filling.duplicates(reply, session, press.button.subject, project, source)
        except BotError as error:  # submitting the form reports it, if it persists
            log.info("similar issues not looked up", action="duplicates.unknown", error=type(error).__name__)
            return

        updated = create_form.with_notes(view, notes)
        unchanged = self.pauses.hash_now(press.form_key, view["hash"]) == view["hash"]
        if self.pauses.is_latest(press.form_key, press.pressed_at) and not (
            unchanged and create_form.notes_in(updated) == create_form.notes_in(view)
        ):
            await self.pauses.update(reply.slack, press, view, updated, "duplicates.form_moved_on")

    async def form_changed(self, press: ButtonPress[Any], reply: Reply) -> None:
        """Another project, tracker or template, or *More fields*: show its fields and keep the rest."""
        view = press.form
        self.pauses.begin(press.form_key, press.pressed_at)
        pressed = press.button
        project = pressed.project if isinstance(pressed, buttons.ChooseProject) else None
        template = f"#{pressed.template}" if isinstance(pressed, ChooseTemplate) else None
        state = FormState(more=isinstance(pressed, buttons.MoreFields))
        refreshed = await self.filling.refreshed(reply, view, project, state, template)

        refreshed = with_offer(refreshed, offer_in(view.json))
        known = view.json.get("hash")
        over = self.pauses.hash_now(press.form_key, known) if known else None
        try:
            await reply.show(refreshed, over=over)
        except FormNotShown as error:
            # A later choice has its own refresh, and that one has to stay.
            if reason(error) != "hash_conflict":
                raise
        await self.unfinished.keep(reply.owner, view, press.pressed_at)

    async def continue_pressed(self, press: ButtonPress[buttons.ContinueDraft], reply: Reply) -> None:
        """*Continue draft*: show the earlier form with current choices; it offers the replaced input."""
        opened = press.form
        metadata = NewIssueMetadata.of(opened)
        earlier = await self.unfinished.offered(reply.owner, metadata.form)
        if earlier is None:
            view = forms.warned(with_offer(opened.json, []), "This draft has expired.")
            await self._without_offer(press, reply, opened, view)
            return

        await reply.show(forms.loading(create_form.TITLE))  # else Slack keeps what the form has
        kept = NewIssueMetadata.of(View(earlier.view))
        if kept.source is None:
            kept = kept.model_copy(update={"place": metadata.place})

        filled = View(earlier.view | {"private_metadata": kept.dump()})
        chosen = forms.Values(filled.json).chosen("template")
        template = f"#{chosen}" if chosen else None
        state = FormState(warning=earlier.warning)
        refreshed = await self.filling.refreshed(reply, filled, None, state, template)
        meanwhile = unfinished(opened, press.pressed_at)
        await reply.show(with_offer(refreshed, meanwhile.offer()) if meanwhile else refreshed)
        await self.unfinished.put(reply.owner, earlier, meanwhile)

    async def discard_pressed(self, press: ButtonPress[buttons.DiscardDraft], reply: Reply) -> None:
        opened = press.form
        await self.unfinished.discard(reply.owner, opened)
        await self._without_offer(press, reply, opened, with_offer(opened.json, []))

    async def _without_offer(self, press: ButtonPress[Any], reply: Reply, opened: View, view: JSON) -> None:
        view = forms.redefined(opened.json, view["blocks"])
        await self.pauses.update(reply.slack, press, opened.json, view, "draft.form_moved_on")

    # Submitting

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Create the issue once; on failure the form keeps all entered values."""
        view, metadata = form.view.json, NewIssueMetadata.of(form.view)
        rich = forms.Values(view).rich_text(DESCRIPTION.name) or {}
        missing = create_form.missing(view)
        try:
            draft = create_form.submitted(view, await writer(reply, rich), (await reply.profile()).locale)
        except WrongField as error:
            if not (wrong := forms.placed(view, error, reply.wording.sentence(error))):
                raise
            return FormResult(errors=missing | wrong)

        if missing:
            return FormResult(errors=missing)
        draft = await long_description.complete(self.parts.store.saved_input, reply.owner, form.view, draft)
        if create_form.outdated(view) or metadata.draft:
            return await self._again(reply, form.view, FormState(warning=create_form.OUTDATED))
        draft, errors = await self.filling.checked(reply, form.view, draft)
        if errors:
            return FormResult(errors=errors)

        batch = new_batch(reply.tried_at)
        included = await self.inclusion.included(reply, form, draft.description)
        draft = draft.described(included.description)
        reply.progress = lambda: progress(batch, f"Creating the issue in {reply.wording.service}…")

        try:
            await self.selections.fill_from_form(reply, form, batch, included.files)
            made = await self.creator.create(
                reply.owner,
                draft,
                reply.channel,
                reply.tried_at,
                source=metadata.source,
                upload=(lambda session: self.files.upload(session, batch)) if batch.files else None,
                announced=reply.place.channel_id is not None and not reply.place.direct,
            )
        except IssueRefused as error:
            if set(error.fields) <= names_in(view):
                raise
            warning = reply.wording.sentence(error)
            state = FormState(warning=warning, wrong=error.fields, needed=frozenset(error.fields))
            return await self._again(reply, form.view, state)

        reply.committed = True
        self.pauses.begin(form.form_key, math.inf)  # nothing is looked up for what was typed right before
        await self.files.attached(reply.owner, made.issue.id, batch)
        if reply.place.channel_id:
            followed = bool(metadata.source and reply.place.thread_ts)
            tell = partial(announce, self.parts, reply, made, batch, included.notes, followed=followed)
            return FormResult(then=tell)
        return FormResult(
            view=await self._confirmed(reply, made, batch),
            then=partial(self.messenger.assigned, reply.owner, made.issue, made.mention),
        )

    async def _confirmed(self, reply: Reply, made: Created, batch: Batch) -> JSON:
        """The form's confirmation, where there is no channel to announce the issue in."""
        blocks = views.created(made, reply.wording, PostOutcome.NOWHERE).blocks
        files = (await self.selections.results(reply, made.issue.id, batch)).blocks if batch.files else ()
        return forms.result("Created", [*blocks, *files])

    async def _again(self, reply: Reply, view: View, state: FormState) -> FormResult:
        """Return the submitted form with all values, and its errors."""
        return FormResult(view=await self.filling.refreshed(reply, view, None, state), warning=state.warning)


def _project_of(block_id: str) -> int | None:
    """The project that a select's choices are from, which is the first part of its tag."""
    _, *tag = block_id.split(":")
    return forms.number_in(tag[0]) if tag else None


async def announce(
    parts: Parts,
    reply: Reply,
    made: Created,
    batch: Batch,
    notes: Sequence[str] = (),
    *,
    followed: bool,
    tried_at: datetime | None = None,
) -> None:
    """Announce it, if everyone may see it, and no earlier attempt has; `followed` is whether the post follows
    the issue.
    """
    if batch.files:
        await reply.privately_or_later(
            await parts.shared(SavedSelections).results(reply, made.issue.id, batch)
        )
    issues = parts.shared(IssueHandlers)
    before = await issues.announced_since(reply, made.issue.id, tried_at) if tried_at else None
    ts = await issues.tell(reply, made, notes, followed=followed, before=before)
    if followed and ts:
        await parts.shared(FollowHandlers).follow_created(reply, made, ts)
    await parts.shared(AssignmentMessenger).assigned(reply.owner, made.issue, made.mention)
