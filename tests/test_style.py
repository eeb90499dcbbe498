"""The bot's code comes in short steps."""

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import bot

ROOT = Path(bot.__path__[0])
MOST = 10
"""Statements of a function without a blank line between them."""


def is_nested(node: ast.AST) -> bool:
    """Whether a comprehension has several `for`s or `if`s, or a conditional expression holds another."""
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return len(node.generators) > 1 or len(node.generators[0].ifs) > 1
    return isinstance(node, ast.IfExp) and sum(isinstance(part, ast.IfExp) for part in ast.walk(node)) > 1


def runs(function: ast.AST, lines: list[str]) -> Iterator[list[ast.stmt]]:
    """A function's statements, each time up to a blank line."""
    for node in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                run = block[:1]
                for before, after in pairwise(block):
                    if "" in lines[before.end_lineno : after.lineno]:
                        yield run
                        run = []
                    run.append(after)
                yield run


def dense(source: str) -> Iterator[int]:
    """The lines where dense code starts."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.expr) and is_nested(node):
            yield node.lineno
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from (run[0].lineno for run in runs(node, lines) if len(run) > MOST)


def test_no_function_is_dense() -> None:
    modules = [path for path in ROOT.rglob("*.py") if "sandbox" not in path.relative_to(ROOT).parts]
    found = {str(path.relative_to(ROOT)): sorted({*dense(path.read_text())}) for path in modules}
    assert not {path: lines for path, lines in found.items() if lines}
