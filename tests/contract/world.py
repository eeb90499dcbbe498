"""Describes a service for the tests, the reference service and a real Redmine alike."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import SecretStr

T = TypeVar("T")
EVERYTHING = os.environ.get("ISSUEBOT_MATRIX") == "all"


@dataclass(frozen=True, kw_only=True)
class World:
    """A running service and the IDs in it; see `redmine_seed.rb` for its users.

    Ana manages the projects `public` (with its subproject `child`), `private`, `closed`, `archived` and
    `lab`. Ben is a reporter in the public ones, and Dora a developer. Olga is a customer of `lab` and sees
    only her own issues there. Chris is the administrator. Nils isn't a member of any project. Lena is locked.
    `lab` tracks no time and has a custom field of each kind; `choices` maps their options to numbers.
    `database` is Redmine's SQLite file, for settings that can only be changed on an administrator's page.
    `bulk` is the number of issues besides `issues`. Of many similar cases, tests run every `each`-th: the
    reference service is fast enough to run them all. `depots` holds what `oracle.depot` has read, by login.
    """

    url: str
    key_header: str
    keys: Mapping[str, str] = field(repr=False)
    users: Mapping[str, int]
    projects: Mapping[str, Mapping[str, int | str]]
    issues: Mapping[str, int]
    bulk: int
    trackers: Mapping[str, int]
    statuses: Mapping[str, int]
    priorities: Mapping[str, int]
    activities: Mapping[str, int]
    categories: Mapping[str, int]
    versions: Mapping[str, int]
    custom_fields: Mapping[str, int]
    choices: Mapping[str, Mapping[str, int]]
    queries: Mapping[str, int]
    max_upload: int
    each: int = 1
    database: str | None = None
    depots: dict[str, Any] = field(default_factory=dict, repr=False)

    def key(self, login: str) -> SecretStr:
        """Returns the user's API key."""
        return SecretStr(self.keys[login])

    def some(self, cases: Iterable[T], every: int = 1, start: int = 0) -> Sequence[T]:
        """Returns the cases to run, out of many similar ones; all with `ISSUEBOT_MATRIX=all`."""
        step = 1 if EVERYTHING else self.each * every
        return list(cases)[start % step :: step]

    def project(self, kind: str) -> int:
        return int(self.projects[kind]["id"])
