"""What each kind of digest lists, compared with the issues themselves."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

from bot.access.accounts import Session
from bot.features.digests.plans import OVERLAP
from bot.features.digests.reading import Content, DigestReader
from bot.service.client import Client
from bot.store.digests import Digest
from bot.store.owner import Owner
from bot.store.plans import DigestKind, FieldValue, FilterKind, FilterValue, Plan
from tests.contract.oracle import Depot, Row, depot
from tests.contract.world import World

ANA = Owner(None, "T1", "U1")
ZONE = "Europe/Madrid"
KEYS: dict[FilterKind, str] = {
    "tracker": "tracker",
    "priority": "priority",
    "category": "category",
    "author": "author",
    "to": "assigned_to",
    "version": "fixed_version",
}

QUERIES: dict[str, Callable[[Row], bool]] = {
    "late": lambda row: not row["status"]["is_closed"] and (row["due_date"] or "9") <= "2024-06-30",
    "urgent": lambda row: row["priority"]["name"] == "Urgent",
}


def moment(row: Row, name: str) -> datetime | None:
    return datetime.fromisoformat(row[name]) if row.get(name) else None


def midday(day: str) -> datetime:
    return datetime.fromisoformat(f"{day}T10:00:00+00:00")


def middle(moments: list[datetime]) -> datetime:
    return sorted(moments)[len(moments) // 2]


def digest(oracle: Depot, number: int, kind: DigestKind, covered_to: datetime, **plan: Any) -> Digest:
    about = Plan(project_id=oracle.project, project="Depot", schedule="hourly", zone=ZONE, kind=kind, **plan)
    return Digest(
        id=number,
        owner=ANA,
        owner_name="Ana",
        channel_id="C1",
        plan=about,
        paused=None,
        covered_to=covered_to,
        period_from=covered_to,
        created_at=covered_to,
        history=(),
        agreed_project=oracle.project,
    )


def expected(oracle: Depot, kind: DigestKind, covered_to: datetime, now: datetime) -> Callable[[Row], bool]:
    day, window = now.astimezone(oracle.zone).date(), covered_to - OVERLAP

    def lists(row: Row) -> bool:
        is_open, due = not row["status"]["is_closed"], row["due_date"]
        closed, updated = moment(row, "closed_on"), moment(row, "updated_on")
        match kind:
            case "new":
                created = moment(row, "created_on")
                return created is not None and created >= window
            case "closed":
                return not is_open and closed is not None and closed >= window
            case "due":
                return is_open and due is not None and (date.fromisoformat(due) - day).days <= 7
            case _:
                return is_open and updated is not None and (now - updated) >= timedelta(days=14)

    return lists


async def test_each_kind_and_filter_lists_the_right_issues(client: Client, world: World) -> None:
    oracle = await depot(world, "ana", ZONE)
    rows = [row for row in oracle.rows if row["project"]["id"] == oracle.project and not row["is_private"]]
    times = {name: [at for row in rows if (at := moment(row, name))] for name in ("created_on", "closed_on")}
    starts: dict[DigestKind, datetime] = {
        "new": middle(times["created_on"]),
        "closed": middle(times["closed_on"]),
        "due": middle(times["created_on"]),
        "stale": middle(times["created_on"]),
    }
    now = middle([midday(row["due_date"]) for row in rows if row["due_date"]])
    cases: dict[int, tuple[str, Digest, set[int]]] = {}
    for nth, (kind, start) in enumerate(starts.items()):
        lists = expected(oracle, kind, start, now)
        of_kind = [row for row in rows if lists(row)]
        assert 0 < len(of_kind) < len(rows) or kind == "stale", kind
        number = len(cases)
        cases[number] = (kind, digest(oracle, number, kind, start), {row["id"] for row in of_kind})
        for which, key in world.some(KEYS.items(), start=nth):
            ref = next((row[key] for row in of_kind if key in row), None)
            if ref is None:
                continue
            choices = {which: (FilterValue(ref["id"], ref["name"]),)}
            fitting = {row["id"] for row in of_kind if row.get(key, {}).get("id") == ref["id"]}
            for field, ids in (("filters", fitting), ("excluded", {row["id"] for row in of_kind} - fitting)):
                number = len(cases)
                one = digest(oracle, number, kind, start, **{field: choices})
                cases[number] = (f"{kind} {field} {which}", one, ids)
        fields = [way for way in oracle.ways() if way.about.startswith("cf_")]
        more: list[tuple[dict[str, Any], Callable[[Row], bool]]] = [
            *(({"query": world.queries[name]}, is_in) for name, is_in in QUERIES.items()),
            *(({"custom_fields": (FieldValue(*way.given["custom_fields"][0]),)}, way.fits) for way in fields),
        ]
        for given, fits in (*more[: len(QUERIES)], *world.some(more, every=3, start=nth)):
            number = len(cases)
            ids = {row["id"] for row in of_kind if fits(row)}
            cases[number] = (f"{kind} {given}", digest(oracle, number, kind, start, **given), ids)

    session = Session(ANA, world.key("ana"), world.users["ana"], "Ana")
    covered: dict[int, dict[int, datetime]] = {number: {} for number in cases}
    contents = await DigestReader(client, session, now).read([one for _, one, _ in cases.values()], covered)

    differing = {}
    for number, (name, _, ids) in cases.items():
        content = contents[number]
        assert isinstance(content, Content)
        if (listed := {issue.id for issue in content.issues}) != ids:
            differing[name] = (ids - listed, listed - ids)
    assert differing == {}


async def test_personal_digest_lists_due_new_and_changed_issues(client: Client, world: World) -> None:
    oracle = await depot(world, "ana", ZONE)
    session = Session(ANA, world.key("ana"), world.users["ana"], "Ana")
    mine = [
        row
        for row in oracle.rows
        if not row["status"]["is_closed"] and row.get("assigned_to", {}).get("id") in oracle.me
    ]
    now = middle(
        [datetime.fromisoformat(f"{row['due_date']}T10:00:00+00:00") for row in mine if row["due_date"]]
    )
    today = now.astimezone(oracle.zone).date()
    one = digest(oracle, 1, "personal", now)

    first = (await DigestReader(client, session, now).read([one], {1: {}}))[1]
    assert isinstance(first, Content)
    updates = first.coverage.known_updates
    assert updates is not None
    assert {row["id"] for row in mine} <= {issue.id for issue in first.issues} == updates.keys()

    known_updates = dict(updates)
    later = [row["id"] for row in mine if not row["due_date"] or date.fromisoformat(row["due_date"]) > today]
    changed, assigned, *_ = later
    known_updates[changed] -= timedelta(seconds=1)
    del known_updates[assigned]
    again = (
        await DigestReader(client, session, now).read([replace(one, known_updates=known_updates)], {1: {}})
    )[1]

    assert isinstance(again, Content)
    due = {row["id"] for row in mine if row["id"] not in later}
    assert {issue.id for issue in again.issues} & {row["id"] for row in oracle.rows} == due | {
        changed,
        assigned,
    }
