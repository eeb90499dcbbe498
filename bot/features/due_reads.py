"""The reading loop: groups due jobs by owner, reads the service with each owner's key, posts, and settles.

Digests, followed issues, assignments, and the lists that find changes are such jobs. A job that fails stays
due, and its progress advances only over issues that were read.
"""

import asyncio
import secrets
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, TypeVar

import structlog
from pydantic import BaseModel

from bot.access.access import Access
from bot.errors import (
    BotError,
    KeyRejected,
    KeySuspended,
    KeyUnreadable,
    NotLinked,
    TooManyRequests,
    Unauthorized,
)
from bot.service.filters import IssueFilters
from bot.service.models import Issue
from bot.store.digests import Pause
from bot.store.jobs import Done, Job, JobOutcome, Later
from bot.store.owner import Owner
from bot.worker import BatchHandler, Settle

log = structlog.get_logger(__name__)


class Due(Protocol):
    """A job with its subject, such as a digest."""

    @property
    def job(self) -> Job: ...

    @property
    def owner(self) -> Owner: ...


Item = TypeVar("Item", bound=Due)
Content = TypeVar("Content")


class DueReads(BatchHandler, Generic[Item, Content]):
    """Does the jobs of one kind."""

    name: ClassVar[str]  # its name in log lines
    readers: ClassVar[int]  # how many owners are read for at a time
    at_once = 200
    together = 200
    """How many of one owner's items one read covers."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self._reading = asyncio.Semaphore(self.readers)

    @abstractmethod
    async def load(self, jobs: Sequence[Job]) -> Sequence[Item]:
        """The jobs' items; a job without one is done."""

    async def ready(self, item: Item) -> Item | JobOutcome:
        """The item, if it must be read, or else its job's outcome."""
        return item

    @abstractmethod
    async def read(self, owner: Owner, items: Sequence[Item]) -> Mapping[str, Content | JobOutcome]:
        """Read one owner's items with the owner's API key. Returns each item's content or outcome by job key;
        items that can't be read are `left_out`.
        """

    async def post(self, item: Item, content: Content) -> JobOutcome:
        """Post an item and return its job's outcome, unless `read` returned that."""
        raise NotImplementedError

    async def unlinked(self, items: Sequence[Item]) -> None:
        """Stop what ran with the key of an owner who isn't linked; the items' jobs are done."""
        await self.access.accounts.stop_work(items[0].owner, Pause.KEY)

    async def put_off(self, item: Item, error: Exception | None = None) -> Later:
        """When to retry an item that failed, with this error if there is one."""
        seconds = error.retry_after if isinstance(error, KeySuspended | TooManyRequests) else None
        return item.job.later(max(seconds or 0, self.access.delays.background_retry))

    async def left_out(self, item: Item) -> JobOutcome:
        """The outcome of an item that `read` left out, although it read the owner's other items."""
        return await self.put_off(item)

    async def do(self, jobs: Sequence[Job], settle: Settle) -> None:
        items = await self.load(jobs)
        known = {item.job.key for item in items}
        by_owner: dict[Owner, list[Item]] = defaultdict(list)
        for item in items:
            by_owner[item.owner].append(item)
        over = (settle(job, Done()) for job in jobs if job.key not in known)
        turns: list[Awaitable[None]] = []
        for owner, theirs in by_owner.items():
            turns.extend(self._turn(owner, turn, settle) for turn in self._turns(theirs))
        await asyncio.gather(*over, *turns)

    def _turns(self, items: Sequence[Item]) -> Sequence[Sequence[Item]]:
        """Groups of items to read together. A postponed item is alone: it may have failed the others."""
        fresh = [item for item in items if not item.job.failures]
        alone = [[item] for item in items if item.job.failures]
        return [*(fresh[at : at + self.together] for at in range(0, len(fresh), self.together)), *alone]

    async def listed(self, owner: Owner, filters: IssueFilters, offset: int = 0) -> Sequence[Issue]:
        """A page of the owner's list of issues."""
        link = await self.access.accounts.background_link(owner)
        try:
            return (await self.access.client.list_issues(link.key, filters, offset)).items
        except Unauthorized:
            async with self.access.accounts.reading(owner, background=True):
                raise

    async def _turn(self, owner: Owner, items: Sequence[Item], settle: Settle) -> None:
        """Read and post one owner's items; all their log lines share one reference."""
        who = {"reference": secrets.token_hex(4), "team": owner.team_id, "user": owner.user_id}
        with structlog.contextvars.bound_contextvars(**who):
            try:
                items = await self._ready(items, settle)
                if not items:
                    return
                async with self._reading:
                    contents = await self.read(owner, items)
            except Exception as error:  # noqa: BLE001 - logged there
                await self.failed(items, error, settle)
                return
            # In parallel, so that a busy channel doesn't block the others.
            await asyncio.gather(*(self._posted(item, contents, settle) for item in items))

    async def _ready(self, items: Sequence[Item], settle: Settle) -> Sequence[Item]:
        checked = await asyncio.gather(*map(self._checked, items))
        for item, outcome in zip(items, checked, strict=True):
            if isinstance(outcome, JobOutcome):
                await settle(item.job, outcome)
        return [ready for ready in checked if not isinstance(ready, JobOutcome)]

    async def _checked(self, item: Item) -> Item | JobOutcome:
        try:
            return await self.ready(item)
        except Exception as error:
            log.exception("not checked", action="due.not_checked", work=self.name, job=item.job.key)
            return await self.put_off(item, error)

    async def _posted(self, item: Item, contents: Mapping[str, Content | JobOutcome], settle: Settle) -> None:
        outcome: JobOutcome
        try:
            if item.job.key not in contents:
                outcome = await self.left_out(item)
            else:
                content = contents[item.job.key]
                outcome = content if isinstance(content, JobOutcome) else await self.post(item, content)
        except Exception:
            log.exception("not posted", action="due.not_posted", work=self.name, job=item.job.key)
            outcome = item.job.later(self.access.delays.background_retry)
        await settle(item.job, outcome)

    async def failed(self, items: Sequence[Item], error: Exception, settle: Settle) -> None:
        """Postpone one owner's items after an error, or end them if their key is gone."""
        over = False
        match error:
            case KeySuspended():
                log.info("key suspended", action="due.key_suspended", work=self.name)
            case NotLinked() if not isinstance(error, KeyRejected | KeyUnreadable):  # these may work again
                over = await self.access.store.links.user_id(items[0].owner) is None  # or linked again
                if over:
                    await self.unlinked(items)
            case BotError():
                why = str(error) or type(error).__name__
                log.warning("not read", action="due.not_read", work=self.name, error=why)
            case _:
                log.error("not read", action="due.failed", work=self.name, exc_info=error)
        for item in items:
            await settle(item.job, Done() if over else await self.put_off(item, error))


Progress = TypeVar("Progress", bound=BaseModel)


@dataclass(frozen=True)
class OwnerTurn(Generic[Progress]):
    """A user's turn: their list of issues is read on from the progress."""

    job: Job
    owner: Owner
    progress: Progress


class OwnerReads(DueReads[OwnerTurn[Progress], JobOutcome]):
    """Finds what changed in users' issues: one job for each user, whose content is the progress."""

    kind: ClassVar[str]
    progress: type[Progress]

    async def load(self, jobs: Sequence[Job]) -> Sequence[OwnerTurn[Progress]]:
        owners = [Owner.named(job.key.removeprefix(f"{self.kind}:")) for job in jobs]
        # Content that no key decrypts is None: then it starts over.
        progress = [self.progress.model_validate(job.content or {}) for job in jobs]
        return [OwnerTurn(*each) for each in zip(jobs, owners, progress, strict=True)]

    async def read(self, owner: Owner, items: Sequence[OwnerTurn[Progress]]) -> Mapping[str, JobOutcome]:
        return {turn.job.key: await self.find(owner, turn) for turn in items}

    @abstractmethod
    async def find(self, owner: Owner, turn: OwnerTurn[Progress]) -> JobOutcome:
        """Read what changed. Returns the next turn, with the jobs that show the changes."""
