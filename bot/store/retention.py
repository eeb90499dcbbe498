"""Retention periods, and the deletion of expired rows. Every replica runs it."""

from datetime import timedelta

from bot.store.store import Store

CLAIM_RETENTION = timedelta(days=1)
RUN_RETENTION = timedelta(days=2)
ACTIVITY_RETENTION = timedelta(days=400)
"""For issues created and time logged with the bot: used by the Home tab, duplicates, and editing."""


async def delete_expired(store: Store) -> None:
    now = await store.processes.now()
    await store.claims.prune(now, CLAIM_RETENTION)
    await store.deliveries.prune(now, CLAIM_RETENTION)
    await store.assignment_messages.prune(now - CLAIM_RETENTION)
    await store.processes.prune()
    await store.saved_input.prune()
    await store.digests.prune()
    await store.digest_runs.prune(now - RUN_RETENTION)
    await store.followed.prune(now - RUN_RETENTION)
    await store.created_issues.prune(now - ACTIVITY_RETENTION)
    await store.time_entries.prune(now - ACTIVITY_RETENTION)
    await store.installations.states.prune()
