"""Reads and changes issues with the requesting user's key.

The service may return 200 and change nothing, or make a change without a response. So an issue is read again
after each change, and a change is never sent twice.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import chain
from typing import Literal, TypeVar

import structlog

from bot.access.access import Access
from bot.access.accounts import Session
from bot.access.catalog import CustomField, Part
from bot.access.people import unassignable
from bot.access.projects import KnownProject
from bot.errors import NotFound, OutcomeUnknown, Refused, ServiceError, UserError, WrongField
from bot.features.issues.fields import CHANGEABLE, FIELDS, Field, IssueRefused, ResolvedValue, typed_hours
from bot.service.conventions import CLOCK_SKEW, IssueDetailInclude, fields_named
from bot.service.filters import IssueFilters, Sort, searchable
from bot.service.inputs import CustomFieldInput, IssueChanges
from bot.service.models import Change, Child, CustomFieldValue, Issue, Ref
from bot.spelling import fingerprint, series
from bot.store.owner import Owner

T = TypeVar("T")
log = structlog.get_logger(__name__)

MAX_SUGGESTED = 20
ON_CARD: tuple[IssueDetailInclude, ...] = ("children", "attachments", "relations", "allowed_statuses")
HISTORY: tuple[IssueDetailInclude, ...] = ("journals",)
MAX_NUMBERS = 50  # how many issues are read by their numbers
HALF_MINUTE = Decimal(30) / 3600  # services round hours to minutes or to two places
ASSIGNEE = FIELDS["to"]
LISTED: Mapping[str, Part] = {
    FIELDS["status"].sent: "statuses",
    FIELDS["priority"].sent: "priorities",
    FIELDS["to"].sent: "assignees",
}
Names = Mapping[str, Mapping[str, str]]
"""The names of values by ID, by the field's name in the history."""
DERIVED = ("priority", "start", "due", "done")
"""What a parent may get from its subtasks (docs/service.md, Issues)."""
MAX_SUBTASKS_NAMED = 5  # how many open subtasks a sentence names
FetchIssue = Callable[[Session, int], Awaitable[Issue]]


class IssueNotFound(UserError):
    says = (
        "There's no issue #{number} in {service}, or you can't see it. Check the number, or search with "
        "`{/issues}`."
    )
    number: int


class UpdatesUnsupported(UserError):
    says = "{service} doesn't let me change issues. Open #{number} to change it there."
    number: int


class UpdateUnconfirmed(UserError):
    """The service didn't respond to the change, and the issue doesn't show it."""

    says = "{service} stopped responding, and #{number} doesn't show the change. Try again."
    number: int


@dataclass(frozen=True)
class IssueDetails:
    """An issue with what its card adds: the subjects of related issues, its project, and whether it is
    assigned to the user (`mine`).
    """

    issue: Issue
    subjects: dict[int, str]
    project: KnownProject | None
    mine: bool = False


@dataclass(frozen=True)
class Issues:
    access: Access

    async def assignee_to_mention(self, owner: Owner, issue: Issue) -> str | None:
        """The assignee's Slack user, if they are linked and aren't the user; None if that can't be read."""
        if issue.assigned_to is None:
            return None
        try:
            linked = await self.access.store.links.slack_users(owner, issue.assigned_to.id)
        except Exception:
            log.exception("assignee not looked up", action="issue.no_mention", issue=issue.id)
            return None
        return None if owner.user_id in linked else next(iter(linked), None)

    async def show(self, owner: Owner, number: int) -> IssueDetails:
        """One issue as the user sees it. Raises UserError if they can't see it, NotLinked, ServiceError."""
        async with self.access.accounts.reading(owner) as session:
            issue = await self.detailed(session, number, ON_CARD, otherwise=self._with_children)
            others = (r.issue_to_id if r.issue_id == number else r.issue_id for r in issue.relations)
            named = {other for other in (*others, issue.parent and issue.parent.id) if other}
            linked, project = await asyncio.gather(
                self.several(session, sorted(named)), self._project_of(session, issue)
            )
            subjects = {n: other.subject for n, other in linked.items()}
            return IssueDetails(issue, subjects, project, assigned_to(session, issue))

    async def suggest(
        self, owner: Owner, text: str, project_id: int | None = None, *, own_first: bool = False
    ) -> tuple[Issue, ...]:
        """Open issues whose number or subject matches, most recently updated first.

        With `own_first`, the user's own before anything is typed.
        """
        sought = text.strip().lstrip("#")
        latest = (Sort("updated_on", descending=True),)
        try:
            if own_first and not sought:
                filters = IssueFilters(assigned_to=("me",), status="open", sort=latest)
            elif re.fullmatch("[0-9]{1,9}", sought):
                filters = IssueFilters(issue_ids=(int(sought),))
            else:
                words = searchable(sought) or sought
                filters = IssueFilters(project_id=project_id, subject=words, status="open", sort=latest)
        except ValueError:  # nothing to search for
            return ()

        async with self.access.accounts.reading(owner) as session:
            return (await self.access.client.list_issues(session.key, filters, limit=MAX_SUGGESTED)).items

    async def one(self, session: Session, number: int) -> Issue:
        """One issue from the service's list. Raises UserError if the user can't see it."""
        filters = IssueFilters(
            issue_ids=(number,), status="any", include=frozenset({"attachments", "relations"})
        )
        items = (await self.access.client.list_issues(session.key, filters, limit=1)).items
        if not items:
            raise IssueNotFound(number)
        return items[0]

    async def detailed(
        self,
        session: Session,
        number: int,
        include: Collection[IssueDetailInclude] = (),
        *,
        otherwise: FetchIssue | None = None,
    ) -> Issue:
        """Return one issue with its details; as `otherwise` or `one` does if the service doesn't return them.

        It is asked for them twice before the endpoint counts as missing for all users: a proxy may have
        refused one request.
        """
        optional, read = self.access.client.optional, otherwise or self.one
        if issue := await optional.get_issue(session.key, number, include):
            return issue
        issue, other = await asyncio.gather(
            optional.get_issue(session.key, number, include), read(session, number)
        )
        if issue is None:
            optional.note_missing("get_issue")  # the issue can be read otherwise, so it exists
        return issue or other

    async def require_unchanged(self, session: Session, number: int, since: datetime) -> None:
        """Raises UserError if the user has changed the issue since then, IssueNotFound, ServiceError."""
        issue = await self.detailed(session, number, HISTORY)
        for entry in issue.journals:
            own = entry.user is not None and entry.user.id == session.user_id
            if own and entry.details and entry.created_on and entry.created_on >= since - CLOCK_SKEW:
                raise UserError("You've just changed #{number}, so I left it as it is.", number=number)

    async def several(self, session: Session, numbers: Sequence[int]) -> dict[int, Issue]:
        """The first MAX_NUMBERS of these issues, without those that the user can't see."""
        if not (requested := numbers[:MAX_NUMBERS]):
            return {}
        filters = IssueFilters(issue_ids=tuple(requested), status="any")
        page = await self.access.client.list_issues(session.key, filters, limit=len(requested))
        return {issue.id: issue for issue in page.items if issue.id in requested}

    async def _with_children(self, session: Session, number: int) -> Issue:
        filters = IssueFilters(parent_ids=(number,), status="any", sort=(Sort("id"),))
        issue, page = await asyncio.gather(
            self.one(session, number), self.access.client.list_issues(session.key, filters, limit=100)
        )
        own = (each for each in page.items if each.parent and each.parent.id == number)
        children = tuple(Child(id=each.id, tracker=each.tracker, subject=each.subject) for each in own)
        return issue.model_copy(update={"children": children})

    async def _project_of(self, session: Session, issue: Issue) -> KnownProject | None:
        """Return the issue's project, at most a minute old; None if it can't be read."""
        with suppress(ServiceError):
            return await self.access.projects.by_id(session, issue.project.id) if issue.project else None
        return None

    # Changes

    async def update(
        self,
        session: Session,
        before: Issue,
        changes: IssueChanges,
        arrived: Callable[[Issue], bool],
        *,
        read: FetchIssue | None = None,
    ) -> Issue:
        """Send `changes` once, and return the issue as read afterwards.

        It is sent even if the endpoint was missing a moment ago, because a proxy may have responded then.

        `before` is the issue as just read. `arrived` tells whether an issue shows the change, which is asked
        only if the service didn't respond. `read` reads more of the issue than its entry in the list.

        Raises UpdatesUnsupported, IssueNotFound, UpdateUnconfirmed, Refused and the other ServiceErrors;
        OutcomeUnknown when the issue can't be read afterwards.
        """
        lost: OutcomeUnknown | None = None
        try:
            await self.send(session, before.id, changes)
        except OutcomeUnknown as error:
            lost = error
        issue = await self._look(session, before.id, arrived if lost else None, read or self.one)
        if issue is None:
            raise lost or OutcomeUnknown("PUT", f"/issues/{before.id}.json", None, "could not be read again")
        if lost and not arrived(issue):
            raise UpdateUnconfirmed(before.id)
        return issue

    async def send(self, session: Session, number: int, changes: IssueChanges) -> None:
        """Send `changes`. Raises UpdatesUnsupported, IssueNotFound, and ServiceError."""

        async def exists() -> bool:
            return number in await self.several(session, [number])

        try:
            can_update = await self.access.client.optional.update_issue(session.key, number, changes, exists)
        except NotFound:
            raise IssueNotFound(number) from None
        if not can_update:
            raise UpdatesUnsupported(number)

    async def kept_by_subtasks(
        self, session: Session, number: int, keys: Collection[str]
    ) -> UserError | None:
        """Why its subtasks keep an issue from a change of these fields, by option key; None if they don't.

        `status` stands for closing it. None, too, if they can't be read.
        """
        derived = [CHANGEABLE[key].label for key in DERIVED if key in keys]
        if not derived and "status" not in keys:
            return None
        status: Literal["open", "any"] = "any" if derived else "open"
        filters = IssueFilters(parent_ids=(number,), status=status, sort=(Sort("id"),))
        subtasks: list[Issue] = []
        with suppress(ServiceError):
            matches = (await self.access.client.list_issues(session.key, filters, limit=MAX_SUGGESTED)).items
            subtasks = [one for one in matches if one.parent and one.parent.id == number]

        if not subtasks:
            return None
        one, names = (
            len(subtasks) == 1,
            series([f"#{each.id}" for each in subtasks[:MAX_SUBTASKS_NAMED]], "and"),
        )
        if derived:
            return UserError(
                "{service} calculates #{number}'s {labels} from its subtasks. Change {them} in {subtasks}.",
                subtasks=names,
                labels=series([label.lower() for label in derived], "and"),
                number=number,
                them="it" if len(derived) == 1 else "them",
            )
        return UserError(
            "#{number} can't be closed while its {subtasks} {are} open. Close {them} first.",
            number=number,
            subtasks=f"subtask{'' if one else 's'} {names}",
            are="is" if one else "are",
            them="it" if one else "them",
        )

    def check_supported(self, number: int) -> None:
        """Raise UpdatesUnsupported for issue `number` if the service is known not to change issues."""
        if not self.access.client.optional.updates_issues:
            raise UpdatesUnsupported(number)

    async def _look(
        self, session: Session, number: int, arrived: Callable[[Issue], bool] | None, read: FetchIssue
    ) -> Issue | None:
        """The issue after the change, None if it can't be read. With `arrived`, read until that is true."""
        issue: Issue | None = None
        for wait in (0.0, *self.access.delays.lookups):
            await asyncio.sleep(wait)
            with suppress(ServiceError, UserError):
                issue = await read(session, number)
                if arrived is None or arrived(issue):
                    break
        return issue


def assigned_to(session: Session, issue: Issue) -> bool:
    return issue.assigned_to is not None and issue.assigned_to.id == session.user_id


async def explained(
    access: Access, owner: Owner, error: Refused, project_id: int | None, assignee: ResolvedValue | None
) -> IssueRefused | WrongField:
    """A refusal with the fields that it names, or the assignee who can't be assigned; never raises.

    The service's messages may be in any language, so its list of members decides about the assignee, too.
    """
    custom_fields: tuple[CustomField, ...] = ()
    who, project, barred = assignee if isinstance(assignee, Ref) else None, "", False
    parts: list[Part] = ["custom_fields", "assignees"] if who else ["custom_fields"]
    with suppress(ServiceError, UserError):
        async with access.accounts.reading(owner) as session:
            catalog = await access.catalogs.of(session, project_id, parts)
            project = await access.catalogs.project_name(session, project_id)
            listed = who is not None and await access.catalogs.lists_members(session, project_id)

        custom_fields = catalog.custom_fields
        if who and listed:
            barred = who.id not in {ref.id for ref in catalog.lists["assignees"]}

    labels = {"subject": "subject", "project": "project"}
    labels |= {field.label: field.name for field in FIELDS.values()}
    labels |= {field.name: f"cf_{field.id}" for field in custom_fields}
    fields = tuple(dict.fromkeys(filter(None, fields_named(error.errors, labels))))
    about_assignee = ASSIGNEE.name in fields if fields else barred
    if who and project and about_assignee and len(error.errors) == 1:
        return WrongField(ASSIGNEE.name, unassignable(who.name, project))
    return IssueRefused(error, fields)


def merged(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Several changes as one of each field, from its first value to its last, unless these are the same."""
    fields: dict[str, Change] = {}
    for change in changes:
        first = fields.get(change.name, change)
        fields[change.name] = change.model_copy(update={"old_value": first.old_value})
    return tuple(change for change in fields.values() if change.old_value != change.new_value)


@dataclass(frozen=True)
class ServiceChange:
    """A value that the service replaced, or dropped if `got` is None; `field` is None for a custom field.

    `requested` is None for a value that should be cleared, and `kept` says that the issue had what is got.
    """

    label: str
    field: Field | None
    requested: ResolvedValue | None
    got: ResolvedValue | None
    kept: bool = False


def service_changes(
    meant: Mapping[str, ResolvedValue | None],
    custom_fields: Sequence[CustomFieldInput],
    got: Issue,
    before: Issue | None = None,
) -> tuple[ServiceChange, ...]:
    """The values, by option key, that the service replaced or dropped, except privacy; `before` is an issue
    that had others.
    """
    changes = []
    for key, requested in meant.items():
        if (field := CHANGEABLE.get(key)) and not same(requested, answer := field.answered(got)):
            kept = before is not None and field.answered(before) == answer
            changes.append(ServiceChange(field.label, field, requested, answer, kept))
    answers = {custom.id: custom for custom in got.custom_fields}
    previous = {custom.id: texts(custom) for custom in before.custom_fields} if before else {}

    for custom in custom_fields:
        saved = answers.get(custom.id)
        asked, values = texts(custom), texts(saved)
        if sorted(values) != sorted(asked):
            label = saved.name if saved else f"cf_{custom.id}"
            requested, answer = ", ".join(asked) or None, ", ".join(values) or None
            changes.append(ServiceChange(label, None, requested, answer, previous.get(custom.id) == values))
    return tuple(changes)


def same(requested: ResolvedValue | None, answer: ResolvedValue | None) -> bool:
    """Whether two values of a field are the same to the service."""
    if isinstance(requested, Ref) and isinstance(answer, Ref):
        return requested.id == answer.id
    if isinstance(requested, Decimal) and isinstance(answer, Decimal):
        return abs(requested - answer) <= HALF_MINUTE
    if isinstance(requested, str) and isinstance(answer, str):
        return requested.strip().splitlines() == answer.strip().splitlines()
    return requested == answer


def texts(field: CustomFieldInput | CustomFieldValue | None) -> tuple[str, ...]:
    value = field.value if field else None
    return (value,) if isinstance(value, str) and value else tuple(value or ())


def fingerprints(issue: Issue) -> dict[str, str]:
    """Return a mark of each value by the form's names, to notice that somebody changed it."""
    fields = {field.name: fingerprint(*_form_values(field.answered(issue))) for field in CHANGEABLE.values()}
    return fields | {f"cf_{field.id}": fingerprint(*texts(field)) for field in issue.custom_fields}


def _form_values(value: ResolvedValue | None) -> tuple[str, ...]:
    """What a form's field holds for a value."""
    match value:
        case Ref():
            return (str(value.id),)
        case Decimal():
            return (typed_hours(value),) if value else ()
    return () if value is None else (str(value),)


async def names_of(access: Access, session: Session, issue: Issue, changes: Iterable[Change]) -> Names:
    """The names of the values that the changes name, as far as the service lists them; people also from the
    history.
    """
    people = [issue.author, issue.assigned_to, *(entry.user for entry in issue.journals)]
    known: dict[str, dict[str, str]] = {
        FIELDS["to"].sent: {str(one.id): one.name for one in people if one},
        FIELDS["status"].sent: {str(issue.status.id): issue.status.name} if issue.status else {},
        FIELDS["priority"].sent: {str(issue.priority.id): issue.priority.name} if issue.priority else {},
    }
    changed = list(changes)

    for name, part in LISTED.items():
        pairs = ((one.old_value, one.new_value) for one in changed if one.name == name)
        if set(filter(None, chain.from_iterable(pairs))) - known[name].keys():
            with suppress(ServiceError):
                project_id = issue.project.id if issue.project else None
                refs = await access.catalogs.listed(session, project_id, part)
                known[name] |= {str(ref.id): ref.name for ref in refs}
    return known
