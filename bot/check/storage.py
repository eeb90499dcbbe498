"""Checks that the database is writable and that the encryption keys open what is stored."""

import base64
from collections.abc import AsyncIterator

from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient

from bot.check.findings import Finding, fine, wrong
from bot.check.slack import installed
from bot.config import Settings
from bot.store.database import NEWER, Database, DatabaseUnavailableError
from bot.store.store import Store
from bot.store.vault import Vault

KEYS_TRIED = 5
FEWEST_BYTES = 16  # 32 random bytes contain at least this many different ones, and some that aren't ASCII
WRITABLE = "The database is writable."


async def check(settings: Settings, slack: AsyncWebClient) -> AsyncIterator[Finding]:
    database = Database(settings.database_url)
    try:
        await database.check_writable()
        store = None
        match await database.age():
            case "newer":
                yield wrong("DATABASE_URL", f"Can't use the database: {NEWER}.")
            case "older":
                fix = "`issuebot run` or `issuebot db upgrade` will update its tables."
                yield fine("DATABASE_URL", f"{WRITABLE} {fix}")
            case "current":
                yield fine("DATABASE_URL", f"{WRITABLE} Its tables are up to date.")
                store = Store(database, Vault(settings.encryption_keys), settings.slack_client_id)
        yield await _keys(settings, store)
        if store and settings.several_workspaces:
            yield await installed(store, slack)
    except DatabaseUnavailableError as error:
        yield wrong(
            "DATABASE_URL", f"Can't write to the database: {error}. Check the URL and the permissions."
        )
    finally:
        await database.close()


async def linked_keys(settings: Settings) -> tuple[SecretStr, ...]:
    """The latest linked API keys; empty if the database can't be used."""
    database = Database(settings.database_url)
    try:
        if await database.age() != "current":
            return ()
        return await Store(database, Vault(settings.encryption_keys)).links.latest_keys(KEYS_TRIED)
    except DatabaseUnavailableError:
        return ()
    finally:
        await database.close()


async def _keys(settings: Settings, store: Store | None) -> Finding:
    name = "ENCRYPTION_KEYS"
    if any(_is_weak(key) for key in settings.encryption_keys):
        fix = "Put one from `issuebot keys generate` first, run `issuebot keys rotate`, and remove this one."
        return wrong(name, f"A key isn't random. {fix}")
    if store is None:
        return fine(name, "Encryption works.")
    if unreadable := await store.encrypted_values.unreadable():
        return wrong(
            name, f"Can't decrypt {unreadable} stored values. Add the previous encryption key at the end."
        )
    return fine(name, "Every stored value can be decrypted.")


def _is_weak(key: SecretStr) -> bool:
    """Whether a key is a pattern or text instead of 32 random bytes."""
    content = base64.urlsafe_b64decode(key.get_secret_value())
    return len(set(content)) < FEWEST_BYTES or content.isascii()
