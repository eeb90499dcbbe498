"""Fixtures for browser tests: a sandbox per module, and visitors who use its page in Chromium.

Tests act on what a user sees: roles, labels and text, never IDs or classes. Chromium starts once, so all
tests run in the session's event loop; each visitor has a separate browser context. The tests of a module
share its sandbox, so each uses words of its own.
"""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

from bot.app_sandbox import Sandbox
from tests.browser.visitor import OpenPage, Visitor, visiting
from tests.support.people import BARE

TIMEOUT_MS = 60_000
CHROMIUM_ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

expect.set_options(timeout=TIMEOUT_MS)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """Skip if Chromium isn't installed; fail instead if ISSUEBOT_REQUIRE names `browser`."""
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    missing = "Chromium is not installed (Debian: apt install chromium)"
    if not executable and "browser" in os.environ.get("ISSUEBOT_REQUIRE", "").split(","):
        pytest.fail(missing)
    if not executable:
        pytest.skip(reason=missing)
    async with async_playwright() as playwright:
        own_clock: dict[str, str | float | bool] = {  # as in SHIFTED
            name: value for name, value in os.environ.items() if name != "LD_PRELOAD"
        }
        browser = await playwright.chromium.launch(
            executable_path=executable, args=CHROMIUM_ARGS, env=own_clock
        )
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def sandbox_url(tmp_path: Path) -> AsyncIterator[str]:
    """The page's address, printed by an `issuebot sandbox` process that must exit cleanly."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "sandbox", "--no-browser", "--port", "0", "--service-port", "0"),
        cwd=tmp_path,
        env=BARE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        _, stderr = await process.communicate()
    assert (process.returncode, stderr) == (0, b"")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def sandbox() -> AsyncIterator[Sandbox]:
    """A running sandbox in this process, for tests that need its internals."""
    sandbox = Sandbox(port=0, service_port=0)
    await sandbox.start()
    yield sandbox
    await sandbox.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(chromium: Browser) -> AsyncIterator[OpenPage]:
    """Opens a page as a user; at teardown, fails on page errors and broken Slack rules."""
    async with AsyncExitStack() as pages:

        async def open_as(address: str, name: str) -> Visitor:
            return await pages.enter_async_context(visiting(chromium, address, name, TIMEOUT_MS))

        yield open_as


@pytest_asyncio.fixture(loop_scope="session")
async def ana(sandbox: Sandbox, open_page: OpenPage) -> Visitor:
    """Ana, a developer whose account is linked at startup; her page closes before the sandbox stops."""
    return await open_page(sandbox.url, "Ana Ruiz")
