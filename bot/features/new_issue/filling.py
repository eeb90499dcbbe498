"""Fills in the form for a new issue: from a draft as it opens, and from what was entered as it changes."""

import asyncio
import json
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
from bot.features.new_issue.duplicate_handlers import DuplicateHandlers
from bot.features.new_issue.form import Shown
from bot.features.new_issue.long_description import FIELD as REST
from bot.features.new_issue.long_description import LongDescriptions
from bot.features.new_issue.templates import NO_TEMPLATE, FormTemplates
from bot.features.new_issue.thread import ThreadInclusion
from bot.features.new_issue.thread_views import thread_field
from bot.features.projects.catalog import Catalogs
from bot.features.projects.projects import Projects
from bot.features.users.people import People
from bot.service.models import Project
from bot.slack import forms, rich_input
from bot.slack.blocks import JSON, Block
from bot.slack.interaction import View
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
    templates: FormTemplates
    long: LongDescriptions
    saved: SavedInput

    async def opened(self, reply: Reply, draft: Draft, *, metadata: JSON, shown: Shown) -> JSON:
        """The form as it opens, for the draft's project, the channel's, or the only one."""
        async with self.accounts.reading(reply.owner) as session:
            project = None
            try:
                project = await self._project(reply, session, draft)
                if project:
                    preset = not shown.said
                    draft = await self.templates.opened(reply, session, project, draft, preset=preset)
            except (AmbiguousName, UnknownName) as error:
                shown = _with_problems(reply, shown, [WrongField("project", error)])
                near = probable(error)
                project = await self.projects.by_id(session, near.id) if near else None
            except WrongField as error:
                shown = _with_problems(reply, shown, [error])
                draft = draft.model_copy(update={"template": None})
            return await self._filled(reply, session, draft, project, metadata=metadata, shown=shown)

    async def _project(self, reply: Reply, session: Session, draft: Draft) -> Project | None:
        if draft.project is not None:
            return await self.projects.find(session, draft.project)
        if (default := await self.projects.default_in(session, reply.channel)) is not None:
            return default
        projects = await self.projects.visible(session)
        return projects[0] if len(projects) == 1 else None

    async def refreshed(
        self, reply: Reply, view: View, project_id: int | None, shown: Shown, template: str | None = None
    ) -> JSON:
        """The form with another project's choices or from another template, and all entered values."""
        project_id = project_id or forms.Values(view.json).number("project")
        metadata = dict(view.metadata)
        draft = create_form.carried_over(view.json)
        if saved := metadata.pop("draft", None):
            waiting = Draft.model_validate(await self.saved.get(reply.owner, str(saved)) or {})
            draft = draft.model_copy(
                update={
                    "values": waiting.values | draft.values,
                    "custom_fields": waiting.custom_fields | draft.custom_fields,
                    "unread": waiting.unread | draft.unread,
                    "template": waiting.template,
                }
            )
            template = waiting.template
        elif before := metadata.get("template"):
            draft = draft.model_copy(update={"template": f"#{before}"})
            template = template or (NO_TEMPLATE if create_form.outdated(view.json) else None)
        if shown.more:
            metadata["more"] = True
        shown = replace(
            shown,
            more=metadata.get("more") is True,
            fields=names_in(view.json),
            description=forms.Values(view.json).rich_text(DESCRIPTION.name),
        )
        async with self.accounts.reading(reply.owner) as session:
            project = await self.projects.by_id(session, project_id) if project_id else None
            if project and template:
                try:
                    whole = await self.long.complete(reply, view, await self._described(reply, view, draft))
                    draft = await self.templates.switched(
                        reply, session, view, project, whole, wanted=template
                    )
                    metadata.pop(REST, None)
                    shown = replace(shown, description=None)
                except WrongField as error:
                    shown = _with_problems(reply, shown, [error])
            return await self._filled(reply, session, draft, project, metadata=metadata, shown=shown)

    async def _described(self, reply: Reply, view: View, draft: Draft) -> Draft:
        """The draft with the description that the form holds."""
        rich = forms.Values(view.json).rich_text(DESCRIPTION.name)
        described = {DESCRIPTION.key: (await writer(reply, rich))(rich)} if rich else {}
        return draft.model_copy(update={"values": draft.values | described})

    async def _filled(
        self,
        reply: Reply,
        session: Session,
        draft: Draft,
        project: Project | None,
        *,
        metadata: JSON,
        shown: Shown,
    ) -> JSON:
        """The form with the choices of a project."""
        description = shown.description
        if description is None:
            text, metadata = await self.long.started(reply, draft, metadata)
            description = await rich_input.prefilled(text, reply.wording.text_format) if text else None
        elif not rich_input.has_content(description):
            description = None
        rest, offered, files = await asyncio.gather(
            self.long.field(reply, metadata),
            self.thread.offered(reply, metadata),
            self.jobs.form_field(reply, metadata),
        )
        attached = [*rest, *([thread_field(offered)] if offered else ()), *files]
        project_id = project.id if project else None
        looking = self.duplicates.notes(reply, session, draft.subject, project_id, metadata)
        templates: tuple[Template, ...] = ()
        details: Sequence[Block] = ()
        if project is None:
            notes, metadata = await looking, metadata | await self._waiting(reply, draft)
        else:
            catalog, notes, templates = await asyncio.gather(
                self.catalogs.of(session, project.id),
                looking,
                self.templates.offered(reply.owner, project, metadata.get("place")),
            )
            chosen = next((one.id for one in templates if draft.template == f"#{one.id}"), 0)
            metadata = metadata | {"template": chosen}
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
            metadata=json.dumps(metadata),
        )

    async def _waiting(self, reply: Reply, draft: Draft) -> JSON:
        """The metadata of what is saved until a project is chosen, since only then its fields appear."""
        hidden = {"values": {key: value for key, value in draft.values.items() if key != DESCRIPTION.key}}
        waiting = draft.model_copy(update=hidden).model_dump(
            mode="json", exclude_defaults=True, exclude={"subject", "project"}
        )
        return {"draft": await self.saved.put(reply.owner, waiting)} if waiting else {}


def _with_problems(reply: Reply, shown: Shown, problems: Sequence[WrongField]) -> Shown:
    """The same with more problems, unless it says them already."""
    said = [sentence for error in problems if (sentence := reply.wording.sentence(error)) not in shown.said]
    wrong = (*shown.wrong, *(error.field for error in problems))
    return replace(shown, said=" ".join(filter(None, [shown.said, *said])), wrong=wrong)
