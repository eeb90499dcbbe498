"""`issuebot setup`: asks for what an installation needs, in order, and writes `.env`."""

import asyncio
import errno
import getpass
import json
import os
import re
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import typer

from bot import config
from bot.check.findings import Finding
from bot.check.service import REDMINE_HEADER, check_address, is_redmine
from bot.config import ENV, ConfigError
from bot.service.client import Client
from bot.slack.surfaces.manifest import manifest_yaml, parsed
from bot.store.vault import Vault

NEW_APP = "https://api.slack.com/apps?new_app=1&manifest_json="
LONGEST_LINK = 8_000
YES = {"y", "yes"}
PLAIN = re.compile(r"[\w@%+=:,./()&-]([\w@%+=:,./()& -]*[\w@%+=:,./()&-])?")
"""Values that Docker and dotenv read the same without quotes."""


@dataclass(frozen=True)
class SetupQuestion:
    """A variable, the option that answers the question, and its text."""

    variable: str
    option: str
    text: str
    secret: bool = False


TRACKER = SetupQuestion(
    "SERVICE_BASE_URL",
    "--tracker",
    "Your tracker's URL, with its path if it has one, such as https://example.com/redmine",
)
HEADER = SetupQuestion("SERVICE_API_KEY_HEADER", "", "The header that carries a user's API key")
NAME = SetupQuestion("SERVICE_NAME", "", "What people call the tracker")
BOT_TOKEN = SetupQuestion(
    "SLACK_BOT_TOKEN",
    "--slack-bot-token",
    "The bot token (xoxb-…) lets the bot read and post.\n"
    "In your app's settings, choose Install App, install it, and copy the Bot User OAuth Token.\n"
    "Paste it here (it isn't shown)",
    secret=True,
)
APP_TOKEN = SetupQuestion(
    "SLACK_APP_TOKEN",
    "--slack-app-token",
    "The app-level token (xapp-…) lets the bot connect to Slack without a public URL.\n"
    "Choose Basic Information, then App-Level Tokens.\n"
    "Generate one with the scope connections:write, and copy it.\n"
    "Paste it here (it isn't shown)",
    secret=True,
)


@dataclass
class Setup:
    """One run: `options` are the answers given on the command line, `asks` is whether to ask for others."""

    options: Mapping[str, str]
    asks: bool
    kept: dict[str, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)

    def run(self) -> None:
        """Write `.env`. Raises ConfigError, and EOFError when the input ends; `.env` is then
        as before.
        """
        self.kept = read_env(ENV)
        check_env(ENV)
        tokens = self._tokens()
        if not self.asks:
            self._require((TRACKER, *tokens))

        self._ask_for_tracker()
        self._make_key()
        both = tokens == (BOT_TOKEN, APP_TOKEN)  # the link's manifest is for Socket Mode in one workspace
        if self.asks and both and not all(self._is_known(question) for question in tokens):
            self._print_link()
        for question in tokens:
            self.answers[question.variable] = self._answer(question)

        changes = {name: value for name, value in self.answers.items() if self._is_wanted(name, value)}
        if changes:
            write_env(ENV, changes)
            typer.echo(f"Saved {', '.join(changes)} in {ENV.resolve()}.")

    def _tokens(self) -> tuple[SetupQuestion, ...]:
        """The tokens to ask for: several workspaces have no bot token, and HTTP mode no app-level one."""
        bot = () if "SLACK_CLIENT_ID" in self.kept else (BOT_TOKEN,)
        http = "SLACK_SIGNING_SECRET" in self.kept and "SLACK_APP_TOKEN" not in self.kept
        return (*bot, *(() if http else (APP_TOKEN,)))

    def _require(self, questions: tuple[SetupQuestion, ...]) -> None:
        if missing := [one for one in questions if not self._is_known(one)]:
            raise ConfigError(*(f"{one.option}: Missing. It sets {one.variable}." for one in missing))

    def _is_known(self, question: SetupQuestion) -> bool:
        name = question.variable
        return name in self.options or (name in self.kept and not self._problem(name))

    def _problem(self, name: str) -> str | None:
        return config.problem(name, self.kept[name]) if name in self.kept else None

    # Questions

    def _answer(self, question: SetupQuestion, suggestion: str = "") -> str:
        """A valid answer: the option's, the user's, or the value that `.env` has."""
        name = question.variable
        kept = "" if self._problem(name) else self.kept.get(name, "")
        value = self.options.get(name) or (None if self.asks else kept or suggestion)
        while True:
            if value is None:
                value = self._ask(question, kept, suggestion)
            problem = config.problem(name, value) if value else f"{name}: Missing."
            if problem is None:
                return value
            if not self.asks:
                raise ConfigError(problem)
            typer.echo(problem)
            value = None

    def _ask(self, question: SetupQuestion, kept: str, suggestion: str) -> str:
        offer = kept or suggestion
        if kept and question.secret:
            offer = "Enter keeps the one in .env"
        prompt = f"\n{question.text}{f' [{offer}]' if offer else ''}: "
        return _line(prompt, secret=question.secret) or kept or suggestion

    def _is_wanted(self, name: str, value: str) -> bool:
        """Whether to write this answer; asks before it replaces another value."""
        before = self.kept.get(name)
        if before == value or (before is None and value == config.default(name)):
            return False
        if before is None:
            return True
        if not self.asks:
            raise ConfigError(
                f"{name}: .env has another value. Remove it there, or run this without --no-input."
            )
        return _confirmed(f"Replace {name} in .env?")

    # Steps

    def _ask_for_tracker(self) -> None:
        while True:
            url = self._answer(TRACKER)
            finding, redmine = asyncio.run(_look_at(url))
            if not (finding.fine or self.asks):
                raise ConfigError(f"{finding.name}: {finding.sentence}")
            typer.echo(finding)
            if finding.fine or _confirmed("Use this URL anyway?"):
                break
            self.options = {name: value for name, value in self.options.items() if name != TRACKER.variable}
        if redmine:
            typer.echo("This is Redmine.")
        header = REDMINE_HEADER if redmine else config.default(HEADER.variable)
        name = "Redmine" if redmine else config.default(NAME.variable)
        self.answers[TRACKER.variable] = url
        self.answers[HEADER.variable] = self._answer(HEADER, header)
        self.answers[NAME.variable] = self._answer(NAME, name)

    def _make_key(self) -> None:
        if problem := self._problem("ENCRYPTION_KEYS"):
            raise ConfigError(
                f"{problem} Correct it in .env first: without the right key, stored keys are lost."
            )
        if "ENCRYPTION_KEYS" not in self.kept:
            self.answers["ENCRYPTION_KEYS"] = Vault.generate_key().get_secret_value()
            typer.echo("\nI generated an encryption key. Keep a copy of .env, but not with database backups.")

    def _print_link(self) -> None:
        prefix, url = self.kept.get("COMMAND_PREFIX", ""), self.answers[TRACKER.variable]
        text = manifest_yaml(prefix="" if self._problem("COMMAND_PREFIX") else prefix, service_url=url)
        link = NEW_APP + quote(
            json.dumps(parsed(text), ensure_ascii=False, separators=(",", ":")), safe=":,/"
        )
        with tempfile.NamedTemporaryFile(
            "w", prefix="issuebot-manifest-", suffix=".yml", delete=False, encoding="utf-8"
        ) as file:
            file.write(text)
        paste = (
            f"open {NEW_APP.partition('&')[0]}, choose From a manifest, pick your workspace, "
            f"and paste the content of {file.name}"
        )
        if len(link) > LONGEST_LINK:
            typer.echo(f"\nCreate the Slack app: {paste}.")
        else:
            typer.echo(f"\nCreate the Slack app with this link:\n\n{link}\n\nIf it doesn't work, {paste}.")


async def _look_at(url: str) -> tuple[Finding, bool]:
    """Whether the tracker responds, and whether it is a Redmine."""
    async with Client(url, key_header=REDMINE_HEADER) as client:
        return await check_address(client), await is_redmine(client)


def _confirmed(question: str) -> bool:
    return _line(f"{question} [y/N]: ").lower() in YES


def _line(prompt: str, *, secret: bool = False) -> str:
    """What the user types, without spaces around it. A secret isn't shown. Raises EOFError."""
    if secret and sys.stdin.isatty():
        return getpass.getpass(prompt).strip()
    return input(prompt).strip()


def read_env(path: Path) -> dict[str, str]:
    """Return the file's values, by variable; nothing if there is no such file. Raises ConfigError."""
    return {name.upper(): value for name, value in config.in_file(path).items()}


def check_env(path: Path) -> None:
    """Raise ConfigError if `write_env` would."""
    path = path.resolve()
    try:
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise _unwritable(path, error) from None


def write_env(path: Path, changes: Mapping[str, str]) -> None:
    """Set these variables and keep everything else, readable by the owner alone.

    If it raises ConfigError, the file is unchanged.
    """
    path = path.resolve()
    temporary = None
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        handle, temporary = tempfile.mkstemp(prefix=".env.", dir=path.parent)  # its mode is 600
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(_changed(before, changes))
            file.flush()
            os.fsync(file.fileno())

        if path.exists() and (owner := path.stat()).st_uid != os.getuid():
            os.chown(temporary, owner.st_uid, owner.st_gid)  # root changes the file of the bot's own user
        if wrong := [name for name, value in changes.items() if read_env(Path(temporary)).get(name) != value]:
            raise ConfigError(f"Can't set {', '.join(wrong)} in {path}. Remove its lines, then try again.")
        Path(temporary).replace(path)
        temporary = None
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        if temporary:
            Path(temporary).unlink()


def _changed(text: str, changes: Mapping[str, str]) -> str:
    lines = text.removesuffix("\n").split("\n") if text else []  # dotenv knows no other breaks
    for name, value in changes.items():
        line = f"{name}={value if PLAIN.fullmatch(value) else _quoted(value)}"
        places = [
            at
            for at, each in enumerate(lines)
            if re.match(rf"\s*(export\s+)?{name}\s*=", each, re.IGNORECASE)
        ]
        if places:
            lines[places[-1]] = line  # the last one counts
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _unwritable(path: Path, error: OSError) -> ConfigError:
    return ConfigError(f"Can't write {path}: {error.strerror}. Run this as a user who can write there.")
