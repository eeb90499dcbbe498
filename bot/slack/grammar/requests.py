"""What a slash command asks for, as frozen values: nothing is looked up, names stay as typed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Literal

from bot.service.filters import DateRange, Sort, TimeRange
from bot.store.digests import Group
from bot.usecases.schedules import Schedule


@dataclass(frozen=True)
class Me:
    """Whoever typed the command."""


@dataclass(frozen=True)
class SlackUser:
    """Someone mentioned; `name` is what Slack wrote beside the id, maybe empty."""

    id: str
    name: str = ""


@dataclass(frozen=True)
class Named:
    """Someone by the name or id that the service knows them by, as typed."""

    name: str


Person = Me | SlackUser | Named


@dataclass(frozen=True)
class Help:
    """The command's help."""


@dataclass(frozen=True, kw_only=True)
class NewIssue:
    """`/issue new`: an issue to create, or to fill the form with when there is no subject."""

    subject: str = ""
    project: str | None = None
    tracker: str | None = None
    status: str | None = None
    priority: str | None = None
    category: str | None = None
    version: str | None = None
    to: Person | None = None
    watch: tuple[Person, ...] = ()
    parent: int | None = None
    start: date | None = None
    due: date | None = None
    estimate: Decimal | None = None
    private: bool = False
    desc: str | None = None
    custom_fields: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class OpenForm:
    """`/issue`, or `/issue new` without a subject: the create form with what was typed."""

    prefilled: NewIssue = field(default_factory=NewIssue)


@dataclass(frozen=True)
class ShowIssue:
    """`/issue 42`."""

    number: int


@dataclass(frozen=True)
class AttachFiles:
    """`/issue attach 42`."""

    number: int


IssueRequest = OpenForm | ShowIssue | AttachFiles | NewIssue | Help


@dataclass(frozen=True, kw_only=True)
class Search:
    """`/issues`: None or empty where nothing was said."""

    text: str = ""
    project: str | None = None
    subproject: tuple[str, ...] | Literal["none"] = ()
    tracker: tuple[str, ...] = ()
    status: tuple[str, ...] | Literal["open", "closed", "any"] | None = None
    to: tuple[Person, ...] | Literal["nobody", "anybody"] = ()
    author: tuple[Person, ...] = ()
    priority: tuple[str, ...] = ()
    category: tuple[str, ...] | Literal["none", "any"] = ()
    version: tuple[str, ...] | Literal["none", "any"] = ()
    parent: tuple[int, ...] = ()
    ids: tuple[int, ...] = ()
    created: TimeRange | None = None
    updated: TimeRange | None = None
    closed: TimeRange | None = None
    start: DateRange | None = None
    due: DateRange | None = None
    query: int | None = None
    sort: tuple[Sort, ...] = ()
    custom_fields: Mapping[int, str] = field(default_factory=dict)


IssuesRequest = Search | Help


@dataclass(frozen=True, kw_only=True)
class LogTime:
    """`/timelog 42 1h30`: time to log on an issue or a project; None where nothing was said."""

    issue: int | None = None
    project: str | None = None
    hours: Decimal | None = None
    activity: str | None = None
    on: date | None = None
    comment: str = ""


@dataclass(frozen=True)
class OpenTimeForm:
    """`/timelog`, or what leaves out the issue or the duration: the form with what was typed."""

    prefilled: LogTime = field(default_factory=LogTime)


@dataclass(frozen=True)
class EditLastEntry:
    """`/timelog edit`."""


TimelogRequest = LogTime | OpenTimeForm | EditLastEntry | Help


@dataclass(frozen=True)
class ListDigests:
    """`/digest`: this channel's digests."""


@dataclass(frozen=True, kw_only=True)
class AddDigest:
    """`/digest add`: None or empty where nothing was said; the form asks for a schedule that is left out."""

    project: str | None = None
    schedule: Schedule | None = None
    zone: str | None = None
    tracker: tuple[str, ...] = ()
    priority: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    group: Group | None = None
    empty: bool = False


@dataclass(frozen=True)
class ChangeDigest:
    """`/digest change [3]`; here and below the id is None where none was typed."""

    id: int | None = None


@dataclass(frozen=True)
class DigestNow:
    """`/digest now [3]`."""

    id: int | None = None


@dataclass(frozen=True)
class PauseDigest:
    """`/digest pause [3]`."""

    id: int | None = None


@dataclass(frozen=True)
class ResumeDigest:
    """`/digest resume [3]`."""

    id: int | None = None


@dataclass(frozen=True)
class RemoveDigest:
    """`/digest remove [3]`."""

    id: int | None = None


@dataclass(frozen=True)
class TakeOverDigest:
    """`/digest take over [3]`: whoever types it becomes the digest's owner."""

    id: int | None = None


OneDigest = ChangeDigest | DigestNow | PauseDigest | ResumeDigest | RemoveDigest | TakeOverDigest
DigestRequest = ListDigests | AddDigest | OneDigest | Help


@dataclass(frozen=True)
class Account:
    """`/tracker`: the caller's account state."""


@dataclass(frozen=True)
class Link:
    """`/tracker link`: the form for the key."""


@dataclass(frozen=True)
class Unlink:
    """`/tracker unlink`."""


@dataclass(frozen=True)
class Whoami:
    """`/tracker whoami`."""


@dataclass(frozen=True)
class Projects:
    """`/tracker projects [text]`."""

    text: str = ""


@dataclass(frozen=True)
class ShowProject:
    """`/tracker project web`: by id, identifier or name."""

    project: str


@dataclass(frozen=True)
class NewProject:
    """`/tracker project new [name]`: the form for a new project."""

    name: str = ""


@dataclass(frozen=True)
class ShowUser:
    """`/tracker user 5`: by the service's number, by a mention, or oneself."""

    who: Me | SlackUser | int


@dataclass(frozen=True)
class NewUser:
    """`/tracker user new [@slackuser]`: the form for an account, maybe for somebody mentioned."""

    user: SlackUser | None = None


@dataclass(frozen=True)
class EditUser:
    """`/tracker user edit 5`."""

    who: Me | SlackUser | int


UserRequest = ShowUser | NewUser | EditUser


@dataclass(frozen=True)
class ShowDefault:
    """`/tracker default`: which project is this channel's."""


@dataclass(frozen=True)
class SetDefault:
    """`/tracker default web`: this channel's project."""

    project: str


@dataclass(frozen=True)
class ClearDefault:
    """`/tracker default none`: this channel has no project any more."""


@dataclass(frozen=True)
class TrackerHelp:
    """`/tracker help`."""


TrackerRequest = (
    Account
    | Link
    | Unlink
    | Whoami
    | Projects
    | ShowProject
    | NewProject
    | UserRequest
    | ShowDefault
    | SetDefault
    | ClearDefault
    | TrackerHelp
)
