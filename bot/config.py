"""Settings: the only module that reads the environment (and `.env` in the working directory)."""

import os
import re
import stat
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

from cryptography.fernet import Fernet
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    NoDecode,
    SettingsConfigDict,
)
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from bot.slack_limits import COMMAND_NAME_LENGTH

ENV = Path(".env")
LONGEST_COMMAND = "/timelog"
PORTS = range(1, 65536)
AnyText = TypeVar("AnyText", str, SecretStr)

MISSING = "Missing. Run `issuebot setup`, or set it as docs/operations.md describes."
OAUTH = ("slack_client_id", "slack_client_secret")


class ConfigError(Exception):
    """The configuration is invalid. `problems` has one line per variable, starting with its name."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def _split_commas(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _hosts(value: object) -> object:
    return _split_commas(_lower(value))


def _lower(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _matching(pattern: str, sentence: str) -> AfterValidator:
    """Refuse, with the sentence, a value or a secret that doesn't match the whole pattern."""

    def check(value: AnyText) -> AnyText:
        text = value.get_secret_value() if isinstance(value, SecretStr) else value
        if re.fullmatch(pattern, text, re.ASCII):
            return value
        raise ValueError(sentence)

    return AfterValidator(check)


HOST = _matching(
    r"([a-z0-9_.-]+|\[[0-9a-f:]+\])(:[0-9]{1,5})?",
    "Must be a comma-separated list of hosts, such as files.slack.com.",
)
BOT_TOKEN = _matching(r"xoxb-[\w-]+", "Must start with xoxb-, and be the whole token.")
APP_TOKEN = _matching(r"xapp-[\w-]+", "Must start with xapp-, and be the whole token.")
CLIENT_ID = _matching(
    r"[0-9]+\.[0-9]+", "Must be two numbers separated by a dot. Copy it from “Basic Information”."
)
CLIENT_SECRET = _matching(r"[0-9a-f]{32}", "Must be 32 hexadecimal digits. Copy it from “Basic Information”.")
HEADER = _matching(
    r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", "Must be the name of an HTTP header, such as X-Redmine-API-Key."
)


def _address(value: str) -> str:
    try:
        parts = urlsplit(value)
        usable = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or 1)
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("Must be a URL that starts with https:// or http://.")
    if parts.query or parts.fragment or "?" in value or "#" in value:
        raise ValueError("Must not have a query (after ?) or a fragment (after #).")
    if parts.username is not None:
        raise ValueError("Must not contain a user name or password.")
    return value


def _fernet(key: SecretStr) -> SecretStr:
    try:
        Fernet(key.get_secret_value())
    except ValueError:
        raise ValueError(
            "Has an entry that isn't an encryption key. Run `issuebot keys generate` to create one."
        ) from None
    return key


def _database(value: str) -> str:
    """Validate with SQLAlchemy's and asyncpg's parsers, so that neither fails later and quotes the URL."""
    try:
        urlsplit(value)
        url = make_url(value)
        usable = re.match(r"sqlite:///.|postgres(ql)?://.", value) and url.database != ":memory:"
        usable = usable and (url.port is None or url.port in PORTS)
    except (ArgumentError, ValueError):
        usable = False
    if not usable:
        raise ValueError("Must be sqlite:///<file> or postgresql://<user>:<password>@<host>/<database>.")
    return value


def checked_prefix(value: str) -> str:
    """Return the prefix if Slack accepts every command name with it. Raises ValueError."""
    room = COMMAND_NAME_LENGTH - len(LONGEST_COMMAND)
    if re.fullmatch(rf"[a-z0-9_-]{{0,{room}}}", value):
        return value
    raise ValueError(f"Must be at most {room} lowercase letters, digits, hyphens, or underscores.")


def _name(value: str) -> str:
    if value.strip() and value.isprintable() and len(value) <= COMMAND_NAME_LENGTH:
        return value.strip()
    raise ValueError(f"Must be one line of at most {COMMAND_NAME_LENGTH} characters.")


class Storage(BaseModel):
    """The database settings; each field is set by the variable of the same name in capitals."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True, str_strip_whitespace=True)

    database_url: Annotated[str, AfterValidator(_database), Field(repr=False)] = "sqlite:///issuebot.db"
    encryption_keys: Annotated[
        tuple[Annotated[SecretStr, AfterValidator(_fernet)], ...], NoDecode, BeforeValidator(_split_commas)
    ] = ()


class Settings(Storage):
    """All settings; a secret that isn't set is empty, and so false."""

    slack_bot_token: Annotated[SecretStr, BOT_TOKEN] = SecretStr("")
    slack_app_token: Annotated[SecretStr, APP_TOKEN] = SecretStr("")
    slack_signing_secret: SecretStr = SecretStr("")
    slack_client_id: Annotated[str, CLIENT_ID] = ""
    slack_client_secret: Annotated[SecretStr, CLIENT_SECRET] = SecretStr("")
    slack_api_url: Annotated[
        str, AfterValidator(_address), AfterValidator(lambda url: url.rstrip("/") + "/")
    ] = "https://slack.com/api/"
    slack_file_hosts: Annotated[tuple[Annotated[str, HOST], ...], NoDecode, BeforeValidator(_hosts)] = (
        "files.slack.com",
        "slack-files.com",
    )
    service_base_url: Annotated[str, AfterValidator(_address), AfterValidator(lambda u: u.rstrip("/"))] = ""
    service_api_key_header: Annotated[str, HEADER] = "X-Service-API-Key"
    service_name: Annotated[str, AfterValidator(_name)] = "Tracker"
    service_text_format: Annotated[Literal["markdown", "textile"], BeforeValidator(_lower)] = "markdown"
    notice_interval: Annotated[int, Field(ge=300, le=43_200)] = 300
    command_prefix: Annotated[str, AfterValidator(checked_prefix)] = ""
    host: str = "0.0.0.0"  # noqa: S104 - containers are reachable on no other address
    port: Annotated[int, Field(ge=0, le=65535)] = 3000
    log_format: Annotated[Literal["console", "json"], BeforeValidator(_lower)] = "console"
    log_level: Annotated[Literal["debug", "info", "warning", "error"], BeforeValidator(_lower)] = "info"

    @property
    def socket_mode(self) -> bool:
        """Whether the bot connects to Slack over Socket Mode; otherwise Slack calls it over HTTP."""
        return bool(self.slack_app_token)

    @property
    def several_workspaces(self) -> bool:
        """Whether workspaces install the bot through OAuth; otherwise it has one workspace's token."""
        return bool(self.slack_client_id)

    @property
    def file_hosts(self) -> frozenset[str]:
        """The hosts, with a port if one was given, that the bot token may be sent to for a file."""
        return frozenset({*self.slack_file_hosts, urlsplit(self.slack_api_url).netloc.lower()})

    @property
    def secrets(self) -> tuple[SecretStr, ...]:
        """Every secret in these settings, to be redacted from logs."""
        database = make_url(self.database_url)
        passwords = (database.password, *database.normalized_query.get("password", ()))
        tokens = (self.slack_bot_token, self.slack_app_token)
        ours = (self.slack_signing_secret, self.slack_client_secret, *self.encryption_keys)
        return (*tokens, *ours, *(SecretStr(password) for password in passwords if password))


class _Variables(Settings, BaseSettings):
    """Never instantiated: tells pydantic-settings what to read. The settings themselves read no environment,
    so that the sandbox is the same everywhere.
    """

    model_config = SettingsConfigDict(
        env_file=ENV, env_file_encoding="utf-8", env_ignore_empty=True, extra="ignore"
    )


AnyStorage = TypeVar("AnyStorage", bound=Storage)


def load() -> Settings:
    """Read the settings from the environment and `.env`.

    Raises ConfigError if `.env` can't be read, and otherwise with every invalid or missing variable, but
    never with a value, which may be a secret.
    """
    values = given()
    several = any(name in values for name in OAUTH)
    needed = [*(OAUTH if several else ["slack_bot_token"]), "service_base_url", "encryption_keys"]
    if "slack_signing_secret" not in values:  # for HTTP mode
        needed.append("slack_app_token")
    return _checked(Settings, values, needed)


def load_storage(*, with_keys: bool) -> Storage:
    """Load the settings for commands that need only the database."""
    return _checked(Storage, given(), ["encryption_keys"] if with_keys else [])


def given() -> dict[str, Any]:
    """Return the values that are set, by field, unchecked: some may be missing or invalid.

    Raises ConfigError if `.env` can't be read.
    """
    return {**in_file(ENV), **EnvSettingsSource(_Variables)()}


def in_file(path: Path) -> dict[str, str]:
    """Return a file's values, by field, unchecked; nothing if there is no such file. Raises ConfigError."""
    try:
        if path.exists():
            path.read_bytes()  # pydantic-settings ignores a directory
        values = DotEnvSettingsSource(_Variables, env_file=path)()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it isn't UTF-8"
        raise ConfigError(f"Can't read {path}: {reason}. Fix that, then try again.") from None
    return {name: value for name, value in values.items() if value and name in Settings.model_fields}


def is_exposed() -> bool:
    """Whether every user of this machine can read `.env`."""
    return sys.platform != "win32" and ENV.exists() and bool(ENV.stat().st_mode & stat.S_IROTH)


def problem(variable: str, value: str) -> str | None:
    """Return the problem with a variable's value, in the words of `load`; None if it is valid."""
    try:
        _checked(Settings, {variable.lower(): value})
    except ConfigError as wrong:
        return wrong.problems[0]
    return None


def default(variable: str) -> str:
    return str(Settings.model_fields[variable.lower()].default)


def _checked(model: type[AnyStorage], given: Mapping[str, Any], needed: Iterable[str] = ()) -> AnyStorage:
    problems = {name: MISSING for name in needed if name not in given}
    try:
        settings = model.model_validate(given)
    except ValidationError as invalid:
        for error in invalid.errors(include_input=False, include_url=False):
            problems.setdefault(str(error["loc"][0]), error["msg"].removeprefix("Value error, "))
    if problems:
        raise ConfigError(*(f"{name.upper()}: {sentence}" for name, sentence in problems.items()))
    return settings


def is_local(url: str) -> bool:
    """Whether a URL leads to this machine."""
    return urlsplit(url).hostname in {"127.0.0.1", "::1", "localhost"}


def has_display() -> bool:
    """Whether this process can open a browser window."""
    return sys.platform in {"darwin", "win32"} or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )


def ignore_proxies() -> None:
    """Unset the proxy variables: slack_sdk would use the proxy even for localhost."""
    for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
        os.environ.pop(name, None)
