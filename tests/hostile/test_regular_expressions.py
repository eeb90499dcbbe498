"""No regular expression in the package takes more than linear time."""

import ast
import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from re import _compiler as compiler  # type: ignore[attr-defined] # typeshed leaves it out
from re import _constants as kinds  # type: ignore[attr-defined] # typeshed leaves it out
from re import _parser as parser  # type: ignore[attr-defined] # typeshed leaves it out
from types import FunctionType, ModuleType
from typing import Any

import bot

METHODS = ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
ANCHORED = ("match", "fullmatch")
"""Methods that match at one position; all others search the whole text."""
REPEATS = (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT)
CHARACTERS = " \t\na0Z-_.:/<>|*@"
"""Characters that most repeats accept; those named in an expression are added."""
ENDINGS = ("", "\x00")
LONG = 16
"""The most repetitions that can't cost much."""
QUADRATIC = 8
"""For four times the text, a linear expression takes 4 times as long, a quadratic one 16 times."""
MANY = 100
BRIEF, NOTICEABLE = 0.0003, 0.02
"""Seconds below which times aren't compared: for 2,000 characters, and for 12,000."""
Pieces = tuple[str, str, str]
"""What comes first, what is repeated and what comes last."""


@dataclass(frozen=True)
class Use:
    """A regular expression, its module, and the method that runs it there."""

    module: str
    pattern: re.Pattern[str]
    method: str

    def seconds(self, pieces: Pieces, length: int, tries: int = 1) -> float:
        """Returns this thread's processor time for a text, so that a busy machine makes no difference."""
        before, piece, ending = pieces
        text = before + piece * (length // len(piece)) + ending
        taken = []
        for _ in range(tries):
            started = time.thread_time()
            if self.method in ANCHORED:
                getattr(self.pattern, self.method)(text)
            else:
                for _ in self.pattern.finditer(text):
                    pass
            taken.append(time.thread_time() - started)
        return min(taken)


def _suspicious(use: Use, pieces: Pieces) -> bool:
    """A quick check that rules out almost all texts."""
    longer = use.seconds(pieces, 2_000)
    if longer < BRIEF or longer < QUADRATIC * 0.7 * use.seconds(pieces, 500):
        return False
    return use.seconds(pieces, 6_000) > 4 * longer  # rules out lookaheads of a bounded length


def _out_of_proportion(use: Use, pieces: Pieces, tries: int) -> bool:
    longer = use.seconds(pieces, 12_000, tries)
    return longer > NOTICEABLE and longer > QUADRATIC * use.seconds(pieces, 3_000, tries)


def quadratic(use: Use) -> str | None:
    """Returns the text that makes the expression quadratic, if there is one."""
    for pieces in hostile_pieces(use.pattern):
        if _suspicious(use, pieces) and all(_out_of_proportion(use, pieces, tries) for tries in (1, 3)):
            return f"12,000 characters of {pieces}"
    return None


def all_uses() -> set[Use]:
    """Returns the package's regular expressions with the methods that run them, `search` by default."""
    modules = [
        importlib.import_module(info.name)
        for info in pkgutil.walk_packages(bot.__path__, "bot.")
        if not info.name.endswith("__main__") and ".migrations" not in info.name
    ]
    trees = {module: ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8")) for module in modules}
    called = {module: _methods(tree) for module, tree in trees.items()}
    uses = set()
    for module, tree in trees.items():
        for name, pattern, method in (*_compiled("", vars(module), module, set()), *_written(module, tree)):
            readers = [called[module]] if name.startswith("_") else called.values()
            methods = {method} if method else {m for reader in readers for m in reader.get(name, ())}
            uses |= {Use(module.__name__, pattern, m if m in ANCHORED else "") for m in methods or {""}}
    return uses


def _methods(tree: ast.Module) -> dict[str, set[str]]:
    """Returns the methods that a module calls, by the name that it calls them on."""
    methods: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            name = str(getattr(node.value, "id", getattr(node.value, "attr", "")))
            methods.setdefault(name, set()).add(node.attr)
    return methods


def _compiled(
    name: str, value: Any, module: ModuleType, known_ids: set[int]
) -> Iterator[tuple[str, re.Pattern[str], str]]:
    """Yields a module's compiled expressions by name, also from collections, classes and closures."""
    items: Any = ()
    if id(value) in known_ids or name.startswith("__"):
        return
    known_ids.add(id(value))
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield name, value, ""
    elif isinstance(value, dict) or (isinstance(value, type) and value.__module__ == module.__name__):
        items = (value if isinstance(value, dict) else dict(vars(value))).items()
    elif isinstance(value, FunctionType) and value.__module__.startswith("bot."):
        items = ((name, cell.cell_contents) for cell in value.__closure__ or ())
    elif isinstance(value, tuple | list | set | frozenset):
        items = ((name, item) for item in value)
    for key, item in items:
        yield from _compiled(str(key), item, module, known_ids)


def _written(module: ModuleType, tree: ast.Module) -> Iterator[tuple[str, re.Pattern[str], str]]:
    """Yields the expressions passed to `re`'s functions, by the name that the result is assigned to."""
    assigned = (node for node in ast.walk(tree) if isinstance(node, ast.Assign))
    names = {id(node.value): getattr(node.targets[0], "id", "") for node in assigned}
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=method),
                args=[ast.Constant() | ast.JoinedStr() as text, *more],
            ):
                given = [ast.unparse(part) for part in (*more, *(word.value for word in node.keywords))]
                flags = next((part for part in given if re.match(r"re\.[A-Z]", part)), "0")
                pattern = re.compile(_text(text, module), eval(flags))  # noqa: S307 - our own code
                yield names.get(id(node), ""), pattern, method if method in METHODS else ""


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


def hostile_pieces(pattern: re.Pattern[str]) -> Iterator[Pieces]:
    """Yields, for each long repeat, the text that leads to it and each character that it accepts, alone and
    combined.
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
    if kind in (kinds.BRANCH, kinds.ASSERT, kinds.ASSERT_NOT):
        return list(value[1]) if kind is kinds.BRANCH else [value[1]]
    if kind in REPEATS or kind is kinds.SUBPATTERN:
        return [value[-1]]
    return [value] if kind is kinds.ATOMIC_GROUP else []


def _sample(kind: Any, value: Any) -> str:
    """Returns a short text that roughly matches an item."""
    if kind is kinds.LITERAL:
        return chr(value)
    if kind is kinds.IN:
        one = compiler.compile(parser.SubPattern(parser.State(), [(kind, value)]))
        return next((c for c in f"a0 -.{''.join(map(chr, _literals([(kind, value)])))}" if one.match(c)), "a")
    if kind in REPEATS:
        return "".join(_sample(*item) for item in value[2]) * int(value[0])
    if kind in (kinds.SUBPATTERN, kinds.BRANCH, kinds.ATOMIC_GROUP):
        return "".join(_sample(*item) for item in _inside(kind, value)[0])
    return "a" if kind in (kinds.ANY, kinds.NOT_LITERAL) else ""


def _literals(items: Any) -> Iterator[int]:
    for kind, value in items:
        if kind in (kinds.LITERAL, kinds.NOT_LITERAL, kinds.RANGE):
            yield value[0] if kind is kinds.RANGE else value
        for inner in [value] if kind is kinds.IN else _inside(kind, value):
            yield from _literals(inner)


def test_no_regular_expression_is_quadratic() -> None:
    uses = all_uses()

    assert len(uses) > MANY
    assert {use: text for use in uses if (text := quadratic(use))} == {}


def test_a_quadratic_expression_is_found() -> None:
    assert quadratic(Use("here", re.compile(r"X-[\w-]*API-Key"), "search")) is not None
