"""Clients other than Slack get no answer and no information, block nothing, and leave nothing in the logs."""

import asyncio
import gzip
import io
import json
import time
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from bot.sandbox.workspace.http import signature
from bot.slack.incoming.http import BODY_LIMIT
from bot.timings import Delays
from tests.hostile.sending import FORM, Answer, post, raw, signed
from tests.support.office import TEAM, Office
from tests.support.person import Person

CANARY = "kanarienvogel-2fd1"
REFUSED = range(400, 500)
ASKED = {"command": "/issue", "text": f"new project:webshop {CANARY}", "trigger_id": "1.1.x"}
ASKED |= {"team_id": TEAM, "user_id": "U0ANA0001", "channel_id": "C0WEBSHOP01"}
BODY = urlencode(ASKED).encode()
START = "POST /slack/events HTTP/1.1\r\nHost: b\r\nConnection: close\r\n"


@pytest.fixture(autouse=True)
async def nothing_happens(office: Office, logged: io.StringIO) -> AsyncIterator[None]:
    """Asserts that the block changes, logs and breaks nothing, and that the bot still works."""
    issues = len(office.tracker.data.issues)
    yield
    assert "Ana Ruiz" in (await Person(office, "U0ANA0001").ask("/tracker whoami"))["text"]
    assert len(office.tracker.data.issues) == issues
    assert "Traceback" not in logged.getvalue()
    assert CANARY not in logged.getvalue()


def forgeries(office: Office) -> list[dict[str, str]]:
    """Returns headers that Slack never made for the body."""
    secret = office.workspace.signing_secret
    good = signed(office, BODY)
    timestamp, made = good["X-Slack-Request-Timestamp"], good["X-Slack-Signature"]
    wrong = (
        *(f"v1{made[2:]}", made[3:], f"v0={made[3:].upper()}", made[:-1], f"{made}0", f"{made},{made}", ""),
        *("v0=" + "0" * 64, "v0=é", signature("another", timestamp, BODY), signature("", timestamp, BODY)),
        signature(secret, timestamp, BODY + b"&more=1"),
    )
    odd = (
        *("", "soon", "-1", "0", f"-{timestamp}", f"+{timestamp}", f"{timestamp}.0", f"{timestamp}e0"),
        *(f"0x{int(timestamp):x}", f"{timestamp} {timestamp}", f"{timestamp},{timestamp}", "9" * 400),
        *("nan", "inf", "1_795_000_000", "".join(chr(0x0660 + int(digit)) for digit in timestamp)),
        *(f"{timestamp}\t0", f"{timestamp[:5]} {timestamp[5:]}", str(2**63), "0" * 100),
        *(str(int(time.time()) - 302), str(int(time.time()) + 303)),
    )
    stamped = [(timestamp, forged) for forged in wrong] + [(at, signature(secret, at, BODY)) for at in odd]
    forged = [{"X-Slack-Request-Timestamp": at, "X-Slack-Signature": made} for at, made in stamped]
    return [{}, {"X-Slack-Request-Timestamp": timestamp}, {"X-Slack-Signature": made}, *forged]


async def test_requests_without_a_fresh_slack_signature_are_rejected(office: Office) -> None:
    for headers in forgeries(office):
        assert await post(office, BODY, {"Content-Type": FORM} | headers) == Answer(401, ""), headers


@pytest.mark.parametrize("header", ["X-Slack-Request-Timestamp", "X-Slack-Signature"])
async def test_duplicate_headers_do_not_bypass_verification(office: Office, header: str) -> None:
    good = signed(office, BODY)
    lines = [f"{name}: {value}" for name, value in good.items()]
    forged = f"{header}: {good[header][:-1]}{'1' if good[header][-1] == '0' else '0'}"
    length = f"Content-Length: {len(BODY)}"
    head = "\r\n".join([START.strip(), length, forged, *lines])

    answer = await raw(office, head.encode() + b"\r\n\r\n" + BODY)

    assert answer.startswith(b"HTTP/1.1 401 ")


async def test_body_and_query_cannot_bypass_verification(office: Office) -> None:
    check = json.dumps({"ssl_check": "1", "type": "block_actions"})
    part = '--x\r\nContent-Disposition: form-data; name="ssl_check"\r\n\r\n1\r\n--x--'
    attempts = [
        ("", FORM, f"ssl_check=1&{BODY.decode()}"),
        ("", FORM, "ssl_check=1&token=x"),
        ("?ssl_check=1", FORM, BODY.decode()),
        ("?ssl_check=1", "application/json", json.dumps(ASKED)),
        ("", "application/json", json.dumps(ASKED | {"ssl_check": 1})),
        ("", FORM, f"payload={check}"),
        ("", "text/plain", "ssl_check=1"),
        ("", "multipart/form-data; boundary=x", part),
        ("", "application/json", json.dumps({"type": "url_verification", "challenge": CANARY})),
    ]

    for query, content_type, body in attempts:
        answer = await post(office, body.encode(), {"Content-Type": content_type}, query)
        assert answer == Answer(401, ""), (query, content_type, body)


async def test_only_one_path_accepts_requests(office: Office) -> None:
    methods = ("GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "XYZZY")
    attempts = [
        *(f"POST /slack/events{more}" for more in ("/", "//", "%2f", "/..", ";x", "/%00")),
        *(f"POST {more}slack/events" for more in ("//", "/./", "/x/../", "/%2e%2e/")),
        *(f"POST {path}" for path in ("/", "/slack", "/SLACK/EVENTS", "/healthz", "/readyz", "/metrics")),
        *(f"{method} /slack/events" for method in methods),
        "POST http://elsewhere.example/slack/other",
    ]
    good = "".join(f"{name}: {value}\r\n" for name, value in signed(office, BODY).items())
    rest = f" HTTP/1.1\r\nHost: bot\r\nConnection: close\r\nContent-Length: {len(BODY)}\r\n{good}\r\n"

    for start in attempts:
        answer = await raw(office, start.encode() + rest.encode() + BODY)
        assert int(answer[9:12]) in REFUSED, start


async def test_malformed_http_is_rejected(office: Office) -> None:
    start = START.encode()
    attempts = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 400,
        b"POST /slack/events HTTP/9.9\r\n\r\n" + BODY,
        BODY + b"\r\n\r\n",
        start + b"Content-Length: -1\r\n\r\n" + BODY,
        start + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n" + BODY,
        start + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + BODY,
        start + b"Transfer-Encoding: chunked\r\n\r\n" + BODY,
        start + CANARY.encode() + b"\x00\r\n\r\n",
        start + b"X: y\r\n" * 500 + b"\r\n",
        start + b"X-Long: " + b"x" * 100_000 + b"\r\n\r\n",
        b"POST /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n",
    ]

    for attempt in attempts:
        answer = await raw(office, attempt)
        assert not answer or int(answer[9:12]) in REFUSED, (attempt[:200], answer)


async def test_a_decompression_bomb_and_a_wrong_encoding_are_rejected(office: Office) -> None:
    content = b"x" * (16 * BODY_LIMIT)
    headers = signed(office, content)

    for encoding, body in (("gzip", gzip.compress(content)), ("deflate", zlib.compress(content))):
        assert (await post(office, body, headers | {"Content-Encoding": encoding})).status == 413
    for encoding in ("gzip", "deflate", "br", "zstd", "nonsense"):
        headers = signed(office, BODY + b"!") | {"Content-Encoding": encoding, "Connection": "close"}
        assert (await post(office, BODY, headers)).status in REFUSED, encoding


async def test_an_endless_body_is_rejected_at_the_limit(office: Office) -> None:
    head = START.encode() + b"Transfer-Encoding: chunked\r\n\r\n"
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"

    answer = await raw(office, head, *([chunk] * (BODY_LIMIT // 0x10000 + 2)), b"0\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 413 ") or not answer


async def test_slow_clients_are_dropped_without_blocking_others(tmp_path: Path, logged: io.StringIO) -> None:
    delays = Delays(body=0.2, idle=0.2, linger=0.2)
    (tmp_path / "slow").mkdir()
    patient = Office(tmp_path / "slow", "http", delays=delays)
    head = START.encode()

    async with patient.opened("ana"):
        slow = asyncio.gather(
            *(raw(patient) for _ in range(20)),
            *(raw(patient, head) for _ in range(20)),
            *(raw(patient, head, b"X-A: b\r\n", b"X-A: b\r\n", b"X-A: b\r\n", pause=0.1) for _ in range(20)),
            *(raw(patient, head + b"Content-Length: 9\r\n\r\n123") for _ in range(20)),
        )
        reply = await Person(patient, "U0ANA0001").ask("/tracker whoami")
        answers = await slow

    assert "Ana Ruiz" in reply["text"]
    assert set(answers[:60]) == {b""}
    assert all(answer.startswith(b"HTTP/1.1 408 ") for answer in answers[60:])
    assert "Traceback" not in logged.getvalue()


@pytest.mark.parametrize("name", ["/issue", "/issues", "/timelog", "/digest", "/tracker"])
async def test_an_overlong_command_is_rejected_unparsed(ana: Person, name: str) -> None:
    answer = await ana.ask(f"{name} attach{' ' * 40_000}x")

    assert answer["text"].startswith("Your command has 40,007 characters, and the limit is 8,000.")
    assert "Shorten it, and attach the rest as a file." in answer["text"]
