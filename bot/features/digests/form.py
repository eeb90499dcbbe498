"""Builds the form for a digest, and reads its values."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from bot.errors import UserError
from bot.features.digests import filter_fields, kind_words, kinds
from bot.features.digests.buttons import ChooseSchedule, PreviewForm
from bot.features.digests.errors import NeverDue, TooOften
from bot.features.digests.plans import DEFAULT_SCHEDULE, DigestSettings
from bot.features.digests.schedules import (
    DAYS,
    LONGEST,
    Schedule,
    ScheduleError,
    UnreadableSchedule,
    parse,
    zone_named,
)
from bot.slack import forms
from bot.slack.blocks import JSON, Block, actions, button, option, section
from bot.slack.buttons import ActionExpired, Number
from bot.slack.interaction import View
from bot.slack.metadata import Metadata
from bot.slack.text import bold, line
from bot.store.digest_plans import FILTER_KINDS, GROUPS, KINDS, STALE_DAYS, Plan
from bot.store.digests import Digest

SCHEDULES = [
    ("daily", "Every day"),
    ("weekdays", "Weekdays"),
    ("weekly", "Weekly"),
    ("hourly", "Hourly"),
    ("cron", "Custom"),
]
STALE_CHOICES = (7, STALE_DAYS, 30, 90)
LONGEST_STALE = 999 * 7
TIME, DAY, CRON = "09:00", "mon", "0 9 * * 1-5"
"""What fields contain when they first appear."""


class DigestMetadata(Metadata):
    """Of all forms: the digest that it changes, if any, and its project.

    `replace`: the result replaces the list that the form was opened from. `owner` is the digest's owner whom
    the form names, and `shown` is what `forms.shown_in` marked. The others are what the fields that another
    kind of schedule hides contained.
    """

    digest: Number | None = None
    project: Number | None = None
    replace: bool = False
    owner: str = ""
    shown: dict[str, str] = Field(default_factory=dict)
    days: tuple[str, ...] = (DAY,)
    time: str = TIME
    cron: str = CRON


def add_form(plan: Plan, channel_id: str | None, metadata: DigestMetadata) -> JSON:
    """The form for a new digest, with a channel preselected; the plan may be without a project."""
    project = option(plan.project, str(plan.project_id)) if plan.project_id else None
    channel = forms.conversation("channel", channel_id, "Choose a channel")
    blocks = [
        forms.field(
            "project",
            "Project",
            forms.searched("issue.project", project, "Search projects"),
            optional=False,
        ),
        _lists_field(plan),
        *_schedule_fields(_schedule_of(plan), plan.zone),
        forms.field("channel", "Channel", channel, optional=False),
        *_filter_fields(plan),
    ]
    return forms.form("digest.add", "New digest", blocks, submit="Add", metadata=metadata.dump())


def change_form(digest: Digest, metadata: DigestMetadata, *, mine: bool) -> JSON:
    """The form that changes a digest; its project and channel can't be changed."""
    plan = digest.plan
    schedule = _schedule_of(plan)
    if digest.personal:
        return personal_form(schedule, plan.zone, metadata)
    about = f"Digest {digest.id}: {bold(plan.project)} in <#{digest.channel_id}>"
    if not mine:
        about += f"\nIt belongs to {line(digest.owner_name)}, who will be notified of your changes."
    blocks = [
        section(about),
        _lists_field(plan),
        *_schedule_fields(schedule, plan.zone),
        *_filter_fields(plan),
    ]
    return marked(forms.form("digest.change", "Edit digest", blocks, submit="Save"), metadata)


def personal_form(schedule: Schedule, zone: str, metadata: DigestMetadata) -> JSON:
    """The form for a personal digest, new or existing."""
    blocks = _schedule_fields(schedule, zone)
    return forms.form("digest.me", "My digest", blocks, submit="Save", metadata=metadata.dump())


def _schedule_of(plan: Plan) -> Schedule:
    """The plan's schedule, or the default if a system update made it unreadable."""
    try:
        return parse(plan.schedule)
    except ScheduleError:
        return DEFAULT_SCHEDULE


def _schedule_fields(schedule: Schedule, zone: str) -> list[Block]:
    kind, *words = schedule.text.split()
    if kind == "hourly" and words:  # at another minute, which only a cron line can say
        kind = "cron"
    days = words[0].split(",") if kind == "weekly" else [DAY]
    time = TIME if kind in {"hourly", "cron"} else words[-1]
    chosen = forms.searched("digest.zone", option(zone, zone), "Search by city")
    return [
        _kind_field(kind),
        *_timing(kind, days, time, schedule.cron if kind == "cron" else CRON),
        forms.field("zone", "Time zone", chosen, optional=False),
    ]


def _kind_field(kind: str) -> Block:
    select = forms.choice(ChooseSchedule.action, SCHEDULES, kind, "Choose a schedule")
    return forms.field("schedule", "Schedule", select, optional=False, dispatch=True)


def _lists_field(plan: Plan) -> Block:
    """Which kind of issues the digest lists; each number of days is a choice of its own."""
    days = sorted({*STALE_CHOICES, plan.stale_days})
    known = [
        ("new", "New issues"),
        ("due", f"Overdue or due within {kinds.SOON_DAYS} days"),
        *((f"stale:{count}", f"Not updated for {kind_words.days(count)}") for count in days),
        ("closed", "Closed issues"),
    ]
    chosen = f"stale:{plan.stale_days}" if plan.kind == "stale" else plan.kind
    select = forms.choice("kind", known, chosen, "Choose what to post")
    return forms.field("kind", "Issues", select, optional=False)


def _timing(kind: str, days: Sequence[str] = (DAY,), time: str = TIME, cron: str = CRON) -> list[Block]:
    """The fields that this kind of schedule has below it."""
    blocks = []
    if kind == "weekly":
        named = [(day[:3], day.capitalize()) for day in DAYS]
        chosen = forms.choices("days", named, days, "Choose days")
        blocks.append(forms.field("days", "Days", chosen, optional=False))
    if kind in {"daily", "weekdays", "weekly"}:
        blocks.append(forms.field("time", "Time", forms.time_of_day("time", time), optional=False))
    if kind == "cron":
        hint = f"Minute, hour, day of the month, month, day of the week. For example: {CRON}"
        text = forms.text("cron", cron, most=LONGEST)
        blocks.append(forms.field("cron", "Cron line", text, optional=False, hint=hint))
    return blocks


def rescheduled(view: View, kind: str) -> JSON:
    """The form with the fields of another kind of schedule; Slack keeps what the others contain."""
    values, before = forms.Values(view.json), DigestMetadata.of(view)
    kept = before.model_copy(
        update={
            "days": values.all_chosen("days") or before.days,
            "time": values.time("time") or before.time,
            "cron": (values.text("cron") or before.cron)[:LONGEST],
        }
    )
    blocks: list[Block] = []
    for block in view.json["blocks"]:
        match block.get("block_id"):
            case "schedule":
                blocks += [_kind_field(kind), *_timing(kind, kept.days, kept.time, kept.cron)]
            case "days" | "time" | "cron":
                continue
            case _:
                blocks.append(block)
    return forms.redefined(view.json, blocks, kept.dump())


def _filter_fields(plan: Plan) -> list[Block]:
    groups = [(group, group.capitalize()) for group in GROUPS]
    return [
        *filter_fields.fields(plan.filters, plan.excluded),
        forms.field(
            "group", "Group by", forms.choice("group", groups, plan.group, "Tracker"), optional=False
        ),
        forms.field(
            "empty",
            "Empty digests",
            forms.checkbox("empty", "Post even when there's nothing to show", checked=plan.empty),
        ),
        actions([button("Preview", PreviewForm())]),
    ]


def marked(view: JSON, metadata: DigestMetadata) -> JSON:
    """The form with marks of what it shows in its metadata."""
    return view | {"private_metadata": metadata.model_copy(update={"shown": forms.shown_in(view)}).dump()}


def submitted_change(view: View, before: Plan) -> DigestSettings:
    """As `submitted`, of a digest that has the plan `before`; fields that weren't changed are as there."""
    wanted, values, shown = submitted(view.json), forms.Values(view.json), DigestMetadata.of(view).shown

    def kept(name: str) -> bool:
        return not values.changed(name, shown)

    filters = {kind: before.filters.get(kind, ()) for kind in FILTER_KINDS if kept(kind)}
    return replace(
        wanted,
        kind=before.kind if kept("kind") else wanted.kind,
        stale_days=before.stale_days if kept("kind") else wanted.stale_days,
        filters={**wanted.filters, **filter_fields.typed(filters)},
        excluded=filter_fields.typed(before.excluded) if kept(filter_fields.EXCLUDED) else wanted.excluded,
        group=before.group if kept("group") else wanted.group,
        empty=before.empty if kept("empty") else wanted.empty,
    )


def submitted(view: JSON) -> DigestSettings:
    """The submitted settings; choices are ids (`#5`). Raises ScheduleError."""
    values = forms.Values(view)
    project = values.chosen("project")
    kind, _, days = (values.chosen("kind") or "new").partition(":")
    if kind not in KINDS or kind == "personal":
        raise ActionExpired
    return DigestSettings(
        project=f"#{project}" if project else None,
        schedule=_submitted_schedule(values),
        zone=zone_named(values.chosen("zone") or "UTC"),
        kind=KINDS[kind],
        stale_days=min(forms.number_in(days), LONGEST_STALE) if days else STALE_DAYS,
        filters=filter_fields.chosen(values),
        excluded=filter_fields.excluded(values),
        group=next((group for group in GROUPS if group == values.chosen("group")), "tracker"),
        empty=bool(values.all_chosen("empty")),
    )


def _submitted_schedule(values: forms.Values) -> Schedule:
    kind, days, time = values.chosen("schedule"), values.all_chosen("days"), values.time("time") or TIME
    match kind:
        case "daily" | "weekdays":
            return parse(f"{kind} {time}")
        case "weekly":
            return parse(f"weekly {','.join(days)} {time}")
        case "hourly":
            return parse("hourly")
        case "cron":
            return parse(f"cron {values.text('cron') or ''}")
    raise ActionExpired


def field_of(error: UserError, view: JSON) -> str:
    """The field that an error is about: the schedule's, or else the project's."""
    match error:
        case UnreadableSchedule(kind="weekly"):
            name = "days"
        case ScheduleError() | TooOften() | NeverDue():
            name = "cron"
        case _:
            name = "project"
    return name if name in forms.Values(view).block_ids else "schedule"
