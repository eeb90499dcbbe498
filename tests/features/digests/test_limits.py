"""Limits on how often digests run and how many there are."""

import pytest

from bot.features.digests.digests import MOST_IN_A_CHANNEL, MOST_OF_A_PERSON
from bot.features.digests.errors import TooManyDigests, TooOften
from bot.features.digests.plans import DigestSettings
from bot.features.digests.schedules import parse
from tests.features.digests.newsroom import DigestHarness
from tests.support.wording import WORDING

EVERY_QUARTER = "cron */15 * * * *"


@pytest.mark.parametrize(
    "schedule", ["cron * * * * *", "cron */14 * * * *", "cron 0,5 9 * * 1", "cron 55,5 23,0 * * *"]
)
async def test_digest_comes_every_quarter_of_an_hour_at_most(harness: DigestHarness, schedule: str) -> None:
    too_often = DigestSettings(project="Shop", schedule=parse(schedule), zone="UTC")
    digest = await harness.add(schedule=EVERY_QUARTER)
    with pytest.raises(TooOften) as refused:
        await harness.add(schedule=schedule, empty=True)
    said = WORDING.sentence(refused.value)
    assert "at most once every 15 minutes. Choose a slower schedule, like `hourly`." in said
    with pytest.raises(TooOften):
        await harness.digests.change(harness.ana, digest, too_often)


async def test_channel_takes_no_more_digests_than_its_limit(harness: DigestHarness) -> None:
    for minute in range(MOST_IN_A_CHANNEL):
        await harness.add(schedule=f"hourly :{minute:02}")
    with pytest.raises(TooManyDigests) as refused:
        await harness.add(schedule="hourly :59", owner=harness.ben)
    said = WORDING.sentence(refused.value)
    assert said.startswith("This channel already has 20 digests, the most allowed. Remove one")
    await harness.add("C2")


async def test_person_owns_no_more_digests_than_the_limit(harness: DigestHarness) -> None:
    bens = await harness.add("C0", owner=harness.ben)
    for number in range(MOST_OF_A_PERSON):
        await harness.add(f"C{number // 10 + 1}", f"hourly :{number:02}")
    with pytest.raises(TooManyDigests) as refused:
        await harness.add("C9")
    said = WORDING.sentence(refused.value)
    assert said.startswith("You already own 50 digests, the most allowed. Remove one")
    with pytest.raises(TooManyDigests):
        await harness.digests.take_over(harness.ana, bens)
