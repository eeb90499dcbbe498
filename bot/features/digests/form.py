"""Builds the form for a digest, and reads its values."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from pydantic import Field

from bot.errors import NotLinked, UserError, WrongField
from bot.features.digests.buttons import ChooseSchedule, PreviewForm
from bot.features.digests.commands import (
    MORE,
    DigestRequest,
    digest_command,
    more_filters,
    more_typed,
    typed_digest,
    typed_project,
)
from bot.features.digests.digests import Digests
from bot.features.digests.plans import FILTERS, SOON_DAYS, PlanDraft
from bot.features.digests.schedules import (
    MAX_CRON_LENGTH,
    Schedule,
    ScheduleError,
    parse,
    zone_named,
    zones_matching,
)
from bot.features.parts import Parts
from bot.features.reading import vocabulary_for
from bot.service.models import Ref
from bot.slack.language.options import understand
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import JSON, Block, actions, button, option, section
from bot.slack.surfaces.buttons import ActionExpired, Number
from bot.slack.surfaces.interaction import OptionsRequest
from bot.slack.surfaces.view import Metadata, View
from bot.slack.text.mrkdwn import bold, line
from bot.spelling import DAY_NAMES, counted, prose_kind
from bot.store.digests import Digest
from bot.store.plans import FILTER_KINDS, GROUPS, KINDS, LIVE, STALE_DAYS, FilterKind, FilterValue, Plan

SCHEDULES = [
    ("daily", "Every day"),
    ("weekdays", "Weekdays"),
    ("weekly", "Weekly"),
    ("hourly", "Hourly"),
    ("cron", "Custom"),
]
CHANNEL_SCHEDULES = [(LIVE, "Live"), *SCHEDULES]
STALE_CHOICES = (7, STALE_DAYS, 30, 90)
LONGEST_STALE = 999 * 7
TIME, DAY, CRON = "09:00", "mon", "0 9 * * 1-5"  # what fields contain when they first appear
EXCLUDED = "excluded"
MORE_HINT = "Custom fields and a saved query, by number or name. For example: cf_7:Acme query:3"
CHOICE_FIELDS = (*FILTER_KINDS, EXCLUDED)


class DigestMetadata(Metadata):
    """Of all forms: the digest that it changes, if any, and its project.

    `replace`: the result replaces the list that the form was opened from. `owner` is the digest's owner whom
    the form names, and `initial` is what `forms.shown_in` marked. The others are what the fields that another
    kind of schedule hides contained.
    """

    digest: Number | None = None
    project: Number | None = None
    replace: bool = False
    owner: str = ""
    initial: dict[str, str] = Field(default_factory=dict)
    days: tuple[str, ...] = (DAY,)
    time: str = TIME
    cron: str = CRON


def add_form(plan: Plan, channel_id: str | None, metadata: DigestMetadata) -> JSON:
    """The form for a new digest, with a channel preselected; the plan may be without a project."""
    if plan.kind == "personal":
        return personal_form(plan, metadata)
    chosen = option(plan.project, str(plan.project_id)) if plan.project_id else None
    project = forms.searched("issue.project", chosen, "Search projects")
    channel = forms.conversation("channel", channel_id, "Choose a channel")
    blocks = [
        forms.field("project", "Project", project, optional=False),
        _lists_field(plan),
        *_schedule_fields(plan, CHANNEL_SCHEDULES),
        forms.field("channel", "Channel", channel, optional=False),
        *_filter_fields(plan),
    ]
    return forms.form("digest.add", "New digest", blocks, submit="Add", metadata=metadata.dump())


def change_form(digest: Digest, metadata: DigestMetadata, *, mine: bool) -> JSON:
    """The form that changes a digest; its project and channel can't be changed."""
    plan = digest.plan
    if digest.personal:
        return personal_form(plan, metadata)
    about = f"Digest {digest.id}: {bold(plan.project)} in <#{digest.channel_id}>"
    if not mine:
        about += f"\nIt belongs to {line(digest.owner_name)}, who will be notified of your changes."
    schedule = _schedule_fields(plan, CHANNEL_SCHEDULES)
    blocks = [section(about), _lists_field(plan), *schedule, *_filter_fields(plan)]
    form = forms.form("digest.change", "Edit digest", blocks, submit="Save")
    initial = {"initial": forms.shown_in(form)}
    return form | {"private_metadata": metadata.model_copy(update=initial).dump()}


def personal_form(plan: Plan, metadata: DigestMetadata) -> JSON:
    blocks = _schedule_fields(plan)
    return forms.form("digest.me", "My digest", blocks, submit="Save", metadata=metadata.dump())


def _schedule_fields(plan: Plan, known: Sequence[tuple[str, str]] = SCHEDULES) -> list[Block]:
    zone = plan.zone
    try:
        schedule = parse(plan.schedule)
    except ScheduleError:  # a system update made it unreadable
        schedule = parse(Plan.schedule)
    kind, *words = schedule.text.split()
    if kind == "hourly" and words:  # at another minute, which only a cron expression can say
        kind = "cron"
    days = words[0].split(",") if kind == "weekly" else [DAY]
    time = TIME if kind in {"hourly", "cron", LIVE} else words[-1]
    chosen = forms.searched("digest.zone", option(zone, zone) if zone else None, "Search by city")
    return [
        _kind_field(kind, known),
        *_timing(kind, days, time, schedule.cron if kind == "cron" else CRON),
        forms.field("zone", "Time zone", chosen, optional=False),
    ]


def _kind_field(kind: str, known: Sequence[tuple[str, str]]) -> Block:
    select = forms.choice(ChooseSchedule.action, known, kind, "Choose a schedule")
    return forms.field("schedule", "Schedule", select, optional=False, dispatch=True)


def _lists_field(plan: Plan) -> Block:
    """Which kind of issues the digest lists; each number of days is a choice of its own."""
    days = sorted({*STALE_CHOICES, plan.stale_days})
    known = [
        ("new", "New issues"),
        ("due", f"Overdue or due within {SOON_DAYS} days"),
        *((f"stale:{count}", f"Not updated for {counted(count, 'day')}") for count in days),
        ("closed", "Closed issues"),
        ("changed", "Changed status or assignee"),
    ]
    chosen = f"stale:{plan.stale_days}" if plan.kind == "stale" else plan.kind
    select = forms.choice("kind", known, chosen, "Choose what to post")
    return forms.field("kind", "Issues", select, optional=False)


def _timing(kind: str, days: Sequence[str], time: str, cron: str) -> list[Block]:
    """The fields that this kind of schedule has below it."""
    blocks = []
    if kind == "weekly":
        named = [(day[:3], day.capitalize()) for day in DAY_NAMES]
        chosen = forms.choices("days", named, days, "Choose days")
        blocks.append(forms.field("days", "Days", chosen, optional=False))
    if kind in {"daily", "weekdays", "weekly"}:
        blocks.append(forms.field("time", "Time", forms.time_of_day("time", time), optional=False))
    if kind == "cron":
        hint = f"Minute, hour, day of the month, month, day of the week. For example: {CRON}"
        text = forms.text("cron", cron, most=MAX_CRON_LENGTH)
        blocks.append(forms.field("cron", "Cron expression", text, optional=False, hint=hint))
    return blocks


def rescheduled(view: View, kind: str) -> JSON:
    """The form with the fields of another kind of schedule; Slack keeps what the others contain."""
    values, before = forms.Values(view.json), DigestMetadata.of(view)
    kept = before.model_copy(
        update={
            "days": values.all_chosen("days") or before.days,
            "time": values.time("time") or before.time,
            "cron": (values.text("cron") or before.cron)[:MAX_CRON_LENGTH],
        }
    )
    blocks: list[Block] = []
    for block in view.json["blocks"]:
        match block.get("block_id"):
            case "schedule":
                known = SCHEDULES if view.json["callback_id"] == "digest.me" else CHANNEL_SCHEDULES
                blocks += [_kind_field(kind, known), *_timing(kind, kept.days, kept.time, kept.cron)]
            case "days" | "time" | "cron":
                continue
            case _:
                blocks.append(block)
    return forms.redefined(view.json, blocks, kept.dump())


def _filter_fields(plan: Plan) -> list[Block]:
    """One field for each filter, one for what to exclude, and how the digest looks."""
    chosen = {kind: [option(c.name, str(c.id)) for c in plan.filters.get(kind, ())] for kind in FILTER_KINDS}
    excluded = forms.several_searched(f"digest.{EXCLUDED}", _exclusions(plan.excluded), "None")
    grouped = [(name, prose_kind(name).capitalize()) for name in GROUPS]
    group = forms.choice("group", grouped, plan.group, "Issue type")
    empty = forms.checkbox("empty", "Post even when there's nothing to show", checked=plan.empty)
    below = forms.checkbox("subprojects", "Include issues of subprojects", checked=plan.subprojects)
    return [
        *(
            forms.field(kind, FILTERS[kind].label, forms.several_searched(f"digest.{kind}", options, "Any"))
            for kind, options in chosen.items()
        ),
        forms.field(EXCLUDED, "Exclude", excluded),
        forms.field("more", "More filters", forms.text("more", more_typed(plan)), hint=MORE_HINT),
        forms.field("group", "Group by", group, optional=False),
        forms.field("empty", "Empty digests", empty),
        forms.field("subprojects", "Subprojects", below),
        actions([button("Preview", PreviewForm())]),
    ]


def project_of(view: View) -> int | None:
    """The project that is chosen in the form, or of the digest that it changes."""
    return forms.Values(view.json).number("project") or DigestMetadata.of(view).project


async def read_command(parts: Parts, reply: Reply, typed: str, chosen: str | None = None) -> DigestRequest:
    """The request in a text, for the `chosen` project if there is one."""
    parsed = await asyncio.to_thread(typed_digest, typed)
    known = await vocabulary_for(parts, reply, parsed, project=chosen or typed_project(parsed))
    return await asyncio.to_thread(digest_command, parsed, reply.owner, known, chosen)


async def read(access: Parts, reply: Reply, view: View, before: Plan | None = None) -> PlanDraft:
    """The submitted plan, of a digest that has the plan `before` if one is changed. Raises UserError."""
    draft = submitted_change(view, before) if before else submitted(view.json)
    project, values = project_of(view), forms.Values(view.json)
    draft = replace(draft, project=f"#{project}" if project else None)
    if before and not values.changed("more", DigestMetadata.of(view).initial):
        return draft
    more = understand(values.text("more") or "", MORE)
    try:
        known = await vocabulary_for(access, reply, more, project=draft.project)
        custom_fields, query = more_filters(more, known)
    except NotLinked:
        raise
    except UserError as error:
        raise WrongField("more", error) from None
    return replace(draft, plan=replace(draft.plan, custom_fields=custom_fields, query=query))


def submitted_change(view: View, before: Plan) -> PlanDraft:
    """Return the plan of `submitted`, with unchanged fields from the digest's plan `before`."""
    draft, values, initial = submitted(view.json), forms.Values(view.json), DigestMetadata.of(view).initial
    plan, changed = draft.plan, partial(values.changed, known_marks=initial)
    lists = plan if changed("kind") else before
    after = replace(
        before,
        schedule=plan.schedule,
        zone=plan.zone,
        kind=lists.kind,
        stale_days=lists.stale_days,
        group=plan.group if changed("group") else before.group,
        empty=plan.empty if changed("empty") else before.empty,
        subprojects=plan.subprojects if changed("subprojects") else before.subprojects,
    )
    filters = {kind: ids for kind, ids in draft.filters.items() if changed(kind)}
    return PlanDraft(plan=after, filters=filters, excluded=draft.excluded if changed(EXCLUDED) else {})


def submitted(view: JSON) -> PlanDraft:
    """The submitted plan; choices are ids (`#5`). Raises ScheduleError."""
    values = forms.Values(view)
    kind, _, days = (values.chosen("kind") or "new").partition(":")
    if kind not in KINDS or kind == "personal":
        raise ActionExpired
    plan = Plan(
        schedule=_submitted_schedule(values).text,
        zone=_submitted_zone(values),
        kind=KINDS[kind],
        stale_days=min(forms.number_in(days), LONGEST_STALE) if days else STALE_DAYS,
        group=next((group for group in GROUPS if group == values.chosen("group")), "tracker"),
        empty=bool(values.all_chosen("empty")),
        subprojects=bool(values.all_chosen("subprojects")),
    )
    filters = {kind: _ids(values.all_chosen(kind)) for kind in FILTER_KINDS}
    out = _excluded(values)
    excluded = {kind: _ids(out.get(kind, ())) for kind in FILTER_KINDS}
    return PlanDraft(plan=plan, filters=filters, excluded=excluded)


def _submitted_zone(values: forms.Values) -> str:
    chosen = values.chosen("zone")
    if not chosen:  # in a preview: the form can't be submitted without it
        raise ScheduleError("Choose a time zone.")
    return zone_named(chosen)


def _ids(chosen: Iterable[object]) -> tuple[str, ...]:
    return tuple(f"#{one}" for one in chosen)


def _submitted_schedule(values: forms.Values) -> Schedule:
    kind, days, time = values.chosen("schedule"), values.all_chosen("days"), values.time("time") or TIME
    match kind:
        case "daily" | "weekdays":
            return parse(f"{kind} {time}")
        case "weekly":
            return parse(f"weekly {','.join(days)} {time}")
        case "hourly" | "live":
            return parse(kind)
        case "cron":
            return parse(f"cron {values.text('cron') or ''}")
    raise ActionExpired


def field_of(error: UserError, view: JSON) -> str:
    """The field that an error is about: the schedule's, or else the project's."""
    names = ("cron", "days") if isinstance(error, ScheduleError) else ("project",)
    return next((name for name in names if name in forms.Values(view).block_ids), "schedule")


async def zone_options(request: OptionsRequest, _: Reply) -> list[JSON]:
    return [option(zone, zone) for zone in zones_matching(request.text)]


async def choices(digests: Digests, request: OptionsRequest, reply: Reply) -> list[JSON]:
    """A field's options that contain the text."""
    project = project_of(request.view) if request.view else None
    if project is None:
        return []
    known = await digests.choices(reply.owner, project)
    field, sought = request.name.removeprefix("digest."), request.text.strip().casefold()
    if field == EXCLUDED:
        options = _exclusions(known)
    else:
        refs = next((refs for kind, refs in known.items() if kind == field), ())
        options = [option(ref.name, str(ref.id)) for ref in refs]
    return [one for one in options if sought in one["text"]["text"].casefold()]


async def unknown_choices(digests: Digests, reply: Reply, view: JSON) -> dict[str, str]:
    """Errors at choices made before the project was changed to one that doesn't have them."""
    values = forms.Values(view)
    project = values.number("project")
    if project is None or not any(map(values.all_chosen, CHOICE_FIELDS)):
        return {}
    known = await digests.choices(reply.owner, project)
    ids = {kind: {ref.id for ref in refs} for kind, refs in known.items()}
    errors: dict[str, str] = {}
    for name in known:
        label = prose_kind(FILTERS[name].label.lower())
        for value, text in zip(values.all_chosen(name), values.all_chosen(name, "text"), strict=True):
            if forms.number_in(value) not in ids[name]:
                errors[name] = f"This project has no {label} “{text}”. Remove it."
    if any(not ids[kind].issuperset(out) for kind, out in _excluded(values).items()):
        errors[EXCLUDED] = "This project doesn't have all of these. Choose them again."
    return errors


def _exclusions(choices: Mapping[FilterKind, Sequence[FilterValue | Ref]]) -> list[JSON]:
    options: list[JSON] = []
    for kind, refs in choices.items():
        options += [option(f"{FILTERS[kind].label}: {ref.name}", f"{kind}:{ref.id}") for ref in refs]
    return options


def _excluded(values: forms.Values) -> dict[FilterKind, tuple[int, ...]]:
    excluded: dict[FilterKind, tuple[int, ...]] = {}
    for value in values.all_chosen(EXCLUDED):
        word, _, number = value.partition(":")
        kind = next((kind for kind in FILTER_KINDS if kind == word), None)
        if kind is None:
            raise ActionExpired
        excluded[kind] = (*excluded.get(kind, ()), forms.number_in(number))
    return excluded
