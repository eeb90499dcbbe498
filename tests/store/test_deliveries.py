import asyncio
from datetime import UTC, datetime, timedelta

from bot.store.store import Store


async def test_only_one_caller_claims_a_delivery(store: Store) -> None:
    answers = await asyncio.gather(*(store.deliveries.claim("Ev1") for _ in range(8)))

    assert sorted(answers) == [False] * 7 + [True]
    assert await store.deliveries.claim("Ev2")


async def test_a_released_delivery_can_be_claimed_again(store: Store) -> None:
    await store.deliveries.claim("Ev1")
    await store.deliveries.release("Ev1")

    assert await store.deliveries.claim("Ev1")


async def test_only_old_deliveries_are_deleted(store: Store) -> None:
    await store.deliveries.claim("Ev1")

    await store.deliveries.prune(datetime.now(UTC) - timedelta(hours=1))
    assert not await store.deliveries.claim("Ev1")
    await store.deliveries.prune(datetime.now(UTC) + timedelta(seconds=1))
    assert await store.deliveries.claim("Ev1")


async def test_an_expired_claim_can_be_claimed_again_once(store: Store) -> None:
    duration = timedelta(seconds=0.4)
    assert await store.deliveries.claim_for("unfurl", duration)
    assert not await store.deliveries.claim_for("unfurl", duration)

    await asyncio.sleep(duration.total_seconds())
    answers = await asyncio.gather(*(store.deliveries.claim_for("unfurl", duration) for _ in range(4)))

    assert sorted(answers) == [False] * 3 + [True]
