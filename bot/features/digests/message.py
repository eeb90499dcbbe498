"""The message of a digest: what is new in a project, grouped, the oldest first.

As many issues as fit have a line of their own with a menu; the next ones are listed briefly, and the rest is
behind a link to the service's own list.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from bot.features.digests.posts import Edition
from bot.features.digests.reading import filters_of
from bot.features.digests.views import moment
from bot.features.issues.views import menu, people
from bot.service.conventions import issues_url
from bot.service.filters import TimeRange
from bot.service.models import Issue, Ref
from bot.slack.blocks import (
    SECTION,
    TEXT,
    Block,
    Message,
    actions,
    button,
    context,
    header,
    letters,
    section,
    shortened,
)
from bot.slack.text import bold, cut, line, link
from bot.slack.wording import Wording
from bot.store.digests import Digest, Group

NAME, SUBJECT, SHORT_SUBJECT, FACTS = 80, 150, 60, 300
LINES = 40
"""How many blocks the groups' names and the issues' own lines take at most."""
BRIEF = 70
"""How many more issues are listed briefly."""
ROOM = 11_000
"""How many characters all that may have."""
BRIEF_ROOMS = (0, 1_000, 2_000, 3_500)
"""How many of them are kept for what is listed briefly: the fewest in which all of it fits, or the last."""
A_BLOCK = 100
"""What a block counts beside its text (see `blocks.ALL`).
"""
BARS = "▁▂▃▄▅▆▇█"
UNITS = {"daily": "day", "hourly": "hour", "weekly": "week"}
TAKE, LOG_TIME = ("Take it", "take"), ("Log time", "time")

REFS: dict[Group, Callable[[Issue], Ref | None]] = {
    "tracker": lambda issue: issue.tracker,
    "priority": lambda issue: issue.priority,
    "category": lambda issue: issue.category,
    "assignee": lambda issue: issue.assigned_to,
}
ORDER: dict[Group, Callable[[Ref], tuple[str, int]]] = {
    "tracker": lambda ref: ("", ref.id),
    "priority": lambda ref: ("", -ref.id),
    "category": lambda ref: (ref.name.casefold(), ref.id),
    "assignee": lambda ref: (ref.name.casefold(), ref.id),
}
WITHOUT: dict[Group, str] = {
    "tracker": "No tracker",
    "priority": "No priority",
    "category": "No category",
    "assignee": "Nobody",
}


@dataclass(frozen=True)
class Part:
    """The issues of one group, or those of them that are left; `name` is mrkdwn."""

    name: str
    issues: Sequence[Issue]


def message(edition: Edition, style: Wording, command: Callable[[str], str]) -> Message:
    """A digest as its channel sees it; `command` gives a slash command as people type it here."""
    headline, since, caught_up = _headline(edition), _since(edition), _caught_up(edition)
    blocks: list[Block] = [
        header(headline),
        context(" · ".join([f"{since} ({line(edition.digest.plan.zone)})", *_compared(edition)])),
    ]
    if caught_up:
        blocks.append(section(f"*Catch-up:* {caught_up}."))
    blocks += _body(edition, style)
    blocks.append(context(_footer(edition.digest, command)))
    opening = f"{line(headline)} {since[0].lower()}{since[1:]}."
    opening += f" Catch-up: {caught_up}." if caught_up else ""
    return Message(_read_aloud(opening, edition.issues), tuple(blocks))


def _headline(edition: Edition) -> str:
    count = len(edition.issues)
    news = f"{count} new issue{'' if count == 1 else 's'}" if count else "nothing new"
    return f"{shortened(edition.digest.plan.project, NAME)}: {news}"


def _since(edition: Edition) -> str:
    return f"Since {_moment(edition.digest.period_from, edition)}"


def _moment(moment: datetime, edition: Edition) -> str:
    zone = ZoneInfo(edition.digest.plan.zone)
    there = moment.astimezone(zone)
    year = "" if there.year == edition.now.astimezone(zone).year else f" {there.year}"
    return f"{there:%a} {there.day} {there:%b}{year} {there:%H:%M}"


def _compared(edition: Edition) -> list[str]:
    """How many were opened in the last periods, in words and as a small chart."""
    if edition.asked or len(edition.periods) < 2:  # noqa: PLR2004 - two can be compared
        return []
    *_, before, now = edition.periods
    more = now - before
    if more:
        told = f"{abs(more)} {'more' if more > 0 else 'fewer'} than in the period before"
    else:
        told = "as many as in the period before"
    kind, *rest = edition.digest.plan.schedule.split()
    several = any("," in word for word in rest)
    unit = "period" if several else UNITS.get(kind, "period")
    chart = f"opened per {unit}: {_chart(edition.periods)}"
    # Where it has more or fewer than were opened in its period, as the first one has, there's no comparing.
    return [told, chart] if now == len(edition.issues) else [chart]


def _chart(counts: Sequence[int]) -> str:
    """One bar for each count, the lowest for 0 alone."""
    highest = max(*counts, 1)
    return "".join(BARS[math.ceil(count * (len(BARS) - 1) / highest)] for count in counts)


def _caught_up(edition: Edition) -> str:
    """What makes this digest another than it was planned; empty for one in time."""
    missed = edition.missed
    several = (
        f"{missed} digest{'' if missed == 1 else 's'} before it {'was' if missed == 1 else 'were'} missed"
    )
    if edition.late:
        due = f"it was due {_moment(edition.due_at, edition)}"
        return f"{due}; {several}" if missed else due
    return several if missed else ""


def _body(edition: Edition, style: Wording) -> list[Block]:
    """All issues, with lines of their own as far as there is room beside what the others need."""
    for kept in BRIEF_ROOMS:
        lines, left = _lines(edition, style, ROOM - kept)
        if not left:
            return lines
        brief, rest = _brief(left, style, kept)
        if not rest:
            break
    url = _list_url(edition, style)
    if rest:
        brief.append(link(url, f"and {rest} more"))
    there = button(f"Open the list in {style.service}", "open", url=url)
    return [*lines, *(section(paragraph) for paragraph in _paragraphs(brief)), actions([there])]


def _parts(edition: Edition) -> list[Part]:
    by = edition.digest.plan.group
    refs: dict[int, Ref] = {}
    found: dict[int | None, list[Issue]] = defaultdict(list)
    for issue in edition.issues:
        ref = REFS[by](issue)
        found[ref.id if ref else None].append(issue)
        if ref:
            refs.setdefault(ref.id, ref)
    named = [
        Part(bold(shortened(ref.name, NAME)) or f"*{ref.id}*", found[ref.id])
        for ref in sorted(refs.values(), key=ORDER[by])
    ]
    return [*named, Part(f"*{WITHOUT[by]}*", found[None])] if None in found else named


def _lines(edition: Edition, style: Wording, room: int) -> tuple[list[Block], list[Part]]:
    """The groups as far as their issues fit with lines of their own, and what is left of them."""
    blocks: list[Block] = []
    left: list[Part] = []
    for part in _parts(edition):
        shown = 0
        for issue in () if left else part.issues:
            new: list[Block] = [_line(issue, style)]
            if not shown:
                new.insert(0, section(f"{part.name} · {len(part.issues)}"))
            room -= sum(map(_weight, new))
            if room < 0 or len(blocks) + len(new) > LINES:
                break
            blocks += new
            shown += 1
        if shown < len(part.issues):
            more = f"{len(part.issues) - shown} more" if shown else str(len(part.issues))
            left.append(Part(f"{part.name} · {more}", part.issues[shown:]))
    return blocks, left


def _line(issue: Issue, style: Wording) -> Block:
    name = link(style.url(issue.id), f"#{issue.id} {shortened(issue.subject, SUBJECT)}")
    return section(f"*{name}*\n{_facts(issue)}", menu(issue.id, style, TAKE, LOG_TIME))


def _facts(issue: Issue) -> str:
    facts = [
        people(issue),
        f"by {line(issue.author.name)}" if issue.author and issue.author.name else "",
        f"opened {moment(issue.created_on)}" if issue.created_on else "",
        "closed" if issue.status and issue.status.is_closed else "",
    ]
    return cut(" · ".join(fact for fact in facts if fact), FACTS)


def updated(blocks: Sequence[Block], issues: Mapping[int, Issue]) -> list[Block]:
    """A posted digest's blocks with the rows of these issues as they are now; the subjects stay as posted."""
    return [_updated(block, issues) for block in blocks]


def _updated(block: Block, issues: Mapping[int, Issue]) -> Block:
    options = (block.get("accessory") or {}).get("options") or ()
    issue = next((i for i in issues.values() for o in options if o.get("value") == f"{TAKE[1]}:{i.id}"), None)
    if issue is None:
        return block
    subject, _, _ = block["text"]["text"].partition("\n")
    return block | {"text": block["text"] | {"text": f"{subject}\n{_facts(issue)}"}}


def _weight(block: Block) -> int:
    return A_BLOCK + letters(block)


def _brief(left: Sequence[Part], style: Wording, room: int) -> tuple[list[str], int]:
    """Short lines for what is left, as far as there is room, and how many issues are left then."""
    told: list[str] = []
    rest = sum(len(part.issues) for part in left)
    for new in islice(_brief_lines(left, style), BRIEF):
        room -= sum(len(one) + 1 for one in new)
        if room < 0:
            break
        told += new
        rest -= 1
    return told, rest


def _brief_lines(left: Iterable[Part], style: Wording) -> Iterable[list[str]]:
    """The lines for one issue after the other, with its group's before the first of a group."""
    for part in left:
        for place, issue in enumerate(part.issues):
            name = link(style.url(issue.id), f"#{issue.id} {shortened(issue.subject, SHORT_SUBJECT)}")
            yield [f"• {name}"] if place else [part.name, f"• {name}"]


def _paragraphs(lines: Iterable[str]) -> list[str]:
    found: list[str] = []
    for one in lines:
        if found and len(found[-1]) + 1 + len(one) <= SECTION:
            found[-1] += f"\n{one}"
        else:
            found.append(one)
    return found


def _list_url(edition: Edition, style: Wording) -> str:
    """Where the service itself lists these issues: by the times that it gave them."""
    opened = [issue.created_on.replace(microsecond=0) for issue in edition.issues if issue.created_on]
    times = TimeRange(min(opened), max(opened) + timedelta(seconds=1)) if opened else None
    return issues_url(style.base_url, filters_of(edition.digest.plan, times).to_params())


def _footer(digest: Digest, command: Callable[[str], str]) -> str:
    who = line(shortened(digest.owner_name, NAME))
    return (
        f"As {who} sees it; private issues are left out · digest {digest.id} · "
        f"`{command('digest')}` to change it"
    )


def _read_aloud(opening: str, issues: Sequence[Issue]) -> str:
    """The message without its blocks, as notifications and screen readers have it: its first issues."""
    text = opening
    for place, issue in enumerate(issues):
        new = f"\n#{issue.id} {line(shortened(issue.subject, SUBJECT))}"
        rest = f"\nand {len(issues) - place} more"
        if len(text) + len(new) + len(rest) > TEXT:
            return text + rest
        text += new
    return text
