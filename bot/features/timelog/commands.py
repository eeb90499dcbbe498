"""`/timelog` (docs/commands.md)."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date

from bot.errors import Offer, UnknownWord, UserError
from bot.features.timelog.timelog import TimeDraft, TimeToLog
from bot.slack.language import dates, reading, values
from bot.slack.language.doubts import PAST, Question, is_doubtful, is_question, is_told
from bot.slack.language.durations import DURATION, LONG, WITH_UNIT, hours
from bot.slack.language.marks import CALENDAR, MAX_NAME_WORDS, Vocabulary, plain
from bot.slack.language.options import Parsed, understand
from bot.slack.language.phrases import AND, NEGATIONS
from bot.slack.language.reading import DASHES
from bot.slack.language.tables import CommandTable, shapes
from bot.slack.language.tokens import Atom, Token, Word, as_typed
from bot.slack.language.values import CommandContext, Help, ZoneUnknown
from bot.spelling import DAY_NAMES, GOVERNING, word_meant


@dataclass(frozen=True)
class EditLast:
    """Edits or deletes the user's latest entry, on an issue if one is given."""

    issue: int | None = None


@dataclass(frozen=True)
class ShowTotal:
    """Shows what the user logged in a period; `lately`: also today and this week."""

    since: date
    until: date
    lately: bool = False


@dataclass(frozen=True)
class WhoLogged:
    """`who logged time on 12`, or a question about other people's time."""

    issue: int | None


@dataclass(frozen=True)
class Misread:
    """A text that can't be logged as typed: the error, and a draft with the rest."""

    draft: TimeDraft
    error: UserError


TimelogRequest = TimeToLog | TimeDraft | Misread | WhoLogged | EditLast | ShowTotal | Help
"""A draft opens the form."""
OPTIONS = ("project", "activity", "on")
LINK, OF = "for|on|to|in|issue", "on|for|from|of"
ALSO = AND | {"or", "/"}
MEANINGLESS = frozenset({*DASHES, ":", "please", "pls", "plz"})
"""Words that mean nothing before or after a comment."""
LOGGING = frozenset(
    {"log", "add", "track", "spent", "i", "i've", "worked", "book", "forgot", "please", "pls"}
)
"""Words that only say that time is logged, before the rest."""
DELETING = (["delete"], ["remove"], ["undo"])
SPENDING = frozenset({"i", "i've", "spent", "worked", "logged", "took", "me", "on", "it", "for"})
"""Words that say nothing if they are the whole comment."""
_CALENDAR = f"(?:{'|'.join(sorted(CALENDAR, key=len, reverse=True))})"
_FEW = r"[^\s#\"“”„‟«»]+(?:\s+[^\s#\"“”„‟«»]+){0,4}?"  # no quotes: what they hold is a comment
_ASKED = (
    "how|much|many|hours|time|did|do|done|have|i|log|logged|work|worked|spent|my|totals|total|sum|so|far|what|show|me|the|on|in|"
    "for|during|of|entries|list"
)
_TIMES = rf"today|yesterday|(?:last|past)\s+[0-9]+|(?:this|last|past)|(?:day|week|month|year)s?|{_CALENDAR}"
_ABOUT = CommandTable[EditLast | Help | str](
    ("help", Help()),
    ("edit|change|delete|remove|undo {last?}", EditLast()),
    ("edit|change|update|delete|remove|undo {issue} {rest?}", "entry"),
    (f"edit|change|update|delete|remove|undo {{its}} {OF} issue? {{issue}} {{rest?}}", "entry"),
    ("edit {rest}", "entry"),
    ("change|update|delete|remove {entry}", "entry"),
    ("delete|remove|undo {duration} {rest?}", "entry"),
    ("who|show {rest?} {issue}", "others"),
    ("{totals}", "totals"),
    ("{others}", "others"),
    ("who {rest}", "others"),
    ("{mine} in? for? {entries}", "mine"),
    ("start|stop|begin|pause the|a? timer|clock|working? on|for? {issue?}", "timer"),
    its=rf"(?:.*\s)?(?:entry|one|time|hours)(?![^\s.,!?])|{DURATION}",
    mine=r"(?:(?:fill|enter|put|log|add)\s+(?:(?:in|out)\s+)?)?my\s+(?:hours|time|timesheet)\b",
    last=r"last.*|(?:(?:last|my|the|it|entry|time|one|latest|that)(?:\s+|\Z))+",
    entry=r"(?:.*\s)?(?:entry|entries|(?:my|today['’]s|yesterday['’]s) hours)(?![^\s.,!?]).*",
    totals=rf"(?=(?:how|what|show|list)\b|.*\b(?:today|week|month|totals?|entries)\b)"
    rf"(?:(?:{_ASKED}|{_TIMES})(?:[\s?!.,]+|\Z))+",
    others=r"(?:how|what|much|many|hours|time|\s)+(?:did|has|does)\s+(?!i\b)\S+(?:\s+\S+)?\s+(?:spend|spent|log|"
    r"logged|work|worked|book|booked|track|tracked)\b.*",
)
_HALF = r"[0-9]{1,5} ?h(?:ours?)? [0-9]{1,2}"  # a duration at the end of a text, or before its issue
_SLOTS = {
    "total": rf"(?:{_HALF}|[0-9]{{1,5}})(?!\S)|{LONG}|{DURATION}",
    "amount": rf"{_HALF}(?=\s*\Z)|{LONG}|{DURATION}|"
    r"[0-9]{1,5}(?:[.,][0-9]{1,4})?(?![^\s,!?]|\s+days?\b|\s+\S+\s+ago\b)",
    # `1h 42 2 files` may not mean issue 42, but `1h 42 2026-07-01` does
    "certain": r"#[0-9]{1,9}[:,]?(?!\S)|[0-9]{1,9}[:,]?(?!\S)(?!\s+(?![0-9]{4}-|[0-9]+\.[0-9]+\.)[0-9])",
    "comment": _FEW,
    "spent": WITH_UNIT,
    "long": LONG,
}
_ON_ISSUE = shapes(
    f"{LINK}? {{issue}} for|about|around {{duration}} {{rest?}}",
    f"{{total}} {LINK} {LINK}? {{issue}} {{rest?}}",
    "{duration} {certain} {rest?}",
    "{long} {certain} {rest?}",
    f"{LINK}? {{duration}} {{rest?}}",
    f"{LINK}? {{issue}} {{amount}} {{rest?}}",
    f"{LINK}? {{issue}} {{comment}} {{spent}} {{rest?}}",
    f"{LINK}? {{issue}} {{rest?}}",
    **_SLOTS,
)
_BESIDE_ISSUE = (*_SLOTS.keys() - {"certain"}, "duration", "rest")
_ON_PROJECT = shapes("{issue} {duration} {rest?}", "{amount} {rest?}", "{comment} {spent} {rest?}", **_SLOTS)
_ITS = rf"(?:(?:(?:on|for|last)\s+)?(?:#?[0-9]{{1,9}}|{_CALENDAR}|{dates.DAY_WORD}):?(?!\S))"
_SEVERAL = re.compile(
    rf"([^\"“”„‟«»]*?\S)(?:[,;]|\s(?:and|&|\+|plus|then))\s+"
    rf"((?:(?:{_ITS}\s+){{1,2}}{WITH_UNIT}|{WITH_UNIT}\s+{_ITS}).*)",
    re.IGNORECASE | re.DOTALL,
)
"""An entry, and another one after it."""
_BESIDE = shapes("{duration} {rest}", "{comment} {spent} {rest?}", **_SLOTS)
_ONE = "Log one entry at a time"
_OWN = "I log only your own time. If that's an activity, choose it in the form"
_DAY = "Log one day at a time, such as `on friday`"
_FOR = re.compile(r"for (\w+)", re.IGNORECASE)
_STATED = "If you spent that time, open the form"
_MORE = CommandTable(
    ("is|was|isn't|wasn't|are|were|until|till|if|unless|but|instead|minus|less {rest?}", _STATED),
    ("from now {rest?}", _STATED),
    ("remaining|left|more|estimate|estimated|needed|planned|overdue|late", _STATED),
    ("more? to go", _STATED),
    ("and|each|&|plus|daily|every|per {rest?}", _ONE),
    ("a day|week", _ONE),
    ("{list}", _ONE),
    ("{spent} {rest?}", _ONE),
    ("for {someone}", _OWN),
    ("for {day} {rest}", _DAY),
    ("{period} {rest?}", _DAY),
    ("{day}", _DAY),
    ("{day} {until} {rest?}", _DAY),
    ("{until} {day} {rest?}", _DAY),
    list=rf"(?:.*\S)?(?:,|\s(?:and|plus|\+))\s+{WITH_UNIT}.*",
    someone=r"@.+|[^\W\d_]+",
    spent=WITH_UNIT,
    period=rf"{_CALENDAR}-{_CALENDAR}(?!\S)|\(?[0-9]+/[0-9/]+\)?(?!\S)|(?:last|this|past|next)\s+(?:week|month)\b|"
    rf"on\s+the\s+[0-9]+(?:st|nd|rd|th)?\b|(?:{'|'.join(DAY_NAMES)})(?!\S)",
    day=rf"\(?(?:{_CALENDAR}(?:\s[0-9]{{1,2}})?|{dates.DAY_WORD})\)?,?(?!\S)",
    until=rf"(?:and|to|until|till|through|-|–|&|or|{_CALENDAR})(?!\S)",
)


@dataclass(frozen=True)
class TypedTime:
    """The text after `/timelog`, and its words."""

    text: str
    parsed: Parsed

    def on_project(self, project_words: Sequence[Word], project: int) -> "TypedTime":
        """The same with the words `project_words` as the project, unless they are there twice."""
        words, count = self.parsed.words, len(project_words)
        at = [n for n in range(len(words) - count + 1) if words[n : n + count] == project_words]
        if len(at) != 1:
            return self
        named = {"project": (Token((Atom(f"#{project}"),)),)}
        parsed = self.parsed.without(at[0], count)
        return replace(self, parsed=replace(parsed, options={**parsed.options, **named}))

    @property
    def asked(self) -> Parsed:
        """The same without words that only say that time is logged."""
        words = self.parsed.words
        at = next((n for n, word in enumerate(words) if plain(word) not in LOGGING), 0)
        return _trimmed(self.parsed.after(at))


def typed_time(text: str) -> TypedTime:
    return TypedTime(text, understand(text, OPTIONS).with_fields())


def timelog_command(
    typed: TypedTime,
    typist: CommandContext,
    vocabulary: Vocabulary = Vocabulary(),  # noqa: B008 - it is frozen
) -> TimelogRequest:
    """The request in `/timelog <text>`; the vocabulary is of projects.

    Raises UserError for a link elsewhere, and for words after `edit`.
    """
    text, parsed = typed.text, typed.parsed
    if typist.base_url:
        values.own_text(text, typist.base_url)
    if (row := _ABOUT.take(text.strip())) and not parsed.options:
        about, match = row
        number = values.issue_number(match.groupdict("").get("issue", ""))
        match about:
            case "timer":
                problem = UserError(
                    "I don't have a timer. When you're done, log your time: `{/timelog} 42 1h30`."
                )
                return Misread(TimeDraft(issue=number), problem)
            case "others":
                return WhoLogged(number)
            case "entry":
                if number:
                    return EditLast(number)
                raise UserError(
                    "To change or delete an earlier entry, choose “Edit” in the message where I confirmed "
                    "it. To open your last one, type `{/timelog} edit`.",
                    offers=[Offer("Edit last entry", "edit")],
                )
            case "mine":
                return timelog_command(typed_time(match["entries"]), typist, vocabulary)
            case "totals":
                return _total(match["totals"], typist)
            case EditLast() | Help():
                return about

    request = _logged(typed, typist, vocabulary)
    several = _SEVERAL.fullmatch(text.strip())
    if several and (not isinstance(request, TimeToLog) or several[2] in request.comment):
        first = timelog_command(typed_time(several[1]), typist, vocabulary)
        if isinstance(first, TimeToLog):
            return Misread(
                first,
                UserError("I log one entry at a time, so I didn't log anything. The form has the first one."),
            )
    return request


def _logged(
    typed: TypedTime, typist: CommandContext, vocabulary: Vocabulary
) -> TimeToLog | TimeDraft | Misread:
    text, parsed = typed.text, typed.parsed
    problems: list[UserError] = []
    try:
        draft = _time(reading.time(typed.asked, vocabulary, typist.today), typist, problems)
    except UserError as error:
        return Misread(TimeDraft(comment=text), error)

    if isinstance(draft, TimeToLog):
        if draft.comment.lower().startswith("or ") or is_doubtful(typed.asked.plain):
            draft, problems = TimeDraft(comment=parsed.text), [_unsure()]
        elif is_question(parsed.words):
            problems.insert(0, Question(as_typed(text)))
        elif not problems and (more := _more(draft, parsed, typist)):
            problems.append(more)
            if activity := _FOR.fullmatch(draft.comment):  # the form selects it if there is such an activity
                draft = draft.model_copy(update={"activity": draft.activity or activity[1]})

    word = parsed.plain if draft.comment and len(parsed.words) == 1 and not parsed.options else ""
    if near := word_meant(word, _ABOUT.verbs):
        problems.insert(0, UnknownWord("timelog", word, near))
    if parsed.problems:
        comment = " ".join(filter(None, (draft.comment, *parsed.left)))
        draft, problems = draft.model_copy(update={"comment": comment}), [*parsed.problems]
    return Misread(draft, problems[0]) if problems else draft


def _more(request: TimeToLog, parsed: Parsed, typist: CommandContext) -> UserError | None:
    """Why the remaining text may be more than a comment: another day, another person, or more time."""
    if request.quoted:
        return None
    if not request.comment:
        return _either_day([plain(word) or "" for word in parsed.words], typist)
    row = _MORE.take(request.comment)
    if row and not (row[0] is _DAY and "on" in parsed.options):
        return UserError(
            "I'm not sure what “{text}” means here, so I didn't log anything. {instead}, or put the comment "
            "in quotes.",
            text=request.comment,
            instead=row[0],
        )
    return None


def _total(text: str, typist: CommandContext) -> ShowTotal:
    named = " ".join(word for word in re.findall(r"\w+", text.lower()) if word not in _ASKED.split("|"))
    lately = named in ("", "today", "week", "this week")
    if lately:
        named = "today" if named == "today" else "this week"
    days = dates.days(named, typist.today, "past")
    return ShowTotal(days.since or typist.today(), days.until or typist.today(), lately)


def _either_day(words: Sequence[str], typist: CommandContext) -> UserError | None:
    """The error for a weekday that is today's, without a word that says which one."""
    if words[-1] not in CALENDAR or words[-2:-1] in (["on"], ["last"], ["this"]):
        return None
    today = DAY_NAMES[typist.today().weekday()]
    if words[-1] not in (today, today[:3]):
        return None
    return UserError("Is that today or last {day}? Type `on:today` or `last {day}`.", day=today.title())


def _unsure() -> UserError:
    return UserError(
        "I can't tell which number is the issue and which is the duration, so I didn't log anything. Type "
        "one of each, such as `{/timelog} 42 1h30`."
    )


def _unsure_of(spent: str) -> UserError:
    return UserError(
        "I can't tell whether “{spent}” is the time you spent, so I didn't log anything. Check the form.",
        spent=spent,
    )


def _time(parsed: Parsed, typist: CommandContext, problems: list[UserError]) -> TimeDraft | TimeToLog:
    draft = TimeDraft(project=values.name(parsed, "project"), activity=values.name(parsed, "activity"))
    if on := values.name(parsed, "on"):
        try:
            draft = draft.model_copy(update={"spent_on": dates.spent_day(on, typist.today)})
        except UserError as error:
            problems.append(error)
    elif parsed.words[1:]:
        with suppress(UserError):  # the comment's day is reported
            comment_day = dates.said_day(parsed.words, typist.today)
            before = comment_day and comment_day.sure and comment_day.at == 0
            if comment_day and before and parsed.words[comment_day.count :]:
                draft = draft.model_copy(update={"spent_on": comment_day.day})
                parsed = parsed.after(comment_day.count)
    return _shaped(parsed, draft, typist, problems) if parsed.words else draft


def _shaped(
    parsed: Parsed, draft: TimeDraft, typist: CommandContext, problems: list[UserError]
) -> TimeDraft | TimeToLog:
    """Find the issue and the duration among the words' numbers; the rest is the comment."""
    row = (_ON_PROJECT if draft.project else _ON_ISSUE).take(parsed.source)
    slots = row[1].groupdict() if row else {}
    number = values.issue_number(slots.get("certain") or slots.get("issue") or "")
    spent = next(filter(None, map(slots.get, ("total", "duration", "amount", "spent", "long"))), "")
    if number and draft.project:
        problems.append(UserError("Log time on an issue or a project, not both. Leave one out."))
    if number:
        draft = draft.model_copy(update={"issue": number, "project": None})

    known, amount = bool(number or draft.project), None
    comment = _within(parsed, row[1], "comment", "rest") if row else parsed
    others = _within(parsed, row[1], *_BESIDE_ISSUE) if row and known else parsed
    before = [plain(word) or "" for word in _within(parsed, row[1], "comment").words] if row else []
    if known and not spent and comment.words and PAST.isdisjoint(map(plain, comment.words)):
        spent = comment.words[0].text  # `2 hours ago` is no duration
    try:
        amount = hours(spent, typist.locale) if spent else None
    except UserError as error:
        problems += [error] if known else []

    if before in DELETING or not NEGATIONS.isdisjoint(before):
        problems.append(_unsure())
        amount, comment = None, others
    elif is_told(before):
        problems.append(_unsure_of(spent))
        comment = others
    elif not (amount or re.fullmatch(LONG, spent, re.IGNORECASE)):
        comment = others
    return _dated(comment, draft.model_copy(update={"hours": amount}), typist, problems)


def _dated(
    typed: Parsed, draft: TimeDraft, typist: CommandContext, problems: list[UserError]
) -> TimeDraft | TimeToLog:
    """The draft with the day before or after the comment, unless it has one; complete if it can be."""
    comment_day = None
    try:
        comment_day = dates.said_day(typed.words, typist.today) if draft.spent_on is None else None
    except UserError as error:
        problems.append(error)

    rest = typed.without(comment_day.at, comment_day.count) if comment_day else typed
    sure = comment_day if comment_day and comment_day.sure else None
    comment = rest if sure else typed
    known: dict[str, object] = {
        "comment": _comment(comment),
        "spent_on": sure.day if sure else draft.spent_on,
    }
    if comment_day and not sure and not typist.is_ahead(comment_day.day):
        known |= {"or_on": comment_day.day, "or_comment": _comment(rest)}
    draft = draft.model_copy(update=known)

    if not (draft.hours and (draft.issue or draft.project)):
        return draft
    try:
        spent_on = draft.spent_on or typist.today()
    except ZoneUnknown as error:
        problems.append(error)
        return draft
    more = {
        "spent_on": spent_on,
        "with_day": _comment(typed) if sure and typist.is_ahead(sure.day) else None,
        "quoted": len(comment.words) == 1 and comment.words[0].quoted,
    }
    return TimeToLog.model_validate(draft.model_dump() | more)


def _within(parsed: Parsed, match: re.Match[str], *slots: str) -> Parsed:
    """The words that some slots took."""
    spans = [match.span(slot) for slot in slots if slot in match.re.groupindex]
    at, kept = 0, list[Word]()
    for word in parsed.words:
        kept += [word] if any(start <= at < end for start, end in spans) else []
        at += len(word.source) + 1
    return replace(parsed, words=tuple(kept))


def may_name_project(typed: TypedTime) -> bool:
    """Whether the words may name a project."""
    return "project" in reading.needs(typed.parsed.words, "time")


def beside_duration(typed: TypedTime) -> Iterator[tuple[Word, ...]]:
    """The words right before or after the duration that may name a project, the longest run first."""
    row = _BESIDE.take(typed.asked.source)
    words = _within(typed.asked, row[1], "comment").words if row else ()
    shortest = len(words)
    if row and not words:
        words, shortest = _within(typed.asked, row[1], "rest").words[:MAX_NAME_WORDS], 1
    for end in range(len(words), max(shortest, 1) - 1, -1):
        run, after = words[:end], [word.text.lower() for word in words[end : end + 1]]
        name = " ".join(word.text for word in run)
        plain = all(word.is_plain for word in run)
        if plain and len(name) > 1 and name.lower() not in GOVERNING and not ALSO.intersection(after):
            yield run


def _comment(parsed: Parsed) -> str:
    if SPENDING.issuperset(plain(word) or "" for word in parsed.words):
        return ""
    return " ".join(_trimmed(parsed).text.split())


def _trimmed(parsed: Parsed) -> Parsed:
    kept = [n for n, word in enumerate(parsed.words) if plain(word) not in MEANINGLESS]
    return replace(parsed, words=parsed.words[kept[0] : kept[-1] + 1] if kept else ())
