"""Parses `/timelog`."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import pairwise

from bot.errors import UnknownWord, UserError
from bot.features.timelog.timelog import TimeDraft, TimeToLog
from bot.slack.language import dates, reading, values
from bot.slack.language.dates import Today
from bot.slack.language.doubts import is_doubtful
from bot.slack.language.durations import hours, without_and, without_spans
from bot.slack.language.marks import CALENDAR, Vocabulary, plain
from bot.slack.language.options import Parsed, understand
from bot.slack.language.phrases import AND, NEGATIONS
from bot.slack.language.questions import Question, is_question
from bot.slack.language.tokens import Atom, Value, Word, as_typed
from bot.slack.language.values import Help, Typist, ZoneUnknown
from bot.spelling import GOVERNING, word_meant


@dataclass(frozen=True)
class EditLastEntry:
    """`/timelog edit`: edit or delete the user's latest entry."""


@dataclass(frozen=True)
class ShowTotals:
    """`/timelog today`, `how much did I log this week`: what the user logged."""


class WhoLogged(UserError):
    """`who logged time on 12`."""

    says = "I can't list other people's time. Issue #{issue} shows the sum."
    issue: int


@dataclass(frozen=True)
class Misread:
    """A text that can't be logged as typed: what is wrong, and a draft of what was understood."""

    draft: TimeDraft
    error: UserError


TimelogRequest = TimeToLog | TimeDraft | Misread | EditLastEntry | ShowTotals | Help
"""A draft opens the form."""
Read = tuple[TimeDraft, UserError | None]  # what was understood, and what is wrong with the rest

OPTIONS = ("project", "activity", "on")
MORE_DAYS = ("and", "to", "until", "till", "through", "-", "–", "&", "or")
EDIT = ("edit", "change", "delete", "remove", "undo")
LAST = frozenset({"last", "my", "the", "it", "entry", "time", "one", "latest", "that"})
TOTALS = frozenset(
    {
        *("how", "much", "many", "hours", "time", "did", "have", "i", "log", "logged", "spent", "today"),
        *("this", "week", "my", "total", "totals", "sum", "so", "far", "what", "show", "me", "the", "on"),
        *("entries", "list"),
    }
)
LOG = ("log", "add", "track", "spent", "i", "i've", "worked", "book", "please", "pls")
LINKING = ("for", "on", "to", "in", "issue")
"""Words between a duration and its issue, as in `2 hours on issue 42`."""
ALSO = AND | {"or", "/"}
MAX_DURATION_WORDS = 5  # as in `2 hours and 15 minutes`

MAX_WORDS_BEFORE = 5  # how many words may stand before a duration
_WITH_UNIT = re.compile(r"[0-9]+(?:[.,][0-9]+)?(?:h|hrs?|hours?|m|mins?|minutes?)(?![a-z])")
_ISSUE = re.compile(r"#?([1-9][0-9]{0,8})")


@dataclass(frozen=True)
class TypedTime:
    """What follows `/timelog`, as a text and in words."""

    text: str
    parsed: Parsed

    def on_project(self, said: Sequence[Word], project: int) -> "TypedTime":
        """The same with the words `said` as the project, unless they are there twice."""
        words, count = self.parsed.words, len(said)
        at = [n for n in range(len(words) - count + 1) if words[n : n + count] == said]
        if len(at) != 1:
            return self
        named = {"project": (Value((Atom(f"#{project}"),)),)}
        parsed = self.parsed.without(at[0], count)
        return replace(self, parsed=replace(parsed, options={**parsed.options, **named}))


def typed_time(text: str) -> TypedTime:
    return TypedTime(text, understand(without_spans(without_and(text)), OPTIONS).with_fields())


def timelog_command(
    typed: TypedTime,
    typist: Typist,
    vocabulary: Vocabulary = Vocabulary(),  # noqa: B008 - it is frozen
) -> TimelogRequest:
    """The request in `/timelog <text>`; the vocabulary is of projects.

    Raises UserError for a link elsewhere, and for words after `edit`.
    """
    text, parsed = typed.text, typed.parsed
    if typist.base_url:
        values.own_text(text, typist.base_url)
    words = [plain(word) or word.text.lower() for word in parsed.words]
    alone = len(words) == 1 and not parsed.options
    if words and not parsed.options and (asked := _about_logged(words)):
        return asked
    if words[:1] == ["edit"] and not alone:
        raise UserError("To change or delete your last entry, type `{/timelog} edit` on its own.")
    if alone and words[0] in (*EDIT, "help"):
        return Help() if words[0] == "help" else EditLastEntry()
    said = next((n for n, word in enumerate(words) if word not in LOG), 0)
    try:
        request, wrong = _time(reading.time(parsed.after(said), vocabulary, typist.today), typist)
    except UserError as error:
        return Misread(TimeDraft(comment=text), error)
    draft, unsure = request, None
    if isinstance(request, TimeToLog):
        alternative = request.comment.lower().startswith("or ")
        if alternative or is_doubtful(parsed.after(said).plain):
            draft, unsure = TimeDraft(comment=parsed.text), _unsure()
        elif is_question(parsed.words):
            unsure = Question(as_typed(text))
        else:
            unsure = _more_than_comment(request, words, typist, on="on" in parsed.options)
    if alone and draft.comment and (near := word_meant(words[0], (*EDIT, "help"))):
        wrong = UnknownWord("timelog", words[0], near)
    if parsed.problems:
        comment = " ".join(filter(None, (draft.comment, *parsed.left)))
        return Misread(draft.model_copy(update={"comment": comment}), parsed.problems[0])
    wrong = unsure or wrong
    return Misread(draft, wrong) if wrong else request


def _about_logged(words: Sequence[str]) -> TimelogRequest | None:
    """What asks about time that was logged: `delete last`, `how much did I log today`, `who logged on 12`."""
    if words[0] in EDIT and words[1:] and (LAST.issuperset(words[1:]) or words[1] == "last"):
        return EditLastEntry()
    if {"today", "week", "total", "totals", "entries"}.intersection(words) and TOTALS.issuperset(words):
        return ShowTotals()
    issue = values.issue_number(words[-1])
    if words[0] == "who" and issue:
        raise WhoLogged(issue)
    return None


def _more_than_comment(
    request: TimeToLog, words: Sequence[str], typist: Typist, *, on: bool
) -> UserError | None:
    """Why what is left may be more than a comment: another day, another person, or more of the same."""
    comment = request.comment.lower().split()
    if request.quoted:
        return None
    if not comment:
        return _either_day(words, typist)
    first, second = comment[0].rstrip(","), comment[1] if comment[1:] else ""
    another = first in ("and", "each", "&", "plus", "daily", "every", "per")
    more = any(one.endswith(",") and _WITH_UNIT.match(two) for one, two in pairwise(comment))
    someone = first == "for" and not comment[2:] and (second.startswith("@") or second.isalpha())
    period = "-" in first and all(part in CALENDAR for part in first.split("-"))
    first = first.strip("()")
    near = second in ("", *MORE_DAYS) or second in CALENDAR
    days = ("/" in first and first.replace("/", "").isdigit()) or (
        near and (first in CALENDAR or dates.is_date(first))
    )
    until = first in MORE_DAYS and (second in CALENDAR or dates.is_date(second))
    if another or more or someone or ((period or days or until) and not on):
        return UserError(
            "I'm not sure what “{text}” means here, so I didn't log anything. Log one day at a time for "
            "yourself, or put the comment in quotes.",
            text=request.comment,
        )
    return None


def _either_day(words: Sequence[str], typist: Typist) -> UserError | None:
    """The error for a weekday that is today's, without a word that says which one."""
    if words[-1] not in CALENDAR or (words[1:] and words[-2] in ("on", "last", "this")):
        return None
    today = dates.WEEKDAYS[typist.today().weekday()]
    if words[-1] not in (today, today[:3]):
        return None
    return UserError("Is that today or last {day}? Type `on:today` or `last {day}`.", day=today.title())


def _unsure() -> UserError:
    return UserError(
        "I can't tell which number is the issue or the duration, so I didn't log anything. Type one of each, "
        "such as `{/timelog} 42 1h30`."
    )


def _time(parsed: Parsed, typist: Typist) -> Read:
    draft = TimeDraft(project=values.name(parsed, "project"), activity=values.name(parsed, "activity"))
    wrong = None
    if on := values.name(parsed, "on"):
        try:
            draft = draft.model_copy(update={"spent_on": dates.spent_day(on, typist.today)})
        except UserError as error:
            wrong = error
    said = None
    with suppress(UserError):  # a date at the end is told where it is read
        said = None if on or not parsed.words[1:] else dates.said_day(parsed.words, typist.today)
    if said and said.at == 0 and parsed.words[said.count :]:
        draft, parsed = draft.model_copy(update={"spent_on": said.day}), parsed.after(said.count)
    if not parsed.words:
        return draft, wrong
    about = _on_project if draft.project else _on_issue
    draft, wrong_too = about(parsed, draft, typist)
    return draft, wrong or wrong_too


def _on_issue(parsed: Parsed, draft: TimeDraft, typist: Typist) -> Read:
    if ahead := _duration_ahead(parsed.words, typist):
        spent, issue, count = ahead
        return _complete(parsed.after(count), draft.model_copy(update={"issue": issue}), spent, typist)
    if parsed.words[1:] and parsed.words[0].text.lower() in LINKING:
        parsed = parsed.after(1)
    number = values.issue_number(parsed.words[0].text)
    found, count = _duration(parsed.words, typist.locale)
    if number is None or count > 1:
        rest, on, wrong = _day_of(parsed.after(count), draft, typist.today)
        known = {"hours": found, "spent_on": on or draft.spent_on, "comment": _comment(rest)}
        return _with_uncertain_day(draft.model_copy(update=known), rest, typist), wrong
    draft, rest = draft.model_copy(update={"issue": number}), parsed.after(1)
    return _with_duration(rest, draft, typist) if rest.words else (draft, None)


def _on_project(parsed: Parsed, draft: TimeDraft, typist: Typist) -> Read:
    number = values.issue_number(parsed.words[0].text)
    if number is not None and _duration(parsed.words[1:], typist.locale)[0] is not None:
        on_issue = draft.model_copy(update={"issue": number, "project": None})
        both = UserError("Log time on an issue or a project, not both. Leave one out.")
        return _with_duration(parsed.after(1), on_issue, typist)[0], both
    return _with_duration(parsed, draft, typist)


def _with_duration(parsed: Parsed, draft: TimeDraft, typist: Typist) -> Read:
    spent, count = _duration(parsed.words, typist.locale)
    at = _duration_within(parsed.words) if spent is None else 0
    if any(plain(word) in NEGATIONS for word in parsed.words[:at]):
        return draft.model_copy(update={"comment": _comment(parsed)}), _unsure()
    if at:  # the comment comes first
        spent, count = _duration(parsed.words[at:], typist.locale)
        parsed = parsed.without(at, count)
        count = 0
    if spent is None:
        try:
            spent, count = hours(parsed.words[0].text, typist.locale), 1
        except UserError as error:
            return draft.model_copy(update={"comment": _comment(parsed)}), error
    return _complete(parsed.after(count), draft, spent, typist)


def _duration_within(words: Sequence[Word]) -> int:
    """Where a duration with a unit begins after other words: `testing 1h`; 0 for none."""
    for at in range(1, min(len(words), MAX_WORDS_BEFORE + 1)):
        if not words[at].quoted and _WITH_UNIT.match(words[at].text):
            return at
    return 0


def _complete(rest: Parsed, draft: TimeDraft, spent: Decimal, typist: Typist) -> Read:
    """What follows the duration: the comment, with the day before or after it unless `on:` gave one."""
    comment, on, wrong = _day_of(rest, draft, typist.today)
    draft = draft.model_copy(
        update={"hours": spent, "comment": _comment(comment), "spent_on": on or draft.spent_on}
    )
    draft = _with_uncertain_day(draft, comment, typist)
    try:
        spent_on = on or draft.spent_on or typist.today()
    except ZoneUnknown as error:
        return draft, error
    wanted = TimeToLog(
        issue=draft.issue,
        project=draft.project,
        hours=spent,
        activity=draft.activity,
        spent_on=spent_on,
        comment=draft.comment,
        or_on=draft.or_on,
        or_comment=draft.or_comment,
        with_day=_comment(rest) if on and typist.is_ahead(on) else None,
        quoted=len(comment.words) == 1 and comment.words[0].quoted,
    )
    return wanted, wrong


def _day_of(rest: Parsed, draft: TimeDraft, today: Today) -> tuple[Parsed, date | None, UserError | None]:
    """The comment, the day that it names, if any, and what is wrong with that."""
    if draft.spent_on is not None:
        return rest, None, None
    try:
        said = dates.said_day(rest.words, today)
    except UserError as error:
        return rest, None, error
    return (rest.without(said.at, said.count), said.day, None) if said else (rest, None, None)


def _with_uncertain_day(draft: TimeDraft, comment: Parsed, typist: Typist) -> TimeDraft:
    """The draft with the day that its comment may name without `on`, if nothing else does."""
    with suppress(UserError):
        said = None if draft.spent_on else dates.said_day(comment.words, typist.today, sure=False)
        if said and not typist.is_ahead(said.day):
            left = _comment(comment.without(said.at, said.count))
            return draft.model_copy(update={"or_on": said.day, "or_comment": left})
    return draft


def _duration_ahead(words: Sequence[Word], typist: Typist) -> tuple[Decimal, int, int] | None:
    """The duration and the issue in `1h 42`, and how many words they take; None if the words are ambiguous,
    as in `1h 30 42`.
    """
    for count in range(min(len(words) - 1, MAX_DURATION_WORDS), 0, -1):
        duration = " ".join(word.text for word in words[:count])
        linking = _linking(words[count:])
        mistakable = values.issue_number(duration) if count == 1 else duration[-1].isdigit()
        about, *after = words[count + linking : count + linking + 2]
        issue = _ISSUE.fullmatch(about.text.rstrip(":,"))
        if issue is None or (mistakable and not linking):
            continue
        certain = linking or about.text.startswith("#")
        if after and after[0].text[:1].isdigit() and not certain and not dates.said_day(after, typist.today):
            continue
        with suppress(UserError):
            return hours(duration, typist.locale), int(issue[1]), count + linking + 1
    return None


def _linking(words: Sequence[Word]) -> int:
    """How many linking words stand before the last possible word for an issue."""
    plain = [word.text.lower() for word in words[:3]]
    return next((n for n, word in enumerate(plain) if word not in LINKING), len(plain) - 1)


def _duration(words: Sequence[Word], locale: str) -> tuple[Decimal | None, int]:
    """The duration that the words begin with, and how many of them it takes.

    A duration of several words ends with a unit or at the end of the text: `1h 30 tickets` is one hour.
    """
    plain = [word.text.rstrip(",") for word in words[:MAX_DURATION_WORDS]]
    for count in range(len(plain), 0, -1):
        if count > 1 and count < len(words) and plain[count - 1][-1:].isdigit():
            continue
        with suppress(UserError):
            return hours(" ".join(plain[:count]), locale), count
    return None, 0


def may_name_project(typed: TypedTime) -> bool:
    """Whether the words may name a project."""
    return "project" in reading.needs(typed.parsed.words, "time")


def beside_duration(typed: TypedTime, typist: Typist) -> Iterator[tuple[Word, ...]]:
    """The words right before or after the duration that may name a project, the longest run first."""
    words = typed.parsed.words
    words = words[next((n for n, word in enumerate(words) if word.text.lower() not in LOG), 0) :]
    spent, count = _duration(words, typist.locale)
    within = _duration_within(words) if spent is None else 0
    words = words[:within] if spent is None else words[count : count + MAX_WORDS_BEFORE]
    for end in range(len(words), 0 if spent else max(within - 1, 0), -1):
        run, after = words[:end], [word.text.lower() for word in words[end : end + 1]]
        said = " ".join(word.text for word in run)
        plain = not any(atom.quoted or atom.user for word in run for atom in word.atoms)
        if plain and len(said) > 1 and said.lower() not in GOVERNING and not ALSO.intersection(after):
            yield run


def _comment(parsed: Parsed) -> str:
    return " ".join(parsed.text.split())
