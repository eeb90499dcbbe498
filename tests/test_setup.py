"""`issuebot setup` in a terminal, with piped answers, and without any."""

import asyncio
import os
import re
import stat
import sys
import tempfile
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web
from typer.testing import CliRunner

from bot.cli import program
from bot.store.vault import Vault
from tests.support.office import Office
from tests.support.people import BARE
from tests.support.serving import serving

SECONDS = 60
ROOT = Path(__file__).parents[1]
IN_TERMINAL = (
    "import pty, signal, sys;"
    "signal.signal(signal.SIGINT, signal.SIG_DFL);"  # a background job's children ignore it
    "sys.exit(pty.spawn(sys.argv[1:]) >> 8)"
)
NOWHERE = "http://127.0.0.1:1"
GIVEN = ("--slack-bot-token", "xoxb-1-s3cret", "--slack-app-token", "xapp-1-s3cret", "--no-input")
URL, HEADER, NAME, BOT, APP = (
    "tracker's URL",
    "carries a user's API key",
    "call the tracker",
    "xoxb-",
    "xapp-",
)


def environment(directory: Path) -> dict[str, str]:
    fixed = {"PYTHONPATH": str(ROOT), "SLACK_API_URL": f"{NOWHERE}/api/", "TMPDIR": str(directory.parent)}
    return BARE | fixed


async def in_terminal(directory: Path) -> "Terminal":
    return Terminal(
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", IN_TERMINAL, sys.executable, "-m", "bot", "setup"),
            cwd=directory,
            env=environment(directory),
            stdin=PIPE,
            stdout=PIPE,
            stderr=STDOUT,
        )
    )


async def piped(
    directory: Path, *lines: str, options: tuple[str, ...] = (), **variables: str
) -> tuple[int, str]:
    """The exit code and the output after these lines of input and its end, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        patch.setattr(os, "environ", environment(directory) | variables)
        patch.setattr(tempfile, "tempdir", None)  # else it stays what it was when it was first asked for
        typed, arguments = "".join(f"{line}\n" for line in lines), ["setup", *options]
        ended = await asyncio.to_thread(CliRunner().invoke, program, arguments, typed, prog_name="issuebot")
    return ended.exit_code, ended.output


@dataclass
class Terminal:
    """Setup in a terminal."""

    process: Process
    printed: str = field(default="", init=False)

    async def after(self, prompt: str, answer: str) -> None:
        """Type an answer as soon as this is printed, since the last one."""
        begin = len(self.printed)
        assert self.process.stdin
        while prompt not in self.printed[begin:] or not self.printed.endswith(": "):
            await self._read()
        self.process.stdin.write(answer.encode())
        await self.process.stdin.drain()

    async def ended(self) -> int:
        async with asyncio.timeout(SECONDS):
            while await self._read():
                pass
        return await self.process.wait()

    async def _read(self) -> bool:
        assert self.process.stdout
        async with asyncio.timeout(SECONDS):
            more = await self.process.stdout.read(10_000)
        self.printed += more.decode().replace("\r\n", "\n")
        return bool(more)


@pytest.fixture
async def redmine() -> AsyncIterator[str]:
    """A service that asks for a key as Redmine does."""

    async def unauthorized(_request: web.Request) -> web.Response:
        return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="Redmine API"'})

    application = web.Application()
    application.router.add_get("/redmine/{path:.*}", unauthorized)
    async with serving(application) as url:
        yield f"{url}/redmine"


def contents(directory: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in directory.iterdir()}


def written(directory: Path) -> dict[str, str]:
    lines = (directory / ".env").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines)


async def test_it_asks_in_order_and_shows_no_token(tmp_path: Path, redmine: str) -> None:
    terminal = await in_terminal(tmp_path)

    await terminal.after(URL, f"{redmine}\n")
    await terminal.after(HEADER, "\n")
    await terminal.after(NAME, "\n")
    await terminal.after(BOT, "xoxp-s3cret\n")
    await terminal.after("Must start with xoxb-", "xoxb-1-s3cret\n")
    await terminal.after(APP, "xapp-1-s3cret\n")

    assert await terminal.ended() == 1
    assert "[X-Redmine-API-Key]" in terminal.printed
    assert "[Redmine]" in terminal.printed
    assert "https://api.slack.com/apps?new_app=1&manifest_json=%7B" in terminal.printed
    assert "error SLACK_BOT_TOKEN: Can't reach Slack" in terminal.printed
    assert "ok    SERVICE_API_KEY_HEADER: Keys are sent in X-Redmine-API-Key." in terminal.printed
    settings = written(tmp_path)
    key = settings.pop("ENCRYPTION_KEYS")
    assert settings == {
        "SERVICE_BASE_URL": redmine,
        "SERVICE_API_KEY_HEADER": "X-Redmine-API-Key",
        "SERVICE_NAME": "Redmine",
        "SLACK_BOT_TOKEN": "xoxb-1-s3cret",
        "SLACK_APP_TOKEN": "xapp-1-s3cret",
    }
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    assert key not in terminal.printed
    assert "s3cret" not in terminal.printed


async def test_piped_answers_set_up_a_bot_that_passes_its_check(office: Office, tmp_path: Path) -> None:
    workspace = office.workspace
    answers = (office.tracker.url, "", "Our #1 tracker", workspace.bot_token, workspace.app_token)
    (tmp_path / "new").mkdir()

    code, printed = await piped(tmp_path / "new", *answers, SLACK_API_URL=workspace.api_url)

    assert code == 0, printed
    assert "ok    SLACK_BOT_TOKEN" in printed
    assert "ok    SERVICE_BASE_URL" in printed
    assert written(tmp_path / "new")["SERVICE_NAME"] == "'Our #1 tracker'"


async def test_a_script_learns_which_answers_are_missing(tmp_path: Path, redmine: str) -> None:
    code, printed = await piped(tmp_path, options=("--no-input", "--slack-bot-token", "xoxb-1-s3cret"))

    assert (code, contents(tmp_path)) == (2, {})
    assert [line.partition(":")[0] for line in printed.splitlines()] == ["--tracker", "--slack-app-token"]

    code, printed = await piped(tmp_path, options=("--tracker", redmine, *GIVEN))
    before = (tmp_path / ".env").read_bytes()

    assert (code, written(tmp_path)["SERVICE_NAME"]) == (1, "Redmine")
    assert "s3cret" not in printed
    await piped(tmp_path, options=("--no-input",))
    code, printed = await piped(tmp_path, options=("--no-input", "--slack-bot-token", "xoxb-2-s3cret"))
    assert (code, (tmp_path / ".env").read_bytes()) == (2, before)
    assert "\nSLACK_BOT_TOKEN: .env has another value." in printed


EXISTING = f"""# Ours\u2028SERVICE_NAME=Theirs
PORT=4000
SERVICE_BASE_URL="{NOWHERE}"  # soon another
ENCRYPTION_KEYS={Vault.generate_key().get_secret_value()}
SLACK_BOT_TOKEN=xoxb-1-s3cret
export SLACK_APP_TOKEN=xapp-1-s3cret
"""


async def test_values_in_the_file_are_replaced_only_by_agreement(tmp_path: Path, redmine: str) -> None:
    file = tmp_path / ".env"
    file.write_text(EXISTING, encoding="utf-8")

    _, printed = await piped(tmp_path, "", "y", "", "", "", "")

    assert file.read_text(encoding="utf-8") == EXISTING
    assert f"[{NOWHERE}]" in printed
    assert "manifest" not in printed
    assert "s3cret" not in printed

    await piped(tmp_path, redmine, "", "", "xoxb-2-s3cret", "", "y", "n")

    added = "SERVICE_API_KEY_HEADER=X-Redmine-API-Key\nSERVICE_NAME=Redmine\n"
    replaced = re.sub("SERVICE_BASE_URL=.*", f"SERVICE_BASE_URL={redmine}", EXISTING)
    assert file.read_text(encoding="utf-8") == replaced + added


@pytest.mark.parametrize("existing", ["", EXISTING], ids=["no file", "a file"])
async def test_a_setup_that_is_cut_off_changes_nothing(tmp_path: Path, redmine: str, existing: str) -> None:
    if existing:
        (tmp_path / ".env").write_text(existing, encoding="utf-8")
    before = contents(tmp_path)

    code, printed = await piped(tmp_path, redmine, "", "", "xoxb-2-s3cret")
    assert (code, printed.endswith("\nStopped. .env is unchanged.\n")) == (1, True)

    terminal = await in_terminal(tmp_path)
    await terminal.after(URL, f"{redmine}\n")
    await terminal.after(HEADER, "\n")
    await terminal.after(NAME, "\n")
    await terminal.after(BOT, "\x03")

    assert await terminal.ended() == 1
    assert terminal.printed.endswith("Stopped. .env is unchanged.\n")
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--tracker", "tracker.example.com", *GIVEN), "SERVICE_BASE_URL: Must be a URL that starts with"),
        (("--tracker", NOWHERE, *GIVEN), "SERVICE_BASE_URL: The tracker doesn't respond. Check the host"),
        (
            ("--slack-bot-token", "s3cret", "--tracker", "REDMINE", *GIVEN[2:]),
            "SLACK_BOT_TOKEN: Must start with",
        ),
    ],
)
async def test_a_wrong_answer_is_one_sentence(
    tmp_path: Path, redmine: str, options: tuple[str, ...], sentence: str
) -> None:
    code, printed = await piped(tmp_path, options=tuple(each.replace("REDMINE", redmine) for each in options))

    assert (code, contents(tmp_path)) == (2, {})
    assert printed.splitlines()[-1].startswith(sentence)
    assert "s3cret" not in printed


async def test_a_file_that_cannot_be_read_or_written_is_one_sentence(tmp_path: Path, redmine: str) -> None:
    options = ("--tracker", redmine, *GIVEN)
    (tmp_path / ".env").symlink_to(tmp_path / "nowhere" / ".env")

    code, printed = await piped(tmp_path, options=options)

    assert (code, printed.count("\n")) == (2, 1)
    assert re.match(r"Can't write .*nowhere/\.env: No such file or directory\. Run this as", printed)
    (tmp_path / ".env").unlink()
    (tmp_path / ".env").mkdir()
    assert await piped(tmp_path, options=options) == (
        2,
        "Can't read .env: Is a directory. Fix that, then try again.\n",
    )


async def test_a_link_that_would_be_too_long_gives_way_to_the_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"COMMAND_PREFIX={'x' * 20}\n", encoding="utf-8")

    answers = (f"http://{'a.' * 600}invalid", "y", "", "")
    _, printed = await piped(tmp_path, *answers, TMPDIR=str(tmp_path))

    [name] = re.findall(
        r"open https://api\.slack\.com/apps\?new_app=1, .* the content of (\S+\.yml)\.", printed
    )
    assert b"/xxxxxxxxxxxxxxxxxxxxissue" in contents(tmp_path)[Path(name).name]
    assert "manifest_json" not in printed
