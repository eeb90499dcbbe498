"""Finds every regular expression in the package, and the texts that are most expensive for each."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from re import _constants as kinds  # type: ignore[attr-defined] # typeshed leaves it out
from re import _parser as parser  # type: ignore[attr-defined] # typeshed leaves it out
from types import FunctionType, ModuleType
from typing import Any

import bot

METHODS = ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
ANCHORED = {"match": "match", "fullmatch": "fullmatch"}
"""Methods that match at one position; all others search the whole text."""
REPEATS = (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT)
CHARACTERS = " \t\na0Z-_.:/<>|*@"
"""Characters that most repeats accept; those named in an expression are added."""
ENDINGS = ("", "\x00")
LONG = 16
"""The most repetitions that can't cost much."""


@dataclass(frozen=True)
class Use:
    """A regular expression, its module, and the method that runs it there."""

    module: str
    pattern: re.Pattern[str]
    method: str

    def run(self, text: str) -> None:
        """Runs it over the whole text."""
        if self.method in ANCHORED:
            getattr(self.pattern, self.method)(text)
        else:
            for _ in self.pattern.finditer(text):
                pass


def all_uses() -> list[Use]:
    """Returns the package's regular expressions with the methods that run them, `search` by default."""
    modules = [
        importlib.import_module(info.name)
        for info in pkgutil.walk_packages(bot.__path__, "bot.")
        if not info.name.endswith("__main__") and ".migrations" not in info.name
    ]
    trees = {module: ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8")) for module in modules}
    uses = set()
    for module, tree in trees.items():
        found = [*_compiled(module), *_written(module, tree)]
        for name, pattern, method in found:
            readers = [tree] if name.startswith("_") else trees.values()
            methods = {method} if method else {m for reader in readers for m in _methods(name, reader)}
            uses |= {Use(module.__name__, pattern, ANCHORED.get(m, "search")) for m in methods or {"search"}}
    return sorted(uses, key=lambda use: (use.module, use.pattern.pattern, use.method))


def _compiled(module: ModuleType) -> Iterator[tuple[str, re.Pattern[str], str]]:
    """Yields a module's compiled expressions by name, also from collections, classes and closures."""
    seen = set()
    waiting = [(name, value) for name, value in vars(module).items() if not name.startswith("__")]
    while waiting:
        name, value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
            yield name, value, ""
        waiting += _held(name, value, module)


def _held(name: str, value: Any, module: ModuleType) -> list[tuple[str, Any]]:
    """Returns the values that a module's value contains, by the name it is used by."""
    if isinstance(value, type):
        value = dict(vars(value)) if value.__module__ == module.__name__ else {}
    if isinstance(value, dict):
        return [(str(key), item) for key, item in value.items()]
    if isinstance(value, FunctionType) and value.__module__.startswith("bot."):
        return [(name, cell.cell_contents) for cell in value.__closure__ or ()]
    return [(name, item) for item in value] if isinstance(value, tuple | list | set | frozenset) else []


def _written(module: ModuleType, tree: ast.Module) -> Iterator[tuple[str, re.Pattern[str], str]]:
    """Yields the expressions passed to `re`'s functions, by the name that the result is assigned to."""
    names = {
        id(node.value): target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if ast.unparse(node.func.value) != "re" or not isinstance(node.args[0], ast.Constant | ast.JoinedStr):
            continue
        given = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
        flags = [part for part in given if re.match(r"re\.[A-Z]", ast.unparse(part))]
        options = eval(ast.unparse(flags[0])) if flags else 0  # noqa: S307 - our own code
        compiled = re.compile(_text(node.args[0], module), options)
        yield names.get(id(node), ""), compiled, node.func.attr if node.func.attr in METHODS else ""


def _text(node: ast.expr, module: ModuleType) -> str:
    """Returns the expression's text, with `x` for parts that are only known at run time."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, module) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        try:
            return str(eval(ast.unparse(node.value), vars(module)))  # noqa: S307 - our own code
        except NameError:
            return "x"
    return str(ast.literal_eval(node))


def _methods(name: str, tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            owner = node.value
            if name in (getattr(owner, "id", None), getattr(owner, "attr", None)):
                yield node.attr


def hostile_pieces(pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    """Yields what to put first, what to repeat and what to put last: for each long repeat, the text that
    leads to it and each character that it accepts, alone and combined.
    """
    parsed = parser.parse(pattern.pattern, pattern.flags)
    named = {chr(code) for code in _literals(parsed)}
    for before in {"", *_leading_to_repeats(parsed, "")}:
        for character in sorted(named.union(CHARACTERS)):
            for ending in ENDINGS:
                yield before, character, ending
                if before:
                    yield "", before + character, ending


def _leading_to_repeats(items: Any, before: str) -> Iterator[str]:
    for kind, value in items:
        if kind in REPEATS and value[1] > LONG:
            yield before
        for inner in _inside(kind, value):
            yield from _leading_to_repeats(inner, before)
        before += _sample(kind, value)


def _inside(kind: Any, value: Any) -> list[Any]:
    """Returns the nested expressions of an item."""
    if kind in REPEATS:
        return [value[2]]
    if kind is kinds.SUBPATTERN:
        return [value[3]]
    if kind is kinds.BRANCH:
        return list(value[1])
    if kind in (kinds.ASSERT, kinds.ASSERT_NOT):
        return [value[1]]
    return [value] if kind is kinds.ATOMIC_GROUP else []


def _sample(kind: Any, value: Any) -> str:
    """Returns a short text that roughly matches an item."""
    if kind is kinds.LITERAL:
        return chr(value)
    if kind is kinds.IN:
        return next(
            (c for c in f"a0 -.{''.join(map(chr, _literals([(kind, value)])))}" if _takes(value, c)), "a"
        )
    if kind in REPEATS:
        return "".join(_sample(*item) for item in value[2]) * int(value[0])
    if kind in (kinds.SUBPATTERN, kinds.BRANCH, kinds.ATOMIC_GROUP):
        return "".join(_sample(*item) for item in _inside(kind, value)[0])
    return "a" if kind in (kinds.ANY, kinds.NOT_LITERAL) else ""


def _takes(members: Any, character: str) -> bool:
    """Returns whether a character set contains this one."""
    negated = members[0][0] is kinds.NEGATE
    spelled = {kinds.CATEGORY_DIGIT: r"\d", kinds.CATEGORY_SPACE: r"\s", kinds.CATEGORY_WORD: r"\w"}
    spelled |= {
        kinds.CATEGORY_NOT_DIGIT: r"\D",
        kinds.CATEGORY_NOT_SPACE: r"\S",
        kinds.CATEGORY_NOT_WORD: r"\W",
    }
    found = any(
        (kind is kinds.LITERAL and value == ord(character))
        or (kind is kinds.RANGE and value[0] <= ord(character) <= value[1])
        or (kind is kinds.CATEGORY and re.match(spelled[value], character))
        for kind, value in members
    )
    return bool(found != negated)


def _literals(items: Any) -> Iterator[int]:
    for kind, value in items:
        if kind in (kinds.LITERAL, kinds.NOT_LITERAL):
            yield value
        elif kind is kinds.RANGE:
            yield value[0]
        elif kind is kinds.IN:
            yield from _literals(value)
        for inner in _inside(kind, value):
            yield from _literals(inner)
