"""Adds comments to issues: each once, together with its files, and never blindly again.

An issue's history shows whether a comment without a response arrived, and whether a message was added
before. A service that doesn't tell the history tells at least when the issue was last updated.
"""

from dataclasses import dataclass
from datetime import datetime

from bot.access.access import Access
from bot.access.accounts import Session
from bot.access.people import has_permission
from bot.errors import OutcomeUnknown, UserError
from bot.features.files.attach import Batch, Files, FileState
from bot.features.issues.issues import Issues, UpdateUnconfirmed
from bot.service.conventions import CLOCK_SKEW, HIDES_NOTES
from bot.service.inputs import IssueChanges, UploadInput
from bot.service.models import Issue, Journal
from bot.store.owner import Owner


class CommentUnconfirmed(UserError):
    """The service didn't respond, and the issue doesn't show the comment, or can't be read.

    `after` is the last entry of the issue's history before it; None if the service doesn't tell the history.
    """

    says = "{service} stopped responding, {why}"
    after: int | None
    why: str


class AddedAlready(UserError):
    says = "This message is already on #{number}. Check the issue."
    number: int


@dataclass(frozen=True)
class Comment:
    """A comment in the service's text format.

    `permalink` is the message that it adds, if any. With `after`, from an earlier attempt's
    `CommentUnconfirmed`, or `since`, the time of one that was lost in a crash, the comment is looked up
    before it is sent.
    """

    text: str
    private: bool = False
    permalink: str | None = None
    after: int | None = None
    since: datetime | None = None


@dataclass(frozen=True)
class Commented:
    issue: Issue
    certain: bool  # false if the service neither answered nor tells the history, but the issue was updated
    private: bool
    privacy_refused: bool  # whether others can see it although it was to be private
    note: Journal | None = None  # its entry in the history, if the service tells that


@dataclass(frozen=True)
class Target:
    """An issue to comment on, and whether the user may write private notes there."""

    issue: Issue
    private_notes: bool


class Comments:
    def __init__(self, access: Access) -> None:
        self.access = access
        self.issues, self.files = access.shared(Issues), access.shared(Files)

    async def target(self, owner: Owner, number: int) -> Target:
        """The issue for a comment.

        Raises IssueNotFound, UpdatesUnsupported, NotLinked, and ServiceError.
        """
        async with self.access.accounts.reading(owner) as session:
            issue = await self.issues.one(session, number)
            self.issues.check_supported(number)
            project = issue.project
            allowed = project and await has_permission(self.access.client, session, project, HIDES_NOTES)
            return Target(issue, allowed is True)

    async def add(self, owner: Owner, number: int, comment: Comment, batch: Batch) -> Commented:
        """Add a comment once, and the files with it in the same change; `batch` has the files' outcomes.

        Raises AddedAlready, CommentUnconfirmed, IssueNotFound, UpdatesUnsupported, NotLinked, Refused and the
        other ServiceErrors, and UserError if the service kept no comment.
        """
        async with self.access.accounts.reading(owner) as session:
            before = await self._read(session, number)
        self.issues.check_supported(number)

        if earlier := _earlier(session, before, comment):
            batch.match(before.attachments, session.user_id, comment.since or batch.since)
            return _commented(before, comment, earlier)
        if comment.since and comment.after is None and _may_have(before, comment.since):
            raise unconfirmed(number, None)
        if comment.permalink and any(comment.permalink in entry.notes for entry in before.journals):
            raise AddedAlready(number)

        async with self.files.uploading(session, before, batch) as (session, uploads):
            for file in batch.in_state(FileState.UPLOADED):
                file.state = FileState.ATTACHING
            commented = await self._send(session, before, comment, uploads)
            for file in batch.in_state(FileState.ATTACHING):
                file.end(FileState.ATTACHED)
        batch.match(commented.issue.attachments, session.user_id, batch.since)
        return commented

    async def _read(self, session: Session, number: int) -> Issue:
        """The issue, with its history if the service tells it. Raises IssueNotFound, ServiceError."""
        return await self.issues.detailed(session, number, ("attachments", "journals"))

    async def _send(
        self, session: Session, before: Issue, comment: Comment, uploads: tuple[UploadInput, ...]
    ) -> Commented:
        last = max((entry.id for entry in before.journals), default=0) if _has_history(before) else None
        answered = True

        def arrived(now: Issue) -> bool:
            nonlocal answered
            answered = False
            if last is None:
                return now.updated_on != before.updated_on
            return _own_note(session, now, last, comment.text) is not None

        changes = IssueChanges.model_validate(
            {"notes": comment.text}
            | ({"private_notes": True} if comment.private else {})
            | ({"uploads": uploads} if uploads else {})
        )
        try:
            issue = await self.issues.update(session, before, changes, arrived, read=self._read)
        except (UpdateUnconfirmed, OutcomeUnknown) as error:
            raise unconfirmed(before.id, last, unread=isinstance(error, OutcomeUnknown)) from None
        note = None
        if last is not None and _has_history(issue):
            note = _own_note(session, issue, last)
            if note is None:
                raise UserError(
                    "{service} didn't add the comment to #{number}. Ask a project manager for "
                    "permission to comment.",
                    number=before.id,
                )
        return _commented(issue, comment, note, certain=answered or note is not None)


def unconfirmed(number: int, after: int | None, *, unread: bool = False) -> CommentUnconfirmed:
    """The error, which asks the user to check unless a second attempt can, from the history `after`."""
    why = f"and #{number} doesn't show the comment. Try again, and I'll check for it first."
    if after is None:
        why = f"so the comment may not have been saved. Check #{number} before you try again."
    elif unread:
        why = f"so the comment may not have been saved. Try again, and I'll check #{number} first."
    return CommentUnconfirmed(after, why)


def _commented(issue: Issue, comment: Comment, note: Journal | None, *, certain: bool = True) -> Commented:
    privacy_refused = comment.private and note is not None and not note.private_notes
    return Commented(issue, certain, comment.private, privacy_refused, note)


def _has_history(issue: Issue) -> bool:
    return "journals" in issue.model_fields_set


def _may_have(issue: Issue, since: datetime) -> bool:
    """Whether a comment made since then may be there, although the service doesn't tell the history."""
    untouched = issue.updated_on is not None and issue.updated_on < since - CLOCK_SKEW
    return not (_has_history(issue) or untouched)


def _earlier(session: Session, issue: Issue, comment: Comment) -> Journal | None:
    """The comment, if an earlier attempt has added it."""
    if comment.after is not None:
        return _own_note(session, issue, comment.after, comment.text)
    note = _own_note(session, issue, 0, comment.text) if comment.since else None
    recent = note and note.created_on and comment.since and note.created_on >= comment.since - CLOCK_SKEW
    return note if recent else None


def _own_note(session: Session, issue: Issue, after: int, text: str | None = None) -> Journal | None:
    """The user's own latest note since the entry `after`, with this text if one is given."""
    for entry in reversed(issue.journals):
        own = entry.id > after and entry.user is not None and entry.user.id == session.user_id
        if own and entry.notes and (text is None or entry.notes.split() == text.split()):
            return entry
    return None
