"""Creates an issue once, although the service may not respond."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple, TypeVar

import structlog

from bot.access.access import Access
from bot.access.accounts import Session
from bot.access.people import has_permission
from bot.access.projects import KnownProject
from bot.errors import OutcomeUnknown, Refused, ServiceError, UserError, WrongField
from bot.features.issues import fields
from bot.features.issues.issues import Issues, ServiceChange, explained, service_changes
from bot.features.issues.publicity import Exposure, Publicity, exposure_of
from bot.service.conventions import CLOCK_SKEW, CLOSED_PROJECT, SETS_PRIVACY, poll_until_found
from bot.service.filters import IssueFilters, Sort
from bot.service.inputs import NewIssue, UploadInput
from bot.service.models import Issue, Ref
from bot.store.channels import Channel
from bot.store.owner import Owner

log = structlog.get_logger(__name__)

Upload = Callable[[Session], Awaitable[tuple[UploadInput, ...]]]
Similar = Callable[[Session, str, int], Coroutine[Any, Any, tuple[Issue, ...]]]
MEANWHILE_SECONDS = 1.0
"""How long the reply waits for requests beside the create."""
UNREAD = Exposure(None, None)
T = TypeVar("T")


class Meant(NamedTuple):
    """What a draft means to its author."""

    session: Session
    draft: fields.Draft
    project: KnownProject
    values: Mapping[str, fields.ResolvedValue]
    new: NewIssue


class Source(NamedTuple):
    """The Slack message that an issue is created from."""

    channel_id: str
    ts: str


@dataclass(frozen=True)
class Created:
    issue: Issue
    project: KnownProject
    changes: tuple[ServiceChange, ...] = ()
    requested_private: bool = False
    mention: str | None = None  # the assignee's Slack user, if they are to be mentioned
    similar: tuple[Issue, ...] = ()
    exposure: Exposure = UNREAD

    @property
    def privacy_refused(self) -> bool:
        """Whether others can see it although the user asked for a private issue."""
        return self.requested_private and not self.issue.is_private

    @property
    def private(self) -> bool:
        """Whether it is private, or the user asked for that."""
        return self.requested_private or self.issue.is_private


class IssueCreator:
    def __init__(self, access: Access) -> None:
        self.access = access
        self.issues, self.publicity = access.shared(Issues), access.shared(Publicity)

    async def create(
        self,
        owner: Owner,
        draft: fields.Draft,
        channel: Channel | None,
        tried_at: datetime | None = None,
        *,
        source: Source | None = None,
        upload: Upload | None = None,
        similar: Similar | None = None,
        announced: bool = False,
    ) -> Created:
        """Create the issue once, and record who created it, and from which message (`source`).

        `tried_at` is when an earlier attempt at the same draft began whose outcome is unknown: then the
        service is searched for the issue first. `upload` sends the files once the rest is resolved. `similar`
        looks for issues like it meanwhile, and for an issue to be `announced`, who can see it is read, too.

        Raises UserError, NotLinked, IssueRefused and the other ServiceErrors; OutcomeUnknown only if a search
        didn't find the issue either.
        """
        meant = await self._resolved(owner, draft, channel)
        session, project, new = meant.session, meant.project, meant.new
        looking = asyncio.create_task(similar(session, new.subject, project.id)) if similar else None
        unread = Exposure(None, project.id)
        publicity = self.publicity.read_or_hidden(session, unread) if announced else None
        reading = asyncio.create_task(publicity) if publicity else None
        beside = [task for task in (looking, reading) if task]

        try:
            issue = await self._once(session, new, tried_at, upload)
            if beside:
                await asyncio.wait(beside, timeout=MEANWHILE_SECONDS)
        except Refused as error:
            raise await self._refused(error, meant) from None
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)

        exposure = _read_beside(reading, unread).about(issue)
        return await self._made(meant, source, issue, exposure, _read_beside(looking, ()))

    async def find(
        self, owner: Owner, draft: fields.Draft, channel: Channel | None, since: datetime, source: Source
    ) -> Created | None:
        """Look, with their key, for the issue that `owner` created from this draft since then.

        Raises UserError, NotLinked, and ServiceError.
        """
        meant = await self._resolved(owner, draft, channel)
        issue = await self._find_own(meant.session, meant.new, since)
        return await self._made(meant, source, issue, exposure_of(issue)) if issue else None

    async def _resolved(self, owner: Owner, draft: fields.Draft, channel: Channel | None) -> Meant:
        """Raises UserError, NotLinked, and ServiceError."""
        if not draft.subject.strip():
            raise UserError("Add a subject: `{/issue} new The login page is blank`.")
        async with self.access.accounts.reading(owner) as session:
            project, _ = await asyncio.gather(
                self.access.projects.chosen(session, draft.project, channel),
                self.access.catalogs.prefetch(session, draft.parts),
            )
            if project.status == CLOSED_PROJECT:
                closed = UserError(
                    "{project} is closed, so it takes no new issues. Choose another project.",
                    project=project.name,
                )
                raise WrongField("project", closed)

            catalog = await self.access.catalogs.of(session, project.id, draft.parts, draft.custom_fields)
            values, errors = await fields.resolved(draft, self.access.people, session, catalog)
            if errors:
                raise errors[0]
            new = fields.request(draft, values, project, catalog)
            if (
                "private" in draft.values
                and await has_permission(self.access.client, session, project, SETS_PRIVACY) is False
            ):
                forbidden = UserError(
                    "{service} doesn't let you create private issues in {project}. "
                    "Turn off Private, or ask a project manager for permission.",
                    project=project.name,
                )
                raise WrongField("private", forbidden)
        return Meant(session, draft, project, values, new)

    async def _made(
        self,
        meant: Meant,
        source: Source | None,
        issue: Issue,
        exposure: Exposure,
        alike: Sequence[Issue] = (),
    ) -> Created:
        """The issue, compared with what was meant, and recorded."""
        owner, draft = meant.session.owner, meant.draft
        compared = {
            key: value for key, value in meant.values.items() if key != fields.DESCRIPTION.key
        }  # it may be cut
        changes = service_changes(compared, meant.new.custom_fields, issue)
        mention = await self.issues.assignee_to_mention(owner, issue)
        family = {issue.id, issue.parent and issue.parent.id}
        others = tuple(other for other in alike if other.id not in family)
        created = Created(issue, meant.project, changes, "private" in draft.values, mention, others, exposure)
        await self._record(owner, created, source)
        return created

    async def _refused(self, error: Refused, meant: Meant) -> fields.IssueRefused | WrongField:
        """Return the refusal with its fields; remembers the custom fields that were left empty."""
        owner, project, values = meant.session.owner, meant.project, meant.values
        refused = await explained(self.access, owner, error, project.id, values.get("to"))
        custom = {
            int(name.removeprefix("cf_")) for name in fields.fields_of(refused) if name.startswith("cf_")
        }
        tracker = values.get("tracker")
        if empty := custom - meant.draft.custom_fields.keys():
            tracker_id = tracker.id if isinstance(tracker, Ref) else None
            self.access.catalogs.note_required(owner, project.id, tracker_id, empty)
        return refused

    async def _once(
        self, session: Session, new: NewIssue, tried_at: datetime | None, upload: Upload | None
    ) -> Issue:
        """Create the issue. If the response is lost, look for it. Raises OutcomeUnknown if it isn't found."""
        if tried_at:
            if issue := await self._find_own(session, new, tried_at):
                return issue
            session = await self.access.accounts.reverified(session)
        if upload and (uploads := await upload(session)):
            new = new.model_copy(update={"uploads": uploads})
            session = await self.access.accounts.reverified(session)  # uploads may take minutes

        started = datetime.now(UTC)
        try:
            return await self.access.client.create_issue(session.key, new)
        except OutcomeUnknown:
            find = partial(self._find_own, session, new, started)
            issue = await poll_until_found(find, self.access.delays.lookups)
            if issue is None:
                raise
            return issue

    async def _find_own(self, session: Session, new: NewIssue, since: datetime) -> Issue | None:
        """The user's own issue with this subject, created since `since`."""
        filters = IssueFilters(
            project_id=int(new.project_id), author=("me",), status="any", sort=(Sort("id", descending=True),)
        )
        for issue in (await self.access.client.list_issues(session.key, filters, limit=25)).items:
            recent = issue.created_on is not None and issue.created_on >= since - CLOCK_SKEW
            mine = issue.author is not None and issue.author.id == session.user_id
            same = issue.subject == new.subject
            if recent and mine and same:
                return issue
        return None

    async def _record(self, owner: Owner, created: Created, source: Source | None) -> None:
        """Record the issue. It exists, so an error here must not fail the request."""
        issue, place = created.issue, source or (None, None)
        try:
            await self.access.store.created_issues.put(
                owner, issue.id, issue.subject, *place, privacy_refused=created.privacy_refused
            )
        except Exception:
            log.exception("created issue not recorded", action="issue.not_remembered", issue=issue.id)


def _read_beside(task: asyncio.Task[T] | None, otherwise: T) -> T:
    """What a task has read that is over; `otherwise` if it took too long, or failed."""
    if task is None or task.cancelled():
        return otherwise
    error = task.exception()
    if error is None:
        return task.result()
    if not isinstance(
        error, ServiceError | UserError
    ):  # the issue is created by now, and its answer matters more
        log.error("lookup during the create failed", action="issue.not_looked_up_beside", exc_info=error)
    return otherwise
