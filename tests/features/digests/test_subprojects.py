"""Digests that include a project's subprojects show of each only what everyone can see."""

import pytest

from bot.sandbox.tracker.data import Project, free_id, put
from bot.sandbox.tracker.defaults import BUG, MANAGER
from tests.features.digests.newsroom import HOUR, WEBSHOP, Digests
from tests.support.reading import text_of, values_of


def add_subproject(digests: Digests, name: str, *, is_public: bool = True) -> int:
    """Adds a subproject of the Web Shop that Ana manages."""
    data = digests.office.tracker.data
    number = free_id(data.projects)
    child = Project(number, name, name.lower(), parent_id=WEBSHOP, tracker_ids=(BUG,), is_public=is_public)
    put(data.projects, child)
    data.join(child, data.users[1], MANAGER)
    return number


def shown(digests: Digests) -> str:
    """What the bot has posted in the channel."""
    general = digests.office.workspace.state.messages[digests.office.channel_id("general")]
    return " ".join(text_of({"blocks": message.blocks}) for message in general if not message.to)


@pytest.mark.parametrize("schedule", ["live", "hourly"])
async def test_a_digest_has_the_issues_of_public_subprojects(digests: Digests, schedule: str) -> None:
    payments = add_subproject(digests, "Payments")
    secrets = add_subproject(digests, "Secrets", is_public=False)
    said = text_of(await digests.person.ask(f"/digest add webshop {schedule} subprojects:yes tz:UTC"))
    assert "with subprojects" in said.lower()
    for subject, project in (("Mine", WEBSHOP), ("Below", payments), ("Hidden", secrets)):
        digests.report(subject, project)

    await digests.tick(HOUR)

    assert [text in shown(digests) for text in ("Mine", "Below", "Payments")] == [True] * 3
    digests.office.tracker.data.projects[payments].is_public = False
    digests.report("No longer for all", payments)
    await digests.tick(HOUR)
    assert not any(text in shown(digests) for text in ("Hidden", "No longer for all"))


async def test_a_digest_leaves_out_subprojects_by_default(digests: Digests) -> None:
    payments = add_subproject(digests, "Payments")
    digest = await digests.add()
    issue, _ = digests.report("Mine"), digests.report("Below", payments)
    await digests.tick()
    assert digests.listed(digest) == [(issue.id,)]

    await digests.person.command("/digest change 1")
    form = await digests.person.form("Edit digest")
    assert not values_of(form).get("Subprojects")
    await digests.person.after(digests.person.submit(form, {"Subprojects": True}))
    below = digests.report("Below again", payments)
    await digests.tick()
    assert below.id in digests.covered(digest)
