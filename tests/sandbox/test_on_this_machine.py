"""The sandbox stays on loopback and ignores a real workspace's settings."""

import asyncio
import signal
import socket
import struct
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from aiohttp import web

from bot.sandbox.loopback import Listener
from bot.sandbox.tracker.server import Tracker
from tests.support.people import BARE

PROC = Path("/proc")
PROXIES = [f"{scheme}_{end}" for scheme in ("HTTP", "HTTPS", "ALL") for end in ("PROXY", "proxy")]
REAL = "xoxb-2847562938475-2847562938476-a1B2c3D4e5F6g7H8i9J0k1L2"


def address(text: str) -> IPv4Address | IPv6Address:
    """Return an address from /proc/net: hex, in 32-bit words of this machine's byte order."""
    words = bytes.fromhex(text)
    swapped = b"".join(struct.pack("=I", word) for word in struct.unpack(f">{len(words) // 4}I", words))
    ip = ip_address(swapped)
    return (ip.ipv4_mapped or ip) if isinstance(ip, IPv6Address) else ip


def socket_addresses(pid: int) -> Iterator[tuple[IPv4Address | IPv6Address, IPv4Address | IPv6Address]]:
    """Yield both addresses of each of a process's TCP sockets; a listener's remote one is 0.0.0.0."""
    own = set()
    for fd in (PROC / str(pid) / "fd").iterdir():
        with suppress(FileNotFoundError):  # closed in the meantime
            own.add(str(fd.readlink()).removeprefix("socket:[").removesuffix("]"))
    for table in ("tcp", "tcp6"):
        for line in (PROC / str(pid) / "net" / table).read_text().splitlines()[1:]:
            _, here, there, *rest = line.split()
            if rest[6] in own:
                yield address(here.partition(":")[0]), address(there.partition(":")[0])


@pytest.fixture
async def decoy_server() -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server the sandbox must not contact, and the requests it received."""
    received: list[bytes] = []

    async def record(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.read(1000))
        writer.close()

    server = await asyncio.start_server(record, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", received
    server.close()


@pytest.mark.skipif(not (PROC / "net/tcp").exists(), reason="needs Linux: it looks at the process's sockets")
async def test_sandbox_connects_nowhere_else(decoy_server: tuple[str, list[bytes]], tmp_path: Path) -> None:
    elsewhere, received = decoy_server
    variables = {
        **dict.fromkeys(PROXIES, elsewhere),
        **dict.fromkeys(("SLACK_BOT_TOKEN", "SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"), REAL),
        "SLACK_APP_TOKEN": REAL.replace("xoxb", "xapp"),
        "SLACK_SIGNING_SECRET": "8f742231b10e8888abcd99yyyzzz85a5",
        "SLACK_API_URL": f"{elsewhere}/api/",
        "SERVICE_BASE_URL": elsewhere,
        "DATABASE_URL": f"sqlite:///{tmp_path}/real.db",
        "ENCRYPTION_KEYS": "no key",
        "HOST": str(IPv4Address(0)),
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "sandbox", "--port", "0", "--service-port", "0", "--no-browser"),
        cwd=tmp_path,
        env=BARE | variables | {"PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    page = (await asyncio.wait_for(process.stdout.readline(), 30)).decode().strip()
    async with aiohttp.ClientSession() as session:
        async with session.get(page) as answer:
            assert "<html" in await answer.text()
        async with session.get(f"{page}page/state") as answer:
            assert (await answer.json())["app"]["connected"]

    sockets = list(socket_addresses(process.pid))
    process.send_signal(signal.SIGINT)
    _, logged = await asyncio.wait_for(process.communicate(), 20)

    assert len(sockets) >= 3
    assert [here for here, _ in sockets if not here.is_loopback] == []
    assert [there for _, there in sockets if not (there.is_loopback or there.is_unspecified)] == []
    assert received == []
    assert (process.returncode, logged) == (0, b"")
    assert not (tmp_path / "real.db").exists()


async def test_reference_service_is_on_loopback_and_rejects_foreign_hosts_and_sites() -> None:
    with pytest.raises(ValueError, match="loopback"):
        await Tracker().start(str(IPv4Address(0)))
    tracker = Tracker()
    await tracker.start()
    port = tracker.url.rpartition(":")[2]
    names = {"127.0.0.1": 200, "localhost": 200, "evil.example": 403, "127.0.0.1.evil.example": 403, "[": 403}

    async with aiohttp.ClientSession() as session:
        for name, status in names.items():
            headers = {"Host": f"{name}:{port}"}
            async with session.get(f"{tracker.url}/projects.json", headers=headers) as answer:
                assert answer.status == status
        for site, status in {"https://evil.example": 403, "null": 403, tracker.url: 404}.items():
            async with session.post(f"{tracker.url}/issues/1", headers={"Origin": site}) as answer:
                assert answer.status == status

    await tracker.stop()


async def test_a_stopped_server_leaves_no_connection_open() -> None:
    for turns in range(6):  # of the event loop, between connecting and stopping
        listener = Listener()
        url = urlsplit(await listener.start(web.Application(), "127.0.0.1", 0))
        with socket.create_connection((url.hostname, url.port), timeout=5) as client:
            for _ in range(turns):
                await asyncio.sleep(0)
            await listener.stop()
            with suppress(ConnectionResetError):
                assert client.recv(1) == b""
