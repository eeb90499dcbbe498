from bot.store.channels import ChannelDefault
from bot.store.owner import Owner
from bot.store.store import Store


async def test_the_latest_default_project_wins(store: Store, ana: Owner, ben: Owner) -> None:
    await store.channels.set_default("T1", "C1", 1, "Web shop", ana)
    await store.channels.set_default("T1", "C1", 2, "Mobile app", ben)

    assert await store.channels.default_project("T1", "C1") == ChannelDefault(2, "Mobile app")
    assert await store.channels.default_project("T1", "C2") is None
    assert await store.channels.default_project("T2", "C1") is None


async def test_clearing_removes_the_default_project(store: Store, ana: Owner) -> None:
    await store.channels.set_default("T1", "C1", 1, "Web shop", ana)
    await store.channels.clear_default("T1", "C1")

    assert await store.channels.default_project("T1", "C1") is None
