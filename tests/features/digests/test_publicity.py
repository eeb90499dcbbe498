"""Digests show a channel only what everyone can see, or what their owner agreed to show there."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from bot.sandbox.tracker.data import Issue
from bot.store.digests import Pause
from bot.timings import Delays, Timings
from tests.features.digests.newsroom import ANA, MOBILE, SECURITY, WEBSHOP, Digests
from tests.support.person import DM
from tests.support.reading import text_of

SLOW_SLACK = {"delays": Delays(channels=0), "timings": Timings(interval=3600, fresh=0.25)}
"""What decides about a post may be a quarter of a second old, and Slack makes posts wait for longer."""
pytestmark = pytest.mark.parametrize("digests", [SLOW_SLACK], indirect=True, ids=["slow"])


def hide(digests: Digests, *, hidden: bool = True, project: int = WEBSHOP) -> None:
    digests.office.tracker.data.projects[project].is_public = not hidden


async def test_a_digest_of_a_hidden_project_waits_until_its_owner_agrees(digests: Digests) -> None:
    ana, digest = digests.person, await digests.add()
    chris = await digests.chris()
    digests.report("Everyone may know")
    await digests.tick()
    hide(digests)
    digests.report("Nobody may know")

    assert "Web Shop isn't public" in text_of(await ana.ask("/digest now"))
    await digests.tick()

    assert len(await digests.posts()) == 1
    assert await digests.paused(digest) is Pause.NOT_PUBLIC
    asked = await chris.ask("/digest resume 1")
    refused = await chris.after(chris.press(asked, "Resume"))
    assert "only Ana Ruiz can agree" in text_of(refused)
    assert "Web Shop isn't public" in text_of(await ana.ask("/digest resume 1"))
    assert await digests.paused(digest) is Pause.NOT_PUBLIC

    (notice,) = await ana.messages(DM)
    assert "If it's OK for everyone in <#C0GENERAL01> to see its issues" in text_of(notice)
    await ana.after(ana.press(notice, "Resume"), DM)
    await digests.tick()

    assert "Nobody may know" in text_of((await digests.posts())[-1])


async def test_agreeing_before_a_digest_pauses_counts(digests: Digests) -> None:
    await digests.add()
    hide(digests)
    digests.report("All of us may know")

    asked = await digests.person.ask("/digest resume 1")
    await digests.person.after(digests.person.press(asked, "Resume"))
    await digests.tick()

    assert "All of us may know" in text_of((await digests.posts())[-1])


async def test_each_new_owner_agrees_again(digests: Digests) -> None:
    digest = await digests.add(project="security")
    assert (await digests.stored(digest)).agreed_project == SECURITY
    chris = await digests.chris()

    asked = await chris.ask("/digest take over 1")
    question = await chris.after(chris.press(asked, "Take ownership"))

    assert "Security isn't public. Everyone in <#C0GENERAL01> will see its new issues" in text_of(question)
    assert (await digests.stored(digest)).owner == ANA
    await chris.after(chris.press(question, "Take ownership"))
    assert (await digests.stored(digest)).owner.user_id == chris.user_id
    digests.report("The door is open", SECURITY)
    await digests.tick()
    assert len(await digests.posts()) == 1


async def hide_project(digests: Digests, _: Issue) -> None:
    hide(digests)


async def hide_issue(_: Digests, issue: Issue) -> None:
    issue.is_private, issue.author_id = True, 1


async def move_issue(_: Digests, issue: Issue) -> None:
    issue.project_id = SECURITY


async def fail_to_hide_issue(digests: Digests, issue: Issue) -> None:
    """The service ignores that its author wanted it to be private."""
    created = digests.office.bot.store.created_issues
    await created.put(ANA, issue.id, issue.subject, privacy_refused=True)


async def share_channel(digests: Digests, _: Issue) -> None:
    state = digests.office.workspace.state
    state.channels[digests.office.channel_id("general")].is_ext_shared = True


@pytest.mark.parametrize("happens", [hide_project, hide_issue, move_issue, fail_to_hide_issue, share_channel])
async def test_an_issue_hidden_while_a_digest_waits_is_not_posted(
    digests: Digests, happens: Callable[[Digests, Issue], Awaitable[None]]
) -> None:
    await digests.add(empty=True)
    issue = digests.report("Nobody may know")
    digests.wire.faults = [("chat.postMessage", "429:1")]

    run = asyncio.create_task(digests.tick())
    while not digests.wire.called("chat.postMessage"):
        await asyncio.sleep(0.02)
    await happens(digests, issue)
    await run

    assert not any("Nobody may know" in text_of(post) for post in await digests.posts())
    assert happens is not share_channel or await digests.posts() == []


@pytest.mark.parametrize("hidden", [True, False])
async def test_subprojects_stay_out_of_a_public_projects_digest(digests: Digests, *, hidden: bool) -> None:
    digests.office.tracker.data.projects[MOBILE].parent_id = WEBSHOP
    hide(digests, hidden=hidden, project=MOBILE)
    await digests.add(empty=True)
    digests.report("In the project")
    digests.report("In the subproject", MOBILE)

    await digests.tick()

    (post,) = await digests.posts()
    assert "In the project" in text_of(post)
    assert "In the subproject" not in text_of(post)


async def test_a_slow_service_only_delays_a_digest(
    digests: Digests,
) -> None:
    await digests.add()
    digests.report("Everyone may know")
    digests.service.seconds = 0.3
    digests.service.fail("slow", lasting=True)

    await digests.tick()

    (post,) = await digests.posts()
    assert "Everyone may know" in text_of(post)
