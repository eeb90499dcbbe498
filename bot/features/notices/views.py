"""Direct messages about what others did to a user's issue, and the choice of topics."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from itertools import chain

from bot.features.following.views import who_did
from bot.features.issues.buttons import CommentOnIssue
from bot.features.issues.issues import merged
from bot.features.issues.views import change_text, listed, page, quoted, title
from bot.features.notices.reads import IssueNews
from bot.service.models import Change
from bot.slack.surfaces.blocks import (
    JSON,
    Block,
    Element,
    Message,
    actions,
    button,
    context,
    filled,
    link_button,
    option,
    section,
)
from bot.slack.surfaces.buttons import Button, Number
from bot.slack.text.mrkdwn import escape, line, link
from bot.slack.text.wording import Wording
from bot.store.notices import Topic

MAX_PARAGRAPHS, MAX_MUTED = 8, 20  # the most of a message, and of the muted issues that are listed
CHOICES = {
    Topic.ASSIGNED: ("Issues assigned to me", "In Slack or in {service}"),
    Topic.COMMENTS: ("New comments on my issues", "Those I reported, and those assigned to me"),
    Topic.CHANGES: ("Changes to my issues", "Status, assignee, priority, or due date"),
}


class ChooseTopics(Button):
    """Checkboxes: all topics that the user has turned on."""

    action = "notice.topics"
    topics: str = ""


class MuteIssue(Button):
    """Mutes an issue, or unmutes it; `listed` in the list of muted issues."""

    action = "notice.mute"
    issue: Number
    on: bool
    listed: bool = False


def paragraphs(news: IssueNews, assigner: str, quotes: Mapping[int, str]) -> list[str]:
    """The news as mrkdwn, each person's changes together; `quotes` has the comments by their entries' IDs."""
    number = f"#{news.issue.id}"
    texts = [f"{line(assigner)} assigned {number} to you."] if news.assignment else []
    changes: dict[str, list[Change]] = defaultdict(list)
    for act in news.acts:
        changes[who_did(act.entry)] += act.changes
    for who, theirs in changes.items():
        lines = [change_text(change, news.names, news.me) for change in merged(theirs)]
        texts += ["\n".join([f"{who} changed {number}:", *lines])] if lines else []
    for act in news.acts:
        if act.comment:
            note = " in a private note" if act.entry.private_notes is not False else ""
            texts.append(f"{who_did(act.entry)} commented on {number}{note}:\n{quotes[act.entry.id]}")
    return texts


async def quotes_of(news: IssueNews, wording: Wording) -> Mapping[int, str]:
    return {act.entry.id: await quoted(act.entry, wording) for act in news.acts if act.comment}


def notice(texts: Sequence[str], news: IssueNews, wording: Wording, today: date | None) -> Message:
    """The direct message with these paragraphs."""
    issue, me = news.issue, news.me
    assigned = issue.assigned_to is not None and issue.assigned_to.id == me
    row = listed(issue, wording, today, fixed={"assigned_to": me} if assigned else {}, me=me)
    blocks = [section(paragraph) for paragraph in texts[:MAX_PARAGRAPHS]]
    if (more := len(texts) - MAX_PARAGRAPHS) > 0:
        blocks.append(context(f"And {more} more. Open the issue to read everything."))
    comment = [button("Comment", CommentOnIssue(issue=issue.id))] if wording.updates_issues else []
    buttons = actions([*comment, link_button(*page(issue.id, wording)), _mute(issue.id, on=True)])
    return Message("\n".join([*texts[:MAX_PARAGRAPHS], title(issue, wording)]), (*blocks, row, buttons))


def mute_changed(number: int, *, on: bool) -> Message:
    """Confirms that an issue was muted or unmuted, with the opposite button."""
    text = f"I {'muted' if on else 'unmuted'} #{number}."
    return Message(text, (section(text), actions([_mute(number, on=not on)])))


def muted(message: JSON, pressed: MuteIssue) -> Message:
    """A message whose issue was muted or unmuted, with the opposite button."""

    def swapped(block: Block) -> Block:
        if block.get("type") != "actions":
            return block
        other = _mute(pressed.issue, on=not pressed.on)
        elements = [other if one.get("action_id") == MuteIssue.action else one for one in block["elements"]]
        return block | {"elements": elements}

    return Message(str(message.get("text")), tuple(map(swapped, message.get("blocks") or ())))


def unmutes(message: JSON, number: int) -> bool:
    """Whether a message about the issue shows *Unmute*."""
    unmute = MuteIssue(issue=number, on=False)
    elements = chain.from_iterable(block.get("elements") or () for block in message.get("blocks") or ())
    return any((one.get("action_id"), one.get("value")) == (unmute.action, unmute.pack()) for one in elements)


def settings(
    on: Collection[Topic], muted: Sequence[int], wording: Wording, command: Callable[[str], str]
) -> Message:
    """What `/tracker notify` shows: the topics, and the muted issues."""
    how = escape(f"You can also type `{command('tracker')} notify comments on`, or `off`.")
    blocks = [switches(on, wording), context(how)]
    blocks += [
        section(
            f"Muted: {link(wording.url(number), f'#{number}')}",
            button("Unmute", MuteIssue(issue=number, on=False, listed=True)),
        )
        for number in muted[:MAX_MUTED]
    ]
    if (more := len(muted) - MAX_MUTED) > 0:
        blocks.append(context(f"{more} more muted issues"))
    return Message("Tell me about", tuple(blocks))


def switches(on: Collection[Topic], wording: Wording) -> Block:
    """The checkboxes, also on the Home tab."""
    boxes = {
        topic: option(text, topic, description=more.format(service=wording.service))
        for topic, (text, more) in CHOICES.items()
    }
    checked = [box for topic, box in boxes.items() if topic in on]
    element: Element = {"type": "checkboxes", "action_id": ChooseTopics.action, "options": [*boxes.values()]}
    text = "*Tell me about*\nYou get a direct message about what others do."
    return section(text, filled(element, initial_options=checked or None))


def _mute(number: int, *, on: bool) -> Element:
    return button("Mute this issue" if on else "Unmute", MuteIssue(issue=number, on=on))
