"""Values that tables store: settings of digests, content of templates, and where time was posted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args


@dataclass(frozen=True)
class FilterValue:
    """A value such as a tracker or a person, as ID and name."""

    id: int
    name: str


Group = Literal["tracker", "priority", "category", "assignee"]
GROUPS: tuple[Group, ...] = get_args(Group)
DigestKind = Literal["new", "due", "stale", "closed", "changed", "personal"]
"""What a digest lists. A personal one lists its owner's issues to them alone."""
KINDS: Mapping[str, DigestKind] = {kind: kind for kind in get_args(DigestKind)}
STALE_DAYS = 14
LIVE = "live"
"""Replaces a schedule: each new issue is posted as it's created."""
DIGEST = "digest"
"""The kind of job that posts a digest; its content is a `DigestProgress`."""
FEED = "feed"
"""The same of a live feed, which is due every minute."""
FilterKind = Literal["tracker", "priority", "category", "author", "to", "version"]
FILTER_KINDS: tuple[FilterKind, ...] = get_args(FilterKind)
Filters = Mapping[FilterKind, tuple[FilterValue, ...]]


@dataclass(frozen=True)
class FieldValue:
    """A custom field's value, as the service filters by it; `name` is empty until the field is looked up."""

    id: int
    value: str
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A digest's settings. `schedule` is the canonical text of a schedule, `zone` a time zone's name.

    `filters` and `excluded` have no kind without choices. `stale_days` counts for kind `stale` only. A
    personal digest has no project: its `project_id` is 0, and `project` is the digest's name. Only the
    service knows which issues have the `custom_fields` and are in the saved `query`.
    """

    project_id: int = 0
    project: str = ""
    schedule: str = "weekdays 09:00"
    zone: str = ""
    kind: DigestKind = "new"
    stale_days: int = STALE_DAYS
    filters: Filters = field(default_factory=dict)
    excluded: Filters = field(default_factory=dict)
    custom_fields: tuple[FieldValue, ...] = ()
    query: int | None = None
    group: Group = "tracker"
    empty: bool = False
    subprojects: bool = False

    @property
    def live(self) -> bool:
        return self.schedule == LIVE


@dataclass(frozen=True)
class TemplateContent:
    """The content of a template. `description` is in the service's format."""

    prefix: str = ""
    description: str = ""
    choices: Mapping[str, FilterValue] = field(default_factory=dict)
    """The issue's fields that have a choice, by option key."""


@dataclass(frozen=True)
class EntryPost:
    """The message that announced a time entry; `ts` is None if Slack didn't confirm it, `thread_ts` outside
    of threads.
    """

    channel_id: str
    ts: str | None
    thread_ts: str | None
