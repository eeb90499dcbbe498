"""Logs with secrets struck out, and metrics.

A log line is `structlog.get_logger().info("what happened", action="stable.name", …)`: `action` never changes,
the words may. `structlog.contextvars.bind_contextvars` adds the reference, team and user to all that follows.
"""

import io
import logging
import re
import secrets
import sys
import textwrap
from collections.abc import Iterable
from datetime import timedelta
from http import HTTPStatus
from importlib.metadata import version
from types import TracebackType
from typing import Literal, TextIO

import stamina.instrumentation
import structlog
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    Info,
    PlatformCollector,
    ProcessCollector,
)
from pydantic import SecretStr
from structlog.typing import EventDict, Processor, WrappedLogger

STRUCK_OUT = "[struck out]"

log = structlog.get_logger(__name__)

REGISTRY = CollectorRegistry()
COMMANDS = Counter(
    "issuebot_commands", "What people asked for, by what came of it", ["name", "outcome"], registry=REGISTRY
)
ACK_SECONDS = Histogram(
    "issuebot_ack_seconds",
    "Time to the acknowledgement, of which Slack allows 3 s",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5),
    registry=REGISTRY,
)
COMPLETION_SECONDS = Histogram(
    "issuebot_completion_seconds",
    "Time until the person has the answer",
    ["name"],
    buckets=(0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60),
    registry=REGISTRY,
)
SERVICE_REQUESTS = Counter(
    "issuebot_service_requests", "Requests to the service", ["operation", "status"], registry=REGISTRY
)
SERVICE_SECONDS = Histogram(
    "issuebot_service_seconds", "Time for a request to the service", ["operation"], registry=REGISTRY
)
TASKS_IN_FLIGHT = Gauge(
    "issuebot_tasks_in_flight", "Work that is acknowledged and going on", registry=REGISTRY
)
DIGEST_RUNS = Counter(
    "issuebot_digest_runs", "Digests' due times, by what came of them", ["state"], registry=REGISTRY
)
DIGEST_LAG_SECONDS = Histogram(
    "issuebot_digest_lag_seconds",
    "Time from a due time to its digest",
    buckets=(1, 5, 10, 30, 60, 120, 300, 900, 3600, 86_400),
    registry=REGISTRY,
)
DIGESTS_WAITING = Gauge(
    "issuebot_digests_waiting", "Digests that wait for their turn to be posted", registry=REGISTRY
)
for _collector in (GCCollector, PlatformCollector, ProcessCollector):
    _collector(registry=REGISTRY)
BUILD = Info("issuebot_build", "What is running", registry=REGISTRY)
BUILD.info({"version": version("issuebot")})

# What libraries log below warnings holds bodies, addresses with tickets, statements with values, or nothing.
QUIET = (
    "slack_sdk",
    "slack_bolt",
    "aiohttp.access",
    "httpcore",
    "httpx",
    "asyncio",
    "alembic",
    "apscheduler",
)
TROUBLE = {HTTPStatus.TOO_MANY_REQUESTS, *range(500, 600)}
"""What a service answers that is in no state to answer."""
LONGEST_VALUE = 10_000
"""How many characters of a value, or of a traceback, are logged."""
SHORTEST_SECRET = 8  # striking out anything shorter would leave holes in ordinary words

_SECRETS = tuple(
    re.compile(pattern)
    for pattern in (
        r"x(?:app|ox[a-z](?:\.xox[a-z])?)-[\w-]+",  # Slack's tokens
        r"(?<![0-9A-Za-z])[0-9a-f]{40}(?![0-9A-Za-z])",  # a key of the service
        r"gAAAA[\w-]{20,}={0,2}",  # something encrypted
        r"(?<![\w-])[\w-]{43}=",  # an encryption key
    )
)
"""Apart from each other, as patterns that begin with a letter are found many times faster so."""
_LED_TO = tuple(
    re.compile(pattern)
    for pattern in (
        r"((?i:X-[\w-]{0,60}API-Key)\b\\?['\"]?\s*[:=,]\s*b?\\?['\"]?)[^\s'\",}\])\\]+",
        r"(with code: )[^\s'\"]+",  # an installation's, as Bolt logs it
        r"(ticket=)[^&\s'\"\\]+",  # Socket Mode's address
        r"(/(?:commands|actions|app|workflows)/)[TE][0-9A-Z]+/[^\s'\"\\]+",  # whoever has it can post
        r"(://)[^/\s:@]{0,255}:[^/\s@]{1,255}(?=@)",  # user and password in an address
    )
)
"""Secrets that are known by what stands before them, which stays."""
_BREAKING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""What would begin another line, or tell a terminal what to do."""
_BREAKING_BUT_LINES = re.compile(rf"(?!\n){_BREAKING.pattern}")


def service_answered(operation: str, status: int | None, seconds: float) -> None:
    """Counts a request to the service, and logs it; no status: there was no answer."""
    SERVICE_REQUESTS.labels(operation, str(status or "none")).inc()
    SERVICE_SECONDS.labels(operation).observe(seconds)
    level = logging.WARNING if status is None or status in TROUBLE else logging.DEBUG
    if logging.getLogger(__name__).isEnabledFor(level):  # far less than structlog takes to find that out
        ms = round(seconds * 1000)
        log.log(level, "answered", action="service.answered", operation=operation, status=status, ms=ms)


def digest_finished(state: str, late: timedelta) -> None:
    """Counts a digest's run, and how long after its due time it ended."""
    DIGEST_RUNS.labels(state).inc()
    DIGEST_LAG_SECONDS.observe(max(0.0, late.total_seconds()))


def reference() -> str:
    """A new short id that is told to a person and is in the log."""
    return secrets.token_hex(4)


def strike_out(text: str, known: Iterable[str] = ()) -> str:
    """The text without what looks like a secret, and without those that are known exactly."""
    for secret in known:
        text = text.replace(secret, STRUCK_OUT)
    for pattern in _LED_TO:  # first, as what is struck out ends what these go on to
        text = pattern.sub(rf"\1{STRUCK_OUT}", text)
    for pattern in _SECRETS:
        text = pattern.sub(STRUCK_OUT, text)
    return text


def _spelled(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


def _in_one_line(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Texts as they are spelled where they would break the line: others wrote some of them."""
    return {
        name: _BREAKING.sub(_spelled, value) if isinstance(value, str) else value
        for name, value in event.items()
    }


def _in_json(_logger: WrappedLogger, _method: str, rendered: EventDict | str) -> str:
    """What JSON itself leaves as it is."""
    return _BREAKING.sub(lambda match: f"\\u{ord(match[0]):04x}", str(rendered))


def _cut(text: str, known: Iterable[str]) -> str:
    """The text, or its beginning and end; redacted before it is cut, so that no half of a secret stays."""
    if len(text) <= LONGEST_VALUE:
        return text
    text, half = strike_out(text, known), LONGEST_VALUE // 2
    return f"{text[:half]} [cut: {len(text)} characters] {text[-half:]}"


def configure(
    form: Literal["console", "json"],
    level: str,
    known: Iterable[SecretStr] = (),
    stream: TextIO = sys.stderr,
) -> None:
    """Sends all logs, the standard library's too, to the stream, one line an event.

    `known` are secrets that no pattern can tell, to be struck out wherever they turn up.
    """
    exact = sorted((s.get_secret_value() for s in known if len(s) >= SHORTEST_SECRET), key=len, reverse=True)

    def cut(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        return {
            name: _cut(value, exact) if isinstance(value, str) else value for name, value in event.items()
        }

    def traceback(stream: TextIO, error: structlog.types.ExcInfo) -> None:
        """Writes a plain traceback, indented so that no line of an error's own text passes for an entry."""
        buffer = io.StringIO()
        structlog.dev.plain_traceback(buffer, error)
        lines = _BREAKING_BUT_LINES.sub(_spelled, _cut(buffer.getvalue(), exact))
        stream.write(textwrap.indent(lines, "    "))

    def without_secrets(_logger: WrappedLogger, _method: str, rendered: EventDict | str) -> str:
        return strike_out(str(rendered), exact)

    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    # Tracebacks are plain: the pretty ones show local variables, and those may be secrets.
    render: list[Processor] = (
        [
            structlog.processors.format_exc_info,
            cut,
            structlog.processors.JSONRenderer(ensure_ascii=False),
            _in_json,
        ]
        if form == "json"
        else [
            cut,
            _in_one_line,
            structlog.dev.ConsoleRenderer(colors=stream.isatty(), exception_formatter=traceback),
        ]
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.ExtraAdder(), *shared],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *render,
                without_secrets,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("apscheduler").setLevel(logging.ERROR)  # a tick that takes long is no news
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    stamina.instrumentation.set_on_retry_hooks([])  # each try is in the log by itself
    sys.excepthook = _ended


def _ended(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What nobody caught ends the program: it is said like everything else, and not as Python would."""
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
    else:
        log.critical("ended by an error", action="bot.ended", exc_info=(kind, error, trace))
