import asyncio

from bot.ttl_cache import TtlCache, sweep, weight


def test_the_oldest_values_make_room_for_heavy_new_ones() -> None:
    cache: TtlCache[str, range] = TtlCache(60, 10, len)
    for name, size in (("old", 4), ("replaced", 6), ("replaced", 3), ("new", 5), ("too heavy", 11)):
        cache.put(name, range(size))
        assert cache.weight <= 10

    assert (cache.weight, cache.peek("new"), cache.peek("too heavy")) == (0, None, None)
    cache.put("last", range(10))
    assert cache.weight == 10


async def test_sweeping_drops_expired_values_of_all_caches() -> None:
    before = weight()
    lasting: TtlCache[str, range] = TtlCache(60, 10, len)
    passing: TtlCache[str, range] = TtlCache(0, 10, len)
    lasting.put("a", range(3))
    passing.put("a", range(4))
    assert weight() == before + 7

    await sweep()

    assert (lasting.weight, passing.weight) == (3, 0)


async def test_simultaneous_callers_share_a_read_that_may_be_canceled() -> None:
    cache: TtlCache[str, int] = TtlCache(60)
    going, reads = asyncio.Event(), 0

    async def read() -> int:
        nonlocal reads
        reads += 1
        await going.wait()
        return reads

    first, *others = [asyncio.create_task(cache.get("a", read)) for _ in range(3)]
    await asyncio.sleep(0)
    assert reads == 1
    first.cancel()
    await asyncio.sleep(0.01)
    going.set()

    assert await asyncio.gather(*others) == [2, 2]
    assert first.cancelled()
