"""What goes wrong with notices."""

from datetime import timedelta

import pytest

from tests.features.digests.newsroom import HISTORY, POST, Digests


@pytest.mark.parametrize("stops", [False, True])
async def test_an_owner_learns_of_a_post_that_may_be_missing_even_if_the_digest_stops_next(
    digests: Digests, *, stops: bool
) -> None:
    digest = await digests.add()
    digests.report()
    digests.wire.faults = [(POST, "lose the answer")]
    digests.wire.lasting = {HISTORY: "refuse:missing_scope"}
    await digests.tick()
    digests.pass_time(timedelta(days=1))
    digests.wire.lasting |= {POST: "429:0"}  # no notice gets through yet
    await digests.tick()
    digests.office.workspace.state.archive(digest.channel_id, archived=stops)
    await digests.tick()
    digests.wire.lasting = {}
    for _ in range(8):
        await digests.tick(timedelta(minutes=10))

    assert await digests.notices("didn't confirm this post")
