"""Failures of requests to the service: the error raised, retries, and leaks."""

import asyncio
import socket
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
import stamina
from pydantic import SecretStr

from bot import errors
from bot.service.client import Client, Limits
from bot.service.filters import IssueFilters
from bot.service.inputs import NewIssue, TimeEntryChanges
from bot.timings import Timeouts
from tests.service.scripted import Reply, Service

USER = {"user": {"id": 1}}
STATUSES: dict[int, type[errors.ServiceError]] = {
    302: errors.Redirected,
    304: errors.Redirected,
    400: errors.Refused,
    401: errors.Unauthorized,
    403: errors.Forbidden,
    404: errors.NotFound,
    405: errors.NotFound,
    406: errors.Refused,
    409: errors.Refused,
    412: errors.Refused,
    413: errors.TooLarge,
    422: errors.Refused,
}
Act = Callable[[Client, SecretStr], Awaitable[object]]


async def read(client: Client, key: SecretStr) -> object:
    return await client.get_user(key)


async def create(client: Client, key: SecretStr) -> object:
    return await client.create_issue(key, NewIssue(project_id=1, subject="x"))


async def update(client: Client, key: SecretStr) -> None:
    await client.update_time_entry(key, 1, TimeEntryChanges(comments="x"))


@pytest.mark.parametrize("act", [read, create, update])
@pytest.mark.parametrize("status", STATUSES)
async def test_each_status_raises_its_error_without_retry(
    client: Client, service: Service, key: SecretStr, act: Act, status: int
) -> None:
    service.reply(b"<html>", status)

    with pytest.raises(errors.ServiceError) as caught:
        await act(client, key)

    assert type(caught.value) is STATUSES[status]
    assert (caught.value.method, caught.value.status) == (service.last.method, status)
    assert "/prefix" + caught.value.path == service.last.path
    assert len(service.asked) == 1


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"errors": ["Subject cannot be blank", " ", 3]}, ("Subject cannot be blank",)),
        ({"errors": []}, ()),
        ({"errors": "no"}, ("no",)),
        ({"error": "no"}, ("no",)),
        ({"errors": {"subject": ["is blank", "is short"]}}, ("subject is blank", "subject is short")),
        (["no"], ("no",)),
        ("no", ("no",)),
        (b"<html>", ()),
        (b"", ()),
        ({"errors": ["x" * 9000] * 90}, ("x" * 500,) * 20),
    ],
)
async def test_a_refusal_has_the_services_own_messages(
    client: Client, service: Service, key: SecretStr, body: object, expected: tuple[str, ...]
) -> None:
    service.reply(body, 422)

    with pytest.raises(errors.Refused) as caught:
        await create(client, key)

    assert caught.value.errors == expected


@pytest.mark.parametrize("act", [read, create, update])
async def test_a_redirect_never_receives_the_key(
    client: Client, service: Service, elsewhere: Service, key: SecretStr, act: Act
) -> None:
    for location in (f"{elsewhere.url}/users/current.json", "http://["):
        service.replies = [Reply(307, headers={"Location": location})]
        with pytest.raises(errors.Redirected):
            await act(client, key)

    assert elsewhere.asked == []


TEMPORARY = {
    **{str(status): Reply(status, b"<html>") for status in (502, 503, 504)},
    "429": Reply(429),
    "drop": Reply(fault="drop"),
    "cut": Reply(body={}, fault="cut"),
    "malformed": Reply(body=b'{"user": {"id": 1},,'),
}


@pytest.mark.parametrize("name", TEMPORARY)
async def test_a_read_is_tried_3_times(client: Client, service: Service, key: SecretStr, name: str) -> None:
    service.replies = [TEMPORARY[name], TEMPORARY[name], Reply(body=USER)]
    await read(client, key)
    assert len(service.asked) == 3

    service.replies = [TEMPORARY[name]]
    with pytest.raises(errors.ServiceError):
        await read(client, key)
    assert len(service.asked) == 6


UNUSABLE = {
    **{str(status): Reply(status, b"<html>") for status in (500, 502, 503, 504)},
    **{fault: Reply(body={}, fault=fault) for fault in ("drop", "cut", "hang")},
    "html": Reply(body=b"<html>Sign in</html>"),
    "array": Reply(body=b"[1]"),
}
NOT_CREATED: tuple[object, ...] = (b"", b"null", {"issue": {}}, {"issue": {"id": "x"}}, USER)
WITHOUT_ANSWER = [
    *((act, reply) for act in (create, update) for reply in UNUSABLE.values()),
    *((create, Reply(201, body)) for body in NOT_CREATED),
]


@pytest.mark.parametrize(("act", "reply"), WITHOUT_ANSWER)
async def test_a_write_without_a_usable_answer_has_unknown_outcome(
    client: Client, service: Service, key: SecretStr, act: Act, reply: Reply
) -> None:
    service.replies = [reply]

    with pytest.raises(errors.OutcomeUnknown):
        await act(client, key)

    assert len(service.asked) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b'{"issues": [',
        {},
        {"issues": [], "total_count": None},
        {"issues": 1, "total_count": 1},
        {"issues": [{}], "total_count": 1},
    ],
)
async def test_malformed_lists_fail(client: Client, service: Service, key: SecretStr, body: object) -> None:
    service.reply(body)

    with pytest.raises(errors.ServiceBroken) as caught:
        await client.list_issues(key, IssueFilters())

    assert caught.value.status == 200


async def test_an_answer_above_the_size_limit_is_an_error(service: Service, key: SecretStr) -> None:
    service.reply(b" " * 1001 + b'{"user": {"id": 1}}')

    async with Client(service.url, limits=Limits(answer=1000)) as client:
        with pytest.raises(errors.AnswerTooLarge):
            await read(client, key)
        with pytest.raises(errors.OutcomeUnknown, match="too large"):
            await create(client, key)
    assert len(service.asked) == 2


@pytest.mark.parametrize("fault", ["hang", "stall"])
@pytest.mark.parametrize("timeouts", [Timeouts(read=0.3), Timeouts(total=0.2)])
async def test_calls_have_a_timeout(service: Service, key: SecretStr, fault: str, timeouts: Timeouts) -> None:
    service.fault(fault)
    async with Client(service.url, timeout=timeouts) as client:
        with pytest.raises(errors.TimedOut):
            await read(client, key)
        with pytest.raises(errors.OutcomeUnknown):
            await create(client, key)

    assert len(service.asked) == 2


async def test_a_stalling_source_cancels_an_upload(client: Client, service: Service, key: SecretStr) -> None:
    service.reply(b"")

    async def stalling() -> AsyncIterator[bytes]:
        yield b"one"
        await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        await client.upload_file(key, stalling())


async def test_an_upload_is_canceled_if_the_service_stops_reading(key: SecretStr) -> None:
    asked: list[bytes] = []
    over, closed = asyncio.Event(), asyncio.Event()

    async def take_some(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readline())
        await over.wait()
        writer.close()
        closed.set()

    async with await asyncio.start_server(take_some, "127.0.0.1", limit=1024) as server:
        port = server.sockets[0].getsockname()[1]
        async with Client(f"http://127.0.0.1:{port}", timeout=Timeouts(read=0.3)) as client:
            with pytest.raises(errors.OutcomeUnknown):
                await asyncio.wait_for(upload(client, key), 10)
        over.set()
        await closed.wait()

    assert len(asked) == 1


async def test_a_short_retry_after_is_honored(client: Client, service: Service, key: SecretStr) -> None:
    service.reply(status=429, Retry_After="1")
    service.reply(USER)
    began = time.monotonic()

    with stamina.set_testing(False):
        await read(client, key)

    assert time.monotonic() - began >= 1


@pytest.mark.parametrize(
    ("asked", "expected"),
    [("120", 120), ("soon", None), ("inf", None), ("", None), (timedelta(0), 0), (timedelta(minutes=2), 120)],
    ids=str,
)
async def test_too_many_requests_has_the_requested_wait(
    client: Client, service: Service, key: SecretStr, asked: str | timedelta, expected: float | None
) -> None:
    date = format_datetime(datetime.now(UTC) + asked) if isinstance(asked, timedelta) else asked
    service.reply(status=429, Retry_After=date)
    acts = (create, read) if expected else (create,)  # a read doesn't wait that long either

    for act in acts:
        with pytest.raises(errors.TooManyRequests) as caught:
            await act(client, key)
        assert caught.value.retry_after == pytest.approx(expected, abs=3)
    assert len(service.asked) == len(acts)


async def upload(client: Client, key: SecretStr) -> object:
    return await client.upload_file(key, large_content())


async def large_content() -> AsyncIterator[bytes]:
    for _ in range(400):
        yield bytes(65_536)


@pytest.mark.parametrize("act", [read, create, update, upload])
async def test_a_failed_connection_is_retried_even_for_writes(key: SecretStr, act: Act) -> None:
    tries: list[int | None] = []
    async with Client(closed_address(), on_answer=lambda _, status, __: tries.append(status)) as client:
        with pytest.raises(errors.Unreachable):
            await act(client, key)

    assert tries == [None, None, None]


@pytest.mark.parametrize("bad", ["", "two\nlines", "two words", "schlüssel"])
async def test_an_invalid_key_is_never_sent(client: Client, service: Service, bad: str) -> None:
    with pytest.raises(errors.Unauthorized) as caught:
        await read(client, SecretStr(bad))

    assert service.asked == []
    assert "lines" not in printable(caught.value)


LEAKY = {
    **{fault: Reply(body={}, fault=fault) for fault in ("drop", "cut", "hang")},
    "html": Reply(body=b"<html>hush</html>"),
    "refused": Reply(422, b"hush"),
    "unreadable": Reply(body={"user": {"id": "hush"}, "issue": {"id": "hush"}}),
}


@pytest.mark.parametrize("fault", [*LEAKY, "nowhere"])
@pytest.mark.parametrize("act", [read, create])
async def test_no_error_contains_the_key_or_the_body(
    client: Client, service: Service, key: SecretStr, act: Act, fault: str
) -> None:
    service.replies = [LEAKY.get(fault, Reply())]
    where = Client(closed_address()) if fault == "nowhere" else client

    with pytest.raises(errors.ServiceError) as caught:
        await act(where, key)

    text = printable(caught.value)
    assert key.get_secret_value() not in text
    assert "hush" not in text
    await where.aclose()


def printable(error: BaseException) -> str:
    """Return everything a log could print about an error, including causes, contexts, and headers."""
    parts: list[str] = []
    cause: BaseException | None = error
    while cause is not None:
        parts += [repr(cause), str(cause), repr(vars(cause)), "".join(traceback.format_exception(cause))]
        request = getattr(cause, "_request", None)
        parts.append(repr(getattr(request, "headers", "")))
        cause = cause.__cause__ or cause.__context__
    return "\n".join(parts)


def closed_address() -> str:
    """Return an address where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"
