"""`/timelog` (docs/commands.md)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from bot.errors import Offer, UnknownWord, UserError
from bot.features.timelog.drafts import TimeDraft, TimeToLog
from bot.features.timelog.time_reader import TimeReader, trimmed, unclear_numbers
from bot.slack.language import dates, reading, values
from bot.slack.language.doubts import Question, is_doubtful, is_question
from bot.slack.language.durations import DURATION, WITH_UNIT
from bot.slack.language.marks import CALENDAR, Vocabulary, plain
from bot.slack.language.options import Parsed, understand
from bot.slack.language.tables import CommandTable
from bot.slack.language.tokens import Atom, Token, Word, as_typed
from bot.slack.language.values import CommandContext, Help
from bot.spelling import DAY_NAMES, word_meant


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
OF = "on|for|from|of"
LOGGING = frozenset(
    {"log", "add", "track", "spent", "i", "i've", "worked", "book", "forgot", "please", "pls"}
)
"""Words that only say that time is logged, before the rest."""
_CALENDAR = f"(?:{'|'.join(sorted(CALENDAR, key=len, reverse=True))})"
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
_ITS = rf"(?:(?:(?:on|for|last)\s+)?(?:#?[0-9]{{1,9}}|{_CALENDAR}|{dates.DAY_WORD}):?(?!\S))"
_SEVERAL = re.compile(
    rf"([^\"“”„‟«»]*?\S)(?:[,;]|\s(?:and|&|\+|plus|then))\s+"
    rf"((?:(?:{_ITS}\s+){{1,2}}{WITH_UNIT}|{WITH_UNIT}\s+{_ITS}).*)",
    re.IGNORECASE | re.DOTALL,
)
"""An entry, and another one after it."""
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
        return trimmed(self.parsed.after(at))


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
    parsed, reader = typed.parsed, TimeReader(typist)
    try:
        draft = reader.time(reading.time(typed.asked, vocabulary, typist.today))
    except UserError as error:
        return Misread(TimeDraft(comment=typed.text), error)

    problem = reader.problem
    if isinstance(draft, TimeToLog):
        if draft.comment.lower().startswith("or ") or is_doubtful(typed.asked.plain):
            draft, problem = TimeDraft(comment=parsed.text), unclear_numbers()
        elif is_question(parsed.words):
            problem = Question(as_typed(typed.text))
        elif not problem:
            problem = _more(draft, parsed, typist)
            activity = _FOR.fullmatch(draft.comment) if problem else None
            if activity:  # the form selects it if there is such an activity
                draft = draft.model_copy(update={"activity": draft.activity or activity[1]})

    word = parsed.plain if draft.comment and len(parsed.words) == 1 and not parsed.options else ""
    if near := word_meant(word, _ABOUT.verbs):
        problem = UnknownWord("timelog", word, near)
    if parsed.problems:
        comment = " ".join(filter(None, (draft.comment, *parsed.left)))
        draft, problem = draft.model_copy(update={"comment": comment}), parsed.problems[0]
    return Misread(draft, problem) if problem else draft


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


def may_name_project(typed: TypedTime) -> bool:
    """Whether the words may name a project."""
    return "project" in reading.needs(typed.parsed.words, "time")
