import asyncio
from datetime import UTC, datetime, timedelta

from bot.store.store import Store


async def test_one_of_many_may_act_on_a_delivery(store: Store) -> None:
    answers = await asyncio.gather(*(store.deliveries.claim("Ev1") for _ in range(8)))

    assert sorted(answers) == [False] * 7 + [True]
    assert await store.deliveries.claim("Ev2")


async def test_a_delivery_given_back_can_be_claimed_again(store: Store) -> None:
    await store.deliveries.claim("Ev1")
    await store.deliveries.release("Ev1")

    assert await store.deliveries.claim("Ev1")


async def test_old_deliveries_are_forgotten_and_recent_ones_kept(store: Store) -> None:
    await store.deliveries.claim("Ev1")

    await store.deliveries.prune(datetime.now(UTC) - timedelta(hours=1))
    assert not await store.deliveries.claim("Ev1")
    await store.deliveries.prune(datetime.now(UTC) + timedelta(seconds=1))
    assert await store.deliveries.claim("Ev1")


async def test_what_was_claimed_for_a_while_can_be_claimed_again_after_it_by_one(store: Store) -> None:
    while_it_lasts = timedelta(seconds=0.4)
    assert await store.deliveries.claim_for("unfurl", while_it_lasts)
    assert not await store.deliveries.claim_for("unfurl", while_it_lasts)

    await asyncio.sleep(while_it_lasts.total_seconds())
    answers = await asyncio.gather(*(store.deliveries.claim_for("unfurl", while_it_lasts) for _ in range(4)))

    assert sorted(answers) == [False] * 3 + [True]
