"""A stored secret is useless to others, whether copied, swapped, truncated, or read with other keys."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import select, text, update
from sqlalchemy.orm import InstrumentedAttribute

from bot.app import Bot
from bot.slack.incoming.deliveries import REQUEST
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.tables import JobRow, LinkRow, SavedInputRow, Table
from bot.store.vault import Vault
from tests.support.office import TEAM, Office
from tests.support.people import BARE, KEYS
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until, until_so
from tests.support.wire import Wire

ASKED = "/issue new project:webshop Kanarienvogel entflogen"
UNREADABLE = "I can't read your saved API key anymore"
LOST = "I can't read what I saved for this anymore. Start over."


@pytest.fixture
async def office(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Office]:
    """Opens an office on SQLite, or on both databases for tests with the `url` fixture."""
    url: str = request.getfixturevalue("url") if "url" in request.fixturenames else ""
    async with Office(tmp_path, database_url=url).opened("ana") as office:
        yield office


async def with_keys(office: Office, *keys: SecretStr) -> None:
    """Restarts the office's bot with these encryption keys."""
    await office.bot.stop(5)
    await until_so(lambda: not office.workspace.connected)
    office.bot = Bot(office.bot.settings.model_copy(update={"encryption_keys": keys}))
    await office.bot.start()


async def offered(ben: Person) -> JSON:
    """Returns the offer to link, which the user, not linked yet, gets after closing the form."""
    await ben.command(ASKED)
    return await ben.after(ben.close(await ben.form("Link account")))


async def put(office: Office, column: InstrumentedAttribute[str], owner: str, encrypted: str) -> None:
    """Writes to a user's row, like an attacker with access to the database."""
    row = column.class_
    statement = update(row).where(row.user_id == owner).values({column: encrypted})
    await office.bot.database.write(lambda connection: connection.execute(statement))


async def encrypted_of(office: Office, column: InstrumentedAttribute[str], owner: str) -> str:
    statement = select(column).where(column.class_.user_id == owner)
    return await office.bot.database.read(lambda connection: connection.scalars(statement).one())


async def test_encryption_keys_are_rotated_without_downtime(
    url: str, office: Office, ana: Person, ben: Person, tmp_path: Path
) -> None:
    """Simulates a rolling restart: one replica still has the new key last, the other has it first."""
    (old,), new = office.bot.settings.encryption_keys, Vault.generate_key()
    strangers = [Owner(None, TEAM, f"U{number:09}") for number in range(25)]
    for owner in strangers[:15]:
        await office.bot.store.links.put(owner, SecretStr("k" * 40), 1, "Somebody")
    waiting = await offered(ben)
    await with_keys(office, old, new)
    replica = Bot(office.bot.settings.model_copy(update={"encryption_keys": (new, old), "port": 0}))
    await replica.start()

    rotation = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "keys", "rotate"),
        cwd=tmp_path,
        env=BARE
        | {"DATABASE_URL": url, "PYTHONPATH": str(Path(__file__).parents[2])}
        | {"ENCRYPTION_KEYS": f"{new.get_secret_value()},{old.get_secret_value()}"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    ended = asyncio.create_task(rotation.communicate())
    for number, owner in enumerate(strangers[15:]):
        writes, reads = (office.bot, replica)[:: 1 if number % 2 else -1]
        await writes.store.links.put(owner, SecretStr("k" * 40), 1, "Somebody")
        await writes.store.links.put(strangers[0], SecretStr(f"{owner.user_id:40}"), 1, "Somebody")
        assert await key_of(reads, strangers[0]) == f"{owner.user_id:40}"
    assert "Ana Ruiz" in (await ana.ask("/tracker whoami"))["text"]
    printed, _ = await asyncio.wait_for(ended, 60)
    assert rotation.returncode == 0, printed
    await office.bot.store.links.put(strangers[1], SecretStr("z" * 40), 1, "Somebody")
    assert await key_of(replica, strangers[1]) == "z" * 40
    await replica.stop(5)

    await with_keys(office, new, old)
    async for _ in office.bot.store.encrypted_values.rotate():
        pass
    await with_keys(office, new)

    assert await office.bot.store.encrypted_values.unreadable() == 0
    assert "Ana Ruiz" in (await ana.ask("/tracker whoami"))["text"]
    assert await key_of(office.bot, strangers[0]) == f"{strangers[-1].user_id:40}"
    form = await ben.form_after(ben.press(waiting, "Link account"), "Link account")
    assert "Kanarienvogel" in (await ben.after(ben.submit(form, {"API key": KEYS["ben"]})))["text"]


async def test_in_flight_requests_are_rotated_without_typed_keys(wired: Person, wire: Wire) -> None:
    office, ben = wired.office, Person(wired.office, "U0BEN0001")
    (old,), new = office.bot.settings.encryption_keys, Vault.generate_key()
    form = await ben.form_after(ben.command("/tracker link"), "Link account")
    wire.fail("slow", lasting=True)
    submitting = asyncio.create_task(ben.submit(form, {"API key": KEYS["ben"]}))

    async def in_flight() -> list[tuple[str, str]]:
        conditions = (JobRow.kind == REQUEST, JobRow.encrypted.is_not(None))
        statement = select(JobRow.key, JobRow.encrypted).where(*conditions)
        rows = await office.bot.database.read(lambda connection: connection.execute(statement).all())
        return [(row.key, row.encrypted) for row in rows]

    async def asked() -> bool:
        return bool(wire.asked) and len(await in_flight()) == 1

    await until(asked)
    [(delivery, encrypted)] = await in_flight()
    stored = Vault([old]).decrypt(Owner(None, "", delivery), encrypted).get_secret_value()
    assert "Link account" in stored
    assert KEYS["ben"] not in stored
    async for _ in Store(office.bot.database, Vault([new, old])).encrypted_values.rotate():
        pass
    [(_, encrypted)] = await in_flight()
    assert Vault([new]).decrypt(Owner(None, "", delivery), encrypted).get_secret_value() == stored

    wire.released.set()
    await submitting
    assert "Ben Okafor" in text_of(await ben.form_saying("Account linked", "Ben Okafor"))


async def key_of(bot: Bot, owner: Owner) -> str:
    """Returns a user's key as this replica reads it."""
    link = await bot.store.links.get(owner)
    assert link is not None
    return link.key.get_secret_value()


async def test_a_database_copy_reveals_no_keys_or_user_input(office: Office, ben: Person) -> None:
    await offered(ben)
    workspace = office.workspace
    secrets = ["Kanarienvogel", KEYS["ana"], "/commands/", "ana@harbor.example", workspace.signing_secret]
    secrets += [workspace.bot_token, workspace.app_token, office.encryption_key.get_secret_value()]

    tables = Table.metadata.sorted_tables
    rows = await office.bot.database.read(
        lambda connection: [str(row) for table in tables for row in connection.execute(select(table))]
    )
    files = sorted(office.directory.glob("bot.db*"))
    copied = "\n".join(rows).encode() + b"".join(file.read_bytes() for file in files)

    assert b"U0BEN0001" in copied
    assert [secret for secret in secrets if secret.encode() in copied] == []


async def test_a_key_moved_to_another_users_row_is_rejected(office: Office, ben: Person) -> None:
    await office.link("U0BEN0001", KEYS["ben"])
    anas = await encrypted_of(office, LinkRow.encrypted_key, "U0ANA0001")
    await put(office, LinkRow.encrypted_key, "U0BEN0001", anas)

    assert UNREADABLE in text_of(await ben.form_after(ben.command("/issue 28"), "Link account"))


async def test_an_undecryptable_key_asks_the_user_to_link_again(office: Office, ana: Person) -> None:
    encrypted = await encrypted_of(office, LinkRow.encrypted_key, ana.user_id)
    for broken in (encrypted[:-20], "Ünsinn", "", None):
        if broken is None:
            await with_keys(office, Vault.generate_key())
        else:
            await put(office, LinkRow.encrypted_key, ana.user_id, broken)
        form = await ana.form_after(ana.command("/issue 28"), "Link account")
        assert UNREADABLE in text_of(form)
        assert "#28" in (await ana.after(ana.submit(form, {"API key": KEYS["ana"]})))["text"]
        await ana.close(await ana.form("Account linked"))


async def test_undecryptable_input_is_reported(office: Office, ana: Person, ben: Person) -> None:
    waiting = await offered(ben)
    encrypted = await encrypted_of(office, SavedInputRow.encrypted, ben.user_id)
    others = [
        await kept_of(office, owner) for owner in (ana.user_id, ben.user_id)
    ]  # the own is another's, too
    for broken in (encrypted[:-20], *others, encrypted):
        await put(office, SavedInputRow.encrypted, ben.user_id, broken)
        if broken == encrypted:
            await with_keys(office, Vault.generate_key())
        assert LOST in text_of(await ben.after(ben.press(waiting, "Link account")))


async def kept_of(office: Office, user_id: str) -> str:
    """Returns the encrypted text of input that was saved for the user and then deleted."""
    saved_input, row = office.bot.store.saved_input, SavedInputRow
    kept = await saved_input.put(Owner(None, TEAM, user_id), {"command": "/issue", "text": "new x"})
    statement = select(row.encrypted).where(row.id == kept)
    encrypted = await office.bot.database.read(lambda connection: connection.scalars(statement).one())
    await saved_input.take(Owner(None, TEAM, user_id), kept)
    return encrypted


async def test_linking_works_despite_undecryptable_saved_input(office: Office, ben: Person) -> None:
    form = await ben.form_after(ben.command(ASKED), "Link account")
    await put(office, SavedInputRow.encrypted, ben.user_id, "Ünsinn")

    await ben.submit(form, {"API key": KEYS["ben"]})

    assert "Ben Okafor" in text_of(await ben.form_saying("Account linked", "Ben Okafor"))
    count = text("select count(*) from links where user_id = 'U0BEN0001'")
    assert await office.bot.database.read(lambda connection: connection.scalar(count)) == 1


async def test_a_link_that_no_key_decrypts_can_be_removed(office: Office, ana: Person) -> None:
    await with_keys(office, Vault.generate_key())
    asked = await ana.ask("/tracker logout")
    unlinked = await ana.after(ana.press(asked, "Unlink account"))

    assert "Your account is unlinked" in unlinked["text"]


async def test_links_survive_a_wrong_encryption_key(office: Office, ana: Person) -> None:
    right = office.bot.settings.encryption_keys
    await with_keys(office, Vault.generate_key())
    await ana.command("/issue 28")
    await ana.close(await ana.form("Link account"))

    await with_keys(office, *right)

    assert "#28" in (await ana.ask("/issue 28"))["text"]
