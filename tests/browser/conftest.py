"""A sandbox of its own for every test, and people who use its page with the system's Chromium.

Everything goes through what a person sees and presses: roles, labels and text, never ids or classes. Chromium
is started once, so all of it runs in the session's event loop; each visitor has a window of their own.
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
from bot.config import Settings
from tests.browser.visitor import Arrive, Visitor, visiting

PATIENCE = 60_000
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
ENVIRONMENT = {name: value for name, value in os.environ.items() if name.lower() not in Settings.model_fields}

expect.set_options(timeout=PATIENCE)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """Skips where Chromium is not installed, unless ISSUEBOT_REQUIRE names `browser`: then that fails."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    absent = "Chromium is not installed (Debian: apt install chromium)"
    if not program and "browser" in os.environ.get("ISSUEBOT_REQUIRE", "").split(","):
        pytest.fail(absent)
    if not program:
        pytest.skip(absent)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=SWITCHES)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def command(tmp_path: Path) -> AsyncIterator[str]:
    """The page's address, printed by `issuebot sandbox` in a process of its own, which must end cleanly."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "sandbox", "--no-browser", "--port", "0", "--service-port", "0"),
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        _, complaints = await process.communicate()
    assert (process.returncode, complaints) == (0, b"")


@pytest_asyncio.fixture(loop_scope="session")
async def sandbox() -> AsyncIterator[Sandbox]:
    """What `issuebot sandbox` runs, within reach of the test."""
    sandbox = Sandbox(port=0, service_port=0)
    await sandbox.start()
    yield sandbox
    await sandbox.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def arrive(chromium: Browser) -> AsyncIterator[Arrive]:
    """Opens a page for somebody; in the end no page may have complained, nor a rule of Slack's be broken."""
    async with AsyncExitStack() as pages:

        async def opens(address: str, name: str) -> Visitor:
            return await pages.enter_async_context(visiting(chromium, address, name, PATIENCE))

        yield opens


@pytest_asyncio.fixture(loop_scope="session")
async def ana(sandbox: Sandbox, arrive: Arrive) -> Visitor:
    """Ana, a developer, whose account is linked when the sandbox starts, and who leaves before it stops."""
    return await arrive(sandbox.url, "Ana Ruiz")
