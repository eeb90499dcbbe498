"""How followed issues look in their threads."""

from bot.features.following.following import Seen
from bot.features.issues.buttons import FollowIssue, StopFollowing
from bot.features.issues.views import FOLLOW, post_menu, priority_and_assignee, title
from bot.slack.surfaces.blocks import JSON, Block, Message, button_row, menu_option, section
from bot.slack.text.mrkdwn import day, line
from bot.slack.text.wording import Wording


def post(seen: Seen, wording: Wording, by: str, follow: FollowIssue | StopFollowing) -> Message:
    """The post that `by` caused, as the issue is now; `follow` is in its menu."""
    issue = seen.issue
    project = f" in {line(issue.project.name)}" if issue.project else ""
    text = f"{line(by)} {'created' if follow.created else 'shared'} {title(issue, wording)}{project}"
    status = line(issue.status.name) if issue.status else ""
    facts = (
        f":white_check_mark: {status}" if seen.closed else status,
        priority_and_assignee(issue),
        f"due {day(issue.due_date)}" if issue.due_date else "",
        f"last comment by {line(seen.commenter)}" if seen.commenter else "",
    )
    text = f"{text}\n{' · '.join(fact for fact in facts if fact)}"
    return Message(text, (section(text, post_menu(issue.id, wording, follow=follow)),))


def question(seen: Seen, wording: Wording, thread: str) -> Message:
    """Ask before a thread follows an issue that not everyone can see."""
    project = line(seen.issue.project.name) if seen.issue.project else "Its project"
    said = f"{project} isn't public. Others here may not have permission to see {title(seen.issue, wording)}."
    follow = FollowIssue(issue=seen.issue.id, agreed=seen.exposure.project_id, thread=thread)
    return Message(said, (section(said), button_row(FOLLOW, follow)))


def stopped(post: JSON, stop: StopFollowing) -> Message:
    """A post that was kept up to date, as it is, with *Follow in this thread* in its menu."""
    follow = menu_option(FOLLOW, FollowIssue(issue=stop.issue, created=stop.created))

    def swapped(block: Block) -> Block:
        options = (block.get("accessory") or {}).get("options") or ()
        if stop.as_option() not in (option["value"] for option in options):
            return block
        kept = [follow if option["value"] == stop.as_option() else option for option in options]
        return block | {"accessory": block["accessory"] | {"options": kept}}

    return Message(str(post.get("text")), tuple(map(swapped, post.get("blocks") or ())))


def closed_line(seen: Seen, wording: Wording) -> Message:
    did = ":white_check_mark: Closed" if seen.closed else ":leftwards_arrow_with_hook: Reopened"
    text = f"{did}: {title(seen.issue, wording)}"
    return Message(text, (section(text),))


def key_rejected(wording: Wording, posts: int) -> str:
    stopped = "an issue you follow in a thread" if posts == 1 else f"{posts} issues you follow in threads"
    return (
        f"{wording.service} no longer accepts your API key, so I stopped updating {stopped}. Link "
        "your account again, then choose “Follow in this thread”."
    )
