"""A digest's message: its content, its order, and that Slack accepts it for any input."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from bot.features.digests.message import Edition, message
from bot.features.digests.reading import Content
from bot.sandbox.workspace.blocks import check_blocks
from bot.service.models import Issue, IssueStatus, Ref
from bot.slack.surfaces.blocks import JSON, Message
from bot.slack.text.wording import Wording
from bot.store.digests import Digest
from bot.store.owner import Owner
from bot.store.plans import GROUPS, FilterValue, Group, Plan

NOW = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)
STYLE = Wording("https://tracker.example", "Tracker", "markdown")
PLAN = Plan(project_id=1, project="Web Shop", schedule="daily 09:00", zone="Europe/Madrid")
DIGEST = Digest(
    id=3,
    owner=Owner(None, "T1", "U1"),
    owner_name="Ana Ruiz",
    channel_id="C1",
    plan=PLAN,
    paused=None,
    covered_to=None,
    period_from=NOW - timedelta(days=3),
    created_at=NOW - timedelta(days=9),
    history=(),
)
BUG, FEATURE = Ref(id=1, name="Bug"), Ref(id=2, name="Feature")
LOW, HIGH = Ref(id=3, name="Low"), Ref(id=5, name="High")
BEN = Ref(id=2, name="Ben Okafor")
CLOSED = IssueStatus(id=5, name="Closed", is_closed=True)


def issue(number: int, subject: str = "The cart forgets", age: timedelta = timedelta(), **more: Any) -> Issue:
    about = {"tracker": BUG, "priority": LOW, "author": BEN, "created_on": NOW - age, **more}
    return Issue(id=number, subject=subject, **about)


def edition(*issues: Issue, plan: Plan = PLAN, due_at: datetime = NOW, **more: Any) -> Edition:
    content = Content(project=plan.project, issues=issues)
    return Edition(digest=replace(DIGEST, plan=plan), content=content, due_at=due_at, now=NOW, **more)


def posted(one: Edition) -> Message:
    return message(one, STYLE)


def shown(made: Message) -> str:
    """The message as text: one line for each block, menus and buttons in brackets, times as `<23, 07:55>`."""
    text = "\n".join(_shown(block) for block in made.as_arguments()["blocks"])
    return re.sub(r"<!date\^[0-9]+\^[^|]+\|\w+ ([0-9]+), [0-9]+ at ([0-9:]+) UTC>", r"<\1, \2>", text)


def _shown(block: JSON) -> str:
    match block:
        case {"type": "actions", "elements": elements}:
            return " ".join(f"[{element['text']['text']}]" for element in elements)
        case {"type": "context", "elements": elements}:
            return " ".join(element["text"] for element in elements)
        case {"accessory": {"options": options}}:
            values = (re.sub(r"issue\.|\.open\b|[: ]+$| .*:U1", "", option["value"]) for option in options)
            return f"{block['text']['text']} [{', '.join(values)}]"
    return str(block["text"]["text"])


def test_issues_are_grouped_with_their_facts_and_menus() -> None:
    made = posted(
        edition(
            issue(40, "Sort by <price>", timedelta(days=2, hours=5), tracker=FEATURE, assigned_to=BEN),
            issue(41, "The cart forgets", timedelta(hours=3), priority=HIGH),
            issue(42, "Typo & co", timedelta(minutes=5), status=CLOSED),
            periods=(0, 1, 7, 1, 3),
        )
    )

    assert shown(made) == snapshot("""\
Web Shop: 3 new issues
Since <20, 08:00> · as of <23, 08:00> · 2 more than last time · new per day: ▁▂█▂▄ [post.delete]
*Bug* · 2
*<https://tracker.example/issues/41|#41 The cart forgets>*
High · Unassigned · opened by Ben Okafor <23, 05:00> [assign 41, edit 41, comment 41, show 41]
*<https://tracker.example/issues/42|#42 Typo &amp; co>*
Low · Unassigned · opened by Ben Okafor <23, 07:55> · closed [assign 42, edit 42, comment 42, show 42]
*Feature* · 1
*<https://tracker.example/issues/40|#40 Sort by &lt;price&gt;>*
Low · assigned to Ben Okafor · opened by Ben Okafor <21, 03:00> [assign 40, edit 40, comment 40, show 40]
Shows what Ana Ruiz can see, except private issues · Digest 3 · `/digest` to manage\
""")
    assert made.text == snapshot("""\
Web Shop: 3 new issues
#40 Sort by &lt;price&gt;
#41 The cart forgets
#42 Typo &amp; co\
""")


@pytest.mark.parametrize(
    ("plan", "headline", "fact"),
    [
        (replace(PLAN, kind="due"), "1 issue overdue, 1 due within 7 days", ":warning: overdue since"),
        (replace(PLAN, kind="stale", stale_days=30), "2 issues not updated for 30 days", "last updated <20"),
        (replace(PLAN, kind="closed"), "2 issues closed", "closed <21"),
        (
            replace(PLAN, kind="personal", project="My issues"),
            "1 overdue, 1 newly assigned",
            ":warning: overdue since",
        ),
    ],
)
def test_each_kind_says_what_it_lists(plan: Plan, headline: str, fact: str) -> None:
    about: dict[str, Any] = {"updated_on": NOW - timedelta(days=3), "project": Ref(id=1, name="Web Shop")}
    about["closed_on"] = NOW - timedelta(days=2) if plan.kind == "closed" else None
    late = issue(1, due_date=NOW.date() - timedelta(days=1), **about)
    soon = issue(2, due_date=NOW.date() + timedelta(days=1), **about)

    said = shown(posted(edition(late, soon, plan=plan)))

    assert said.startswith(f"{plan.project}: {headline}\n")
    assert fact in said
    assert ("Digest 3" in said) == (plan.kind != "personal")


def test_late_digest_says_when_it_was_due() -> None:
    due_at = NOW - timedelta(hours=2)

    assert shown(posted(edition(issue(1), missed=3, due_at=due_at))).splitlines()[2] == snapshot(
        "This digest was due <23, 06:00>. It includes 3 missed digests."
    )
    assert shown(posted(edition(issue(1), due_at=due_at))).splitlines()[2] == snapshot(
        "This digest was due <23, 06:00>."
    )
    assert posted(edition(issue(1), missed=1)).text == snapshot("""\
Web Shop: 1 new issue
#1 The cart forgets\
""")


def test_empty_digest_has_a_message() -> None:
    made = posted(edition(periods=(0, 0)))

    assert shown(made) == snapshot("""\
Web Shop: nothing new
Since <20, 08:00> · as of <23, 08:00> · same as last time · new per day: ▁▁ [post.delete]
Shows what Ana Ruiz can see, except private issues · Digest 3 · `/digest` to manage\
""")
    assert made.text == snapshot("Web Shop: nothing new")


@pytest.mark.parametrize(
    ("schedule", "periods", "said"),
    [
        ("daily 09:00", (2, 1), "1 fewer than last time · new per day: █▅"),
        ("weekly mon 09:00", (1, 1), "same as last time · new per week: ██"),
        ("weekly mon,thu 09:00", (0, 1), "1 more than last time · new per period: ▁█"),
        ("hourly", (0, 9, 3), "new per hour: ▁█▄"),
        ("cron 0 9 * * 1-5", (4,), None),
    ],
)
def test_a_chart_compares_the_periods(schedule: str, periods: tuple[int, ...], said: str | None) -> None:
    plan = replace(PLAN, schedule=schedule)
    since = "Since <20, 08:00> · as of <23, 08:00>"

    told = shown(posted(edition(issue(1), plan=plan, periods=periods))).splitlines()[1]
    asked = shown(posted(edition(issue(1), plan=plan, periods=periods, asked=True))).splitlines()[1]

    delete = "[post.delete]"
    assert told == (f"{since} · {said} {delete}" if said else f"{since} {delete}")
    assert asked == f"{since} {delete}"


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("tracker", ["*Bug* · 2", "*Feature* · 1", "*No tracker* · 1"]),
        ("priority", ["*High* · 1", "*Low* · 3"]),
        ("category", ["*checkout* · 1", "*Search* · 2", "*No category* · 1"]),
        ("assignee", ["*Ana Ruiz* · 1", "*Ben Okafor* · 1", "*Unassigned* · 2"]),
    ],
)
def test_groups_are_ordered_by_their_kind(group: Group, expected: list[str]) -> None:
    search = Ref(id=1, name="Search")
    issues = (
        issue(1, category=search, tracker=FEATURE, assigned_to=BEN),
        issue(2, category=search, priority=HIGH),
        issue(3, category=Ref(id=2, name="checkout"), tracker=None),
        issue(4, assigned_to=Ref(id=1, name="Ana Ruiz")),
    )

    text = shown(posted(edition(*issues, plan=replace(PLAN, group=group))))

    assert re.findall(r"^\*[^<]+\* · \d+$", text, re.MULTILINE) == expected


def test_issues_that_do_not_fit_are_behind_a_link() -> None:
    plan = replace(PLAN, filters={"tracker": (FilterValue(1, "Bug"), FilterValue(2, "Feature"))})
    issues = [
        issue(n, f"Subject number {n}", timedelta(minutes=500 - n), tracker=BUG if n % 2 else FEATURE)
        for n in range(1, 301)
    ]

    blocks = posted(edition(*issues, plan=plan)).as_arguments()["blocks"]

    text = "\n".join(block["text"]["text"] for block in blocks if block["type"] == "section")
    rows = [int(n) for n in re.findall(r"^\*<[^|]+\|#(\d+) Subject", text, re.MULTILINE)]
    assert len(rows) > 30
    assert rows == [*range(1, 301, 2), *range(2, 301, 2)][: len(rows)]
    assert "*Bug* · 150" in text
    rest = blocks[-2]
    assert rest["text"]["text"] == f"and {300 - len(rows)} more"
    assert rest["accessory"]["text"]["text"] == "Open list in Tracker"
    url = urlsplit(rest["accessory"]["url"])
    assert f"{url.scheme}://{url.netloc}{url.path}" == "https://tracker.example/issues"
    assert {name: values[0] for name, values in parse_qs(url.query).items()} == snapshot(
        {
            "set_filter": "1",
            "project_id": "1",
            "subproject_id": "!*",
            "tracker_id": "1|2",
            "status_id": "*",
            "created_on": "><2026-11-22T23:41:00Z|2026-11-23T04:40:01Z",
        }
    )


TEXTS = st.one_of(
    st.text(max_size=300),
    st.sampled_from(["<!channel>", "<@U1>", "&", "*", "`", "|", "<https://x.y|z>", "```", "\n"]).map(
        lambda piece: piece * 60
    ),
)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_slack_accepts_the_message_for_any_input(data: st.DataObject) -> None:
    texts = st.lists(TEXTS, min_size=1, max_size=4)
    subjects, names, groups = data.draw(texts), data.draw(texts), data.draw(st.integers(1, 100))
    count = data.draw(st.one_of(st.integers(0, 120), st.just(2500)))
    refs = [Ref(id=n + 1, name=names[n % len(names)]) for n in range(groups)]
    issues = [
        Issue(
            id=n,
            subject=subjects[n % len(subjects)],
            created_on=NOW + timedelta(seconds=data.draw(st.integers(-(10**9), 10**6)) if n < 3 else n),
            **dict.fromkeys(("tracker", "priority", "author", "assigned_to"), refs[n % groups]),
        )
        for n in range(1, count + 1)
    ]
    plan = replace(PLAN, project=names[0], group=data.draw(st.sampled_from(GROUPS)))
    made = posted(
        edition(
            *issues,
            plan=plan,
            missed=data.draw(st.integers(0, 999)),
            due_at=NOW - timedelta(hours=data.draw(st.integers(0, 999))),
            periods=tuple(data.draw(st.lists(st.integers(0, 10**6), max_size=8))),
        )
    )

    arguments = made.as_arguments()

    assert check_blocks(arguments["blocks"], "message") == []
    assert len(made.text) <= 3900
    assert _size(arguments["blocks"]) <= 13_000
    for written in (made.text, *_mrkdwn(arguments["blocks"])):
        assert set(re.findall("<[^>]*>?", written)) == set(
            re.findall(r"<https://tracker\.example/[^<>]+>|<!date\^[0-9]+\^[^<>]+>", written)
        )


def _mrkdwn(part: Any) -> list[str]:
    if isinstance(part, dict):
        own = [part["text"]] if part.get("type") == "mrkdwn" else []
        return own + [text for value in part.values() for text in _mrkdwn(value)]
    return [text for item in part for text in _mrkdwn(item)] if isinstance(part, list) else []


def _size(blocks: list[JSON]) -> int:
    """The size as Slack counts it: all text, plus a hundred for each block."""

    def texts(part: Any) -> int:
        if isinstance(part, dict):
            return sum(len(v) if k == "text" and isinstance(v, str) else texts(v) for k, v in part.items())
        return sum(map(texts, part)) if isinstance(part, list) else 0

    return texts(blocks) + 100 * len(blocks)
