"""Fills in the form for a new issue from templates."""

from bot.features.accounts.accounts import Session
from bot.features.issues.fields import DESCRIPTION, Draft
from bot.features.new_issue.metadata import NewIssueMetadata
from bot.features.projects.projects import KnownProject
from bot.features.templates.applying import applied, missing, own_subject, with_headings, withdrawn
from bot.features.templates.errors import PartsMissing
from bot.features.templates.templates import Templates
from bot.slack import forms
from bot.slack.interaction import View
from bot.slack.replies import Reply

NO_TEMPLATE = "#0"


async def opened(
    templates: Templates, reply: Reply, session: Session, project: KnownProject, draft: Draft, *, preset: bool
) -> Draft:
    """The draft of a form that opens, filled in from the template that it names.

    With `preset`, it is filled in from the channel's template if it names none and there is only one.
    Raises WrongField.
    """
    if draft.template:
        template = await templates.named(session, project, reply.channel, draft.template)
        return applied(draft, template, reply.wording.text_format)
    offered = await templates.offered(reply.owner, project, reply.channel) if preset else ()
    own = [template for template in offered if template.channel_id]
    return applied(draft, own[0], reply.wording.text_format) if len(own) == 1 else draft


async def switched(
    templates: Templates,
    reply: Reply,
    session: Session,
    project: KnownProject,
    draft: Draft,
    *,
    before: int,
    wanted: str,
) -> Draft:
    """The whole draft of an open form, filled in from the wanted template in place of the one `before`.

    Raises WrongField.
    """
    if filled_in := await templates.stored(reply.owner, before):
        draft = withdrawn(draft, filled_in, reply.wording.text_format)
    if wanted == NO_TEMPLATE:
        return draft
    template = await templates.named(session, project, reply.channel, wanted)
    return applied(draft, template, reply.wording.text_format)


async def checked(
    templates: Templates, reply: Reply, view: View, draft: Draft
) -> tuple[Draft, dict[str, str]]:
    """A submitted draft with its template's headings, and errors where it lacks what that requires."""
    text_format = reply.wording.text_format
    template = await templates.stored(reply.owner, NewIssueMetadata.of(view).template)
    if template is None or draft.project != f"#{template.project_id}":
        return draft, {}
    draft = with_headings(draft, template, text_format)
    blocks, errors = forms.Values(view.json).block_ids, {}
    if not own_subject(draft.subject, template):
        errors[blocks["subject"]] = "Enter a subject."
    if parts := missing(draft, template, text_format):
        errors[blocks[DESCRIPTION.name]] = reply.wording.sentence(PartsMissing(template.name, parts))
    return draft, errors
