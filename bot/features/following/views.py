"""How followed issues look in their threads and in direct messages."""

from collections.abc import Mapping

from bot.features.following.following import IssueSnapshot
from bot.features.issues import views as issues
from bot.features.issues.buttons import FollowIssue, IncludeComments, StopFollowing
from bot.features.issues.fields import SHOWN_IN_POSTS
from bot.service.models import Change, Issue, Journal, Ref
from bot.slack.surfaces.blocks import JSON, Block, Message, button_row, menu_option, section
from bot.slack.text.mrkdwn import day, line, link
from bot.slack.text.wording import Wording
from bot.spelling import series
from bot.store.followed import Followed, Stage

MAX_DETAILS = 4


def post(
    snapshot: IssueSnapshot,
    wording: Wording,
    by: str,
    follow: FollowIssue | StopFollowing,
    *,
    direct: bool = False,
    quotes: bool = False,
    feed: bool = False,
) -> Message:
    """Return the post that `by` caused, with the current issue; `follow` is in its menu.

    `quotes` is whether comments are included. A `direct` one is the user's own, and a `feed`'s in no thread.
    """
    issue = snapshot.issue
    project = f" in {line(issue.project.name)}" if issue.project else ""
    did = "created" if follow.created else "shared"
    text = issues.title(issue, wording) if direct else f"{line(by)} {did} {issues.title(issue, wording)}"

    status = line(issue.status.name) if issue.status else ""
    last = next((entry for entry in reversed(snapshot.history) if _did(issue, entry)), None)
    facts = (
        f":white_check_mark: {status}" if snapshot.closed else status,
        issues.priority_and_assignee(issue),
        f"due {day(issue.due_date)}" if issue.due_date else "",
    )
    text = f"{text}{project}\n{' · '.join(fact for fact in facts if fact)}"
    if last:
        text = f"{text}\n{who_did(last)} {series(_did(issue, last), 'and')}"

    mine = direct and snapshot.mine
    summary = section(text, issues.post_menu(issue.id, wording, follow=follow, quotes=quotes, mine=mine))
    alone = direct or feed or isinstance(follow, FollowIssue)
    more = () if alone else (issues.follows(issue.id, wording),)
    return Message(text, (summary, *more))


def who_did(entry: Journal) -> str:
    return line(entry.user.name if entry.user else "").strip() or "Someone"


def _did(issue: Issue, entry: Journal) -> list[str]:
    """Return an entry's changes as mrkdwn, with values only where the issue still has them."""
    details = [
        detail for detail in entry.details if detail.property == "attr" and detail.name in SHOWN_IN_POSTS
    ]
    changes = [_changed(issue, detail) for detail in details[:MAX_DETAILS]]
    return [*changes, "commented"] if entry.notes.strip() else changes


def _changed(issue: Issue, change: Change) -> str:
    field, now = SHOWN_IN_POSTS[change.name], SHOWN_IN_POSTS[change.name].answered(issue)
    label = field.label[:1].lower() + field.label[1:]
    if not change.new_value:
        return f"cleared the {label}"
    if now is None or str(now.id if isinstance(now, Ref) else now) != change.new_value:
        return f"changed the {label}"
    return f"set the {label} to {issues.value_text(field, now)}"


async def quote(snapshot: IssueSnapshot, comment: Journal, wording: Wording) -> Message:
    """The line that quotes a comment."""
    number = link(wording.url(snapshot.issue.id), f"#{snapshot.issue.id}")
    words = await issues.quoted(comment, wording)
    text = f"{who_did(comment)} commented on {number}"
    if words:
        text = f"{text}:\n{words}"
    return Message(text, (section(text),))


def question(snapshot: IssueSnapshot, wording: Wording, thread: str) -> Message:
    """Ask before a thread follows an issue that not everyone can see."""
    project = line(snapshot.issue.project.name) if snapshot.issue.project else "Its project"
    title = issues.title(snapshot.issue, wording)
    text = f"{project} isn't public. Others here may not have permission to see {title}."
    follow = FollowIssue(issue=snapshot.issue.id, agreed_project=snapshot.exposure.project_id, thread=thread)
    return Message(text, (section(text), button_row(issues.FOLLOW, follow)))


def followed(it: Followed, *, already: bool) -> Message:
    """Names the followed issue, with *Stop following*."""
    now = "already following" if already else "now following"
    text = f"You're {now} #{it.issue_id} in a direct message. I'll keep that post up to date."
    if not it.direct:
        text = f"This thread already follows #{it.issue_id}. I'll keep its post here up to date."
    stop = StopFollowing(issue=it.issue_id, channel=it.channel_id, thread=it.thread_ts)
    return Message(text, (section(text), button_row(issues.STOP_FOLLOWING, stop)))


def stopped(post: JSON, stop: StopFollowing) -> Message:
    """Return a post that is no longer updated, with *Follow* in its menu."""
    text = issues.FOLLOW if "thread_ts" in post else "Follow"
    follow = menu_option(text, FollowIssue(issue=stop.issue, created=stop.created))
    new: dict[str, JSON | None] = {stop.as_option(): follow}
    without = {IncludeComments(issue=stop.issue, on=on).as_option(): None for on in (True, False)}
    message = _swapped(post, new | without)
    return Message(
        message.text, tuple(block for block in message.blocks if block.get("block_id") != issues.FOLLOWS)
    )


def including(post: JSON, pressed: IncludeComments) -> Message:
    """A post whose comments were included or left out, with the opposite in its menu."""
    return _swapped(post, {pressed.as_option(): issues.comments_option(pressed.issue, on=not pressed.on)})


def _swapped(post: JSON, new: Mapping[str, JSON | None]) -> Message:
    """A post with other options in its menus, or without those whose value is None."""

    def swapped(block: Block) -> Block:
        options = (block.get("accessory") or {}).get("options") or ()
        if new.keys().isdisjoint(option["value"] for option in options):
            return block
        kept = [new.get(option["value"], option) for option in options]
        return block | {"accessory": block["accessory"] | {"options": list(filter(None, kept))}}

    return Message(str(post.get("text")), tuple(map(swapped, post.get("blocks") or ())))


def closed_line(snapshot: IssueSnapshot, wording: Wording) -> Message:
    did = ":white_check_mark: Closed" if snapshot.closed else ":leftwards_arrow_with_hook: Reopened"
    text = f"{did}: {issues.title(snapshot.issue, wording)}"
    return Message(text, (section(text),))


def changes_line(snapshot: IssueSnapshot, told_to: int) -> Message:
    """Who changed the status and the assignee since that journal: the last change of each."""
    latest = {change.name: (who_did(entry), change) for entry, change in snapshot.changes_after(told_to)}
    by: dict[str, list[str]] = {}
    for who, change in latest.values():
        by.setdefault(who, []).append(_changed(snapshot.issue, change))
    closed = any(name == "status_id" for name in latest) and snapshot.closed
    text = series([f"{who} {series(did, 'and')}" for who, did in by.items()], "and")
    text = f":white_check_mark: {text}" if closed else text
    return Message(text, (section(text),))


def unconfirmed(followed: Followed, wording: Wording) -> Message:
    """Tells a follower that Slack didn't confirm a line of a thread, or a live feed's post."""
    number = link(wording.url(followed.issue_id), f"#{followed.issue_id}")
    posted = followed.stage is Stage.POSTED
    what = f"an update about {number} in a thread" if posted else f"the live feed's post about {number}"
    text = f"Slack didn't confirm {what}, and I won't post it again. Open the issue to see what changed."
    return Message(text, (section(text),))
