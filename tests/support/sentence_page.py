"""`--sentences=FILE`: writes a page of everything that the bot said to users during the tests.

The local Slack logs what it receives. Each worker collects the texts, and the first process writes the page.
"""

import logging
import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bot.slack.surfaces.manifest import manifest_yaml, parsed
from tests.support.prepared import demo

NOT_SHOWN = ("tests/hostile/", "tests/sandbox/", "tests/browser/", "tests/benchmarks/")
"""Tests in which texts come from somebody else."""
ROLES = {
    "label": "label",
    "hint": "hint",
    "placeholder": "placeholder",
    "title": "title",
    "submit": "button",
    "close": "button",
    "confirm": "confirmation",
    "options": "option",
    "errors": "error",
}
PLACEHOLDERS = (
    (re.compile(r"<!date\^[^>]*>"), "{date}"),
    (re.compile(r"<https?:[^|>]*\|#\d+ [^>]*>"), "[#0 {subject}]"),
    (re.compile(r"<(https?:[^|>]*)\|([^>]*)>"), r"[\2]"),
    (re.compile(r"<?https?://[^\s>|`]+>?"), "{url}"),
    (re.compile(r"<@[A-Z0-9]+>"), "@{person}"),
    (re.compile(r"<#[A-Z0-9]+(\|[^>]*)?>"), "#{channel}"),
    (re.compile(r"\b(?=\d*[a-f])[0-9a-f]{8,}\b"), "{reference}"),
    (re.compile(r"-?(\d[\d,.:/-]*\d|\d|Infinity|NaN)"), "0"),
)
VARIABLE = re.compile(r"\{\w+\}|\bweb\b|\bor\b|[\W\d]+")
"""What two texts may differ in and still be the same sentence; "web" is what made-up errors are about."""


class Phrase(NamedTuple):
    """A text that a user saw: in which part of the bot, where in Slack, and as what."""

    feature: str
    surface: str
    role: str
    text: str


class Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.phrases: dict[Phrase, None] = {}

    def emit(self, record: logging.LogRecord) -> None:
        test = os.environ.get("PYTEST_CURRENT_TEST", "")
        if test and not test.startswith(NOT_SHOWN):
            folders = test.partition("::")[0].split("/")
            feature = "errors" if "test_sentences.py" in folders else "everywhere"
            if folders[1] == "features" and len(folders) > 3:
                feature = folders[2]
            for surface, role, text in _texts(record.__dict__["payload"], "messages", "text"):
                self.phrases[Phrase(feature, surface, role, _normalized(text))] = None


def _texts(part: Any, surface: str, role: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(part, str) and role == "error":
        yield surface, role, part
    elif isinstance(part, list):
        for item in part:
            yield from _texts(item, surface, role)
    elif isinstance(part, dict):
        kind, text = part.get("type"), part.get("text")
        if kind in ("modal", "home"):
            surface = f"form “{part['title']['text']}”" if kind == "modal" else "Home"
        if kind == "rich_text_section":
            yield surface, role, "".join(str(e.get("text", "{link}")) for e in part["elements"])
        elif isinstance(text, str) and kind in ("plain_text", "mrkdwn", "markdown", None):
            yield surface, role, text
        if set(part) == {"options"}:  # suggestions come from the service
            return
        for key, value in part.items():
            as_button = kind == "button" and key == "text"
            if key != "metadata":
                yield from _texts(value, surface, "button" if as_button else ROLES.get(key, role))


@cache
def _names() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Returns patterns of the demo's own words, and what to show instead."""
    data = demo()
    named = {
        "{subject}": [issue.subject for issue in data.issues.values()],
        "{description}": [issue.description for issue in data.issues.values() if issue.description],
        "{person}": [name for user in data.users.values() for name in (user.name, user.mail, user.firstname)],
        "{project}": [name for one in data.projects.values() for name in (one.name, one.identifier)],
        "{version}": [version.name for version in data.versions.values()],
        "{category}": [category.name for category in data.categories.values()],
    }
    return tuple(
        (
            re.compile("|".join(rf"\b{re.escape(word)}(?!\w)" for word in sorted(words, key=len)[::-1])),
            placeholder,
        )
        for placeholder, words in named.items()
    )


def _normalized(text: str) -> str:
    for pattern, placeholder in (*_names(), *PLACEHOLDERS):
        text = pattern.sub(placeholder, text)
    return text


def _page(phrases: Iterable[Phrase]) -> Iterator[str]:
    """Yields the page's lines: each text once, under the first feature and surface that shows it."""
    yield "# Everything that the bot says\n"
    yield "## manifest\n"
    manifest = parsed(manifest_yaml())
    display = manifest["display_information"]
    yield f"- *description*: {display['description']}"
    yield f"- *long description*: {display['long_description']}"
    for command in manifest["features"]["slash_commands"]:
        yield f"- `{command['command']} {command['usage_hint']}`: {command['description']}"
    for shortcut in manifest["features"]["shortcuts"]:
        yield f"- *{shortcut['type']} shortcut* {shortcut['name']}: {shortcut['description']}"
    texts: set[str] = set()
    sections: dict[tuple[bool, str], dict[str, list[str]]] = {}
    for one in sorted(phrases, key=lambda one: (one.feature == "everywhere", one.feature, one.surface)):
        sentence = " ".join(VARIABLE.sub(" ", one.text).split())
        if sentence and sentence not in texts:
            texts.add(sentence)
            surfaces = sections.setdefault((one.feature == "everywhere", one.feature), {})
            prefix = "" if one.role == "text" else f"*{one.role}*: "
            line = one.text.replace("\n", "\n  ")
            surfaces.setdefault(one.surface, []).append(f"- {prefix}{line}")
    for (_, feature), surfaces in sections.items():
        yield f"\n## {feature}"
        for surface, lines in surfaces.items():
            yield f"\n### {surface}\n"
            yield from sorted(lines) if surface == "messages" else lines


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sentences", metavar="FILE", help="write a page of everything that the bot says")


def pytest_configure(config: pytest.Config) -> None:
    if path := config.getoption("--sentences"):
        config.pluginmanager.register(Sentences(config, Path(path)))


class Sentences:
    def __init__(self, config: pytest.Config, path: Path) -> None:
        self._output: dict[str, Any] | None = getattr(config, "workeroutput", None)
        self._path = path
        self._listener = Listener()
        self._said = self._listener.phrases
        log = logging.getLogger("issuebot.sandbox.received")
        log.addHandler(self._listener)
        log.setLevel(logging.DEBUG)
        log.propagate = False

    def pytest_testnodedown(self, node: Any) -> None:
        self._said |= {Phrase(*one): None for one in node.workeroutput.get("said", ())}

    def pytest_sessionfinish(self) -> None:
        if self._output is not None:
            self._output["said"] = [tuple(one) for one in self._said]
        else:
            self._path.write_text("\n".join(_page(self._said)) + "\n", encoding="utf-8")
