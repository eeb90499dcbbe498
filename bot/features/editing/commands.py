"""Parses what follows an issue's number in `/issue 42 close` and `/issue close 42`."""

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TypeVar

from bot.errors import UserError, WrongField
from bot.features.editing.edits import Edit, Step
from bot.features.issues.errors import NotUnderstood
from bot.features.issues.fields import CHANGEABLE, SUBJECT, Kind
from bot.features.issues.options import OptionReader
from bot.service.models import Ref
from bot.slack.grammar import values
from bot.slack.grammar.options import CUSTOM_FIELD, Parsed, same_option, understand
from bot.slack.grammar.tokens import Atom, Value, split_first_line
from bot.store.owner import Owner

OPTIONS = (*CHANGEABLE, CUSTOM_FIELD)
EDIT = frozenset({"edit", "change", "update", "set"})
STEPS = {
    **dict.fromkeys(("close", "closed", "done"), Step.CLOSE),
    **dict.fromkeys(("reopen", "reopened"), Step.REOPEN),
}
UNASSIGN = frozenset({"unassign", "unassigned"})
NOTHING = frozenset({"none", "nobody", "empty", "-"})
"""Values that clear a field."""
TO = frozenset({"to", "=", "as"})
"""Words between a field and its value: `assign to me`."""
T = TypeVar("T")


class WordsNotUnderstood(UserError):
    """Words that are no change to an issue."""

    text: str


class NeverEmpty(UserError):
    """A field that every issue has can't be cleared."""

    key: str
    label: str


def edit_command(
    text: str,
    number: int,
    today: date,
    user: Owner,
    fields: Collection[Ref] = (),
    *,
    base_url: str | None = None,
) -> Edit:
    """The change to issue `number` in `/issue <text>`; empty for the form.

    `fields` are the issue's custom fields. Raises NotUnderstood, with the rest of the change.
    """
    first_line, below = split_first_line(text)
    parsed = _with_words_as_options(understand(first_line, OPTIONS, fields), number)
    problems = list(parsed.problems)
    reader = OptionReader(today, user, base_url)
    cleared = {key for key, (*_, last) in parsed.options.items() if last.text.lower() in NOTHING}
    unclearable = {key for key in cleared if key in CHANGEABLE and CHANGEABLE[key].always}
    problems += [
        WrongField(CHANGEABLE[key].name, NeverEmpty(key, CHANGEABLE[key].label)) for key in unclearable
    ]
    given = replace(parsed, options={k: value for k, value in parsed.options.items() if k not in cleared})

    def read(name: str, value: Callable[[], T]) -> T | None:
        try:
            return value()
        except UserError as error:
            problems.append(WrongField(name, error))
            return None

    rows = [row for row in CHANGEABLE.values() if row is not SUBJECT]
    found = {row.key: read(row.name, partial(reader.value, given, row)) for row in rows}
    steps = [STEPS[word.text.lower()] for word in given.words if word.text.lower() in STEPS]
    words = " ".join(word.source for word in given.words if word.text.lower() not in STEPS)
    left = " ".join(filter(None, [words, *given.left, below.strip()]))
    if left and left == words and not steps and "status" not in parsed.options:
        found["status"] = left  # `42 in progress`
    elif left:
        problems.append(WordsNotUnderstood(left))
    edit = Edit(
        subject=read(SUBJECT.name, partial(values.name, given, SUBJECT.key)) or "",
        values=found,
        custom_fields=read("", partial(values.custom_fields, given)) or {},
        cleared=tuple(sorted(cleared - unclearable)),
        step=steps[-1] if steps else None,
        unread={
            row.key: given.options[row.key][0].text
            for row in rows
            if row.kind is Kind.HOURS and row.key in given.options and found[row.key] is None
        },
    )
    if problems:
        raise NotUnderstood(edit, problems[0], tuple(problems[1:]))
    return edit


def _with_words_as_options(parsed: Parsed, number: int) -> Parsed:
    """The same without the issue's number, and with `assign to me` and `priority high` as options."""
    typed = list(parsed.words)
    at = next(n for n, word in enumerate(typed) if values.issue_number(word.text) == number)
    del typed[at]
    if typed and typed[0].text.lower() in EDIT:
        del typed[0]
    options = dict(parsed.options)
    if typed and typed[0].text.lower() in UNASSIGN:
        options["to"] = (Value((Atom("none"),)),)
        del typed[0]
    key = same_option(typed[0].text, CHANGEABLE) if typed else None
    value = typed[2:] if len(typed) > 1 and typed[1].text.lower() in TO else typed[1:]
    if key and value and key not in options:
        options[key] = (
            value[0] if len(value) == 1 else Value((Atom(" ".join(word.text for word in value)),)),
        )
        typed = []
    return replace(parsed, words=tuple(typed), options=options)
