"""What is kept for how long: the rest is forgotten, by every replica, as it does no harm twice."""

from datetime import UTC, datetime, timedelta

from bot.store.store import Store

DELIVERIES_KEPT = timedelta(days=1)
RUNS_KEPT = timedelta(days=2)
OWN_KEPT = timedelta(days=400)
"""What people created and logged through the bot: for their Home tab, similar issues, and changing it."""


async def forget_what_is_old(store: Store) -> None:
    """Deletes the rows whose time is over. Raises what the database raises."""
    now = datetime.now(UTC)
    await store.deliveries.prune(now - DELIVERIES_KEPT)
    await store.processes.prune()
    await store.saved_input.prune()
    await store.digests.prune()
    await store.digest_runs.prune(now - RUNS_KEPT)
    await store.created_issues.prune(now - OWN_KEPT)
    await store.time_entries.prune(now - OWN_KEPT)
    await store.installations.states.prune()
