"""What the interface leaves open, and Redmine's answer to it (service-facts.md), in one place.

Another service's conventions can be put here in their stead. The optional fields of what is sent are in
`writes`, the endpoints beyond the interface in `beyond`, both marked as such.
"""

import re
from collections.abc import Mapping
from enum import IntEnum
from typing import Literal
from urllib.parse import quote, urlencode, urlsplit

KEY_HEADER = "X-Service-API-Key"  # service-interface.md, section 5; Redmine's is X-Redmine-API-Key

# Values of `include` (service-facts.md, "Lists"; those of one issue: Redmine's own reference)
UserInclude = Literal["memberships", "groups"]
ProjectInclude = Literal[
    "trackers", "issue_categories", "time_entry_activities", "enabled_modules", "issue_custom_fields"
]
IssueInclude = Literal["attachments", "relations"]
IssueDetailInclude = Literal[
    "attachments", "relations", "children", "changesets", "journals", "watchers", "allowed_statuses"
]

# Columns that a list of issues can be sorted by (service-facts.md: names without `_id`, three count)
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

# Forms of the issue list's filters (service-facts.md, "Lists")
ANY, NONE = "*", "!*"
CONTAINS, EQUALS, SINCE, UNTIL, BETWEEN = "~", "=", ">=", "<=", "><"
OR = "|"
OPERATORS = tuple("~!*^$=><")  # what a text must not begin with where an operator may stand
SEARCHED_WORDS = 5  # Redmine::Search::Tokenizer: no more of a text, and none of one letter, are searched for
MIDDAY = "T10:30:00Z"  # of the same date in every zone from UTC-10 to UTC+13, as servers may be in any

SETS_PRIVACY = frozenset({"set_issues_private", "set_own_issues_private"})
"""Permissions of a role, of which either lets a person create a private issue (Redmine's names)."""

# Limits (service-interface.md, section 8; service-facts.md)
PAGE = 100
SUBJECT_LENGTH = 255
COMMENT_LENGTH = 1024
FILE_TEXT_LENGTH = 255  # of a file's name and of its description

_UNSAFE = re.compile(r"[/?%*:|\"'<>\n\r\x00]+")
LOGIN_LENGTH = 60
FIRST_NAME_LENGTH = 30
PROJECT_NAME_LENGTH = 255
IDENTIFIER_LENGTH = 100


class UserStatus(IntEnum):
    """The numbers of a user's status (service-facts.md, "Users")."""

    ACTIVE = 1
    REGISTERED = 2
    LOCKED = 3


class ProjectStatus(IntEnum):
    """The numbers of a project's status (service-facts.md, "Users")."""

    ACTIVE = 1
    CLOSED = 5
    ARCHIVED = 9
    BEING_DELETED = 10


def stored_name(name: str) -> str:
    """A file's name as the service keeps it: no path, none of the characters that file systems mind.

    Redmine's Attachment#sanitize_filename; it keeps 255 characters.
    """
    return _UNSAFE.sub("_", re.sub(r"\A.*[\\/]", "", name, flags=re.DOTALL))


def issue_url(base_url: str, issue_id: int) -> str:
    """Where a person reads an issue: the interface's path without its suffix."""
    return f"{base_url}/issues/{issue_id}"


def issues_url(base_url: str, filters: Mapping[str, str]) -> str:
    """Where a person reads a list of issues; `filters` are the parameters of the interface's own list.

    Redmine's pages take the same short forms, but only beside `set_filter`.
    """
    return f"{base_url}/issues?{urlencode({'set_filter': '1', **filters})}"


def project_url(base_url: str, identifier: str | int) -> str:
    """Where a person reads a project."""
    return f"{base_url}/projects/{quote(str(identifier), safe='')}"


def user_url(base_url: str, user_id: int) -> str:
    """Where a person reads about another one."""
    return f"{base_url}/users/{user_id}"


def account_url(base_url: str) -> str:
    """Where a person finds their own key."""
    return f"{base_url}/my/account"


def issue_number(base_url: str, url: str) -> int | None:
    """The issue that a person's link leads to: what `issue_url` makes, with what may follow it; else None."""
    try:
        there, here = urlsplit(url), urlsplit(base_url)
    except ValueError:  # brackets that hold no address
        return None
    if there.scheme not in {"http", "https"} or there.netloc.casefold() != here.netloc.casefold():
        return None
    found = re.fullmatch(rf"{re.escape(here.path)}/issues/([0-9]{{1,12}})/?", there.path)
    return int(found[1]) or None if found else None
