"""Lists a project's templates, and adds, changes and removes them."""

from contextlib import suppress
from dataclasses import replace

from bot.access.accounts import Session
from bot.access.projects import KnownProject
from bot.errors import UserError
from bot.features.issues.issues import Issues
from bot.features.issues.views import issue_option
from bot.features.parts import Parts
from bot.features.templates import views
from bot.features.templates.applying import key
from bot.features.templates.templates import Templates, choices_of, copyable
from bot.features.templates.views import (
    CopyIssue,
    EditTemplate,
    Entered,
    NewTemplate,
    RemoveTemplate,
    TemplateMetadata,
)
from bot.slack.incoming.feature import Feature, Form
from bot.slack.outgoing.messages import writer
from bot.slack.outgoing.replies import Reply, always
from bot.slack.surfaces import rich_input
from bot.slack.surfaces.blocks import JSON, button
from bot.slack.surfaces.forms import FormResult, loading
from bot.slack.surfaces.interaction import ButtonPress, Destination, FormSubmission, OptionsRequest
from bot.spelling import fingerprint
from bot.store.plans import TemplateContent
from bot.store.templates import Template


class TemplateHandlers:
    def __init__(self, parts: Parts) -> None:
        self.templates, self.issues = parts.shared(Templates), parts.shared(Issues)
        self.accounts, self.projects, self.stored = parts.accounts, parts.projects, parts.store.templates

    def feature(self) -> Feature:
        return Feature(
            buttons={
                NewTemplate: self.new_pressed,
                EditTemplate: self.edit_pressed,
                RemoveTemplate: self.remove_pressed,
                CopyIssue: self.issue_chosen,
            },
            forms={views.CALLBACK_ID: Form(self.submit, "Saving the template…")},
            options={CopyIssue.action: self.issue_options},
        )

    async def show(self, reply: Reply, project: str | None) -> None:
        """The templates of the named project, or of the channel's."""
        await reply.privately(
            views.listing(*await self.templates.listed(reply.owner, project, reply.channel))
        )

    async def _show(self, reply: Reply, project: KnownProject, result: str, *, replace: bool = False) -> None:
        """The templates below what was done. It reads nothing from the service, which might fail."""
        templates = await self.templates.offered(reply.owner, project, reply.channel)
        await reply.privately(views.listing(project, templates, result), replace=replace)

    async def open_new(self, reply: Reply, project: str | None, issue: int = 0, name: str = "") -> None:
        """The form for a new template of the named project, or of the channel's, or of the issue."""
        await reply.open(loading("New template"))
        entered, copied = Entered(name=name), ""
        async with self.accounts.reading(reply.owner) as session:
            chosen = await self.projects.chosen(session, project, reply.channel)
            if issue:
                with suppress(UserError):
                    original = await self.templates.to_copy(session, chosen, issue)
                    rich = await _rich(reply, original.description)
                    entered = replace(entered, chosen=choices_of(original), description=rich)
                    copied = fingerprint(key(await _text(reply, rich)))

            metadata = TemplateMetadata(place=reply.place.as_json(), project_id=chosen.id, copied=copied)
            view = await self._form(reply, session, chosen, entered, metadata)
        await reply.show(view)

    async def new_pressed(self, press: ButtonPress[NewTemplate], reply: Reply) -> None:
        new = press.button
        await self.open_new(reply, f"#{new.project}" if new.project else None, new.issue, new.name)

    async def save_issue(self, reply: Reply, number: int, name: str) -> None:
        """`/issue template save 42 as bug-report`; an error offers the form, filled in."""
        form = NewTemplate(project=0, issue=number, name=name)
        reply.fallback = always(button("Open form", form, style="primary"))
        saved = await self.templates.save_issue(reply.owner, number, name, reply.wording.text_format)
        await self._show(reply, saved[0], views.saved(saved[1], new=True))

    async def on_named(self, reply: Reply, name: str, project: str | None, *, remove: bool) -> None:
        """`/issue template edit bug` opens the form, and `delete bug` asks."""
        reply.fallback = reply.leading_on
        if not remove:
            await reply.open(loading("Edit template"))
        async with self.accounts.reading(reply.owner) as session:
            chosen = await self.projects.chosen(session, project, reply.channel)
            template = await self.templates.named(session, chosen, reply.channel, name)
        if remove:
            await reply.privately(views.asking(template))
        else:
            await self._edit(reply, template.id)

    async def edit_pressed(self, press: ButtonPress[EditTemplate], reply: Reply) -> None:
        await reply.open(loading("Edit template"))
        await self._edit(reply, press.button.template)

    async def _edit(self, reply: Reply, template_id: int) -> None:
        """Show the form with the stored template."""
        async with self.accounts.reading(reply.owner) as session:
            project, template = await self.templates.one(session, template_id)
            description = await _rich(reply, template.content.description)
            metadata = TemplateMetadata(
                place=reply.place.as_json(),
                project_id=project.id,
                template=template.id,
                channel=template.channel_id,
            )
            metadata = metadata.model_copy(update={"written": fingerprint(await _text(reply, description))})
            entered = views.values_of(template, description)
            view = await self._form(reply, session, project, entered, metadata)
        await reply.show(view)

    async def remove_pressed(self, press: ButtonPress[RemoveTemplate], reply: Reply) -> None:
        """*Remove*, which has asked."""
        project, template = await self.templates.remove(reply.owner, press.button.template)
        await self._show(reply, project, views.removed(template), replace=True)

    async def issue_chosen(self, press: ButtonPress[CopyIssue], reply: Reply) -> None:
        """*Copy from an issue*: fill the form from an issue; a description that was typed stays."""
        form = press.form
        if press.button.issue is None:
            return
        metadata, entered = TemplateMetadata.of(form), views.entered_in(form.json)
        reply = reply.at(Destination.from_json(metadata.place))
        typed = await _text(reply, entered.description)

        async with self.accounts.reading(reply.owner) as session:
            project = await self.projects.by_id(session, metadata.project_id)
            issue = await self.templates.to_copy(session, project, press.button.issue)
            kept = "" if fingerprint(key(typed)) == metadata.copied else typed.strip()
            copied = await _rich(reply, "\n\n".join(filter(None, (kept, issue.description))))
            entered = replace(entered, chosen={**entered.chosen, **choices_of(issue)}, description=copied)
            metadata = metadata.model_copy(update={"copied": fingerprint(key(await _text(reply, copied)))})
            view = await self._form(reply, session, project, entered, metadata)
        await reply.show(view)

    async def issue_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """Issues by number or subject that a template of the form's project may be made from."""
        project_id = TemplateMetadata.of(request.view).project_id
        issues = await self.issues.suggest(reply.owner, request.text, project_id)
        return [issue_option(issue) for issue in issues if copyable(issue, project_id)]

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Save the template, and show the list with it; unchanged fields stay as stored."""
        metadata, entered = TemplateMetadata.of(form.view), views.entered_in(form.view.json)
        here = (reply.place.channel_id or "") if entered.here else ""
        description = await _text(reply, entered.description)
        if metadata.template and fingerprint(description) == metadata.written:
            before = await self.stored.get(reply.owner.team_id, metadata.template)
            description = before.content.description if before else description
        template = Template(
            id=metadata.template,
            project_id=metadata.project_id,
            channel_id=metadata.channel if entered.here is None else here,
            name=entered.name,
            content=TemplateContent(prefix=entered.prefix, description=description),
        )
        project, stored = await self.templates.save(
            reply.owner, template, entered.chosen, reply.wording.text_format
        )

        async def confirm() -> None:
            await self._show(reply, project, views.saved(stored, new=not metadata.template))

        return FormResult(then=confirm)

    async def _form(
        self,
        reply: Reply,
        session: Session,
        project: KnownProject,
        entered: Entered,
        metadata: TemplateMetadata,
    ) -> JSON:
        catalog = await self.templates.changeable(session, project)
        default = await self.projects.default_in(session, reply.channel)
        in_channel = default is not None and default.id == project.id
        return views.template_form(entered, project, catalog, metadata, in_channel=in_channel)


async def _text(reply: Reply, rich: JSON | None) -> str:
    """Rich text in the service's format."""
    return (await writer(reply, rich))(rich) if rich else ""


async def _rich(reply: Reply, text: str | None) -> JSON | None:
    return await rich_input.prefilled(text, reply.wording.text_format) if text else None
