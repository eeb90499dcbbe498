"""The documents name nothing that isn't there, and leave out nothing that an administrator needs."""

import ast
import configparser
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml
from pydantic import SecretStr
from typer.core import TyperGroup
from typer.main import get_command

from bot import app
from bot.cli import program
from bot.config import Settings
from bot.slack.text.wording import PLACE

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md"))))
DOCUMENTS = (*PAGES, "SECURITY.md", "CHANGELOG.md")
TEXT = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
SETTINGS = {name.upper(): field.default for name, field in Settings.model_fields.items()}
OF_OTHERS = {"POSTGRES_USER", "POSTGRES_PASSWORD", "SSL_CERT_FILE", "HTTPS_PROXY"}
"""Variables of the database's image, of OpenSSL, and of Slack's library."""
SMALL = 200_000
SENTENCES = 15
PROTECTIONS = 15
"""How many SECURITY.md lists: none disappears unnoticed."""
LONGEST = 200
HOLE = "\0"


def _blocks(kind: str) -> list[str]:
    blocks = re.findall(rf"^ *```{kind}\n(.*?)^ *```$", TEXT, re.DOTALL | re.MULTILINE)
    return [dedent(block) for block in blocks]


def _section(heading: str) -> str:
    return re.split(r"^#+ ", TEXT.partition(f"# {heading}\n")[2], flags=re.MULTILINE)[0]


def _rows(heading: str) -> list[list[str]]:
    rows = [line for line in _section(heading).splitlines() if line.startswith("| ")][1:]
    return [re.split(r"(?<!\\)\|", row.strip("| ")) for row in rows]


def _codes(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def _plain(default: object) -> str:
    if isinstance(default, SecretStr):
        return default.get_secret_value()
    return ",".join(default) if isinstance(default, tuple) else str(default)


def _used_commands() -> list[str]:
    """What stands behind `issuebot` in code, where it isn't an image, a container, a volume or a user."""
    spans = _codes(re.sub(r"^ *```.*?^ *```$", "", TEXT, flags=re.DOTALL | re.MULTILINE))
    code = re.sub(r" \\\n *", " ", "\n".join([*_blocks("(?:sh|ini)"), *spans]))
    code = re.sub(r"(-u |--owner=|--volume )issuebot\S*|issuebot:/\S+", "", code)
    code = re.sub(r"docker (build|run|exec)\b.*? issuebot\b( chown)?", "", code)
    return re.findall(r"\bissuebot ([a-z]+(?: [a-z]+| --[a-z-]+[ =][^\s]+| --[a-z-]+)*)", code)


def _leaf(words: list[str]) -> Any:
    """The command of these words, which are taken off."""
    command: Any = get_command(program)
    while words and isinstance(command, TyperGroup):
        command = command.commands.get(words.pop(0))
    return None if isinstance(command, TyperGroup) else command


def _leaves(command: Any, name: str = "issuebot") -> Iterator[tuple[str, Any]]:
    """Every command by its whole name."""
    if isinstance(command, TyperGroup):
        for word, one in command.commands.items():
            yield from _leaves(one, f"{name} {word}")
    else:
        yield name, command


def _options(command: Any) -> set[str]:
    return {option for parameter in command.params for option in parameter.opts}


def test_every_command_and_option_that_it_names_exists() -> None:
    used = _used_commands()
    unknown = []
    for line in used:
        words = line.replace("=", " ").split()
        command = _leaf(words)
        options = {word for word in words if word.startswith("--")}
        if command is None or options - _options(command):
            unknown.append(line)

    assert {"sandbox", "run", "check", "keys rotate"} <= set(used)
    assert unknown == []


def test_every_command_is_named_with_all_its_options() -> None:
    commands = dict(_leaves(get_command(program)))
    options = {option for command in commands.values() for option in _options(command)}

    assert [name for name in commands if f"`{name}`" not in TEXT] == []
    assert [option for option in sorted(options) if option not in TEXT] == []


@pytest.mark.parametrize("document", [*DOCUMENTS, ".env.example"])
def test_every_variable_that_it_names_exists(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    named = set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", text)) | set(
        re.findall(r"^#?([A-Z]+)=", text, re.MULTILINE)
    )

    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    of_tests = set(re.findall(r'"(ISSUEBOT_[A-Z_]+)"', tests))

    assert sorted(named - SETTINGS.keys() - OF_OTHERS - of_tests) == []


def test_every_setting_is_in_the_table_with_its_default() -> None:
    table = {}
    for names, defaults, _ in _rows("Settings"):
        given = _codes(defaults)
        table.update(dict(zip(_codes(names), given or [""] * len(_codes(names)), strict=True)))

    assert table == {name: _plain(default) for name, default in SETTINGS.items()}


def test_settings_outside_the_example_have_defaults() -> None:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    left_out = dict(re.findall(r"^#([A-Z_]+)=(.*)$", example, re.MULTILINE))
    filled_in = re.findall(r"^([A-Z_]+)=", example, re.MULTILINE)

    assert left_out.keys() | set(filled_in) == SETTINGS.keys()
    assert {name: _plain(SETTINGS[name]) for name in left_out} == left_out


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_leads_somewhere(document: str) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", (ROOT / document).read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        if path.startswith("https:"):
            continue
        file = (ROOT / document).parent / path if path else ROOT / document
        if not file.is_file() or (anchor and anchor not in _anchors(file)):
            broken.append(target)

    assert broken == []


def _anchors(document: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_file_of_ours_that_it_names_is_there() -> None:
    named = re.findall(r"(?<![\w/.])((?:bot|tests|\.ci|\.github)/[\w./-]*\w)", TEXT)

    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_the_pictures_are_small_and_shown() -> None:
    pictures = list((ROOT / ".github" / "pictures").iterdir())

    assert pictures
    assert [p.name for p in pictures if f".github/pictures/{p.name})" not in TEXT] == []
    assert [p.name for p in pictures if p.stat().st_size > SMALL or p.read_bytes()[1:4] != b"PNG"] == []


def test_the_compose_file_configures_what_exists() -> None:
    (block,) = _blocks("yaml")
    services = yaml.safe_load(block)["services"]
    bot, database = services["bot"], services["database"]

    assert bot["environment"].keys() <= SETTINGS.keys()
    given = {name.lower(): value for name, value in bot["environment"].items()}
    address = given["database_url"] = given["database_url"].replace("${POSTGRES_PASSWORD:?}", "s3cret")
    assert Settings.model_validate(given).database_url == address
    assert f"://{database['environment']['POSTGRES_USER']}:" in address
    assert bot["ports"][0].endswith(f":{SETTINGS['PORT']}")
    assert bot["read_only"] is True


def test_the_bot_is_given_the_time_to_stop() -> None:
    needed = app.SECONDS_TO_DRAIN + inspect.signature(app.Bot.stop).parameters["grace"].default
    given = re.findall(r"--stop-timeout (\d+)|stop_grace_period: (\d+)s|TimeoutStopSec=(\d+)", TEXT)

    assert len(given) == 3
    assert all(int("".join(seconds)) > needed for seconds in given)


def test_the_unit_starts_what_was_installed_where_it_may_write() -> None:
    (block,) = _blocks("ini")
    unit = configparser.ConfigParser()
    unit.optionxform = str  # type: ignore[assignment] # configparser's way to keep upper case
    unit.read_string(block)
    service, commands = unit["Service"], "\n".join(_blocks("sh"))

    assert service["ExecStart"].removesuffix("/bin/issuebot run") in re.findall(r"-m venv (\S+)", commands)
    assert service["WorkingDirectory"] == service["ReadWritePaths"]
    assert f"--home-dir {service['WorkingDirectory']} --create-home {service['User']}\n" in commands
    assert f"{service['WorkingDirectory']}/.env\n" in commands


def test_security_md_names_modules_and_tests_that_exist() -> None:
    security = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    header, *rows = (row.split("|")[1:-1] for row in security.splitlines() if row.startswith("| "))
    modules = re.findall(r"`(bot/[\w/]+\.py)`", security)
    tests = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", security)

    assert [column.strip() for column in header] == ["who", "what they can't do", "how", "where", "tests"]
    assert len(rows) >= PROTECTIONS
    assert len(modules) >= len(rows)
    assert [path for path in modules if not (ROOT / path).is_file()] == []
    assert [row for row in rows if "`bot/" not in row[3] or "::test_" not in row[4]] == []
    assert [
        f"{file}::{test}" for file, test in tests if f"def {test}(" not in (ROOT / file).read_text()
    ] == []


def test_every_sentence_in_troubleshooting_is_one_that_the_bot_says() -> None:
    quoted = [match[1] for row in _rows("Troubleshooting") if (match := re.match(r"\*(.+)\*", row[0]))]
    texts = "\n".join(text for path in (ROOT / "bot").rglob("*.py") for text in _texts(path))

    assert len(quoted) > SENTENCES
    assert [sentence for sentence in quoted if not re.search(_pattern(sentence), texts)] == []


def _texts(path: Path) -> Iterator[str]:
    """The program's strings, with holes for the values that fill them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            parts = [str(part.value) if isinstance(part, ast.Constant) else HOLE for part in node.values]
            yield PLACE.sub(HOLE, "".join(parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield PLACE.sub(HOLE, node.value)


def _pattern(sentence: str) -> str:
    return re.escape(sentence).replace("Tracker", HOLE).replace("…", HOLE)
