"""Builds the form for a new issue, and reads it back as a draft."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.access.catalog import Catalog, Required
from bot.access.projects import KnownProject
from bot.features.issues import field_inputs
from bot.features.issues.buttons import ChooseProject, ChooseValue, MoreFields, TypeSubject
from bot.features.issues.creating import Source
from bot.features.issues.fields import DESCRIPTION, FIELDS, Draft, ResolvedValue, Value
from bot.features.issues.views import name_of, title
from bot.features.templates.views import ChooseTemplate
from bot.service.conventions import SUBJECT_LENGTH
from bot.service.models import Issue, Ref
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import JSON, Block, actions, button, context, option, section
from bot.slack.surfaces.view import Metadata
from bot.slack.text.mrkdwn import line, prose
from bot.slack.text.wording import Wording
from bot.store.templates import Template

CALLBACK_ID, TITLE = "issue.create", "New issue"
OUTDATED = "The fields below changed with the project. Check them, then create the issue."
KNOWN = "known"
CUSTOM_FIELDS = 20


class NewIssueMetadata(Metadata):
    """The strings are IDs of saved input: `files` of selected files, `thread` of an offered thread, `rest` of
    a description that is too long for the form, and `draft` of what waits for a project.

    `form` tells a form from others, also when it is opened again. `source` is the message that the issue is
    created from. `template` is the ID of the one that filled the form in, and `more` is whether *More fields*
    was pressed.
    """

    form: str = ""
    source: Source | None = None
    files: str | None = None
    thread: str | None = None
    rest: str | None = None
    draft: str | None = None
    template: int = 0
    more: bool = False


@dataclass(frozen=True)
class FormState:
    """What the form shows of an issue: the fields behind *More fields* if `more`, or else those in `fields`.

    `warning` is about the draft. `wrong` names the fields that it is about, the first of which gets the
    focus; `needed` are those that the service requires. `description` is the rich text entered so far.
    `template` is the ID of the template that it was filled in from, 0 for none.
    """

    more: bool = False
    fields: frozenset[str] = frozenset()
    warning: str = ""
    wrong: tuple[str, ...] = ()
    needed: frozenset[str] = frozenset()
    description: JSON | None = None
    template: int = 0

    def tag(self, project: int | str = "") -> str:
        """The end of block IDs. A new one makes Slack drop what the form had before."""
        if self.template:
            return f":{project}:{self.template}"
        return f":{project}" if project else ""

    def has(self, name: str) -> bool:
        return self.more or name in self.fields or name in self.wrong


def create_form(
    draft: Draft,
    project: KnownProject | None,
    state: FormState,
    *,
    description: JSON | None,
    templates: Sequence[Template],
    details: Sequence[Block],
    notes: Sequence[Block],
    attached: Sequence[Block],
    metadata: str,
) -> JSON:
    """The create form; `notes` are possible duplicates, `details` are the fields of the chosen project.

    `description` is rich text, `attached` what else comes from a message: its thread and its files.
    """
    warning = state.warning
    blocks: list[Block] = [section(f":warning: {prose(warning)}", block_id=forms.BANNER)] if warning else []
    chosen = option(project.name, str(project.id)) if project else None
    project_select = forms.searched(ChooseProject.action, chosen, "Search projects")
    subject = forms.text(TypeSubject.action, draft.subject, most=SUBJECT_LENGTH, on_keystroke=True)
    formatted = forms.formatted_text(DESCRIPTION.name, description)

    blocks += [
        forms.field("project", "Project", project_select, optional=False, dispatch=True),
        *_template(templates, state.template),
        forms.field(f"subject{state.tag()}", "Subject", subject, optional=False, dispatch=True),
        *notes,
        forms.field(f"{DESCRIPTION.name}{state.tag()}", DESCRIPTION.label, formatted),
        *attached,
        *(details or [context("Choose a project to see its issue types, people, and other fields.")]),
    ]
    empty = "" if draft.subject else "subject"
    if project is None:
        empty = "project"
    field_inputs.focus(blocks, state.wrong[0] if state.wrong else empty)
    return forms.form(CALLBACK_ID, TITLE, blocks, submit="Create", metadata=metadata)


def _template(templates: Sequence[Template], chosen: int) -> list[Block]:
    """The templates to choose from, or the one that filled the form in."""
    if not templates:
        return []
    names = {str(template.id): template.name for template in templates}
    if name := names.get(str(chosen)):
        return [context(f"Template: {line(name)}")]
    select = forms.choice(ChooseTemplate.action, list(names.items()), None, "No template")
    return [forms.field("template", "Template", select, dispatch=True)]


def project_fields(
    draft: Draft, meant: Mapping[str, ResolvedValue], catalog: Catalog, required: Required, state: FormState
) -> list[Block]:
    """The fields of a project, with *More fields* if some aren't shown.

    `required` are the custom fields that the service is known to require.
    """
    tag = state.tag(catalog.project_id or "")
    tracker = meant.get("tracker")
    needed = required.get(tracker.id if isinstance(tracker, Ref) else None, frozenset())
    blocks, hidden = [], False

    for field in sorted(FIELDS.values(), key=lambda field: not field.first):
        refs = field.offered(catalog)
        if field is DESCRIPTION or (field.choices and not refs):
            continue
        value = meant.get(field.key, draft.unread.get(field.key))
        if not (field.first or value or state.has(field.name)):
            hidden = True
            continue
        blocks.append(field_inputs.field_input(field, value, refs, tag, needed=field.name in state.needed))

    named = {*state.fields, *state.wrong}
    for n, custom in enumerate(catalog.custom_fields):
        entered, must, listed = draft.custom_fields.get(custom.id), custom.id in needed, n < CUSTOM_FIELDS
        if entered or must or f"cf_{custom.id}" in named or (state.more and listed):
            hint = None if must else "Required for some issue types"
            blocks.append(field_inputs.custom_input(custom, entered, tag, needed=must, hint=hint))
        elif listed:
            hidden = True

    for block in blocks:  # a choice then brings the whole form, to be kept as a draft
        block["dispatch_action"] = block["element"]["action_id"] == ChooseValue.action
    if hidden:
        blocks.append(actions([button("More fields", MoreFields())], block_id="more"))
    return blocks


def outdated(view: JSON) -> bool:
    """Whether the form still has the choices of a project other than the chosen one."""
    values = forms.Values(view)
    tags = {block_id.split(":")[1] for block_id in values.block_ids.values() if ":" in block_id} - {""}
    return bool(tags) and tags != {values.chosen("project")}


def missing(view: JSON) -> dict[str, str]:
    """Errors at the required fields that are empty."""
    values = forms.Values(view)
    subject = values.block_ids.get("subject", "subject")
    errors = {} if values.text("subject") else {subject: "Enter a subject."}
    return errors if values.chosen("project") else errors | {"project": "Choose a project."}


def submitted(view: JSON, written: field_inputs.Written, locale: str) -> Draft:
    """The draft that the form holds; choices are IDs (`#5`). Raises what `entered` raises."""
    values = forms.Values(view)
    return _draft(
        values, {key: field_inputs.entered(values, field, locale, written) for key, field in FIELDS.items()}
    )


def shown_again(view: JSON) -> Draft:
    """The draft for another project: choices by name, because their IDs differ between projects.

    Rich text isn't in it.
    """
    values = forms.Values(view)
    draft = _draft(values, {key: field_inputs.carried_over(values, field) for key, field in FIELDS.items()})
    return draft.model_copy(update={"unread": field_inputs.hours_as_typed(values)})


def _draft(values: forms.Values, entered: Mapping[str, Value | None]) -> Draft:
    project = values.chosen("project")
    return Draft(
        subject=values.text("subject") or "",
        project=f"#{project}" if project else None,
        values=dict(entered),
        custom_fields=field_inputs.entered_custom_fields(values),
    )


def duplicate_notes(made: Sequence[Issue], similar: Sequence[Issue], wording: Wording) -> list[Block]:
    """Issues that were created from the same message, and similar ones, below the form's subject."""
    parts = []
    if made:
        links = ", ".join(title(issue, wording) for issue in made)
        parts.append(
            f":information_source: Already created from this message: {links}. "
            "You can still create another issue."
        )
    if similar:
        lines = "\n".join(f"• {_similar(issue, wording)}" for issue in similar)
        parts.append(f":mag: *Possible duplicate{'' if len(similar) == 1 else 's'}*\n{lines}")
    return [section("\n".join(parts), block_id=KNOWN)] if parts else []


def _similar(issue: Issue, wording: Wording) -> str:
    return " · ".join(
        filter(None, (title(issue, wording), name_of(issue.status), name_of(issue.assigned_to)))
    )


def with_notes(view: JSON, blocks: list[Block]) -> JSON:
    """Return a payload's form with other notes below its subject, and the user's input."""
    kept = [block for block in view["blocks"] if block.get("block_id") != KNOWN]
    names = [str(block.get("block_id")).partition(":")[0] for block in kept]
    below = names.index("subject") + 1 if "subject" in names else len(kept)
    return forms.redefined(view, [*kept[:below], *blocks, *kept[below:]])


def notes_in(view: JSON) -> str:
    return next((b["text"]["text"] for b in view["blocks"] if b.get("block_id") == KNOWN), "")
