"""The Home tab: complete in each state, so that it can be shown before the service has answered."""

from collections.abc import Callable
from decimal import Decimal

from bot.features.accounts import views as accounts
from bot.features.digests import views as digests
from bot.features.help import views as help_views
from bot.features.home.home import Mine, Remembered
from bot.features.issues.views import format_hours, listed
from bot.slack import rich_text
from bot.slack.blocks import JSON, Block, actions, button, context, divider, header, section, shortened
from bot.slack.text import line, link, prose
from bot.slack.wording import Wording
from bot.store.time_entries import Entry

DIGESTS = 15
ONE_MOMENT = ":hourglass_flowing_sand: One moment…"


def home(
    remembered: Remembered | None,
    mine: Mine | None,
    style: Wording,
    command: Callable[[str], str],
    said: str | None = None,
) -> JSON:
    """The tab of one person. `remembered` is None for who isn't linked, `mine` while it is being read;
    `said` is why it could not be.
    """
    name = remembered.link.name if remembered else None
    blocks: list[Block] = [context(f":warning: {prose(said)}")] if said and not remembered else []
    blocks += accounts.state(style.service, command("tracker"), name)
    if remembered:
        blocks += [_buttons(), *_mine(mine, style, said), *_made(remembered, style)]
        blocks += _digests(remembered, command)
    blocks += [divider(), *help_views.overview(command, style.service).blocks]
    return {
        "type": "home",
        "private_metadata": state_of(remembered),
        "blocks": list(blocks),
    }


def state_of(remembered: Remembered | None) -> str:
    """Whose tab it is, so that one that is shown already is replaced at once when it is another's."""
    return f"linked:{remembered.link.user_id}" if remembered else "unlinked"


def _buttons() -> Block:
    return actions(
        [
            button("Create an issue", "home.create", style="primary"),
            button("Search issues", "home.search"),
            button("Log time", "home.time"),
        ]
    )


def _mine(mine: Mine | None, style: Wording, said: str | None) -> list[Block]:
    blocks: list[Block] = [header("My open issues")]
    if said:
        return [*blocks, context(f":warning: {prose(said)}")]
    if mine is None:
        return [*blocks, context(ONE_MOMENT)]
    if not mine.issues:
        return [*blocks, context("Nothing open is assigned to you.")]
    blocks += [listed(issue, style, shareable=False) for issue in mine.issues]
    if mine.total > len(mine.issues):
        blocks.append(actions([button(f"All {mine.total}", "home.mine")]))
    return blocks


def _made(remembered: Remembered, style: Wording) -> list[Block]:
    blocks: list[Block] = []
    if remembered.created:
        made = (
            rich_text.link(style.url(one.issue_id), f"#{one.issue_id} {one.subject}")
            for one in remembered.created
        )
        blocks += [header("Created here by me"), rich_text.bullets(made)]
    if remembered.entries:
        blocks.append(header("Time I logged here"))
        blocks += [
            section(_entry(entry, style), accessory=button("Edit", "time.edit", str(entry.id)))
            for entry in remembered.entries
        ]
    return blocks


def _digests(remembered: Remembered, command: Callable[[str], str]) -> list[Block]:
    found = remembered.digests
    blocks: list[Block] = [header("My digests")] if found else []
    for digest in found[:DIGESTS]:
        act = ("Resume", "digest.resume") if digest.paused else ("Pause", "digest.pause")
        text = f"{digests.title(digest)}\n{digests.status_line(digest, digest.owner, command)}"
        blocks.append(section(text, accessory=button(*act, str(digest.id))))
    if (more := len(found) - DIGESTS) > 0:
        blocks.append(context(f"{more} more: `{command('digest')}` lists them in their channels."))
    return blocks


def _entry(entry: Entry, style: Wording) -> str:
    title = shortened(entry.title, 150)
    on = line(title)
    if entry.issue_id is not None:
        on = link(style.url(entry.issue_id), f"#{entry.issue_id} {title}")
    facts = (line(entry.activity), entry.spent_on.isoformat(), line(shortened(entry.comments, 100)))
    return (
        f"*{format_hours(Decimal(entry.minutes) / 60)}* on {on}\n{' · '.join(fact for fact in facts if fact)}"
    )
