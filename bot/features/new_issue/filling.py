"""Fills in the form for a new issue: from a draft as it opens, and from what was entered as it changes."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.errors import WrongField
from bot.features.accounts.accounts import Accounts, Session
from bot.features.files.jobs import FileJobs
from bot.features.issues.fields import DESCRIPTION, Draft
from bot.features.issues.inputs import names_in
from bot.features.issues.resolution import resolved
from bot.features.name_matching import AmbiguousName, UnknownName, probable
from bot.features.new_issue import form as create_form
from bot.features.new_issue import long_description
from bot.features.new_issue import templates as form_templates
from bot.features.new_issue.duplicate_handlers import DuplicateHandlers
from bot.features.new_issue.form import Shown
from bot.features.new_issue.metadata import NewIssueMetadata
from bot.features.new_issue.thread import ThreadInclusion
from bot.features.projects.catalog import Catalogs
from bot.features.projects.projects import KnownProject, NoVisibleProject, ProjectNotChosen, Projects
from bot.features.templates.templates import Templates
from bot.features.users.people import People
from bot.slack import forms, rich_input
from bot.slack.blocks import JSON, Block
from bot.slack.interaction import Place, View
from bot.slack.mentions import writer
from bot.slack.replies import Reply
from bot.store.saved_input import SavedInput
from bot.store.templates import Template


@dataclass(frozen=True)
class FormFilling:
    """Fills in the form."""

    accounts: Accounts
    projects: Projects
    catalogs: Catalogs
    people: People
    duplicates: DuplicateHandlers
    jobs: FileJobs
    thread: ThreadInclusion
    templates: Templates
    saved: SavedInput

    async def opened(self, reply: Reply, draft: Draft, *, metadata: NewIssueMetadata, shown: Shown) -> JSON:
        """The form as it opens, for the draft's project, the channel's, or the only one."""
        async with self.accounts.reading(reply.owner) as session:
            project = None
            try:
                project = await self.projects.chosen(session, draft.project, reply.channel)
                draft = await form_templates.opened(
                    self.templates, reply, session, project, draft, preset=not shown.said
                )
            except (NoVisibleProject, ProjectNotChosen):  # the form asks for it
                pass
            except (AmbiguousName, UnknownName) as error:
                shown = _with_problems(reply, shown, [WrongField("project", error)])
                near = probable(error)
                project = await self.projects.by_id(session, near.id) if near else None
            except WrongField as error:
                shown = _with_problems(reply, shown, [error])
                draft = draft.model_copy(update={"template": None})
            return await self._filled(reply, session, draft, project, metadata=metadata, shown=shown)

    async def refreshed(
        self, reply: Reply, view: View, project_id: int | None, shown: Shown, template: str | None = None
    ) -> JSON:
        """The form with another project's choices or from another template, and all entered values."""
        values, metadata = forms.Values(view.json), NewIssueMetadata.of(view)
        reply = reply.at(Place.from_json(metadata.place))
        project_id = project_id or values.number("project")
        draft = create_form.carried_over(view.json)
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
            template = template or (form_templates.NO_TEMPLATE if create_form.outdated(view.json) else None)
        metadata = metadata.model_copy(update={"draft": None, "more": shown.more or metadata.more})
        rich = values.rich_text(DESCRIPTION.name)
        shown = replace(shown, more=metadata.more, fields=names_in(view.json), description=rich)
        async with self.accounts.reading(reply.owner) as session:
            project = await self.projects.by_id(session, project_id) if project_id else None
            if project and template:
                try:
                    typed = draft.described((await writer(reply, rich))(rich)) if rich else draft
                    whole = await long_description.complete(self.saved, reply.owner, view, typed)
                    draft = await form_templates.switched(
                        self.templates,
                        reply,
                        session,
                        project,
                        whole,
                        before=metadata.template,
                        wanted=template,
                    )
                    metadata = metadata.model_copy(update={"rest": None})
                    shown = replace(shown, description=None)
                except WrongField as error:
                    shown = _with_problems(reply, shown, [error])
            return await self._filled(reply, session, draft, project, metadata=metadata, shown=shown)

    async def _filled(
        self,
        reply: Reply,
        session: Session,
        draft: Draft,
        project: KnownProject | None,
        *,
        metadata: NewIssueMetadata,
        shown: Shown,
    ) -> JSON:
        """The form with the choices of a project."""
        description = shown.description
        if description is None:
            text, metadata = await long_description.started(self.saved, reply.owner, draft, metadata)
            description = await rich_input.prefilled(text, reply.wording.text_format) if text else None
        elif not rich_input.has_content(description):
            description = None
        rest, offered, files = await asyncio.gather(
            long_description.field(self.saved, reply.owner, metadata),
            self.thread.offered(reply, metadata),
            self.jobs.form_field(reply, metadata.files),
        )
        attached = [*rest, *([create_form.thread_field(offered)] if offered else ()), *files]
        project_id = project.id if project else None
        looking = self.duplicates.notes(reply, session, draft.subject, project_id, metadata.source)
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
            if shown.more:
                offered_fields = [field.id for field in catalog.custom_fields]
                catalog = await self.catalogs.with_values(session, catalog, offered_fields)
            chosen = next((one.id for one in templates if draft.template == f"#{one.id}"), 0)
            metadata = metadata.model_copy(update={"template": chosen})
            meant, problems = await resolved(draft, self.people, session, catalog)
            shown = _with_problems(reply, replace(shown, template=chosen), problems)
            required = self.catalogs.required(reply.owner, project.id)
            details = create_form.project_fields(draft, meant, catalog, required, shown)
        return create_form.create_form(
            draft,
            project,
            shown,
            description=description,
            templates=templates,
            details=details,
            notes=notes,
            attached=attached,
            metadata=metadata.dump(),
        )

    async def _waiting(self, reply: Reply, draft: Draft) -> str | None:
        """The ID of what is saved until a project is chosen, since only then its fields appear."""
        waiting = draft.described("").model_dump(
            mode="json", exclude_defaults=True, exclude={"subject", "project"}
        )
        return await self.saved.put(reply.owner, waiting) if waiting else None


def _with_problems(reply: Reply, shown: Shown, problems: Sequence[WrongField]) -> Shown:
    """The same with more problems, unless it says them already."""
    said = [sentence for error in problems if (sentence := reply.wording.sentence(error)) not in shown.said]
    wrong = (*shown.wrong, *(error.field for error in problems))
    return replace(shown, said=" ".join(filter(None, [shown.said, *said])), wrong=wrong)
