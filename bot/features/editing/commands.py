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
        return "\n".join(filter(None, [" ".join(word.source for word in self.parsed.words), self.below]))


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
    cleared = {key for key, given in parsed.options.items() if len(given) == 1 and _is_nothing(given[0])}
    unclearable = {key for key in cleared if key in CHANGEABLE and CHANGEABLE[key].always}
    people = parsed.options.get("to", ()) if "to" not in asked.options else ()
    people = people if people[1:] else ()
    left_out = cleared | ({"to"} if people else set())
    given = replace(parsed, options={k: value for k, value in parsed.options.items() if k not in left_out})

    reader = OptionReader(given, typist)
    reader.problems += [
        WrongField(CHANGEABLE[key].name, _never_empty(CHANGEABLE[key])) for key in unclearable
    ]
    fields = reader.fields(row for row in CHANGEABLE.values() if row is not SUBJECT)
    steps = [StatusTransition(step.text) for step in given.options.get("step", ())]
    cannot = given.options.get("cannot", ())
    holder = next((values.person(one, typist.owner) for one in given.options.get("holder", ())), "")

    words = " ".join(word.source for word in given.words)
    left = " ".join(filter(None, [words, *given.left, typed.below]))
    half_asked = "ask" in parsed.options and parsed.options.keys() != {"ask"}
    guessed = set(chain.from_iterable(keys for _, keys in parsed.phrases))
    subject = " ".join(phrase for phrase, keys in parsed.phrases if SUBJECT.key in keys)

    if is_question(word for word in typed.words if word.source not in subject):
        reader.problems.insert(0, Question(as_typed(typed.line)))
    elif people and not any(map(_is_nothing, people)):
        more = given.options or not OR.issuperset(map(plain, given.words))
        reader.problems.append(_which_of(() if more else people, typed.number))
    elif cannot and not (left or fields or steps):
        unchangeable = _unchangeable(cannot[0].text, typed.number)
        if not reader.problems:
            raise unchangeable
        reader.problems.append(unchangeable)
    elif left and (meant := _verb(given.words, statuses)):
        reader.problems.append(UnknownWord(f"issue {typed.number}", *meant))
    elif left and left == words and not parsed.options and _may_be_status(asked.words, statuses):
        fields["status"] = left  # `42 in porgress`
        guessed.add("status")
    elif left or people or steps[1:] or cannot or half_asked:
        unsure = {"to"} if people else set()
        unsure = {"step"} if steps[1:] else unsure
        filled = [one for one, keys in parsed.phrases if not {"ask", "cannot", *unsure}.intersection(keys)]
        reader.problems.append(NotAChange((left or asked.text).rstrip(END), tuple(filled)))

    edit = Edit(
        subject=reader.text(SUBJECT.key) or "",
        values=fields,
        custom_fields=reader.custom_fields(),
        cleared=tuple(sorted(cleared - unclearable)),
        step=steps[0] if len(steps) == 1 else None,
        unread=reader.unread,
        guessed=frozenset(guessed & fields.keys()),
        holder=holder,
    )
    if reader.problems:
        raise NotUnderstood(reader.problems[0], tuple(reader.problems[1:]), edit)
    return edit


def _verb(words: Sequence[Word], statuses: Collection[str]) -> tuple[str, str] | None:
    """The first word and the verb that it hides, unless it is like a status."""
    typed = words[0].text if words else ""
    meant = word_meant(typed, VERBS)
    return (typed, meant) if meant and not slip(typed.casefold(), statuses) else None


def _may_be_status(words: Sequence[Word], statuses: Collection[str]) -> bool:
    """Whether the words are one, or like a status."""
    if any(plain(word) in NEGATIONS for word in words):
        return False
    typed = " ".join(word.text for word in words).casefold()
    return len(words) == 1 or slip(typed, statuses) is not None


def _is_nothing(value: Token) -> bool:
    return value.text.lower() in NOTHING


def _never_empty(field: Field) -> UserError:
    return UserError("{label} can't be empty. Type a value after `{key}:`.", label=field.label, key=field.key)


def _which_of(people: Sequence[Token], number: int) -> UserError:
    """The error for several assignees, which offers each of `people`."""
    typed = {one.text: f"<@{one.user.id}>" if one.user else f'"{one.text}"' for one in people}
    return UserError(
        "An issue can have only one assignee. Who should get #{number}?",
        number=number,
        offers=[Offer(f"Assign to {name}", f"{number} to:{who}") for name, who in typed.items()],
    )


def _unchangeable(what: str, number: int) -> UserError:
    """The error for what only the service's pages do; it offers what the bot does instead, if anything."""
    if what == "delete":
        return UserError(
            "I can't delete issues. Close #{number} instead, or delete it in {service}.",
            number=number,
            offers=[Offer(f"Close #{number}", f"{number} close")],
        )
    if what == "watch":
        return UserError(
            "I can't change an issue's watchers. Do that in {service}, or follow #{number} yourself.",
            number=number,
            offers=[Offer(f"Follow #{number}", f"{number} follow")],
        )
    return UserError(
        "I can't {do}. To do that, open #{number} in {service}.", do=ELSEWHERE[what], number=number
    )


def _about(parsed: Parsed, number: int) -> Parsed:
    """The same without the issue's number."""
    at = next(n for n, word in enumerate(parsed.words) if values.issue_number(word.text) == number)
    governs = [plain(word) for word in parsed.words[at + 1 : at + 2]] == ["to"]  # `assign 42, to ben`
    ends = parsed.words[at].source.endswith(",") and not governs
    before = [replace(word, source=f"{word.source},") for word in parsed.words[:at][-1:] if ends]
    parsed = parsed.without(at, 1)
    return replace(parsed, words=(*parsed.words[: at - len(before)], *before, *parsed.words[at:]))
