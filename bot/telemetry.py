"""Logging with secrets redacted, and metrics.

Log with `structlog.get_logger().info("what happened", action="stable.name", …)`: the text may change,
`action` never does. `structlog.contextvars.bind_contextvars` adds the reference, team and user to later
lines.
"""

import io
import logging
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial
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

from bot import ttl_cache
from bot.service.conventions import KEY

REDACTED = "[redacted]"

log = structlog.get_logger(__name__)

REGISTRY = CollectorRegistry()
COMMANDS = Counter(
    "issuebot_commands", "Commands and other interactions, by outcome", ["name", "outcome"], registry=REGISTRY
)
ACK_SECONDS = Histogram(
    "issuebot_ack_seconds",
    "Time to the acknowledgement; Slack allows 3 s",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5),
    registry=REGISTRY,
)
COMPLETION_SECONDS = Histogram(
    "issuebot_completion_seconds",
    "Time until the user has the reply",
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
TASKS_IN_FLIGHT = Gauge("issuebot_tasks_in_flight", "Acknowledged work in progress", registry=REGISTRY)
DIGEST_RUNS = Counter("issuebot_digest_runs", "Digest runs, by outcome", ["state"], registry=REGISTRY)
DIGEST_LAG_SECONDS = Histogram(
    "issuebot_digest_lag_seconds",
    "Time from a digest's due time to its post",
    buckets=(1, 5, 10, 30, 60, 120, 300, 900, 3600, 86_400),
    registry=REGISTRY,
)
DIGESTS_WAITING = Gauge("issuebot_digests_waiting", "Digests waiting to be posted", registry=REGISTRY)
CACHED = Gauge("issuebot_cached_items", "Items in all caches", registry=REGISTRY)
CACHED.set_function(ttl_cache.weight)
for _collector in (GCCollector, PlatformCollector, ProcessCollector):
    _collector(registry=REGISTRY)
BUILD = Info("issuebot_build", "The running version", registry=REGISTRY)
BUILD.info({"version": version("issuebot")})

# Below warnings, these log bodies, URLs with tickets and SQL with values, or nothing useful.
QUIET = ("slack_sdk", "slack_bolt", "aiohttp.access", "httpcore", "httpx", "asyncio", "alembic")
TROUBLE = {HTTPStatus.TOO_MANY_REQUESTS, *range(500, 600)}
"""Statuses that mean the service is overloaded or failing."""
LONGEST_VALUE = 10_000
SHORTEST_SECRET = 8  # anything shorter also occurs in ordinary words

_SECRETS = tuple(
    re.compile(pattern)
    for pattern in (
        r"x(?:app|ox[a-z](?:\.xox[a-z])?)-[\w-]+",  # Slack's tokens
        KEY.pattern,
        r"gAAAA[\w-]{20,}={0,2}",  # a Fernet token
        r"(?<![\w-])[\w-]{43}=",  # an encryption key
    )
)
"""Separate patterns: Python matches one with a literal start many times faster than an alternation."""
_PREFIXED = tuple(
    re.compile(pattern)
    for pattern in (
        r"((?i:X-[\w-]{0,60}API-Key)\b\\?['\"]?\s*[:=,]\s*b?\\?['\"]?)[^\s'\",}\])\\]+",
        r"(with code: )[^\s'\"]+",  # an OAuth code, as Bolt logs it
        r"(ticket=)[^&\s'\"\\]+",  # a Socket Mode URL
        r"(/(?:commands|actions|app|workflows)/)[TE][0-9A-Z]+/[^\s'\"\\]+",  # a response URL: a secret too
        r"(://)[^/\s:@]{0,255}:[^/\s@]{1,255}(?=@)",  # user and password in a URL
    )
)
"""Secrets recognized by the text in front of them, which is kept."""
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Characters that would start another line or control a terminal."""
_UNSAFE_IN_TRACEBACK = re.compile(rf"(?!\n){_UNSAFE.pattern}")


def service_answered(operation: str, status: int | None, seconds: float) -> None:
    """Count and log a request to the service; `status` is None if there was no response."""
    SERVICE_REQUESTS.labels(operation, str(status or "none")).inc()
    SERVICE_SECONDS.labels(operation).observe(seconds)
    level = logging.WARNING if status is None or status in TROUBLE else logging.DEBUG
    if logging.getLogger(__name__).isEnabledFor(level):  # much cheaper than asking structlog
        ms = round(seconds * 1000)
        log.log(
            level, "service responded", action="service.answered", operation=operation, status=status, ms=ms
        )


def digest_finished(state: str, late: timedelta) -> None:
    """Count a digest run and how long after its due time it ended."""
    DIGEST_RUNS.labels(state).inc()
    DIGEST_LAG_SECONDS.observe(max(0.0, late.total_seconds()))


def redact(text: str, known: Iterable[str] = ()) -> str:
    """Redact the known secrets and everything that looks like a secret."""
    for secret in known:
        text = text.replace(secret, REDACTED)
    for pattern in _PREFIXED:  # first, because the others' replacements would end these matches
        text = pattern.sub(rf"\1{REDACTED}", text)
    for pattern in _SECRETS:
        text = pattern.sub(REDACTED, text)
    return text


def configure(
    form: Literal["console", "json"], level: str, known: Iterable[SecretStr] = (), stream: TextIO = sys.stderr
) -> None:
    """Send all logs, including the standard library's, to `stream`, one line per event.

    `known` holds secrets that no pattern recognizes, to be redacted everywhere.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]

    exact = sorted((s.get_secret_value() for s in known if len(s) >= SHORTEST_SECRET), key=len, reverse=True)
    render = _in_json(exact) if form == "json" else _on_console(exact, colors=stream.isatty())
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.ExtraAdder(), *shared],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *render,
                lambda _logger, _method, rendered: redact(str(rendered), exact),
            ],
        )
    )

    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("apscheduler").setLevel(logging.ERROR)  # it warns about every slow tick

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
    stamina.instrumentation.set_on_retry_hooks([])  # each attempt is logged already
    sys.excepthook = _log_crash


def _in_json(known: Sequence[str]) -> list[Processor]:
    return [
        structlog.processors.format_exc_info,
        _each_value(partial(_cut, known)),
        structlog.processors.JSONRenderer(ensure_ascii=False),
        # What JSON itself leaves unescaped.
        lambda _logger, _method, json: _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", str(json)),
    ]


def _on_console(known: Sequence[str], *, colors: bool) -> list[Processor]:
    def in_one_line(value: str) -> str:
        return _UNSAFE.sub(_escaped, _cut(known, value))  # some values come from users

    def traceback(stream: TextIO, error: structlog.types.ExcInfo) -> None:
        """Write a plain traceback, indented so that no line of an error's text looks like a log entry.

        The pretty ones print local variables, which may hold secrets.
        """
        buffer = io.StringIO()
        structlog.dev.plain_traceback(buffer, error)
        lines = _UNSAFE_IN_TRACEBACK.sub(_escaped, _cut(known, buffer.getvalue()))
        stream.write(textwrap.indent(lines, "    "))

    return [
        _each_value(in_one_line),
        structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=traceback),
    ]


def _each_value(change: Callable[[str], str]) -> Processor:
    def changed(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        return {name: change(value) if isinstance(value, str) else value for name, value in event.items()}

    return changed


def _cut(known: Iterable[str], text: str) -> str:
    """Keep the start and end of a long text; redacts first, so that no half of a secret survives."""
    if len(text) <= LONGEST_VALUE:
        return text
    text, half = redact(text, known), LONGEST_VALUE // 2
    return f"{text[:half]} [cut: {len(text)} characters] {text[-half:]}"


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


def _log_crash(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
    else:
        log.critical("crashed", action="bot.ended", exc_info=(kind, error, trace))
