"""Scenarios with followed issues."""

from bot.features.following.buttons import FollowIssue, StopFollowing
from bot.features.issues.actions import post_menu
from bot.slack.blocks import section
from tests.faults.issue_scenarios import Steps, message
from tests.faults.scene import CHANNEL, Scene, owner, scenario
from tests.support.reading import JSON


async def posted(s: Scene, follow: FollowIssue | StopFollowing) -> JSON:
    """Posts an issue in a thread, with `follow` in its menu."""
    menu = post_menu(follow.issue, s.office.bot.platform.wording, follow=follow)
    thread = (await message(s))["ts"]
    await s.office.bot.slack.chat_postMessage(
        channel=CHANNEL, thread_ts=thread, text=s.word, blocks=[section(s.word, menu)]
    )
    return (await s.ana.messages())[-1]


async def issues_followed(s: Scene) -> int:
    return len(await s.office.bot.store.followed.of(owner("ana")))


async def issues_not_followed(s: Scene) -> int:
    return int(await issues_followed(s) == 0)


# Nothing is said below a post that was deleted meanwhile.
FOLLOWED, STOPPED = "Stop following|up to date", "Follow in|I stopped updating"


@scenario("follow", "action:issue.follow", effect=issues_followed, said=FOLLOWED, expects_answer=False)
async def follow(s: Scene) -> Steps:
    post = await posted(s, FollowIssue(issue=s.issue().id))
    yield
    await s.ana.choose_from_menu(post, s.word, "Follow in this thread")


@scenario(
    "stop following",
    "action:issue.unfollow",
    effect=issues_not_followed,
    said=STOPPED,
    expects_answer=False,
)
async def stop_following(s: Scene) -> Steps:
    post = await posted(s, FollowIssue(issue=s.issue().id))
    followed = await s.after(s.ana.choose_from_menu(post, s.word, "Follow in this thread"))
    yield
    await s.ana.choose_from_menu(followed, s.word, "Stop following")
