"""Parses what follows an issue's number in `/issue 42 close` and `/issue close 42`."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from bot.errors import Offer, UnknownWord, UserError, WrongField
from bot.features.editing.edits import Edit, StatusTransition
from bot.features.issues.field_inputs import OptionReader
from bot.features.issues.fields import CHANGEABLE, DESCRIPTION, SUBJECT, Field, NotUnderstood
from bot.slack.language import values
from bot.slack.language.doubts import Question, is_question
from bot.slack.language.durations import without_and
from bot.slack.language.marks import END, Vocabulary, plain
from bot.slack.language.options import CUSTOM_FIELD, Parsed, understand
from bot.slack.language.phrases import NEGATIONS, OR
from bot.slack.language.reading import change
from bot.slack.language.tokens import Token, Word, as_typed, split_first_line
from bot.slack.language.values import CommandContext
from bot.spelling import series, slip, word_meant

OPTIONS = (*(key for key in CHANGEABLE if key != DESCRIPTION.key), CUSTOM_FIELD)
VERBS = (
    *("assign", "unassign", "close", "reopen", "comment", "note", "attach", "show", "edit"),
    *("follow", "unfollow", "watch", "unwatch"),
)
ELSEWHERE = {
    "private": "change who can see an issue",
    "relation": "relate issues to each other",
    "project": "move issues to another project",
    "copy": "copy issues",
    "delete": "delete issues",
    "watch": "change an issue's watchers",
}
"""What only the service's pages do."""
NOTHING = frozenset({"none", "nobody", "empty", "-"})  # values that clear a field


class NotAChange(UserError):
    """The text about an issue changes nothing; it may be a comment."""

    says = "I don't understand “{text}”. {instead}"
    text: str
    understood: tuple[str, ...] = ()

    @property
    def instead(self) -> UserError:
        if not self.understood:
            return UserError("Type what to change, such as `close`, `to:me`, or `due:friday`.")
        read = series([f"“{phrase}”" for phrase in self.understood], "and")
        return UserError("I filled in the form with {read}.", read=read)


@dataclass(frozen=True)
class TypedChange:
    """The text about an issue; `parsed` lacks its number, and `below` are the lines after the first."""

    number: int
    line: str
    words: Sequence[Word]
    parsed: Parsed
    below: str

    @property
    def comment(self) -> str:
        """All of the text, as a comment."""
        return "\n".join(filter(None, [self.parsed.source, self.below]))


def typed_change(text: str, number: int) -> TypedChange:
    """The change to issue `number` in `/issue <text>`."""
    line, below = split_first_line(text)
    parsed = understand(values.with_percents(without_and(line), number), OPTIONS, labels=4)
    return TypedChange(number, line, parsed.words, _about(parsed, number), below.strip())


def edit_command(
    typed: TypedChange,
    typist: CommandContext,
    vocabulary: Vocabulary = Vocabulary(),  # noqa: B008 - it is frozen
) -> Edit:
    """The change that was typed; empty for the form.

    Raises NotUnderstood, with the rest of the change, and UserError for what the bot can't change.
    """
    asked = typed.parsed.with_fields(vocabulary.fields, vocabulary.problem)
    parsed = change(asked, vocabulary, typist.today)
    statuses = [name.casefold() for name in vocabulary.names.get("status", ())]
    people = () if "to" in asked.options else parsed.options.get("to", ())
    people = people if len(people) > 1 else ()
    cleared = [key for key, given in parsed.options.items() if len(given) == 1 and _is_nothing(given[0])]
    never_empty = [key for key in cleared if key in CHANGEABLE and CHANGEABLE[key].always]

    left_out = {*cleared, *(["to"] if people else [])}
    given = {key: value for key, value in parsed.options.items() if key not in left_out}
    reader = OptionReader(replace(parsed, options=given), typist)
    reader.problems += [_never_empty(CHANGEABLE[key]) for key in never_empty]
    fields = reader.fields(row for row in CHANGEABLE.values() if row is not SUBJECT)

    guessed = chain.from_iterable(keys for _, keys in parsed.phrases)
    steps = [StatusTransition(step.text) for step in parsed.acts.get("step", ())]
    holders = [values.person(one, typist.owner) for one in parsed.acts.get("holder", ())]
    edit = Edit(
        subject=reader.text(SUBJECT.key) or "",
        values=fields,
        custom_fields=reader.custom_fields(),
        cleared=tuple(sorted({*cleared} - {*never_empty})),
        step=steps[0] if len(steps) == 1 else None,
        unread=reader.unread,
        guessed=frozenset(guessed) & fields.keys(),
        holder=holders[0] if holders else "",
    )

    if _asks(typed, parsed):
        reader.problems.insert(0, Question(as_typed(typed.line)))
    elif status := _status_meant(typed, parsed, statuses):
        edit = Edit(values={"status": status}, guessed=frozenset({"status"}))
    elif mistake := _mistake(typed, parsed, people, edit, statuses):
        reader.problems.append(mistake)
    elif unsupported := _unsupported(typed, parsed, edit):
        if not reader.problems:
            raise unsupported
        reader.problems.append(unsupported)

    if reader.problems:
        raise NotUnderstood(reader.problems[0], tuple(reader.problems[1:]), edit)
    return edit


def _asks(typed: TypedChange, parsed: Parsed) -> bool:
    """Whether the text is a question; a new subject may be one."""
    subject = " ".join(phrase for phrase, keys in parsed.phrases if SUBJECT.key in keys)
    return is_question(word for word in typed.words if word.source not in subject)


def _status_meant(typed: TypedChange, parsed: Parsed, statuses: Collection[str]) -> str | None:
    """The status that the whole text may be, a single word or one like a status: `42 in porgress`."""
    words = parsed.words
    more = parsed.options or parsed.acts or parsed.left or typed.below
    negated = any(plain(word) in NEGATIONS for word in typed.parsed.words)
    if not words or more or negated or _verb(words, statuses):
        return None
    alike = len(typed.parsed.words) == 1 or slip(typed.parsed.plain.casefold(), statuses)
    return parsed.source if alike else None


def _mistake(
    typed: TypedChange, parsed: Parsed, people: Sequence[Token], edit: Edit, statuses: Collection[str]
) -> UserError | None:
    """Why the bot can't make all of the change; `people` are several assignees, if it names them."""
    left, acts = _left(typed, parsed), parsed.acts
    if people and not any(map(_is_nothing, people)):
        alone = parsed.options.keys() == {"to"} and not acts and OR.issuperset(map(plain, parsed.words))
        return _which_of(people if alone else (), typed.number)
    if _unsupported(typed, parsed, edit):
        return None
    if left and (meant := _verb(parsed.words, statuses)):
        return UnknownWord(f"issue {typed.number}", *meant)

    more = left or parsed.options or len(acts) > 1
    doubts = {
        "to": people,
        "step": acts.get("step", ())[1:],
        "cannot": "cannot" in acts,
        "ask": "ask" in acts and more,
    }
    unread = {key for key, doubtful in doubts.items() if doubtful}
    read = tuple(phrase for phrase, keys in parsed.phrases if unread.isdisjoint(keys))
    return NotAChange((left or typed.parsed.text).rstrip(END), read) if left or unread else None


def _left(typed: TypedChange, parsed: Parsed) -> str:
    return " ".join(filter(None, [parsed.source, *parsed.left, typed.below]))


def _verb(words: Sequence[Word], statuses: Collection[str]) -> tuple[str, str] | None:
    """The first word and the verb that it hides, unless it is like a status."""
    typed = words[0].text if words else ""
    meant = word_meant(typed, VERBS)
    return (typed, meant) if meant and not slip(typed.casefold(), statuses) else None


def _is_nothing(value: Token) -> bool:
    return value.text.lower() in NOTHING


def _never_empty(field: Field) -> WrongField:
    error = UserError(
        "{label} can't be empty. Type a value after `{key}:`.", label=field.label, key=field.key
    )
    return WrongField(field.name, error)


def _which_of(people: Sequence[Token], number: int) -> UserError:
    """The error for several assignees, which offers each of `people`."""
    typed = {one.text: f"<@{one.user.id}>" if one.user else f'"{one.text}"' for one in people}
    return UserError(
        "An issue can have only one assignee. Who should get #{number}?",
        number=number,
        offers=[Offer(f"Assign to {name}", f"{number} to:{who}") for name, who in typed.items()],
    )


def _unsupported(typed: TypedChange, parsed: Parsed, edit: Edit) -> UserError | None:
    """The error if nothing is asked but what only the service's pages do; offers what the bot does."""
    number, asked = typed.number, parsed.acts.get("cannot")
    if not asked or "step" in parsed.acts or edit.values or _left(typed, parsed):
        return None

    what, offers = asked[0].text, list[Offer]()
    match what:
        case "delete":
            offers = [Offer(f"Close #{number}", f"{number} close")]
            how = UserError("Close #{number} instead, or delete it in {service}.", number=number)
        case "watch":
            offers = [Offer(f"Follow #{number}", f"{number} follow")]
            how = UserError("Do that in {service}, or follow #{number} yourself.", number=number)
        case _:
            how = UserError("To do that, open #{number} in {service}.", number=number)
    return UserError("I can't {do}. {how}", do=ELSEWHERE[what], how=how, offers=offers)


def _about(parsed: Parsed, number: int) -> Parsed:
    """The same without the issue's number."""
    at = next(n for n, word in enumerate(parsed.words) if values.issue_number(word.text) == number)
    governs = [plain(word) for word in parsed.words[at + 1 : at + 2]] == ["to"]  # `assign 42, to ben`
    ends = parsed.words[at].source.endswith(",") and not governs
    before = [replace(word, source=f"{word.source},") for word in parsed.words[:at][-1:] if ends]
    parsed = parsed.without(at, 1)
    return replace(parsed, words=(*parsed.words[: at - len(before)], *before, *parsed.words[at:]))
