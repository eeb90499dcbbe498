"""A small JSON schema language that reports errors the way Slack does."""

import re
from collections.abc import Callable, Mapping
from datetime import date

from bot.sandbox.workspace.shapes import JsonObject

Problems = list[str]
Rule = Callable[[object, str, Problems], None]


def problem(problems: Problems, sentence: str, path: str) -> None:
    problems.append(f"{sentence} [json-pointer:{path or '/'}]")


def string(maximum: int, minimum: int = 0) -> Rule:
    def check(value: object, path: str, problems: Problems) -> None:
        if not isinstance(value, str):
            problem(problems, "must be a string", path)
        elif len(value) > maximum:
            problem(problems, f"must be no more than {maximum} characters, has {len(value)}", path)
        elif len(value) < minimum:
            problem(problems, f"must be at least {minimum} characters", path)

    return check


IDENTIFIER = string(255, 1)


def boolean(value: object, path: str, problems: Problems) -> None:
    if not isinstance(value, bool):
        problem(problems, "must be a boolean", path)


def anything(value: object, path: str, problems: Problems) -> None:
    """Accepts any value: only Slack's own clients create these."""


def integer(minimum: int, maximum: int) -> Rule:
    def check(value: object, path: str, problems: Problems) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
            problem(problems, f"must be an integer from {minimum} to {maximum}", path)

    return check


def choice(*allowed: str) -> Rule:
    def check(value: object, path: str, problems: Problems) -> None:
        if value not in allowed:
            problem(problems, f"must be one of: {', '.join(allowed)}", path)

    return check


def pattern(expression: str, what: str) -> Rule:
    compiled = re.compile(expression)

    def check(value: object, path: str, problems: Problems) -> None:
        if not isinstance(value, str) or not compiled.fullmatch(value):
            problem(problems, f"must be {what}", path)

    return check


def day(value: object, path: str, problems: Problems) -> None:
    """An existing date, as YYYY-MM-DD."""
    try:
        valid = isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        valid = False
    if not valid:
        problem(problems, "must be a date as YYYY-MM-DD", path)


def items(rule: Rule, minimum: int, maximum: int) -> Rule:
    def check(value: object, path: str, problems: Problems) -> None:
        if not isinstance(value, list):
            problem(problems, "must be an array", path)
            return
        if len(value) > maximum:
            problem(problems, f"no more than {maximum} items allowed, has {len(value)}", path)
        if len(value) < minimum:
            problem(problems, f"must have at least {minimum} items", path)
        for index, item in enumerate(value):
            rule(item, f"{path}/{index}", problems)

    return check


def fields(required: Mapping[str, Rule], optional: Mapping[str, Rule]) -> Rule:
    """An object with exactly these keys; `by_type` checks `type`."""
    known = {**required, **optional}

    def check(value: object, path: str, problems: Problems) -> None:
        if not isinstance(value, dict):
            problem(problems, "must provide an object", path)
            return
        for key in required:
            if value.get(key) is None:
                problem(problems, f"missing required field: {key}", path)
        for key, inner in value.items():
            if key == "type" or inner is None:
                continue
            if key not in known:
                problem(problems, f"invalid additional property: {key}", path)
            else:
                known[key](inner, f"{path}/{key}", problems)

    return check


def by_type(rules: Mapping[str, Rule]) -> Rule:
    """One of several kinds of object, selected by `type`."""

    def check(value: object, path: str, problems: Problems) -> None:
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, str):
            problem(problems, "must provide an object with a type", path)
        elif kind not in rules:
            problem(problems, f"unsupported type: {kind}", path + "/type")
        else:
            rules[kind](value, path, problems)

    return check


def both(*rules: Rule) -> Rule:
    def check(value: object, path: str, problems: Problems) -> None:
        for rule in rules:
            rule(value, path, problems)

    return check


def holds(condition: Callable[[JsonObject], bool], sentence: str) -> Rule:
    """A condition across an object's fields."""

    def check(value: object, path: str, problems: Problems) -> None:
        if isinstance(value, dict) and not condition(value):
            problem(problems, sentence, path)

    return check
