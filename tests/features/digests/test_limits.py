"""Limits on how often digests run and how many there are."""

import pytest

from bot.errors import UserError
from bot.features.digests.digests import MAX_IN_A_CHANNEL, MAX_OF_A_PERSON
from bot.features.digests.schedules import ScheduleError
from tests.features.digests.newsroom import DigestHarness
from tests.support.digesting import wanted
from tests.support.wording import WORDING


async def test_digest_comes_every_quarter_of_an_hour_at_most(harness: DigestHarness) -> None:
    digest = await harness.add(schedule="cron */15 * * * *")
    for often in ("cron * * * * *", "cron */14 * * * *", "cron 0,5 9 * * 1", "cron 55,5 23,0 * * *"):
        with pytest.raises(ScheduleError) as refused:
            await harness.add(schedule=often, empty=True)
        said = WORDING.sentence(refused.value)
        assert "at most once every 15 minutes. Choose a slower schedule, like `hourly`." in said
        with pytest.raises(ScheduleError):
            await harness.digests.change(harness.ana, digest, wanted("Shop", often))


async def test_channels_and_owners_have_no_more_digests_than_the_limit(harness: DigestHarness) -> None:
    bens = await harness.add("C0", owner=harness.ben)
    for number in range(MAX_OF_A_PERSON):
        await harness.add(f"C{1 + number // MAX_IN_A_CHANNEL}", f"hourly :{number:02}")

    with pytest.raises(UserError) as refused:
        await harness.add("C1", owner=harness.ben)
    said = WORDING.sentence(refused.value)
    assert said.startswith("This channel already has 20 digests, the most allowed. Remove one")
    with pytest.raises(UserError) as refused:
        await harness.add("C9")
    said = WORDING.sentence(refused.value)
    assert said.startswith("You already own 50 digests, the most allowed. Remove one")
    with pytest.raises(UserError):
        await harness.digests.take_ownership(harness.ana, bens)
