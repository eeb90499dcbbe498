"""Each part of a mixed text is read correctly, and a text in doubt changes nothing."""

from contextlib import suppress
from datetime import UTC, date, datetime
from functools import partial
from time import thread_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import UserError, WrongField
from bot.features.editing.commands import ELSEWHERE, edit_command, typed_change
from bot.features.issue_command.commands import OPTIONS as NEW
from bot.features.issues.fields import NotUnderstood
from bot.features.search.commands import CANNOT, issues_command
from bot.features.search.commands import OPTIONS as FILTERS
from bot.features.timelog.commands import timelog_command, typed_time
from bot.features.timelog.drafts import TimeToLog
from bot.slack.language import reading
from bot.slack.language.marks import Marks, Vocabulary
from bot.slack.language.options import Parsed, understand
from bot.slack.language.phrases import NEGATIONS
from bot.slack.language.tokens import words
from bot.slack.language.values import CommandContext
from tests.slack.language.readers import ANA, PARIS

MONDAY = partial(date, 2026, 11, 23)
NAMES = {
    "person": ("Ben Okafor", "Dana Novak", "Chris Lindqvist"),
    "project": ("Mobile App", "mobile", "Web Shop"),
    "status": ("New", "In progress", "Resolved"),
    "tracker": ("Bug", "Feature request"),
    "priority": ("Low", "High"),
    "category": ("Checkout",),
    "version": ("3.0", "Release 4"),
}
SPANS = [(kind, name) for kind, names in NAMES.items() for name in names]
SPANS += [("number", "#12"), ("percent", "50%"), ("times", "2026-12-31"), ("times", "last friday")]
FIELDS = [
    ("tracker", "bug"),
    ("to", "for ben"),
    ("priority", "high prio"),
    ("project", "in mobile"),
    ("due", "due friday"),
    ("category", "checkout"),
    ("private", "private"),
]
CLOSERS = ("{}:", "{} -", "[{}]", "[{}]:")
SEPARATORS = st.sampled_from([", ", " and ", " → ", "; ", " & ", " then "])
CHANGES = (
    "close",
    "assign to ben",
    "high priority",
    "in progress",
    "due friday",
    "50% done",
    "dana",
    "version 3.0",
    "make it a bug",
    "starts monday",
    "lower it to low",
    "clear the category",
)
TYPIST = CommandContext(ANA, PARIS, now=datetime(2026, 11, 23, 12, tzinfo=UTC))


@given(st.lists(st.sampled_from(SPANS), min_size=1, max_size=6), st.data())
def test_spans_between_separators_are_read_back(spans: list[tuple[str, str]], data: st.DataObject) -> None:
    text, begins = "", []
    for kind, typed in spans:
        text += data.draw(SEPARATORS) if text else ""
        begins.append((kind, typed, len(words(text))))
        text += typed

    marks = Marks(words(text), Vocabulary(NAMES), MONDAY)

    for kind, typed, at in begins:
        value, count = marks.span(kind, at, leads=False) or ("", 0)
        assert (value.casefold(), count) == (typed.casefold(), len(words(typed)))


@given(
    st.permutations(FIELDS),
    st.integers(1, 4),
    st.sampled_from([" ", ", ", " and "]),
    st.sampled_from(CLOSERS),
    st.data(),
)
def test_fields_before_a_colon_are_read_back(
    fields: list[tuple[str, str]], count: int, separator: str, closer: str, data: st.DataObject
) -> None:
    typed = [said for _, said in fields[:count]]
    subject = "Can guests pay twice"

    def read(front: list[str]) -> Parsed:
        text = f"new {closer.format(separator.join(front))} {subject}"
        return reading.subject(understand(text, NEW).after(1), Vocabulary(NAMES), MONDAY)

    meant = read(typed)
    typed.insert(data.draw(st.integers(0, count)), data.draw(st.sampled_from(["not", "no", "cart", "why"])))
    other = read(typed)

    assert (meant.plain, {*meant.options}) == (subject, {key for key, _ in fields[:count]})
    assert subject in other.plain
    assert not other.options


def test_a_search_is_read_at_once_with_a_thousand_people_and_projects() -> None:
    people = [f"Person{n} Family{n * 7 % 1000}" for n in range(1000)]
    projects = [name for n in range(1000) for name in (f"Warehouse {n} of the region", f"warehouse-{n}")]
    names = Vocabulary({**NAMES, "person": people, "project": projects})
    typed = "urgent bugs assigned to person42 in warehouse 12 of the region due this week login page"
    taken = []
    for _ in range(5):
        started = thread_time()
        reading.search(understand(typed, FILTERS), names, MONDAY)
        taken.append(thread_time() - started)

    assert min(taken) < 0.01


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from(CHANGES), min_size=1, max_size=4, unique=True),
    st.sampled_from([*sorted(NEGATIONS - {"no", "without"}), "?"]),
    st.data(),
)
def test_questions_and_negations_change_nothing(changes: list[str], doubt: str, data: st.DataObject) -> None:
    typed = ", ".join(changes).split()
    at = data.draw(st.integers(0, len(typed) - 1))
    typed[at] = f"{typed[at].rstrip(',')}?" if doubt == "?" else f"{doubt} {typed[at]}"

    with suppress(UserError):
        edit = edit_command(typed_change(f"42 {' '.join(typed)}", 42), TYPIST, Vocabulary(NAMES))
        # A name that nobody has is refused later.
        assert any(doubt in str(value) for value in edit.values.values()), edit


@pytest.mark.parametrize(
    "unable", ["delete it", "remove", "make it private", "add ben as a watcher", "assign"]
)
def test_an_impossible_part_changes_nothing_else(unable: str) -> None:
    for said in CHANGES:
        for typed in (f"42 {said}, {unable}", f"42 {unable} and {said}"):
            with pytest.raises(UserError):
                edit_command(typed_change(typed, 42), TYPIST, Vocabulary(NAMES))


@pytest.mark.parametrize("wrong", ["due:whenever", "status:none"])
def test_an_impossible_part_is_named_beside_an_unreadable_field(wrong: str) -> None:
    with pytest.raises(NotUnderstood) as raised:
        edit_command(typed_change(f"42 delete it, {wrong}", 42), TYPIST, Vocabulary(NAMES))
    field, impossible = raised.value.errors
    assert isinstance(field, WrongField)
    assert vars(impossible)["do"] == ELSEWHERE["delete"]


def test_the_first_of_two_impossible_filters_is_named() -> None:
    with pytest.raises(UserError) as raised:
        issues_command(understand("with attachments, watched by ben", FILTERS), TYPIST, Vocabulary(NAMES))
    assert vars(raised.value)["ask"] == CANNOT["attachments"][0]


@given(st.sampled_from(["42 1h testing", "1h on 42", "42 testing 1h", "2h 42 yesterday"]), st.data())
def test_a_question_logs_no_time(text: str, data: st.DataObject) -> None:
    typed = text.split()
    at = data.draw(st.integers(0, len(typed) - 1))
    typed[at] = f"{typed[at]}?"

    with suppress(UserError):
        assert not isinstance(timelog_command(typed_time(" ".join(typed)), TYPIST), TimeToLog)


@given(st.sampled_from(["42 1h", "1h on 42", "2h 42 yesterday"]), st.sampled_from(["not", "don't", "never"]))
def test_a_negation_before_time_logs_none(text: str, negation: str) -> None:
    for typed in (f"{negation} {text}", f"{negation} log {text}", text.replace(" ", f" {negation} ", 1)):
        with suppress(UserError):
            assert not isinstance(timelog_command(typed_time(typed), TYPIST), TimeToLog), typed
