"""Starts and stops following issues in threads."""

from dataclasses import dataclass

from bot.errors import UserError
from bot.features.accounts.accounts import Accounts
from bot.features.following.reading import IssueReader, Seen
from bot.store.followed import Followed, StoredFollowed
from bot.store.owner import Owner

MOST_FOLLOWED = 500


@dataclass(frozen=True)
class Thread:
    """A thread of a conversation."""

    channel_id: str
    ts: str


class PrivateIssueNotFollowed(UserError):
    """A private issue is never followed."""

    number: int


class AlreadyFollowed(UserError):
    """The thread follows the issue already."""

    number: int


class TooManyFollowed(UserError):
    """The user follows MOST_FOLLOWED issues already."""


@dataclass(frozen=True)
class Following:
    """What threads follow."""

    accounts: Accounts
    followed: StoredFollowed
    reader: IssueReader

    async def seen(self, owner: Owner, number: int) -> Seen:
        """The issue as the user sees it. Raises IssueNotFound, NotLinked, ServiceError."""
        async with self.accounts.reading(owner) as session:
            return await self.reader.read(session, number)

    async def may_follow(self, owner: Owner, number: int, thread: Thread) -> Seen:
        """As `seen`; raises PrivateIssueNotFollowed, AlreadyFollowed and TooManyFollowed, too."""
        seen = await self.seen(owner, number)
        if seen.issue.is_private:
            raise PrivateIssueNotFollowed(number)
        if await self.followed.in_thread(thread.channel_id, thread.ts, number):
            raise AlreadyFollowed(number)
        await self._require_room(owner)
        return seen

    async def post_in(self, thread: Thread, number: int) -> str | None:
        """The `ts` of the post that follows the issue in the thread, if there is one."""
        followed = await self.followed.in_thread(thread.channel_id, thread.ts, number)
        return followed.ts if followed else None

    async def start(
        self,
        owner: Owner,
        seen: Seen,
        thread: Thread,
        ts: str,
        *,
        agreed: int | None,
        posted_by: str | None = None,
        created: bool = False,
    ) -> None:
        """Keep the post with this `ts` up to date from now on. Raises AlreadyFollowed, TooManyFollowed.

        `posted_by` is the Slack user who caused it, by default the owner, `created` whether by creating the
        issue, and `agreed` the project that isn't public which the owner agreed to show.
        """
        await self._require_room(owner)
        followed = Followed(
            owner=owner,
            issue_id=seen.issue.id,
            channel_id=thread.channel_id,
            thread_ts=thread.ts,
            ts=ts,
            posted_by=posted_by or owner.user_id,
            created=created,
            agreed_project=agreed,
            closed=seen.closed,
        )
        if not await self.followed.add(followed):
            raise AlreadyFollowed(seen.issue.id)

    async def stop(self, owner: Owner, number: int, thread: Thread) -> None:
        """Leave the thread's post as it is. Only those who can see the issue can: raises as `seen`."""
        await self.seen(owner, number)
        if followed := await self.followed.in_thread(thread.channel_id, thread.ts, number):
            await self.followed.end([followed])

    async def _require_room(self, owner: Owner) -> None:
        if await self.followed.count(owner) >= MOST_FOLLOWED:
            raise TooManyFollowed
