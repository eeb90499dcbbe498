"""The records of followed issues."""

from bot.store.followed import Followed
from bot.store.owner import Owner
from bot.store.store import Store


async def test_the_quoted_comment_never_goes_back(store: Store, ana: Owner) -> None:
    followed = Followed(
        owner=ana,
        issue_id=7,
        channel_id="C1",
        thread_ts="1.0",
        ts="1.1",
        posted_by=ana.user_id,
        created=True,
        quoted_to=5,
    )
    await store.followed.add(followed)
    [one] = await store.followed.of(ana)

    for comment in (9, 7):
        await store.jobs.database.execute(store.followed.recording(one, quoted_to=comment))

    [now] = await store.followed.of(ana)
    assert now.quoted_to == 9
