"""The commands of `issuebot`."""

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, NoReturn, TypeVar

import typer

from bot import config, telemetry
from bot.slack.surfaces import manifest as slack_manifest
from bot.store.database import Database, DatabaseUnavailableError, missing_file, translated_errors
from bot.store.store import Store
from bot.store.vault import Rotation, Vault

# Plain tracebacks: typer's own print local variables, which may hold secrets.
program = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A Slack bot for Redmine-compatible issue trackers.",
)
keys = typer.Typer(no_args_is_help=True, help="Manage encryption keys.")
database_commands = typer.Typer(no_args_is_help=True, help="Manage the database.")
program.add_typer(keys, name="keys")
program.add_typer(database_commands, name="db")

T = TypeVar("T")


@program.command()
def sandbox(
    *,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the Slack page.")] = 8080,
    service_port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the demo tracker.")] = 8081,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Don't open a browser.")] = False,
) -> None:
    """Run everything locally: a Slack workspace in your browser, a tracker with demo data, and the bot."""
    from bot import app_sandbox  # noqa: PLC0415 - the other commands start without it

    telemetry.configure("console", "warning")
    try:
        code = asyncio.run(app_sandbox.run(port, service_port, browser=not no_browser, say=typer.echo))
    except config.ConfigError as taken:
        _fail(2, *taken.problems)
    raise typer.Exit(code)


@program.command()
def run() -> None:
    """Run the bot against Slack and your tracker, configured by the environment."""
    from bot import app  # noqa: PLC0415 - the other commands start without it

    raise typer.Exit(app.main())


@program.command()
def check() -> None:
    """Check the configuration, Slack, the tracker, and the database, and say how to fix problems."""
    from bot.check import check as findings  # noqa: PLC0415 - the other commands start without it

    try:
        settings = config.load()
    except config.ConfigError as wrong:
        for problem in wrong.problems:
            typer.echo(f"error {problem}")
        typer.echo("Fix these first. The next run checks Slack, the tracker, and the database.")
        raise typer.Exit(1) from None
    telemetry.configure(settings.log_format, "error", settings.secrets)

    async def report() -> bool:
        fine = True
        async for finding in findings(settings):
            typer.echo(str(finding))
            fine = fine and finding.fine
        return fine

    raise typer.Exit(0 if asyncio.run(report()) else 1)


@program.command()
def setup(
    *,
    tracker: Annotated[str | None, typer.Option(help="The tracker's URL.")] = None,
    slack_bot_token: Annotated[str | None, typer.Option(help="Slack's bot token, xoxb-….")] = None,
    slack_app_token: Annotated[str | None, typer.Option(help="Slack's app-level token, xapp-….")] = None,
    no_input: Annotated[bool, typer.Option("--no-input", help="Don't ask questions.")] = False,
) -> None:
    """Ask for what an installation needs, write .env, and check it."""
    from bot.setup import Setup  # noqa: PLC0415 - the other commands start without it

    given = (
        ("SERVICE_BASE_URL", tracker),
        ("SLACK_BOT_TOKEN", slack_bot_token),
        ("SLACK_APP_TOKEN", slack_app_token),
    )
    try:
        telemetry.configure("console", "error")
        Setup({name: value for name, value in given if value}, asks=not no_input).run()
    except (EOFError, KeyboardInterrupt):
        _fail(1, "", "Stopped. .env is unchanged.")
    except config.ConfigError as error:
        _fail(2, *error.problems)
    check()


@program.command()
def manifest(
    *,
    mode: Annotated[slack_manifest.Mode, typer.Option(help="How Slack reaches the bot.")] = "socket",
    url: Annotated[
        str | None, typer.Option(help="The bot's URL, for HTTP mode or several workspaces.")
    ] = None,
    prefix: Annotated[
        str | None, typer.Option(help="Prefix of every command (default: COMMAND_PREFIX).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for Slack's own CLI.")] = False,
) -> None:
    """Print the Slack app manifest."""
    given = _load_or_fail(config.given)
    try:
        checked = config.checked_prefix(given.get("command_prefix", "") if prefix is None else prefix)
    except ValueError as wrong:
        _fail(2, f"{'COMMAND_PREFIX' if prefix is None else '--prefix'}: {wrong}")
    try:
        content = slack_manifest.manifest_yaml(
            mode, url, checked, given.get("service_base_url"), several="slack_client_id" in given
        )
    except ValueError as wrong:
        _fail(2, str(wrong))
    sys.stdout.write(json.dumps(slack_manifest.parsed(content)) if as_json else content)


@keys.command()
def generate() -> None:
    """Print a new encryption key."""
    typer.echo(Vault.generate_key().get_secret_value())


@keys.command()
def rotate() -> None:
    """Re-encrypt every stored secret with the first key of ENCRYPTION_KEYS."""
    settings = _load_or_fail(lambda: config.load_storage(with_keys=True))
    if path := missing_file(settings.database_url):
        _fail(2, f"DATABASE_URL: There's no database at {path}. Run this in the bot's directory.")

    async def rotate_all(database: Database) -> Rotation:
        progress = Rotation()
        encrypted_values = Store(database, Vault(settings.encryption_keys)).encrypted_values
        with translated_errors():
            count = await encrypted_values.count()
            async for progress in encrypted_values.rotate():
                _to_stderr(f"{progress.rewritten + progress.current + progress.unreadable} of {count}")
        return progress

    done = _on_migrated_database(settings.database_url, rotate_all)
    typer.echo(f"Re-encrypted {done.rewritten}. {done.current} already used the first key.")
    if done.unreadable:
        _fail(
            1,
            f"ENCRYPTION_KEYS: Can't decrypt {done.unreadable} with any of these keys. They weren't changed.",
        )


@database_commands.command()
def upgrade() -> None:
    """Migrate the database to this version."""
    settings = _load_or_fail(lambda: config.load_storage(with_keys=False))

    async def nothing_more(_: Database) -> None: ...

    _on_migrated_database(settings.database_url, nothing_more)
    typer.echo("The database is up to date.")


def _load_or_fail(load: Callable[[], T]) -> T:
    try:
        return load()
    except config.ConfigError as wrong:
        _fail(2, *wrong.problems)


def _on_migrated_database(url: str, work: Callable[[Database], Coroutine[Any, Any, T]]) -> T:
    """Migrate the database, listing the migrations, then return what `work` returns."""

    async def run() -> T:
        database = Database(url)
        try:
            await database.open(_to_stderr)
            return await work(database)
        finally:
            await database.close()

    try:
        return asyncio.run(run())
    except DatabaseUnavailableError as error:
        _fail(2, f"DATABASE_URL: Can't open the database: {error}.")


def _to_stderr(line: str) -> None:
    typer.echo(line, err=True)


def _fail(code: int, *lines: str) -> NoReturn:
    for line in lines:
        _to_stderr(line)
    raise typer.Exit(code) from None
