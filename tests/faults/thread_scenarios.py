"""Scenarios with threads: issues related to a message, and issues that a thread follows."""

from typing import Unpack

from bot.features.issues.buttons import FollowIssue
from bot.features.issues.views import post_menu
from bot.slack.surfaces.blocks import section
from tests.faults.issue_scenarios import CREATED, issues_made, issues_shared
from tests.faults.scenario import About, Steps, menu, press_in_form, scenario, shortcut
from tests.faults.scene import CHANNEL, NUMBER, Scene, owner
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
    "share a related issue", "related.share", "Share in thread", effect=issues_shared, said="in the thread."
)
menu_of_related("attach to a related issue", "files.from_message", "Attach files")


@scenario("turn on an emoji", "command:tracker")
async def turn_on_emoji(s: Scene) -> Steps:
    yield
    await s.ana.command("/tracker emoji :ticket:")


@scenario("react with an emoji", "event:reaction_added", effect=issues_made, said=CREATED)
async def react(s: Scene) -> Steps:
    await s.ana.ask("/tracker default webshop")
    await s.ana.ask("/tracker emoji :ticket:")
    said = await s.message()
    yield
    await s.ana.react(said)


async def issues_followed(s: Scene) -> int:
    return len(await s.office.bot.store.followed.of(owner("ana")))


async def issues_not_followed(s: Scene) -> int:
    return int(await issues_followed(s) == 0)


async def posted(s: Scene, _who: str) -> JSON:
    """An issue posted in a thread, which can follow it."""
    follow = FollowIssue(issue=s.issue().id)
    post = post_menu(follow.issue, s.office.bot.platform.wording, follow=follow)
    thread = (await s.message())["ts"]
    await s.office.bot.slack.chat_postMessage(
        channel=CHANNEL, thread_ts=thread, text=s.word, blocks=[section(s.word, post)]
    )
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
    said="Stop following|up to date",
    expects_answer=False,
)
menu(
    "stop following",
    "issue.unfollow",
    followed,
    "Stop following",
    effect=issues_not_followed,
    said="Follow in|I stopped updating",
    expects_answer=False,
)
