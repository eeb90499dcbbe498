"""Attaching files to an issue that exists."""

from collections.abc import AsyncIterable, Sequence
from dataclasses import dataclass

from bot.errors import NotFound, ServiceError, UserError
from bot.service.client import Client
from bot.service.writes import IssueChanges, UploadInput
from bot.store.owner import Owner
from bot.usecases.accounts import Accounts
from bot.usecases.issues import Issues


class LostFile(UserError):
    """A file that couldn't be fetched from where it lies; the message says why."""


@dataclass(frozen=True)
class Incoming:
    """A file on its way: `content` is read once, in pieces."""

    name: str
    content_type: str | None
    size: int | None
    content: AsyncIterable[bytes]


@dataclass(frozen=True)
class Outcome:
    """What became of a file; `error` is None when it is attached."""

    name: str
    error: ServiceError | LostFile | None = None


class Files:
    """Carries files into the service with the key of whoever asks."""

    def __init__(self, client: Client, accounts: Accounts, issues: Issues) -> None:
        self._client = client
        self._accounts = accounts
        self._issues = issues

    async def attach(self, owner: Owner, number: int, incoming: Sequence[Incoming]) -> tuple[Outcome, ...]:
        """Upload the files one after the other and attach what arrived in one change of the issue.

        Raises UserError when the issue isn't there or the service can't attach to one that exists, NotLinked,
        ServiceError when attaching failed as a whole.
        """
        session = await self._accounts.writing(owner)
        await self._issues.one(session, number)
        outcomes: list[Outcome] = []
        uploads: list[UploadInput] = []
        for file in incoming:
            try:
                upload = await self._client.upload_file(
                    session.key, file.content, filename=file.name, size=file.size
                )
            except (ServiceError, LostFile) as error:
                outcomes.append(Outcome(file.name, error))
                continue
            except (TimeoutError, ValueError):  # it stalled, or wasn't as long as it was said to be
                outcomes.append(Outcome(file.name, LostFile("it didn't arrive whole from Slack: try again")))
                continue
            outcomes.append(Outcome(file.name))
            uploads.append(
                UploadInput(token=upload.token, filename=file.name, content_type=file.content_type)
            )
        if uploads:
            try:
                await self._client.beyond.update_issue(
                    session.key, number, IssueChanges(uploads=tuple(uploads))
                )
            except NotFound:
                raise UserError(
                    "{service} can't attach files to an issue that exists: create a new one instead."
                ) from None
        return tuple(outcomes)
