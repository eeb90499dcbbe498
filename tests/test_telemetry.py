import ast
import io
import json
import logging
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
import structlog
from pydantic import SecretStr

from bot import telemetry

FORGED = "x\r\n2026-01-01 [info] forged\x1b[2J\x9b31m\u2028forged\x85forged\x0bforged\x00"
KEY = "0123456789abcdef0123456789abcdef01234567"
ROOT = Path(__file__).parents[1]
LEVELS = {"debug", "info", "warning", "error", "exception", "critical", "log"}
ACTION = re.compile(r"""name|action|f?'([a-z_]+|\{self\.name\})\.[a-z_]+'""")
"""An action name, one that begins with the name of background work, or a variable whose value is one."""
SUFFIXES = {
    "counter": ["_total"],
    "gauge": [""],
    "histogram": ["_bucket", "_count", "_sum"],
    "info": ["_info"],
}
METRICS = {
    family.name: [family.name + suffix for suffix in SUFFIXES[family.type]]
    for family in telemetry.REGISTRY.collect()
}
OURS = {name: kept for name, kept in METRICS.items() if name.startswith("issuebot_")}
DASHBOARD = json.loads((ROOT / ".github" / "grafana-dashboard.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "text",
    [
        "token=xoxb-123-abc-DEF",
        "xoxe.xoxb-1-abc",
        "'xapp-1-A0-1-abc'",
        f"key {KEY}.",
        f"{{'X-Redmine-API-Key': '{'short'}'}}",
        "X-Service-API-Key: short",
        f"[('x-service-api-key', b'{'short'}')]",
        "MclvfNm3FcLRidnbfklhdch-RNqtFE897hqEY2Fiwe4=",
        "gAAAAABl" + "x" * 60 + "==",
        "postgresql://bot:short@db/bot",
        "wss://wss.slack.com/link/?ticket=short&app_id=1",
        "https://hooks.slack.com/commands/T1/short",
        "https://hooks.slack-gov.com/actions/T1/2/short",
        "https://hooks.slack.com/commands/E1/short",  # of an organization
        "Failed to fetch oauth.v2.access result with code: short - error: bad_client_secret",
        f"X-Redmine-API-Key: {KEY}-staging-short",
        f"postgresql://bot:{KEY}.short@db/bot",
        f"with code: 1234.{KEY}.short",
        "registered-secret",
    ],
)
def test_secrets_are_redacted(text: str) -> None:
    clean = telemetry.redact(text, ["registered-secret"])

    assert telemetry.REDACTED in clean
    for secret in ("xoxb-", "xapp-1", KEY, "short", "Mclvf", "gAAAA", "registered-secret"):
        assert secret not in clean


@pytest.mark.parametrize(
    "text",
    [
        '@app.action("https://hooks.slack.com/actions/T0HARBOR01/short")',
        'connect("wss://wss.slack.com/link/?ticket=short")',
        '{"X-Redmine-API-Key": "short"}',
    ],
)
def test_redaction_keeps_json_valid(text: str) -> None:
    stream = io.StringIO()
    telemetry.configure("json", "info", stream=stream)

    logging.getLogger("somebody").info(text)

    event = json.loads(stream.getvalue())["event"]
    assert event == text.replace("short", telemetry.REDACTED).replace(
        "T0HARBOR01/[redacted]", telemetry.REDACTED
    )


@pytest.mark.parametrize(
    "text",
    ["issue #42 was created", "GET /issues.json?limit=100 -> 200", "https://tracker.example.com/issues/42"],
)
def test_ordinary_text_is_not_redacted(text: str) -> None:
    assert telemetry.redact(text) == text


@pytest.mark.parametrize("form", ["console", "json"])
def test_logs_and_tracebacks_of_every_logger_are_redacted(form: Literal["console", "json"]) -> None:
    stream = io.StringIO()
    telemetry.configure(form, "debug", [SecretStr("hush-hush")], stream)

    def fail() -> None:
        local = "a-local-value"
        raise ValueError(f"{KEY} {len(local)}")

    try:
        fail()
    except ValueError:
        structlog.get_logger().exception("failed", action="test.failed", key=KEY)
        logging.getLogger("some.library").exception("with %s", "hush-hush")
    logging.getLogger("aiohttp.access").info("GET https://tracker.example.com/")
    logging.getLogger("slack_sdk.web").debug("a body")
    logging.getLogger("httpx").info("HTTP Request: GET https://tracker.example.com/?subject=~x")
    logging.getLogger("httpcore.http11").debug("headers with a key for tracker.example.com")

    written = stream.getvalue()
    assert "test.failed" in written
    assert "some.library" in written
    for secret in (KEY, "hush-hush", "a-local-value'", "tracker.example.com", "a body"):
        assert secret not in written


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_log_line_stays_one_line(form: Literal["console", "json"]) -> None:
    stream = io.StringIO()
    telemetry.configure(form, "info", stream=stream)
    structlog.get_logger("x").info(FORGED, action="x", name=FORGED)
    logging.getLogger("y").warning("%s", FORGED)
    try:
        int(FORGED)
    except ValueError:
        structlog.get_logger("x").exception("failed", action="x", names=[FORGED])

    output = stream.getvalue()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]", output)
    assert len([line for line in output.splitlines() if not line.startswith("    ")]) == 3


@pytest.mark.parametrize("form", ["console", "json"])
def test_no_half_of_a_secret_survives_the_cut_of_long_values(form: Literal["console", "json"]) -> None:
    stream, secret = io.StringIO(), "hush-" * 8
    telemetry.configure(form, "info", [SecretStr(secret)], stream)
    around = "." * (telemetry.LONGEST_VALUE // 2 - 20)

    for hidden in (KEY, secret):
        long = f"{around}{hidden}{around}{around}{hidden}{around}"
        structlog.get_logger().info(long, action="test.long", value=long, exc_info=ValueError(long))

    written = stream.getvalue()
    assert "[cut: " in written
    assert len(written) < 2 * 4 * telemetry.LONGEST_VALUE
    for piece in (KEY[:10], KEY[-10:], "hush-"):
        assert piece not in written


def test_uncaught_errors_are_redacted() -> None:
    stream = io.StringIO()
    telemetry.configure("json", "info", [SecretStr("hush-hush")], stream)

    error = RuntimeError(f"{KEY} hush-hush")
    sys.excepthook(type(error), error, None)

    assert "crashed" in stream.getvalue()
    assert "RuntimeError" in stream.getvalue()
    for secret in (KEY, "hush-hush"):
        assert secret not in stream.getvalue()


def _log_calls() -> Iterator[tuple[str, ast.Call]]:
    """Every log call in the bot, whichever logger it uses, with its location."""
    for path in sorted((ROOT / "bot").rglob("*.py")):
        if "sandbox" not in path.parts:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and node.func.attr in LEVELS
                    and re.search(r"^log$|logger", ast.unparse(node.func.value), re.IGNORECASE)
                ):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", node


def test_every_log_call_has_a_constant_action() -> None:
    actions = {
        place: next((ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg == "action"), "")
        for place, call in _log_calls()
    }

    assert len(actions) > 50
    assert [place for place, action in actions.items() if not ACTION.fullmatch(action)] == []


def test_the_documents_list_every_metric() -> None:
    listed = re.findall(
        r"^\| `(issuebot_\w+)` \|", (ROOT / "docs" / "operations.md").read_text("utf-8"), re.MULTILINE
    )

    bare = {name if len(kept) > 1 else kept[0] for name, kept in OURS.items()}
    assert sorted(listed) == sorted(bare)


def test_the_dashboard_shows_exactly_the_existing_metrics() -> None:
    panels = DASHBOARD["panels"]
    asked = " ".join(target["expr"] for panel in panels for target in panel["targets"])
    named = set(re.findall(r"[a-z_]+(?=\{)", asked))

    assert named <= {name for kept in METRICS.values() for name in kept}
    assert [name for name, kept in OURS.items() if not named & set(kept)] == []
    for panel in panels:
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        times = "_seconds_bucket" in panel["targets"][0]["expr"]
        assert (panel["fieldConfig"]["defaults"]["unit"] == "s") is times, panel["title"]


def test_dashboard_panels_do_not_overlap() -> None:
    taken = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]

    assert len(taken) == len(set(taken))
    assert max(x for x, _ in taken) < 24
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(ids) == len(set(ids))
