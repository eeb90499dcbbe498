"""Fills in the form for a new issue from templates."""

from dataclasses import dataclass

from bot.features.accounts.accounts import Session
from bot.features.issues.fields import DESCRIPTION, Draft
from bot.features.templates.applying import applied, missing, own_subject, with_headings, withdrawn
from bot.features.templates.errors import PartsMissing
from bot.features.templates.templates import Templates
from bot.service.models import Project
from bot.slack import forms
from bot.slack.interaction import Place, View
from bot.slack.replies import Reply
from bot.store.channels import Channel
from bot.store.owner import Owner
from bot.store.templates import Template

NO_TEMPLATE = "#0"


@dataclass(frozen=True)
class FormTemplates:
    """Templates in the form for a new issue."""

    templates: Templates

    async def offered(self, owner: Owner, project: Project, place: object) -> tuple[Template, ...]:
        """The templates that a form opened in a place offers."""
        return await self.templates.offered(owner, project, _channel(owner, place))

    async def opened(
        self, reply: Reply, session: Session, project: Project, draft: Draft, *, preset: bool
    ) -> Draft:
        """The draft of a form that opens, filled in from the template that it names.

        With `preset`, it is filled in from the channel's template if it names none and there is only one.
        Raises WrongField.
        """
        if draft.template:
            template = await self.templates.named(session, project, reply.channel, draft.template)
            return _applied(draft, template, reply)
        offered = await self.templates.offered(reply.owner, project, reply.channel) if preset else ()
        own = [template for template in offered if template.channel_id]
        return _applied(draft, own[0], reply) if len(own) == 1 else draft

    async def switched(
        self, reply: Reply, session: Session, view: View, project: Project, draft: Draft, *, wanted: str
    ) -> Draft:
        """The whole draft of an open form, with the wanted template in place of the one that filled it in.

        Raises WrongField.
        """
        if before := await self._of(reply.owner, view):
            draft = withdrawn(draft, before, reply.wording.text_format)
        if wanted == NO_TEMPLATE:
            return draft
        channel = _channel(reply.owner, view.metadata.get("place"))
        return _applied(draft, await self.templates.named(session, project, channel, wanted), reply)

    async def checked(self, reply: Reply, view: View, draft: Draft) -> tuple[Draft, dict[str, str]]:
        """A submitted draft with its template's headings, and errors where it lacks what that requires."""
        template, text_format = await self._of(reply.owner, view), reply.wording.text_format
        if template is None or draft.project != f"#{template.project_id}":
            return draft, {}
        draft = with_headings(draft, template, text_format)
        blocks, errors = forms.Values(view.json).block_ids, {}
        if not own_subject(draft.subject, template):
            errors[blocks["subject"]] = "Enter a subject."
        if parts := missing(draft, template, text_format):
            errors[blocks[DESCRIPTION.name]] = reply.wording.sentence(PartsMissing(template.name, parts))
        return draft, errors

    async def _of(self, owner: Owner, view: View) -> Template | None:
        """The template that filled the form in, if it still exists."""
        number = view.metadata.get("template")
        return await self.templates.stored(owner, number) if isinstance(number, int) else None


def _applied(draft: Draft, template: Template, reply: Reply) -> Draft:
    return applied(draft, template, reply.wording.text_format)


def _channel(owner: Owner, place: object) -> Channel | None:
    channel_id = Place.from_json(place).channel_id
    return Channel(owner.team_id, channel_id) if channel_id else None
