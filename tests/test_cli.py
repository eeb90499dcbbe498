import asyncio
import json
import socket
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.slack.surfaces.manifest import manifest_yaml, parsed
from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.vault import BATCH_SIZE, Vault
from tests.support.fixtures import Command

ROOT = Path(__file__).parents[1]


def test_run_lists_every_missing_variable(issuebot: Command) -> None:
    result = issuebot("run")

    assert result.exit_code == 2
    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == [
        "SLACK_BOT_TOKEN",
        "SERVICE_BASE_URL",
        "ENCRYPTION_KEYS",
        "SLACK_APP_TOKEN",
    ]
    assert result.stdout == ""

    result = issuebot("check")
    assert result.exit_code == 1
    assert "error ENCRYPTION_KEYS: Missing. Run `issuebot setup`, or" in result.stdout


def test_keys_generate_prints_only_a_usable_key(issuebot: Command) -> None:
    issuebot("db", "upgrade")
    old, new = issuebot("keys", "generate"), issuebot("keys", "generate")
    assert (old.exit_code, len(old.stdout), old.stdout.count("\n")) == (0, 45, 1)
    assert old.stdout != new.stdout

    rotated = issuebot("keys", "rotate", ENCRYPTION_KEYS=f"{new.stdout.strip()},{old.stdout.strip()}")

    assert (rotated.exit_code, rotated.stdout) == (0, "Re-encrypted 0. 0 already used the first key.\n")


def test_db_upgrade_creates_the_database_and_lists_migrations(issuebot: Command, tmp_path: Path) -> None:
    first, second = (issuebot("db", "upgrade", DATABASE_URL=f"sqlite:///{tmp_path}/new.db") for _ in range(2))

    assert (first.exit_code, first.stdout) == (0, "The database is up to date.\n")
    assert first.stderr == "0001: The tables of the first release.\n"
    assert (second.exit_code, second.stdout, second.stderr) == (0, first.stdout, "")
    wrong = issuebot("db", "upgrade", DATABASE_URL="sqlite:////nowhere/at/all/new.db")
    assert wrong.exit_code == 2
    assert wrong.stderr == "DATABASE_URL: Can't open the database: unable to open database file.\n"


def test_keys_rotate_shows_its_progress(issuebot: Command, tmp_path: Path) -> None:
    url, key = f"sqlite:///{tmp_path}/bot.db", Vault.generate_key()

    async def link_many() -> None:
        database = Database(url)
        await database.open()
        links = Store(database, Vault([key])).links
        for number in range(BATCH_SIZE + 1):
            await links.put(Owner(None, "T1", f"U{number}"), SecretStr("a-key"), number, "Somebody")
        await database.close()

    asyncio.run(link_many())
    new = Vault.generate_key().get_secret_value()
    rotated = issuebot("keys", "rotate", DATABASE_URL=url, ENCRYPTION_KEYS=f"{new},{key.get_secret_value()}")

    linked, jobs = BATCH_SIZE + 1, BATCH_SIZE + 1  # one for each person, which reads what is assigned to them
    steps = (BATCH_SIZE, linked, linked + BATCH_SIZE, linked + jobs)
    assert rotated.stderr.splitlines() == [f"{step} of {linked + jobs}" for step in steps]
    assert rotated.stdout == f"Re-encrypted {linked + jobs}. 0 already used the first key.\n"


def test_keys_rotate_does_not_create_a_database(issuebot: Command, tmp_path: Path) -> None:
    rotated = issuebot("keys", "rotate", ENCRYPTION_KEYS=Vault.generate_key().get_secret_value())

    sentence = (
        f"DATABASE_URL: There's no database at {tmp_path}/issuebot.db. Run this in the bot's directory.\n"
    )
    assert (rotated.exit_code, rotated.stdout, rotated.stderr) == (2, "", sentence)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("run",), 2), (("check",), 1), (("manifest",), 2), (("keys", "rotate"), 2), (("db", "upgrade"), 2)],
)
def test_an_env_file_that_cannot_be_read_is_named(
    issuebot: Command, tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    (tmp_path / ".env").write_bytes("SERVICE_NAME=Café".encode("latin-1"))

    result = issuebot(*arguments)

    assert result.exit_code == code
    assert "Can't read .env: it isn't UTF-8. Fix that, then try again.\n" in result.output


def test_manifest_accepts_mode_url_and_prefix(issuebot: Command) -> None:
    address = "https://bot.example.com"

    assert issuebot("manifest").stdout == manifest_yaml()
    http = issuebot("manifest", "--mode", "http", "--url", address, "--prefix", "acme-")
    assert http.stdout == manifest_yaml("http", address, "acme-")
    assert issuebot("manifest", COMMAND_PREFIX="acme-").stdout == manifest_yaml(prefix="acme-")
    known = issuebot("manifest", SERVICE_BASE_URL="https://tracker.example.com/redmine")
    assert '  unfurl_domains:\n    - "tracker.example.com"\n' in known.stdout
    several = issuebot("manifest", "--url", address, SLACK_CLIENT_ID="1.2")
    assert several.stdout == manifest_yaml("socket", address, several=True)


def test_slacks_own_cli_gets_the_manifest_and_starts_the_bot(issuebot: Command) -> None:
    hooks = json.loads((ROOT / ".slack" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    commands = {name: hook.partition(" issuebot ")[2].split() for name, hook in hooks.items()}

    assert json.loads(issuebot(*commands["get-manifest"]).stdout) == parsed(manifest_yaml())
    assert issuebot(*commands["start"]).stderr.startswith("SLACK_BOT_TOKEN: Missing.")


@pytest.mark.parametrize(
    "arguments", [("--mode", "http"), ("--mode", "pigeon"), ("--prefix", "Acme"), ("--prefix", "x" * 25)]
)
def test_manifest_rejects_invalid_options(issuebot: Command, arguments: tuple[str, ...]) -> None:
    result = issuebot("manifest", *arguments)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert arguments[0].removeprefix("--") in result.stderr.lower()


def test_a_port_conflict_is_one_sentence(issuebot: Command) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        result = issuebot("sandbox", "--port", port, "--service-port", "0", "--no-browser")

    sentence = f"Port {port} is in use. Stop the other program or choose another port with --port.\n"
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", sentence)
