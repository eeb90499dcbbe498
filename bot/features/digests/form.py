"""Builds the form for a digest, and reads its values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.features.digests.digests import DigestSettings
from bot.features.digests.schedules import parse, zone_named
from bot.service.models import Ref
from bot.slack import forms
from bot.slack.blocks import JSON, Block, option, section
from bot.slack.buttons import Number
from bot.slack.metadata import Metadata
from bot.slack.text import bold, line, prose
from bot.store.digests import FILTER_KINDS, GROUPS, Choice, Digest, FilterKind, Group

DEFAULT_SCHEDULE = "weekdays 09:00"


class DigestMetadata(Metadata):
    """Of both forms: the digest that it changes, if any, and its project.

    `replace`: the result replaces the list that the form was opened from. `owner` is the digest's owner whom
    the form names.
    """

    digest: Number | None = None
    project: Number | None = None
    replace: bool = False
    owner: str = ""


@dataclass(frozen=True, kw_only=True)
class Filled:
    """What the form contains when it opens."""

    zone: str
    project: Choice | None = None
    schedule: str = DEFAULT_SCHEDULE
    filters: Mapping[FilterKind, tuple[Choice, ...]] = field(default_factory=dict)
    group: Group = "tracker"
    empty: bool = False


def add_form(
    filled: Filled, channel_id: str | None, metadata: DigestMetadata, said: str | None = None
) -> JSON:
    """The form for a new digest, with a channel preselected."""
    blocks: list[Block] = [section(f":warning: {prose(said)}", block_id=forms.BANNER)] if said else []
    project = _option(filled.project) if filled.project else None
    blocks.append(
        forms.field(
            "project",
            "Project",
            forms.searched("issue.project", project, "Search projects"),
            optional=False,
        )
    )
    blocks += _schedule_fields(filled)
    channel = forms.conversation("channel", channel_id, "Choose a channel")
    blocks.append(forms.field("channel", "Channel", channel, optional=False))
    blocks += _filter_fields(filled)
    return forms.form("digest.add", "New digest", blocks, submit="Add", metadata=metadata.dump())


def change_form(digest: Digest, metadata: DigestMetadata, *, mine: bool) -> JSON:
    """The form that changes a digest; its project and channel can't be changed."""
    plan = digest.plan
    filled = Filled(
        zone=plan.zone,
        schedule=plan.schedule,
        filters=plan.filters,
        group=plan.group,
        empty=plan.empty,
    )
    about = f"Digest {digest.id}: {bold(plan.project)} in <#{digest.channel_id}>"
    if not mine:
        about += f"\nIt belongs to {line(digest.owner_name)}, who will be notified of your changes."
    blocks = [section(about), *_schedule_fields(filled), *_filter_fields(filled)]
    return forms.form(
        "digest.change",
        "Edit digest",
        blocks,
        submit="Save",
        metadata=metadata.dump(),
    )


def _schedule_fields(filled: Filled) -> list[Block]:
    zone = option(filled.zone, filled.zone)
    return [
        forms.field(
            "schedule",
            "Schedule",
            forms.text("schedule", filled.schedule, most=200),
            optional=False,
            hint="daily 09:00, weekdays 9am, weekly mon,thu 09:00, hourly, or cron 0 9 * * 1-5",
        ),
        forms.field(
            "zone", "Time zone", forms.searched("digest.zone", zone, "Search by city", 0), optional=False
        ),
    ]


def _filter_fields(filled: Filled) -> list[Block]:
    blocks: list[Block] = [
        forms.field(
            kind,
            kind.capitalize(),
            forms.several_searched(
                f"digest.{kind}", [_option(one) for one in filled.filters.get(kind, ())], "Any"
            ),
        )
        for kind in FILTER_KINDS
    ]
    groups = [(group, group.capitalize()) for group in GROUPS]
    return [
        *blocks,
        forms.field(
            "group", "Group by", forms.choice("group", groups, filled.group, "Tracker"), optional=False
        ),
        forms.field(
            "empty",
            "Empty digests",
            forms.checkbox("empty", "Post even when nothing is new", checked=filled.empty),
        ),
    ]


def _option(choice: Choice) -> JSON:
    return option(choice.name, str(choice.id))


def submitted(view: JSON) -> DigestSettings:
    """The submitted settings; choices are ids (`#5`). Raises ScheduleError."""
    values = forms.Values(view)
    project = values.chosen("project")
    return DigestSettings(
        project=f"#{project}" if project else None,
        schedule=parse(values.text("schedule") or ""),
        zone=zone_named(values.chosen("zone") or "UTC"),
        filters={
            kind: tuple(f"#{one}" for one in chosen)
            for kind in FILTER_KINDS
            if (chosen := values.all_chosen(kind))
        },
        group=next((group for group in GROUPS if group == values.chosen("group")), "tracker"),
        empty=bool(values.all_chosen("empty")),
    )


def unknown_choices(view: JSON, known: Mapping[FilterKind, Sequence[Ref]]) -> dict[str, str]:
    """Errors at fields with choices that the project doesn't have."""
    values = forms.Values(view)
    return {
        name: f"This project has no {name} “{text}”. Remove it."
        for name, refs in known.items()
        for value, text in zip(values.all_chosen(name), values.all_chosen(name, "text"), strict=True)
        if forms.number_in(value) not in [ref.id for ref in refs]
    }
