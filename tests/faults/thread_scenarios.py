"""Scenarios with threads: issues related to a message, and issues that a thread follows."""

from functools import partial
from typing import Unpack

from bot.features.issues.buttons import FollowIssue, StopFollowing
from bot.features.issues.views import post_menu
from bot.slack.outgoing.posting import deletable
from bot.slack.surfaces.blocks import Message, section
from tests.faults.issue_scenarios import CREATED, issues_made, issues_shared
from tests.faults.scenario import (
    About,
    Effect,
    Steps,
    answer,
    command,
    menu,
    press,
    press_in_form,
    scenario,
    shortcut,
)
from tests.faults.scene import CHANNEL, NUMBER, Scene, owner
from tests.features.following.threads import follow as follow_in
from tests.support.reading import JSON


async def message(s: Scene) -> JSON:
    return await s.message(s.file, text=f"Delivery costs, as in #{NUMBER}")


async def related(s: Scene, _who: str) -> JSON:
    """The list of issues for a message that names one."""
    await s.ana.shortcut("find_from_message", await message(s))
    return await s.form("Related issues")


async def related_by_default(s: Scene, who: str) -> JSON:
    await s.ana.ask("/tracker default webshop")
    return await related(s, who)


def menu_of_related(name: str, action: str, option: str, **about: Unpack[About]) -> None:
    @scenario(name, f"action:{action}", **about)
    async def steps(s: Scene) -> Steps:
        view = await related(s, "ana")
        row = next(block for block in view["blocks"] if f"#{NUMBER} " in str(block.get("text")))
        yield
        await s.ana.choose_in_form(view, row, option)


shortcut("find related issues", "find_from_message", message)
press_in_form(
    "find related issues everywhere", "related.everywhere", related_by_default, "Search all projects"
)
press_in_form("create from related issues", "related.create", related, "Create an issue")
menu_of_related(
    "share a related issue",
    "related.share",
    "Share in thread",
    effect=issues_shared,
    confirmation="in the thread.",
)
menu_of_related("attach to a related issue", "files.from_message", "Attach files")


@scenario("turn on an emoji", "command:tracker")
async def turn_on_emoji(s: Scene) -> Steps:
    yield
    await s.ana.command("/tracker emoji :ticket:")


@scenario("react with an emoji", "event:reaction_added", effect=issues_made, confirmation=CREATED)
async def react(s: Scene) -> Steps:
    await s.ana.ask("/tracker default webshop")
    await s.ana.ask("/tracker emoji :ticket:")
    message = await s.message()
    yield
    await s.ana.react(message)


def step(name: str, callback_id: str, effect: Effect, **inputs: str) -> None:
    @scenario(name, "event:function_executed", effect=effect, confirmation="issue_number")
    async def steps(s: Scene) -> Steps:
        filled, ended = {key: s.filled(text) for key, text in inputs.items()}, s.office.workspace.state.steps
        ended.clear()
        yield
        s.offered = ended  # where the step's end appears
        await s.ana._post("step", callback_id=callback_id, inputs=filled)


async def comments_made(s: Scene) -> int:
    return sum(s.word in note.text for note in s.data.issues[NUMBER].notes)


step("run a workflow step", "create_issue", issues_made, project="webshop", subject="{word}")
step("comment by a workflow step", "comment_on_issue", comments_made, issue=str(NUMBER), text="{word}")


async def issues_followed(s: Scene) -> int:
    return len(await s.office.bot.store.followed.of(owner("ana")))


async def issues_not_followed(s: Scene) -> int:
    return int(await issues_followed(s) == 0)


async def posted(s: Scene, _who: str, *, included: bool = False) -> JSON:
    """An issue posted in a thread, which can follow it, or follows it with its comments `included`."""
    issue = s.issue()
    follow = StopFollowing(issue=issue.id) if included else FollowIssue(issue=issue.id)
    menu = post_menu(issue.id, s.office.bot.platform.wording, follow=follow, quotes=included)
    thread = (await s.message())["ts"]
    message = deletable(Message(s.word, (section(s.word, menu),)), owner("ana"), "Ana", "Tracker")
    post = await s.office.bot.slack.chat_postMessage(
        channel=CHANNEL, thread_ts=thread, **message.as_arguments()
    )
    if included:
        place = (CHANNEL, thread, str(post["ts"]))
        await follow_in(s.office.bot.store, issue, *place, owner=owner("ana"), quoted_to=0)
    return (await s.ana.messages())[-1]


async def followed(s: Scene, who: str) -> JSON:
    post = await posted(s, who)
    return await s.after(s.ana.choose_from_menu(post, s.word, "Follow in this thread"))


# Nothing is said below a post that was deleted meanwhile.
menu(
    "follow",
    "issue.follow",
    posted,
    "Follow in this thread",
    effect=issues_followed,
    confirmation="Stop following|up to date",
    expects_answer=False,
)
menu(
    "stop following",
    "issue.unfollow",
    followed,
    "Stop following",
    effect=issues_not_followed,
    confirmation="Follow in|I stopped updating",
    expects_answer=False,
)


async def issues_without_comments(s: Scene) -> int:
    return sum(one.quoted_to is None for one in await s.office.bot.store.followed.of(owner("ana")))


menu(
    "leave out comments",
    "issue.comments",
    partial(posted, included=True),
    "Leave out comments",
    effect=issues_without_comments,
    confirmation="won't quote new comments",
    answers=2,  # the post is renewed, too
)

ALREADY = "You('re now following| already follow)"
command("follow in a direct message", "/issue {issue} follow", effect=issues_followed, confirmation=ALREADY)
press(
    "follow from a card",
    "issue.follow",
    answer("/issue {issue}"),
    "Follow",
    effect=issues_followed,
    confirmation=ALREADY,
)


@scenario(
    "unfollow",
    "command:issue",
    effect=issues_not_followed,
    confirmation="(no longer|aren't) following",
)
async def unfollow(s: Scene) -> Steps:
    number = s.issue().id
    await s.after(s.ana.command(f"/issue {number} follow"))
    yield
    await s.ana.command(f"/issue {number} unfollow")
