"""Conventions that the interface leaves open, as Redmine has them (docs/service.md).

To support another service, change them here. Optional fields of requests are in `inputs`, optional operations
in `client`.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from enum import IntEnum
from typing import Literal, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from bot.errors import ServiceError, UserError

KEY_HEADER = "X-Service-API-Key"  # Redmine's own is X-Redmine-API-Key
KEY = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{40}(?![0-9A-Za-z])")
"""What a user's key looks like, and a git commit's ID."""

# Values of `include` (docs/service.md, Lists)
UserInclude = Literal["memberships", "groups"]
ProjectInclude = Literal[
    "trackers", "issue_categories", "time_entry_activities", "enabled_modules", "issue_custom_fields"
]
IssueInclude = Literal["attachments", "relations"]
IssueDetailInclude = Literal["attachments", "relations", "children", "allowed_statuses", "journals"]

# Sort columns of the issue list; the service uses the first three (docs/service.md, Lists)
SortField = Literal[
    "id",
    "project",
    "tracker",
    "parent",
    "status",
    "priority",
    "subject",
    "author",
    "assigned_to",
    "category",
    "fixed_version",
    "start_date",
    "due_date",
    "estimated_hours",
    "done_ratio",
    "created_on",
    "updated_on",
    "closed_on",
]
SORT_KEYS = 3

# Operators of the issue list's filters (docs/service.md, Lists)
ANY, NONE = "*", "!*"
CONTAINS, EQUALS, SINCE, UNTIL, BETWEEN = "~", "=", ">=", "<=", "><"
NOT = "!"
OR = "|"
OPERATORS = tuple("~!*^$=><")  # a value that starts with one of these would be read as an operator
SEARCHED_WORDS = 5  # Redmine::Search::Tokenizer drops further words, and words of one letter
MIDDAY = "T10:30:00Z"  # the same date in every time zone from UTC-10 to UTC+13

SETS_PRIVACY = frozenset({"set_issues_private", "set_own_issues_private"})
"""Redmine's permissions to create a private issue; either one is enough."""
CREATES_ISSUES = frozenset({"add_issues"})
LOGS_TIME = frozenset({"log_time"})
ADDS_NOTES, HIDES_NOTES = frozenset({"add_issue_notes"}), frozenset({"set_notes_private"})
EDITS_ISSUES, EDITS_OWN_ISSUES = frozenset({"edit_issues"}), frozenset({"edit_own_issues"})

# Limits, as in docs/service.md
PAGE_SIZE = 100
SUBJECT_LENGTH = 255
CLOSED_PROJECT = 5
DESCRIPTION_BYTES = 60_000  # Redmine on MySQL stores 65,535 bytes of UTF-8, with two for each line break
COMMENT_LENGTH = 1024
FILE_TEXT_LENGTH = 255  # file names and descriptions

_UNSAFE = re.compile(r"[/?%*:|\"'<>\n\r\x00]+")
LOGIN_LENGTH = 60
FIRST_NAME_LENGTH = 30
PROJECT_NAME_LENGTH = 255
IDENTIFIER_LENGTH = 100


# docs/service.md, Users
class UserStatus(IntEnum):
    ACTIVE = 1
    REGISTERED = 2
    LOCKED = 3


class ProjectStatus(IntEnum):
    ACTIVE = 1
    CLOSED = 5
    ARCHIVED = 9
    BEING_DELETED = 10


def stored_name(name: str) -> str:
    """Return a file's name as the service stores it, without path and special characters.

    Mirrors Redmine's Attachment#sanitize_filename.
    """
    return _UNSAFE.sub("_", re.sub(r"\A.*[\\/]", "", name, flags=re.DOTALL))


def issue_url(base_url: str, issue_id: int) -> str:
    return f"{base_url}/issues/{issue_id}"


def issues_url(base_url: str, filters: Mapping[str, str]) -> str:
    """Return the address of the issue list's page; `filters` are the parameters of the REST API's list.

    Redmine's page accepts them only together with `set_filter`.
    """
    return f"{base_url}/issues?{urlencode({'set_filter': '1', **filters})}"


def project_url(base_url: str, identifier: str | int) -> str:
    return f"{base_url}/projects/{quote(str(identifier), safe='')}"


def user_url(base_url: str, user_id: int) -> str:
    return f"{base_url}/users/{user_id}"


def account_url(base_url: str) -> str:
    """Return the address of the page where users find their API key."""
    return f"{base_url}/my/account"


def issue_number(base_url: str, url: str) -> int | None:
    """Return the number of the issue that `url` links to, or None if it isn't an issue of this service."""
    try:
        there, here = urlsplit(url), urlsplit(base_url)
    except ValueError:  # invalid IPv6 address
        return None
    if there.scheme not in {"http", "https"} or there.netloc.casefold() != here.netloc.casefold():
        return None
    match = re.fullmatch(rf"{re.escape(here.path)}/issues/([0-9]{{1,12}})/?", there.path)
    return int(match[1]) or None if match else None


ALSO_CALLED = {"estimated hours": "estimated time", "parent issue": "parent task"}
"""What the service's sentences call fields that its interface and the forms call otherwise."""


def fields_named(sentences: Sequence[str], labels: Mapping[str, str]) -> list[str | None]:
    """The field of each sentence of a refusal, which starts with its label; None if it starts with none.

    `labels` has the fields by label. Best effort: the service responds in the user's language.
    """
    fields = {label.casefold(): field for label, field in labels.items()}
    fields = {ALSO_CALLED[label]: field for label, field in fields.items() if label in ALSO_CALLED} | fields
    longest_first = sorted(fields, key=len, reverse=True)
    return [
        next((fields[label] for label in longest_first if sentence.casefold().startswith(label)), None)
        for sentence in sentences
    ]


T = TypeVar("T")

CLOCK_SKEW = timedelta(minutes=5)  # how far the service's clock may be behind the bot's


async def poll_until_found(find: Callable[[], Awaitable[T | None]], delays: Sequence[float]) -> T | None:
    """The first thing that `find` returns after one of the delays, in seconds; None if it finds nothing.

    The service may be too slow to respond, so an error counts as nothing found.
    """
    for wait in delays:
        await asyncio.sleep(wait)
        with suppress(ServiceError, UserError):
            if item := await find():
                return item
    return None
