"""Builds the form for a new issue, and reads it back as a draft."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from bot.errors import UserError, WrongField
from bot.features.issues.issues import Draft
from bot.features.name_matching import pick
from bot.features.projects.catalog import CHOICE, Catalog, CustomField, Required
from bot.service.conventions import SUBJECT_LENGTH
from bot.service.models import Project, Ref
from bot.slack import forms
from bot.slack.blocks import JSON, Block, context, option, section, shortened
from bot.slack.grammar.durations import hours
from bot.slack.text import prose

CUSTOM_FIELDS, EXAMPLES = 20, 4
CHOICES = {
    "tracker": ("Tracker", "tracker"),
    "status": ("Status", "status"),
    "priority": ("Priority", "priority"),
    "assignee": ("Assignee", "person"),
    "category": ("Category", "category"),
    "version": ("Target version", "version"),
}
UNCHOSEN = {
    "tracker": "The project's first",
    "status": "The tracker's first",
    "priority": "The usual one",
    "assignee": "Nobody yet",
    "category": "None",
    "version": "None",
}


def create_form(
    draft: Draft,
    project: Project | None,
    catalog: Catalog | None,
    metadata: str,
    said: str | None = None,
    *,
    notes: Sequence[Block] = (),
    files: Sequence[Block] = (),
    required: Required | None = None,
) -> JSON:
    """The create form for a project; without one, it asks for the project first.

    `notes` are possible duplicates, below the subject; `files` are below the description. `required` are the
    custom fields that the service is known to require.
    """
    blocks: list[Block] = [section(f":warning: {prose(said)}", block_id=forms.BANNER)] if said else []
    chosen = option(shortened(project.name, 75), str(project.id)) if project else None
    blocks += [
        forms.field(
            "project",
            "Project",
            forms.searched("issue.project", chosen, "Type a part of its name"),
            optional=False,
            dispatch=True,
        ),
        forms.field(
            "subject",
            "Subject",
            forms.text(
                "issue.subject",
                draft.subject,
                most=SUBJECT_LENGTH,
                on_keystroke=True,
                focus=project is not None and not draft.subject,
            ),
            optional=False,
            dispatch=True,
        ),
        *notes,
        forms.field(
            "description", "Description", forms.text("description", draft.description, multiline=True)
        ),
        *files,
    ]
    if project is None or catalog is None:
        blocks.append(context("Choose a project to see its trackers, people, versions and more."))
    else:
        blocks += _details(draft, project.id, catalog, required or {})
    return forms.form("issue.create", "New issue", blocks, submit="Create", metadata=metadata)


def _details(draft: Draft, project_id: int, catalog: Catalog, required: Required) -> list[Block]:
    known, wanted = choices_of(catalog), _wanted(draft)
    tag = f":{project_id}"  # new block ids, so that Slack drops the choices made for another project
    blocks: list[Block] = []
    for name, (label, kind) in CHOICES.items():
        refs = known[name]
        if refs:
            element = forms.choice(
                f"issue.{name}",
                _options(refs),
                _matching(kind, wanted[name], refs),
                UNCHOSEN[name],
            )
            dispatch = name == "tracker" and bool(required)
            blocks.append(forms.field(name + tag, label, element, dispatch=dispatch))
    parent = option(f"#{draft.parent}", str(draft.parent)) if draft.parent else None
    blocks += [
        forms.field(
            "parent" + tag,
            "Parent issue",
            forms.searched("issue.parent", parent, "A number or part of a subject", 1),
        ),
        forms.field("start", "Start date", forms.day("start", draft.start)),
        forms.field("due", "Due date", forms.day("due", draft.due)),
        forms.field(
            "estimate",
            "Estimated hours",
            forms.text("estimate", _plain(draft.estimate), placeholder="1.5, 90m or 1h30", most=20),
        ),
        forms.field(
            "private",
            "Private",
            forms.checkbox("private", "Only for those who may see it", checked=draft.private),
        ),
    ]
    if catalog.people:
        chosen = [
            v
            for who in draft.watch
            if isinstance(who, str) and (v := _matching("person", who, catalog.people))
        ]
        watchers = forms.choices(
            "issue.watchers", _options(catalog.people), chosen, "People to keep informed"
        )
        blocks.append(forms.field("watchers" + tag, "Watchers", watchers))
    chosen_tracker = _matching("tracker", draft.tracker, catalog.trackers)
    needed = required.get(int(chosen_tracker) if chosen_tracker else None, frozenset())
    blocks += [
        _custom_field(custom, draft.custom_fields.get(custom.id), tag, needed=custom.id in needed)
        for custom in catalog.custom_fields[:CUSTOM_FIELDS]
    ]
    return blocks


def _custom_field(
    custom: CustomField, held: str | tuple[str, ...] | None, tag: str, *, needed: bool
) -> Block:
    name, values = f"cf_{custom.id}", (held,) if isinstance(held, str) else held or ()
    if custom.is_list:
        name += tag
        initial = [option(value, value) for value in map(custom.known, values)]
        if custom.multiple:
            element = forms.several_searched("issue.custom", initial, "Choose or type values")
        else:
            element = forms.searched(
                "issue.custom", initial[0] if initial else None, "Choose or type a value"
            )
    else:
        like = ", ".join(custom.values[:EXAMPLES])
        element = forms.text(name, ", ".join(values), placeholder=f"Like {like}" if like else None)
    label = custom.name or f"Field {custom.id}"
    hint = None if needed else "Some trackers require it."
    return forms.field(name, label, element, optional=not needed, hint=hint)


def custom_values(custom: CustomField, typed: str) -> list[JSON]:
    """Options for a custom field: matching known values, and what was typed, since there may be others."""
    typed = typed.strip()
    found = [value for value in custom.values if typed.casefold() in value.casefold()]
    if typed and len(typed) <= CHOICE and custom.known(typed) not in found:
        found.append(typed)
    return [option(value, value) for value in found[: forms.LIST]]


def left_empty(view: JSON, block_ids: Iterable[str]) -> list[int]:
    """The ids of the custom fields among these blocks that are empty."""
    filled = _custom_fields(forms.Values(view))
    names = (block_id.partition(":")[0] for block_id in block_ids)
    numbers = [forms.number_in(name[3:]) for name in names if name.startswith("cf_")]
    return [number for number in numbers if number not in filled]


def choices_of(catalog: Catalog) -> dict[str, tuple[Ref, ...]]:
    """The choices of each select, by its name."""
    return {
        "tracker": catalog.trackers,
        "status": catalog.statuses,
        "priority": catalog.priorities,
        "assignee": catalog.people,
        "category": catalog.categories,
        "version": catalog.versions,
        "watchers": catalog.people,
    }


def outdated(view: JSON) -> bool:
    """Whether the form still has the choices of a project other than the chosen one."""
    values = forms.Values(view)
    tags = {block_id.partition(":")[2] for block_id in values.block_ids.values()} - {""}
    return bool(tags) and tags != {values.chosen("project")}


def unknown(draft: Draft, catalog: Catalog) -> list[str]:
    """A sentence for each name that the project doesn't have; the form leaves those fields empty."""
    said = []
    for name, wanted in _wanted(draft).items():
        try:
            if wanted is not None and name != "assignee":
                pick(CHOICES[name][1], wanted, choices_of(catalog)[name])
        except UserError as error:
            said.append(str(error))
    return said


def _wanted(draft: Draft) -> dict[str, str | None]:
    return {
        "tracker": draft.tracker,
        "status": draft.status,
        "priority": draft.priority,
        "assignee": draft.to if isinstance(draft.to, str) else None,
        "category": draft.category,
        "version": draft.version,
    }


def submitted(view: JSON) -> Draft:
    """The draft that the form holds; choices are ids (`#5`).

    Raises WrongField for a duration that can't be read, UserError for a value that the form didn't offer.
    """
    values = forms.Values(view)
    ids = {name: f"#{value}" for name in CHOICES if (value := values.chosen(name))}
    watchers = tuple(f"#{value}" for value in values.all_chosen("watchers"))
    estimate = values.text("estimate")
    try:
        time = hours(estimate) if estimate else None
    except UserError as error:
        raise WrongField("estimate", error) from None
    return _draft(values, ids, watchers, time)


def carried_over(view: JSON) -> Draft:
    """The draft for another project: choices by name, since their ids differ between projects.

    Slack keeps typed text itself, since those fields stay the same.
    """
    values = forms.Values(view)
    names = {name: text for name in CHOICES if (text := values.chosen(name, "text"))}
    return _draft(values, names, values.all_chosen("watchers", "text"), None)


def _draft(
    values: forms.Values, choices: dict[str, str], watchers: tuple[str, ...], estimate: Decimal | None
) -> Draft:
    return Draft(
        subject=values.text("subject") or "",
        description=values.text("description"),
        project=f"#{project}" if (project := values.chosen("project")) else None,
        tracker=choices.get("tracker"),
        status=choices.get("status"),
        priority=choices.get("priority"),
        to=choices.get("assignee"),
        category=choices.get("category"),
        version=choices.get("version"),
        watch=watchers,
        parent=values.number("parent"),
        start=values.day("start"),
        due=values.day("due"),
        estimate=estimate,
        private=bool(values.all_chosen("private")),
        custom_fields=_custom_fields(values),
    )


def _custom_fields(values: forms.Values) -> dict[int, str | tuple[str, ...]]:
    found: dict[int, str | tuple[str, ...]] = {}
    for name in values.named("cf_"):
        if value := values.text(name) or values.chosen(name) or values.all_chosen(name):
            found[forms.number_in(name[3:])] = value
    return found


def _options(refs: Sequence[Ref]) -> list[forms.Choice]:
    return [(str(ref.id), ref.name) for ref in refs]


def _matching(kind: str, wanted: str | None, refs: Sequence[Ref]) -> str | None:
    """The choice with a typed name; None if there is none or it is ambiguous."""
    if wanted is None:
        return None
    try:
        return str(pick(kind, wanted, refs).id)
    except UserError:
        return None


def _plain(estimate: Decimal | None) -> str | None:
    return None if estimate is None else f"{estimate.normalize():f}"
