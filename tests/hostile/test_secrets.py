"""No secret leaks, whatever goes wrong: the tests search for canaries in everything that others can read."""

import gc
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from bot.store.database import Database
from bot.store.owner import Owner
from bot.store.vault import Vault
from tests.support.bot_process import Apart, BotProcess, apart
from tests.support.fixtures import Command
from tests.support.office import TEAM, Office, Transport
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import text_of, until, until_so

CANARY = "canary7Qz"
PASSWORD = f"pass-{CANARY}"
WRONG_KEY = "dead" * 10
TYPED = "What only the tracker is told"
GOOD = {
    "SLACK_BOT_TOKEN": f"xoxb-1-{CANARY}",
    "SLACK_APP_TOKEN": f"xapp-1-{CANARY}",
    "SLACK_SIGNING_SECRET": f"signing-{CANARY}",
    "SLACK_API_URL": "http://127.0.0.1:1/api/",
    "SERVICE_BASE_URL": "http://127.0.0.1:1/tracker",
    "ENCRYPTION_KEYS": Vault.generate_key().get_secret_value(),
    "HOST": "127.0.0.1",
    "PORT": "0",
}
SECRETS_OF_START = (CANARY, GOOD["ENCRYPTION_KEYS"])


@pytest.fixture
def command(issuebot: Command) -> Command:
    """Returns a function that runs `issuebot` in an empty directory with valid settings."""
    return partial(issuebot, **GOOD)


def leaks(text: str, *secrets: str) -> list[str]:
    """Returns the first line that contains each secret."""
    lines = text.splitlines()
    return [next(line for line in lines if secret in line) for secret in secrets if secret and secret in text]


@pytest.mark.parametrize(("name", "code"), [("run", 2), ("check", 1)])
def test_an_invalid_setting_is_named_without_its_value(command: Command, name: str, code: int) -> None:
    """Which values are invalid: `tests/test_config.py`."""
    for variable, value in {"SLACK_BOT_TOKEN": f"token-{CANARY}", "ENCRYPTION_KEYS": CANARY}.items():
        result = command(name, **{variable: value})

        assert result.exit_code == code
        assert variable in result.output
        assert leaks(result.output, *SECRETS_OF_START) == []


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://bot:{PASSWORD}@127.0.0.1:1/bot",
        f"postgresql://bot:{PASSWORD}@127.0.0.1:port/bot",
        f"postgresql://bot:{PASSWORD}@127.0.0.1:99999/bot",
        f"postgresql://bot:{PASSWORD}@[127.0.0.1/bot",
        f"postgresql://bot:{CANARY}/{CANARY}@127.0.0.1:1/bot",
        f"postgresql://bot:{CANARY}@{CANARY}@127.0.0.1:1/bot",
        f"postgresql://bot:{CANARY}#{CANARY}@127.0.0.1:1/bot",
        f"postgresql://bot:%zz{CANARY}@127.0.0.1:1/bot",
        f"postgresql://127.0.0.1:1/bot?user=bot&password={PASSWORD}",
        f"postgresql://bot:{PASSWORD}@127.0.0.1:1/bot?sslmode=x&port=x",
        f"postgresql+asyncpg://bot:{PASSWORD}@127.0.0.1:1/bot",
        f"mysql://bot:{PASSWORD}@127.0.0.1:1/bot",
    ],
)
@pytest.mark.parametrize("arguments", [("run",), ("db", "upgrade"), ("keys", "rotate")], ids=" ".join)
def test_database_errors_have_no_password(command: Command, arguments: tuple[str, ...], address: str) -> None:
    result = command(*arguments, DATABASE_URL=address)

    assert result.exit_code == 2
    assert result.stderr.startswith("DATABASE_URL: ")
    assert leaks(result.output, *SECRETS_OF_START, PASSWORD) == []


def test_a_database_refusal_is_quoted_without_the_password(command: Command, postgresql: str) -> None:
    refused = postgresql.replace("postgres:@", f"nobody:{PASSWORD}@")
    assert PASSWORD in refused

    result = command("check", DATABASE_URL=refused)

    assert "error DATABASE_URL: " in result.output
    assert 'role "nobody" does not exist' in result.output
    assert leaks(result.output, *SECRETS_OF_START, PASSWORD) == []


@dataclass
class Output:
    """Everything that others could read: what the bot printed and served, and what it sent to Slack."""

    office: Apart
    bot: BotProcess
    answers: list[str] = field(default_factory=list)

    async def look(self) -> None:
        """Reads what the bot serves to anyone."""
        self.answers += [await self.bot.get(path) for path in ("/metrics", "/readyz", "/healthz")]

    def outside(self) -> str:
        """Text that must not even contain a URL or ticket of Slack's."""
        return "\n".join([self.bot.printed, *self.answers])

    def in_slack(self) -> str:
        """The bot's messages, and all its calls to Slack."""
        state = self.office.workspace.state
        messages = [m for those in state.messages.values() for m in those if m.by_app]
        views = [*state.views.values(), *state.homes.values()]
        return "\n".join(map(repr, [*messages, *state.calls, *(view.body for view in views)]))


def lose(office: Apart, table: str) -> None:
    """Drops a table while the bot is running."""
    with closing(sqlite3.connect(office.directory / "bot.db")) as connection:
        connection.execute(f"drop table {table}")


@pytest.mark.parametrize("transport", ["socket", "http"])
async def test_the_running_program_never_leaks_a_secret(tmp_path: Path, transport: Transport) -> None:
    form = "json" if transport == "http" else "console"
    office = Apart(tmp_path, transport, variables={"LOG_LEVEL": "debug", "LOG_FORMAT": form})
    async with apart(office) as bot:
        output = Output(office, bot)
        ana, ben, chris = (Person(office, user) for user in ("U0ANA0001", "U0BEN0001", "U0CHRIS01"))

        for person, login in ((ben, "ben"), (chris, "chris")):
            await person.command(f"/tracker link {KEYS[login]}")  # not in a command, where it doesn't belong
            await person.command("/tracker link")
            await person.submit(await person.form("Link account"), {"API key": WRONG_KEY})
            await person.errors()
            await person.submit(await person.form("Link account"), {"API key": KEYS[login]})
            await person.close(await person.form("Account linked"))
        for typed in (
            "/issue new Look: {} project:webshop",
            "/issues {}",
            "/timelog 12 1h activity:design {}",
        ):
            answer = await ben.ask(typed.format(KEYS["ben"]))
            assert "What you entered contains your API key" in text_of(answer)
        await ben.ask("/issue new It is broken project:webshop")
        await chris.command("/tracker user new @gwen")
        await chris.after(chris.submit(await chris.form("New account"), {}))
        await ben.open_home()
        await until(ben.home)
        await output.look()

        lose(office, "created_issues")
        await chris.ask(f"/issue new {TYPED} project:webshop")

        office.tracker.data.users[2].api_key = "0ff" * 13 + "0"  # revoked; then the service stops answering
        await ben.form_after(ben.command("/issue 12"), "Link account")
        await office.tracker.stop()
        await chris.ask("/issue 12")
        await chris.ask("/issue new Nobody hears this project:webshop")
        lose(office, "saved_input")
        await ana.command("/issue 12")  # she isn't linked, so her command is saved
        await until_so(lambda: "answer failed" in bot.printed)
        lose(office, "jobs")
        await chris.ask("/issue 12")
        await output.look()

    created = max(office.tracker.data.users.values(), key=lambda user: user.id)
    keys = (*KEYS.values(), WRONG_KEY, created.api_key, office.encryption_key.get_secret_value())
    workspace = office.workspace
    slack = (workspace.bot_token, workspace.app_token, workspace.signing_secret)
    passing = (*workspace._response_urls._known, *workspace._triggers._known, created.mail)
    assert leaks(output.outside(), *keys, *slack, *passing, TYPED) == []
    assert leaks(output.in_slack(), *keys, *slack) == []
    assert "Traceback" in output.outside()  # there really was an error


async def test_objects_with_secrets_hide_them_in_their_repr(office: Office, ana: Person) -> None:
    """As in a debugger, a traceback with locals, or a careless log line."""
    await ana.ask("/issue 12")
    link = await office.bot.store.links.get(Owner(None, TEAM, ana.user_id))
    assert link is not None
    settings = office.bot.settings.model_copy(update={"database_url": f"postgresql://bot:{PASSWORD}@db/bot"})
    database = Database(settings.database_url)
    secrets = [KEYS["ana"], *(secret.get_secret_value() for secret in settings.secrets), PASSWORD]

    ours = [thing for thing in gc.get_objects() if str(type(thing).__module__).startswith("bot.")]
    printed = [f"{thing!r} {thing}" for thing in ours if not type(thing).__module__.startswith("bot.sandbox")]

    assert any("Settings(" in text for text in printed)
    assert leaks("\n".join([*printed, f"{database._driver.engine!r}"]), *secrets) == []
    await database.close()
