"""A digest's message: its issues, grouped, oldest first.

As many issues as fit get a row with a menu; the next ones get a short line, and a link leads to the service's
list for the rest.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice

from bot.features.digests import kind_words, kinds
from bot.features.digests.digests import Preview
from bot.features.digests.posts import Edition
from bot.features.digests.views import filters_in_words, when_of
from bot.features.issues.actions import post_menu
from bot.features.issues.buttons import TakeIssue
from bot.features.issues.views import listed
from bot.service.conventions import issues_url
from bot.service.filters import TimeRange
from bot.service.models import Issue, Ref
from bot.slack.blocks import (
    SECTION,
    TEXT,
    Block,
    Message,
    actions,
    context,
    header,
    link_button,
    section,
    shortened,
    text_length,
)
from bot.slack.retractable import delete_menu
from bot.slack.text import bold, cut, line, link, moment
from bot.slack.wording import Wording
from bot.store.digest_plans import KINDS, Group, Kind
from bot.store.digests import Digest

NAME, SUBJECT, SHORT_SUBJECT, FACTS = 80, 150, 60, 300
ROWS, PREVIEW_ROWS = 40, 5
"""The most blocks for group names and rows, and the most rows in a preview."""
SHORT_LINES = 70
"""The most issues with a short line."""
ROOM = 11_000
"""The most characters for rows and short lines together."""
RESERVED = (0, 1_000, 2_000, 3_500)
"""How many of them to reserve for short lines: the first value that fits all lines, or the last."""
BLOCK_WEIGHT = 100
"""What a block counts in addition to its text (see `blocks.ALL`)."""
BARS = "▁▂▃▄▅▆▇█"
_ROW = re.compile(rf"({'|'.join(KINDS)}):[0-9]+:([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})")
"""A row's block ID: what it shows is worded alike when its issue changes."""
UNITS = {"daily": "day", "hourly": "hour", "weekly": "week"}

ORDER: dict[Group, Callable[[Ref], tuple[str, int]]] = {
    "tracker": lambda ref: ("", ref.id),
    "priority": lambda ref: ("", -ref.id),
    "category": lambda ref: (ref.name.casefold(), ref.id),
    "assignee": lambda ref: (ref.name.casefold(), ref.id),
}


@dataclass(frozen=True)
class Part:
    """The issues of one group, or the rest of them; `name` is mrkdwn."""

    name: str
    issues: Sequence[Issue]


def message(edition: Edition, wording: Wording) -> Message:
    """The message that is posted in the channel."""
    digest, catch_up = edition.digest, _catch_up(edition)
    news = kind_words.headline(digest, edition.issues, edition.now)
    headline = f"{shortened(digest.plan.project, NAME)}: {'at least ' if edition.more else ''}{news}"
    once = digest.plan.kind in kinds.HAPPENED or digest.personal
    since = f"Since {moment(digest.period_from)}" if once else f"As of {moment(edition.now)}"
    delete = delete_menu(digest.owner, digest.owner_name.partition(" ")[0], wording.service)
    blocks: list[Block] = [header(headline), section(" · ".join([since, *_compared(edition)]), delete)]
    if catch_up:
        blocks.append(section(catch_up))
    blocks += _body(edition, wording)
    blocks.append(context(_footer(digest, wording)))
    return Message(_plain_text(line(headline), edition), tuple(blocks))


def preview(shown: Preview, wording: Wording) -> list[Block]:
    """What a digest would show, or would have shown in a week: how many issues, and the first ones."""
    plan, count = shown.plan, len(shown.issues)
    many = ("more than " if shown.more and count > 1 else "") + kind_words.noun(plan, count)
    posts = (
        f" in {shown.posts} post{'' if shown.posts == 1 else 's'}" if shown.posts and not shown.more else ""
    )
    would = f"In the last 7 days, this digest would have shown you {many}{posts}."
    if plan.kind not in kinds.HAPPENED:
        would = f"Right now, this digest would show you {many}."
    about = " · ".join(filter(None, (when_of(plan), filters_in_words(plan))))
    day = kinds.today(plan, shown.now)
    rows = [section(_row_text(plan.kind, issue, wording, day)) for issue in shown.issues[:PREVIEW_ROWS]]
    rest = [context(f"and {count - PREVIEW_ROWS} more")] if count > PREVIEW_ROWS else []
    return [section(f"{bold(plan.project)} · {about}\n{would}"), *rows, *rest]


def _compared(edition: Edition) -> list[str]:
    """How many issues were opened, or closed, in the last periods, in words and as a chart."""
    if edition.asked or len(edition.periods) < 2:  # noqa: PLR2004 - two can be compared
        return []
    *_, before, now = edition.periods
    more = now - before
    comparison = (
        f"{abs(more)} {'more' if more > 0 else 'fewer'} than last time" if more else "same as last time"
    )
    kind, *rest = edition.digest.plan.schedule.split()
    several = any("," in word for word in rest)
    unit = "period" if several else UNITS.get(kind, "period")
    chart = f"{edition.digest.plan.kind} per {unit}: {_chart(edition.periods)}"
    # A message that doesn't cover exactly its period, such as a first one, can't be compared.
    return [comparison, chart] if now == len(edition.issues) else [chart]


def _chart(counts: Sequence[int]) -> str:
    """One bar for each count; only 0 gets the lowest."""
    highest = max(*counts, 1)
    return "".join(BARS[math.ceil(count * (len(BARS) - 1) / highest)] for count in counts)


def _catch_up(edition: Edition) -> str:
    """Whether this digest is late or covers missed ones, in mrkdwn; empty for one on time."""
    missed = edition.missed
    late = f"This digest was due {moment(edition.due_at)}." if edition.late else ""
    past = missed and (edition.digest.plan.kind in kinds.HAPPENED or edition.digest.personal)
    several = f"It includes {missed} missed digest{'' if missed == 1 else 's'}." if past else ""
    return " ".join(filter(None, (late, several)))


def _body(edition: Edition, wording: Wording) -> list[Block]:
    """All issues: as many rows as fit next to the short lines of the others."""
    for reserved in RESERVED:
        rows, left = _rows(edition, wording, ROOM - reserved)
        if not left:
            return rows
        short, rest = _short_lines(left, wording, reserved)
        if not rest:
            break
    url = _list_url(edition, wording)
    if rest:
        short.append(link(url, f"and {edition.count(rest)} more"))
    there = link_button(f"Open list in {wording.service}", url)
    return [*rows, *(section(paragraph) for paragraph in _paragraphs(short)), actions([there])]


def _parts(edition: Edition) -> list[Part]:
    digest, by = edition.digest, edition.digest.plan.group
    if digest.personal:
        of = [(issue, kinds.section(digest, issue, edition.now)) for issue in edition.issues]
        parts = [
            Part(f"*{name}*", [issue for issue, its in of if its == one])
            for one, name in kind_words.SECTIONS.items()
        ]
        return [part for part in parts if part.issues]
    refs: dict[int, Ref] = {}
    found: dict[int | None, list[Issue]] = defaultdict(list)
    for issue in edition.issues:
        ref: Ref | None = getattr(issue, kinds.FIELDS["to" if by == "assignee" else by])
        found[ref.id if ref else None].append(issue)
        if ref:
            refs.setdefault(ref.id, ref)
    named = [
        Part(bold(shortened(ref.name, NAME)) or f"*{ref.id}*", found[ref.id])
        for ref in sorted(refs.values(), key=ORDER[by])
    ]
    without = "Unassigned" if by == "assignee" else f"No {by}"
    return [*named, Part(f"*{without}*", found[None])] if None in found else named


def _rows(edition: Edition, wording: Wording, room: int) -> tuple[list[Block], list[Part]]:
    """The groups' rows as far as they fit, and the issues left over."""
    blocks: list[Block] = []
    left: list[Part] = []
    plan, day = edition.digest.plan, kinds.today(edition.digest.plan, edition.now)
    for part in _parts(edition):
        shown = 0
        for issue in () if left else part.issues:
            new: list[Block] = [_row(plan.kind, issue, wording, day)]
            if not shown:
                new.insert(0, section(f"{part.name} · {edition.count(len(part.issues))}"))
            room -= sum(BLOCK_WEIGHT + text_length(block) for block in new)
            if room < 0 or len(blocks) + len(new) > ROWS:
                break
            blocks += new
            shown += 1
        if shown < len(part.issues):
            rest = edition.count(len(part.issues) - shown)
            more = f"{rest} more" if shown else rest
            left.append(Part(f"{part.name} · {more}", part.issues[shown:]))
    return blocks, left


def _row(kind: Kind, issue: Issue, wording: Wording, day: date) -> Block:
    if kind == "personal":
        return listed(issue, wording, day, shareable=False)
    menu = post_menu(issue.id, wording, assign=TakeIssue(issue=issue.id))
    return section(_row_text(kind, issue, wording, day), menu, block_id=f"{kind}:{issue.id}:{day}")


def _row_text(kind: Kind, issue: Issue, wording: Wording, day: date) -> str:
    name = link(wording.url(issue.id), f"#{issue.id} {shortened(issue.subject, SUBJECT)}")
    return f"*{name}*\n{cut(kind_words.facts(kind, issue, day), FACTS)}"


def updated(blocks: Sequence[Block], issues: Mapping[int, Issue]) -> list[Block]:
    """A posted digest's blocks with these issues' current facts; subjects stay as posted."""
    return [_updated(block, issues) for block in blocks]


def _updated(block: Block, issues: Mapping[int, Issue]) -> Block:
    options = (block.get("accessory") or {}).get("options") or ()
    values = {option.get("value") for option in options}
    issue = next((i for i in issues.values() if TakeIssue(issue=i.id).as_option() in values), None)
    if issue is None:
        return block
    subject, _, _ = block["text"]["text"].partition("\n")
    row = _ROW.fullmatch(block.get("block_id") or "")
    kind, day = (KINDS[row[1]], date.fromisoformat(row[2])) if row else ("new", date.min)
    facts = cut(kind_words.facts(kind, issue, day), FACTS)
    return block | {"text": block["text"] | {"text": f"{subject}\n{facts}"}}


def _short_lines(left: Sequence[Part], wording: Wording, room: int) -> tuple[list[str], int]:
    """Short lines for the issues left over, as far as they fit, and how many issues remain."""
    shown_lines: list[str] = []
    rest = sum(len(part.issues) for part in left)
    for new in islice(_each_short_line(left, wording), SHORT_LINES):
        room -= sum(len(one) + 1 for one in new)
        if room < 0:
            break
        shown_lines += new
        rest -= 1
    return shown_lines, rest


def _each_short_line(left: Iterable[Part], wording: Wording) -> Iterable[list[str]]:
    """Each issue's short line; the first one of a group comes after the group's name."""
    for part in left:
        for place, issue in enumerate(part.issues):
            name = link(wording.url(issue.id), f"#{issue.id} {shortened(issue.subject, SHORT_SUBJECT)}")
            yield [f"• {name}"] if place else [part.name, f"• {name}"]


def _paragraphs(lines: Iterable[str]) -> list[str]:
    found: list[str] = []
    for one in lines:
        if found and len(found[-1]) + 1 + len(one) <= SECTION:
            found[-1] += f"\n{one}"
        else:
            found.append(one)
    return found


def _list_url(edition: Edition, wording: Wording) -> str:
    """The service's own list of these issues, filtered by when they were opened or closed."""
    plan = edition.digest.plan
    found = [at.replace(microsecond=0) for i in edition.issues if (at := kinds.happened(plan.kind, i))]
    times = TimeRange(min(found), max(found) + timedelta(seconds=1)) if found else None
    return issues_url(wording.base_url, kinds.list_params(plan, edition.now, times))


def _footer(digest: Digest, wording: Wording) -> str:
    if digest.personal:
        return f"Only you can see this · `{wording.command('digest')} me` to manage"
    who = line(shortened(digest.owner_name, NAME))
    return (
        f"Shows what {who} can see, except private issues · Digest {digest.id} · "
        f"`{wording.command('digest')}` to manage"
    )


def _plain_text(opening: str, edition: Edition) -> str:
    """The message as text for notifications and screen readers, with as many issues as fit."""
    text = opening
    for place, issue in enumerate(edition.issues):
        new = f"\n#{issue.id} {line(shortened(issue.subject, SUBJECT))}"
        rest = f"\nand {edition.count(len(edition.issues) - place)} more"
        if len(text) + len(new) + len(rest) > TEXT:
            return text + rest
        text += new
    return text
