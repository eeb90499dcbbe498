"""The Home tab, which is complete in every state, even before the service has responded."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from bot.features.accounts import views as accounts
from bot.features.digests import views as digests
from bot.features.digests.buttons import DigestAction
from bot.features.help.views import help_button
from bot.features.issues.buttons import OpenIssueForm
from bot.features.issues.views import format_hours, listed
from bot.features.notices.views import switches
from bot.features.search.views import OpenSearchForm, ShowMyIssues
from bot.features.timelog.views import EditTime, OpenEmptyTimeForm
from bot.service.models import Issue, Page
from bot.slack.surfaces.blocks import (
    JSON,
    Block,
    actions,
    bullets,
    button,
    context,
    divider,
    header,
    rich_link,
    section,
    shortened,
)
from bot.slack.text.mrkdwn import day, line, link, prose
from bot.slack.text.wording import Wording
from bot.store.activity import CreatedIssue, Entry
from bot.store.digests import Digest
from bot.store.links import Link
from bot.store.notices import Topic

MAX_DIGESTS = 15
LOADING = ":hourglass_flowing_sand: Loading…"


@dataclass(frozen=True)
class StoredItems:
    link: Link
    created: tuple[CreatedIssue, ...]
    entries: tuple[Entry, ...]
    digests: tuple[Digest, ...]
    topics: Collection[Topic]  # the topics they are notified of


def home(
    stored: StoredItems | None,
    open_issues: Page[Issue] | None,
    wording: Wording,
    today: date | None,
    problem: str | None = None,
) -> JSON:
    """A user's tab. `stored` is None if they aren't linked.

    `open_issues` is None while the service is being read, and `problem` is the error if that failed.
    """
    if stored is None:
        blocks = [context(f":warning: {prose(problem)}")] if problem else []
        blocks += accounts.invitation(wording)
    else:
        blocks = [_buttons(), *_open_issues(stored, open_issues, wording, today, problem)]
        blocks += [*_created(stored, wording), *_digests(stored, wording), divider()]
        blocks.append(switches(stored.topics, wording))
        blocks.append(context(accounts.linked_to(wording, stored.link.name)))
    return {"type": "home", "private_metadata": state_of(stored), "blocks": blocks}


def state_of(stored: StoredItems | None) -> str:
    """Which account the tab shows, so that a tab for a different account is replaced right away."""
    return f"linked:{stored.link.user_id}" if stored else "unlinked"


def _buttons() -> Block:
    new = button("Create an issue", OpenIssueForm(), style="primary")
    others = (button("Search issues", OpenSearchForm()), button("Log time", OpenEmptyTimeForm()))
    return actions([new, *others, help_button()])


def _open_issues(
    stored: StoredItems,
    open_issues: Page[Issue] | None,
    wording: Wording,
    today: date | None,
    problem: str | None,
) -> list[Block]:
    blocks: list[Block] = [header("My open issues")]
    if problem:
        return [*blocks, context(f":warning: {prose(problem)}")]
    if open_issues is None:
        return [*blocks, context(LOADING)]
    if not open_issues.items:
        return [*blocks, context("No open issues are assigned to you.")]

    me = stored.link.user_id
    fixed = {"assigned_to": me}
    blocks += [listed(issue, wording, today, fixed=fixed, me=me) for issue in open_issues.items]
    if open_issues.total_count > len(open_issues.items):
        blocks.append(actions([button(f"Show all {open_issues.total_count}", ShowMyIssues())]))
    return blocks


def _created(stored: StoredItems, wording: Wording) -> list[Block]:
    blocks: list[Block] = []
    if stored.created:
        links = (
            rich_link(wording.url(one.issue_id), f"#{one.issue_id} {one.subject}") for one in stored.created
        )
        blocks += [header("Created with Issue Bot"), bullets(links)]
    if stored.entries:
        blocks.append(header("Logged with Issue Bot"))
        blocks += [
            section(_entry(entry, wording), accessory=button("Edit", EditTime(entry=entry.id)))
            for entry in stored.entries
        ]
    return blocks


def _digests(stored: StoredItems, wording: Wording) -> list[Block]:
    listed = stored.digests
    blocks: list[Block] = [header("My digests")] if listed else []
    for digest in listed[:MAX_DIGESTS]:
        switch = digests.act_button(
            DigestAction.RESUME if digest.paused else DigestAction.PAUSE, digest, digest.owner
        )
        text = f"{digests.title(digest)}\n{digests.status_line(digest, digest.owner, wording)}"
        blocks.append(section(text, accessory=switch))
    if (more := len(listed) - MAX_DIGESTS) > 0:
        command = wording.command("digest")
        blocks.append(context(f"{more} more. Type `{command}` in a channel to see its digests."))
    return blocks


def _entry(entry: Entry, wording: Wording) -> str:
    title = shortened(entry.title, 150)
    on = line(title)
    if entry.issue_id is not None:
        on = link(wording.url(entry.issue_id), f"#{entry.issue_id} {title}")
    facts = (line(entry.activity), day(entry.spent_on), line(shortened(entry.comments, 100)))
    return (
        f"*{format_hours(Decimal(entry.minutes) / 60)}* on {on}\n{' · '.join(fact for fact in facts if fact)}"
    )
