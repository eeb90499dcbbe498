"""Digests of changes: whose status or assignee changed since the last post, from what to what."""

from datetime import timedelta

import pytest

from bot.sandbox.tracker.data import Note
from bot.sandbox.tracker.defaults import CLOSED, IN_PROGRESS, NEW
from tests.features.digests.newsroom import HOUR, Digests
from tests.features.digests.test_live import ANAS, BENS, change
from tests.support.reading import text_of


@pytest.mark.parametrize("digests", [{"listing": True}], indirect=True)
async def test_a_digest_of_changes_says_what_changed_since_the_last_one(digests: Digests) -> None:
    issue, quiet, back = digests.report("Moves on"), digests.report("Talked about"), digests.report("Returns")
    change(digests, issue, status_id=IN_PROGRESS)
    digests.pass_time(HOUR)
    said = await digests.person.ask("/digest add webshop hourly kind:changed tz:UTC")
    assert "whose status or assignee changed" in text_of(said).lower()
    await digests.tick()
    assert digests.listed() == []

    change(digests, issue, assigned_to_id=BENS)
    change(digests, issue, by=BENS, status_id=CLOSED)
    change(digests, quiet, text="Any news?")
    change(digests, back, status_id=CLOSED)
    change(digests, back, status_id=NEW)
    secret = digests.report("Private", is_private=True)
    change(digests, secret, status_id=IN_PROGRESS)
    digests.pass_time(timedelta(minutes=1))
    await digests.tick()
    await digests.tick()

    (post,) = digests.posted()
    assert post.issues == (issue.id,)
    assert "Web Shop: 1 issue changed" in post.text
    assert "Assignee: unassigned → Ben Okafor · Status: In progress → Closed" in post.text

    change(digests, issue, status_id=IN_PROGRESS)
    await digests.tick()
    assert "Status: Closed → In progress" in digests.posted()[-1].text
    assert "Ben Okafor ·" not in digests.posted()[-1].text


async def test_a_change_in_a_private_note_is_not_shown(digests: Digests) -> None:
    issue = digests.report()
    digests.pass_time(HOUR)
    await digests.add(kind="changed")
    change(digests, issue, status_id=IN_PROGRESS)
    (note,) = issue.notes
    issue.notes = [Note(ANAS, "Between us", note.created_on, note.details, is_private=True)]

    await digests.tick()

    assert digests.listed() == []


async def test_a_preview_of_changes_shows_those_of_the_last_week(digests: Digests) -> None:
    issue = digests.report("Moves on")
    digests.report("Stays")
    change(digests, issue, status_id=IN_PROGRESS)
    await digests.add(kind="changed")

    preview = text_of(await digests.person.ask("/digest preview"))

    assert "1 changed issue" in preview
    assert "Stays" not in preview
