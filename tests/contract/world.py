"""What a service for the tests holds, told alike for the reference service and for a real Redmine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import SecretStr

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class World:
    """A running service and the ids in it; who is in it and what may differ is in `redmine_seed.rb`.

    Ana manages the projects `public` (with its subproject `child`), `private`, `closed`, `archived` and
    `lab`; Ben reports in the public ones and Dora develops there; Olga is a customer of `lab`, who sees her
    own issues there only; Chris is the administrator; Nils is a member of nothing; Lena is locked. `lab` logs
    no time and has a custom field of each kind; `choices` are the numbers that stand for what those take.
    `database` is Redmine's SQLite file, for settings that only an administrator's page can change. `bulk` is
    how many issues there are beside `issues`. Of a great many cases that are alike `each`, each so manieth is
    tried: the reference service, which answers at once, tries them all.
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

    def key(self, login: str) -> SecretStr:
        """The person's key."""
        return SecretStr(self.keys[login])

    def some(self, cases: Sequence[T]) -> Sequence[T]:
        """Those of many cases alike that are tried here."""
        return cases[:: self.each]

    def project(self, kind: str) -> int:
        """The id of a project."""
        return int(self.projects[kind]["id"])
