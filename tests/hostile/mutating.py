"""Payloads that Slack would never send, derived from recorded ones."""

import json
import os
from collections.abc import Iterator
from functools import reduce
from operator import getitem
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.hostile.recording import Recorded, recordings
from tests.support.reading import JSON

THOROUGH = "ISSUEBOT_HOSTILE_EXAMPLES"
"""How many payloads to try; if unset, every run tries the same few."""
EXAMPLES = int(os.environ.get(THOROUGH, "75"))
Path = tuple[str | int, ...]
DEEPEST = 8


def _deep(levels: int) -> Any:
    return json.loads('{"a": [' * levels + '"x"' + "]}" * levels)


JUNK: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 10**30, [], {}, [[]], [None], [{}], {"": ""}, {"id": None}, {"id": 5}),
    *("", " ", "x", "-1", "0", "²", "9" * 40, "null", "[]", "{}", '{"place": 5}', "\x00", "a\x00b", "\ud800"),
    *("\u202e", "\r\n", "{service}", "<!channel>", "é" * 300, "x" * 100_000, "a" * 40, "https://[", "1.2.3"),
    *("U0BEN0001", "U0NOBODY01", "T0ELSEWHERE", "E0ELSEWHERE", "C0LEADERS01", "modal", "home", "input"),
    *(_deep(3), _deep(400), ["x"] * 5000, {str(n): n for n in range(2000)}),
)
ADDED: tuple[JSON, ...] = (
    {"is_enterprise_install": True, "team": None, "enterprise": {"id": "E0HARBOR01", "name": "Harbor"}},
    {"is_enterprise_install": "true", "enterprise_id": "E0HARBOR01"},
    {"team": {"id": "T0ELSEWHERE", "domain": "elsewhere"}, "team_id": "T0ELSEWHERE"},
    {"command": "/issue", "text": 5},
    {"event": {"type": "link_shared"}, "type": "event_callback"},
    {"type": "view_submission"},
    {"type": "block_suggestion"},
    {"ssl_check": "1"},
    {"authorizations": [5]},
    {"authorizations": [{"team_id": [], "is_enterprise_install": {}}]},
)


def tried(examples: int) -> settings:
    """Returns the Hypothesis settings for a test with generated payloads."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=THOROUGH not in os.environ,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


def added() -> Iterator[Recorded]:
    """Yields one recorded payload of each kind with each of the possible additions."""
    kinds = {recorded.name.partition(":")[0]: recorded for recorded in recordings()}
    for recorded in kinds.values():
        for more in ADDED:
            yield Recorded(recorded.name, recorded.kind, _copy(recorded.payload | more))


def _paths(value: Any, here: Path = ()) -> Iterator[Path]:
    """Yields paths to the parts of a value, except to the value itself and below some depths."""
    if isinstance(value, dict | list) and len(here) < DEEPEST:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*here, key)
            yield from _paths(inner, (*here, key))


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))


@st.composite
def mutated(draw: st.DrawFn) -> Recorded:
    """Returns a recorded payload with some parts removed, swapped, duplicated or replaced with junk."""
    recorded = draw(st.sampled_from(recordings()))
    payload = _copy(recorded.payload)
    for _ in range(draw(st.integers(1, 3))):
        depth = draw(st.integers(1, DEEPEST))
        if not (paths := [path for path in _paths(payload) if len(path) <= depth]):
            break
        path = draw(st.sampled_from(paths))
        parent: Any = reduce(getitem, path[:-1], payload)
        key: Any = path[-1]
        match draw(st.sampled_from(("drop", "junk", "junk", "junk", "double", "swap", "add"))):
            case "drop":
                del parent[key]
            case "junk":
                parent[key] = _copy(draw(st.sampled_from(JUNK)))
            case "double" if isinstance(parent, list):
                parent.append(_copy(parent[key]))
            case "double":
                parent[f"{key}_id"] = _copy(parent[key])
            case "swap":
                other: Any = draw(st.sampled_from(recordings())).payload
                parent[key] = _copy(reduce(getitem, draw(st.sampled_from(list(_paths(other)))), other))
            case "add":
                payload |= _copy(draw(st.sampled_from(ADDED)))
    return Recorded(recorded.name, recorded.kind, payload)
