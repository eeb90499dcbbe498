"""Starts a real Redmine for the tests, from Debian's packages, with its own database.

It needs the packages `redmine redmine-sqlite puma`. Their bundle contains no web server, so our own Gemfile
adds puma. The packaged instance isn't touched: Debian's Redmine reads its instance's directory from
REDMINE_INSTANCE, relative to /var/lib/redmine, and that path may contain `..`.

ISSUEBOT_REDMINE_ROOT names the root of another Debian, such as one with a newer Redmine, which
`.ci/newer-redmine` makes.
"""

import json
import os
import secrets
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support.ports import free_port

PACKAGE = Path("/usr/share/redmine")
MACHINE = Path(os.environ.get("ISSUEBOT_REDMINE_ROOT", "/"))
ENTER = ("chroot", str(MACHINE)) if MACHINE.name else ()
APP = ("redmine.ru", "redmine_seed.rb", "seed.json")
KEY_HEADER = "X-Redmine-API-Key"
EACH = 6
START_SECONDS = 300.0
STOP_SECONDS = 10.0

GEMFILE = f"""\
eval_gemfile '{PACKAGE}/Gemfile'
gem 'puma'
gem 'sqlite3' unless dependencies.any? {{ |gem| gem.name == 'sqlite3' }}
"""
DATABASE = """\
production:
  adapter: sqlite3
  database: {path}
  timeout: 10000
"""


def missing() -> str | None:
    """Returns what must be installed to start a Redmine here, or None if nothing is missing."""
    absent = [name for name in ("bundle", "puma", "ruby") if not _under(MACHINE, "/usr/bin", name).exists()]
    if not _under(MACHINE, PACKAGE, "config.ru").is_file():
        absent.insert(0, str(PACKAGE))
    return f"a real Redmine needs {', '.join(absent)}" if absent else None


@contextmanager
def running(scratch: Path) -> Iterator[dict[str, Any]]:
    """Runs a Redmine whose files are all in `scratch`, or in a new directory of its machine that is removed
    afterwards; `redmine.ru` creates and seeds its database.

    Yields what `redmine_seed.rb` wrote, with `url` and `key_header`. Raises RuntimeError, with the end of the
    log, if Redmine doesn't start.
    """
    with _directory(scratch.resolve()) as data:
        _make_instance(data)
        port = free_port()
        url, bind = f"http://127.0.0.1:{port}", f"tcp://127.0.0.1:{port}"
        # One thread: while one waits for SQLite's lock, Ruby runs no other, so the lock's holder can't go on.
        serve = ("puma", "--bind", bind, "--threads", "1:1", str(_inside(data) / APP[0]))
        with _bundle_exec(data, _environment(_inside(data)), *serve) as server:
            _await_answer(server, url, data)
            yield {
                "url": url,
                "key_header": KEY_HEADER,
                "each": EACH,
                "database": str(data / "redmine.db"),
                **json.loads((data / "world.json").read_text()),
            }


def _under(root: Path, *parts: Path | str) -> Path:
    return root.joinpath(*(str(part).lstrip("/") for part in parts))


def _inside(path: Path) -> Path:
    """Returns the path as processes on Redmine's machine see it."""
    return Path("/") / path.relative_to(MACHINE)


@contextmanager
def _directory(scratch: Path) -> Iterator[Path]:
    if scratch.is_relative_to(MACHINE):
        yield scratch
        return
    with TemporaryDirectory(dir=MACHINE / "srv") as made:
        yield Path(made)


def _environment(data: Path) -> dict[str, str]:
    shifted = [name for name in os.environ if name.startswith("FAKETIME")]  # a clock set by libfaketime
    names = ("PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", *shifted)
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return kept | {
        "HOME": str(data),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        # Compiles, and collects garbage less often: together half of Redmine's CPU.
        "RUBY_YJIT_ENABLE": "1",
        "RUBY_GC_HEAP_INIT_SLOTS": "3000000",
        "RUBY_GC_MALLOC_LIMIT": "256000000",
        "RUBY_GC_MALLOC_LIMIT_MAX": "512000000",
        "RUBY_GC_OLDMALLOC_LIMIT": "512000000",
        "RAILS_ENV": "production",
        "REDMINE_INSTANCE": "../" * 8 + str(data).lstrip("/"),
        "BUNDLE_GEMFILE": str(data / "bundle/Gemfile"),
        "BUNDLE_APP_CONFIG": str(data / "bundle"),
        "BUNDLE_SILENCE_ROOT_WARNING": "1",
        "SCHEMA": "/dev/null",
        "ISSUEBOT_WORLD": str(data / "world.json"),
    }


def _make_instance(data: Path) -> None:
    for name in APP:
        shutil.copyfile(Path(__file__).with_name(name), data / name)
    for name in ("bundle", "config", "files", "log", "tmp"):
        (data / name).mkdir(parents=True, exist_ok=True)
    (data / "bundle/Gemfile").write_text(GEMFILE)
    installed = MACHINE / "var/lib/redmine/Gemfile.lock"  # which the package's own is a link to
    shutil.copyfile(installed, data / "bundle/Gemfile.lock")
    (data / "config/database.yml").write_text(DATABASE.format(path=_inside(data) / "redmine.db"))
    (data / "config/secret_key.txt").write_text(secrets.token_hex(32))


@contextmanager
def _bundle_exec(
    data: Path, environment: Mapping[str, str], *command: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Yields the running command; terminates it at the end of the block."""
    with (data / "output.log").open("ab") as log:
        process = subprocess.Popen(  # noqa: S603 - the arguments are ours
            [*ENTER, "env", "-C", str(PACKAGE), "bundle", "exec", *command],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await_answer(server: subprocess.Popen[bytes], url: str, data: Path) -> None:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"Redmine stopped at once:\n{_end_of_log(data)}")
        try:
            with direct.open(f"{url}/projects.json?limit=1", timeout=START_SECONDS) as answer:
                answer.read()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"Redmine answers {error.code}:\n{_end_of_log(data)}") from None
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"Redmine did not answer in {START_SECONDS:.0f} s:\n{_end_of_log(data)}")


def _end_of_log(data: Path) -> str:
    return (data / "output.log").read_text(errors="replace")[-8000:]
