"""Fills in the form for a new issue: from a draft when it opens, and from the input when it changes."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import structlog

from bot.access.accounts import Session
from bot.access.name_matching import UnclearName, probable
from bot.access.projects import KnownProject, NoVisibleProject, ProjectNotChosen
from bot.errors import BotError, WrongField
from bot.features.files.selections import SavedSelections
from bot.features.issues.creating import Source
from bot.features.issues.field_inputs import names_in
from bot.features.issues.fields import DESCRIPTION, Draft, resolved
from bot.features.new_issue import form as create_form
from bot.features.new_issue import long_description, thread
from bot.features.new_issue.form import FormState, NewIssueMetadata
from bot.features.new_issue.thread import ThreadInclusion
from bot.features.parts import Parts
from bot.features.related.related import Duplicates
from bot.features.templates.applying import applied, own_subject, with_headings
from bot.features.templates.templates import Templates
from bot.slack.outgoing.messages import writer
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces import forms, rich_input
from bot.slack.surfaces.blocks import JSON, Block
from bot.slack.surfaces.interaction import Destination
from bot.slack.surfaces.view import View
from bot.store.templates import Template

log = structlog.get_logger(__name__)


class FormFilling:
    def __init__(self, parts: Parts) -> None:
        self.parts, self.templates = parts, parts.shared(Templates)
        self.selections = parts.shared(SavedSelections)
        self.inclusion, self.similar = parts.shared(ThreadInclusion), parts.shared(Duplicates)
        self.accounts, self.projects, self.catalogs = parts.accounts, parts.projects, parts.catalogs
        self.saved = parts.store.saved_input

    async def opened(
        self, reply: Reply, draft: Draft, *, metadata: NewIssueMetadata, state: FormState
    ) -> JSON:
        """Return the form to open, for the draft's project, the channel's, or the only one."""
        async with self.accounts.reading(reply.owner) as session:
            project = None
            try:
                project = await self.projects.chosen(session, draft.project, reply.channel)
                draft = await self._from_template(reply, session, project, draft, preset=not state.warning)
            except (NoVisibleProject, ProjectNotChosen):  # the form asks for it
                pass
            except UnclearName as error:
                state = _with_problems(reply, state, [WrongField("project", error)])
                near = probable(error)
                project = await self.projects.by_id(session, near.id) if near else None
            except WrongField as error:
                state = _with_problems(reply, state, [error])
                unused = (draft.template or "").partition("#")[0]
                draft = draft.model_copy(update={"template": None, "subject": draft.subject or unused})
            return await self._filled(reply, session, draft, project, metadata=metadata, state=state)

    async def refreshed(
        self, reply: Reply, view: View, project_id: int | None, state: FormState, template: str | None = None
    ) -> JSON:
        """The form with another project's choices, or filled in from a template, and all entered values."""
        values, metadata = forms.Values(view.json), NewIssueMetadata.of(view)
        reply = reply.at(Destination.from_json(metadata.place))
        project_id = project_id or values.number("project")
        draft = create_form.shown_again(view.json)
        if metadata.draft:
            waiting = Draft.model_validate(await self.saved.get(reply.owner, metadata.draft) or {})
            draft = draft.model_copy(
                update={
                    "values": waiting.values | draft.values,
                    "custom_fields": waiting.custom_fields | draft.custom_fields,
                    "unread": waiting.unread | draft.unread,
                    "template": waiting.template,
                }
            )
            template = waiting.template
        elif metadata.template:
            draft = draft.model_copy(update={"template": f"#{metadata.template}"})

        metadata = metadata.model_copy(update={"draft": None, "more": state.more or metadata.more})
        rich = values.rich_text(DESCRIPTION.name)
        state = replace(state, more=metadata.more, fields=names_in(view.json), description=rich)

        async with self.accounts.reading(reply.owner) as session:
            project = await self.projects.by_id(session, project_id) if project_id else None
            if project and template:
                try:
                    typed = draft.described((await writer(reply, rich))(rich)) if rich else draft
                    whole = await long_description.complete(self.saved, reply.owner, view, typed)
                    named = await self.templates.named(session, project, reply.channel, template)
                    draft = applied(whole, named, reply.wording.text_format)
                    metadata = metadata.model_copy(update={"rest": None})
                    state = replace(state, description=None)
                except WrongField as error:
                    state = _with_problems(reply, state, [error])
            return await self._filled(reply, session, draft, project, metadata=metadata, state=state)

    async def _from_template(
        self, reply: Reply, session: Session, project: KnownProject, draft: Draft, *, preset: bool
    ) -> Draft:
        """The draft of a form that opens, filled in from the template that it names.

        With `preset`, it is filled in from the channel's template if it names none and there is only one.
        Raises WrongField.
        """
        text_format = reply.wording.text_format
        if draft.template:
            template = await self.templates.named(session, project, reply.channel, draft.template)
            return applied(draft, template, text_format)
        offered = await self.templates.offered(reply.owner, project, reply.channel) if preset else ()
        own = [template for template in offered if template.channel_id]
        return applied(draft, own[0], text_format) if len(own) == 1 else draft

    async def checked(self, reply: Reply, view: View, draft: Draft) -> tuple[Draft, dict[str, str]]:
        """A submitted draft with its template's headings, and an error if its subject is only the prefix."""
        text_format, template_id = reply.wording.text_format, NewIssueMetadata.of(view).template
        stored, team_id = self.parts.store.templates, reply.owner.team_id
        template = await stored.get(team_id, template_id) if template_id else None
        if template is None or draft.project != f"#{template.project_id}":
            return draft, {}
        errors: dict[str, str] = {}
        if not own_subject(draft.subject, template):
            errors[forms.Values(view.json).block_ids["subject"]] = "Enter a subject."
        return with_headings(draft, template, text_format), errors

    async def duplicates(
        self, reply: Reply, session: Session, subject: str, project_id: int | None, source: Source | None
    ) -> list[Block]:
        """The notes below the form's subject; none on an error, so that the form still opens."""
        try:
            made, similar = await self.similar.find(session, subject, project_id, source)
        except BotError as error:
            log.info("similar issues not looked up", action="duplicates.unknown", error=type(error).__name__)
            return []
        return create_form.duplicate_notes(made, similar, reply.wording)

    async def _filled(
        self,
        reply: Reply,
        session: Session,
        draft: Draft,
        project: KnownProject | None,
        *,
        metadata: NewIssueMetadata,
        state: FormState,
    ) -> JSON:
        """The form with the choices of a project."""
        description = state.description
        if description is None:
            text, metadata = await long_description.started(self.saved, reply.owner, draft, metadata)
            description = await rich_input.prefilled(text, reply.wording.text_format) if text else None
        elif not rich_input.has_content(description):
            description = None

        rest, offered, files = await asyncio.gather(
            long_description.field(self.saved, reply.owner, metadata),
            self.inclusion.offered(reply, metadata),
            self.selections.form_field(reply, metadata.files),
        )
        attached = [*rest, *([thread.form_field(offered)] if offered else ()), *files]
        project_id = project.id if project else None
        looking = self.duplicates(reply, session, draft.subject, project_id, metadata.source)

        templates: tuple[Template, ...] = ()
        details: Sequence[Block] = ()
        if project is None:
            notes = await looking
            metadata = metadata.model_copy(update={"draft": await self._waiting(reply, draft)})
        else:
            catalog, notes, templates = await asyncio.gather(
                self.catalogs.of(session, project.id, fields=draft.custom_fields),
                looking,
                self.templates.offered(reply.owner, project, reply.channel),
            )
            if state.more:
                offered_fields = [field.id for field in catalog.custom_fields]
                catalog = await self.catalogs.with_values(session, catalog, offered_fields)

            chosen = next((one.id for one in templates if draft.template == f"#{one.id}"), 0)
            metadata = metadata.model_copy(update={"template": chosen})
            meant, problems = await resolved(draft, self.parts.people, session, catalog)
            state = _with_problems(reply, replace(state, template=chosen), problems)
            required = self.catalogs.required(reply.owner, project.id)
            details = create_form.project_fields(draft, meant, catalog, required, state)
        return create_form.create_form(
            draft,
            project,
            state,
            description=description,
            templates=templates,
            details=details,
            notes=notes,
            attached=attached,
            metadata=metadata.dump(),
        )

    async def _waiting(self, reply: Reply, draft: Draft) -> str | None:
        """Return the ID of the values saved until the user chooses a project, which shows the fields."""
        waiting = draft.described("").model_dump(
            mode="json", exclude_defaults=True, exclude={"subject", "project"}
        )
        return await self.saved.put(reply.owner, waiting) if waiting else None


def _with_problems(reply: Reply, state: FormState, problems: Sequence[WrongField]) -> FormState:
    """The same with more problems, unless it says them already."""
    new = [sentence for error in problems if (sentence := reply.wording.sentence(error)) not in state.warning]
    wrong = (*state.wrong, *(error.field for error in problems))
    return replace(state, warning=" ".join(filter(None, [state.warning, *new])), wrong=wrong)
