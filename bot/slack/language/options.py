"""Words → options and text (docs/commands.md)."""

import re
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from bot.errors import UserError
from bot.service.models import Ref
from bot.slack.language.dates import is_date
from bot.slack.language.tokens import Atom, Token, UnclosedQuote, Word, words
from bot.spelling import series, similar, slip

CUSTOM_FIELD, _BY_ID = "cf_", "cf_<id>"
_OPTION = re.compile(r"(-?[^\W\d_][\w-]{0,31})([:=])(.*)", re.DOTALL)
_CUSTOM_FIELD = re.compile(r"cf_[1-9][0-9]{0,8}")
_DATES = frozenset({"created", "updated", "closed", "start", "due", "on"})
_CONTINUED = 4  # how many more words a date may have: `created:7 days ago .. today`.
LAST_WORDS = 3  # how many words at the end may follow an option's colon and a space
MAX_PROBLEMS = 5  # how many problems one message reports
_SHORT = 3  # how many characters of `priority:` are enough
_ALIASES = {
    **dict.fromkeys(("by", "from", "reporter"), "author"),
    **dict.fromkeys(("assignee", "assign", "assigned", "for", "owner"), "to"),
    "type": "tracker",
    "state": "status",
    "proj": "project",
    "deadline": "due",
    "milestone": "version",
    "description": "desc",
    "title": "subject",
}
"""Other names of options, which mean the same."""
_SYNONYMS = {
    **dict.fromkeys(("assigned_to", "assignees"), "to"),
    **dict.fromkeys(("date", "day"), "on"),
    **dict.fromkeys(("timezone", "zone"), "tz"),
    "hours": "estimate",
    "text": "subject",
    "order": "sort",
}
_FLAGS = frozenset({"private"})  # before a colon at the front they are a phrase
_IS = "is"  # `is:open` reads as `open`


ByName = Mapping[str, Sequence[Ref]]  # custom fields by their names as option keys


class UnknownOption(UserError):
    """A key that the command doesn't have: the nearest one, or else all that it has.

    Where custom fields are allowed, it may be the name of one in `project`, which the command names.
    """

    says = "There's no `{key}:` option. {instead}"
    key: str
    nearest: str | None
    known: tuple[str, ...]
    project: str | None

    @property
    def correction(self) -> tuple[str, str] | None:
        near = self.nearest if self.nearest and self.nearest != _BY_ID else ""
        meant = near and (
            near.startswith(self.key) or _SYNONYMS.get(self.key) == near or slip(self.key, [near])
        )
        return (f"{self.key}:", f"{near}:") if meant else None

    @property
    def instead(self) -> str:
        if self.nearest == "cf_<id>":
            return "Use the field's name or number, such as `cf_7:`."
        if self.nearest:
            return f"Did you mean `{self.nearest}:`?"
        known = series([f"`{key}:`" for key in self.known])
        return f"Use {known}. If your text contains a colon, put the text in double quotes."


class NoValue(UserError):
    says = (
        "`{key}:` needs a value right after the colon. If your text contains a colon, put the text in double "
        "quotes."
    )
    key: str


@dataclass(frozen=True)
class Parsed:
    """A command's options by key, in the order typed, and the remaining words."""

    words: tuple[Word, ...]
    options: Mapping[str, tuple[Token, ...]]
    problems: tuple[UserError, ...] = ()
    left: tuple[str, ...] = ()  # options that the command doesn't have, as typed
    acts: Mapping[str, tuple[Token, ...]] = field(default_factory=dict)
    """What phrases mean beside options: the values of `ACTS`."""
    phrases: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The phrases that were read, as typed, each with the keys of its options and acts."""
    alone: tuple[str, ...] = ()
    """Those of them that are only a person's name."""
    unknown: tuple[tuple[str, Word, Token], ...] = ()
    """Keys that only custom fields may have, until `with_fields` settles them."""
    known: Collection[str] = ()

    @property
    def text(self) -> str:
        """The words as typed, without quotes around the whole text or around text like an option."""
        if len(self.words) == 1 and self.words[0].quoted:
            return self.words[0].text
        texts = (w.text if w.quoted and _OPTION.match(w.text) else w.source for w in self.words)
        return " ".join(texts).strip()

    @property
    def source(self) -> str:
        """The words as typed."""
        return " ".join(word.source for word in self.words)

    @property
    def plain(self) -> str:
        return " ".join(word.text for word in self.words).strip()

    def after(self, count: int) -> "Parsed":
        """The same without the first `count` words."""
        return replace(self, words=self.words[count:])

    def without(self, at: int, count: int) -> "Parsed":
        """The same without `count` words from `at`."""
        return replace(self, words=self.words[:at] + self.words[at + count :])

    def with_fields(self, fields: Collection[Ref] = (), problem: UserError | None = None) -> "Parsed":
        """Return the same with unknown keys read as custom `fields`, or else as the nearest option.

        After `MAX_PROBLEMS` of a kind, the rest is neither reported nor guessed. `problem` is why there are
        no fields.
        """
        if not self.unknown:
            return self
        by_name, options = _by_name(fields), {key: [*values] for key, values in self.options.items()}
        problems, left, guesses = [*self.problems], [*self.left], 0

        project = next((value.text for value in options.get("project", ())), None)
        for typed, word, value in self.unknown:
            key, error = _meaning(typed, self.known, by_name, project, guess=guesses < MAX_PROBLEMS)
            if isinstance(error, UnknownOption):
                guesses += 1
                key = None if key in options else key
                if guesses == 1 or not problem:
                    problems.append(problem or error)
            elif error and len(problems) < MAX_PROBLEMS:
                problems.append(error)

            if key:
                options.setdefault(key, []).append(value)
            else:
                left.append(word.source)

        settled = {key: tuple(values) for key, values in options.items()}
        return replace(self, options=settled, problems=tuple(problems), left=tuple(left), unknown=())


def checked(parsed: Parsed) -> Parsed:
    """Raises the first problem, if there is one."""
    if parsed.problems:
        raise parsed.problems[0]
    return parsed


def understand(text: str, known: Collection[str], *, equals: bool = True, labels: int = 2) -> Parsed:
    """Words and options, with the problems in them and the keys that may be names of custom fields.

    `equals`: whether `key=value` is an option, too, even if the text doesn't begin with one. An option
    without a value counts as text, unless it is one of the first words (`labels`): then each takes what
    follows up to the next, as in `title: Cart is empty, type: bug`.
    """
    plain: list[Word] = []
    options: dict[str, list[Token]] = {}
    unknown: list[tuple[str, Word, Token]] = []
    problems: list[UserError] = []
    try:
        typed_words = deque(words(text))
    except UnclosedQuote as error:
        problems.append(error)
        typed_words = deque(_with_quotes_closed(text))

    excludes = any(key.startswith("-") for key in known)
    first = tuple(islice(typed_words, labels))
    labeled = any(_is_label(word, known) for word in first)
    equals = equals or any(_option(word, known) and not _option(word, ()) for word in first)

    while typed_words:
        word = typed_words.popleft()
        option = _option(word, known if equals else ())
        if option is None or (option[0].startswith("-") and not excludes):
            plain.append(word)
            continue

        typed, value = option
        key = _known_as(typed, known)
        at_end = len(typed_words) <= LAST_WORDS and key not in (
            *_FLAGS,
            "priority",
        )  # `high priority: it fails`
        if key is not None and not value.text and (labeled or at_end):
            value = _labeled(typed_words, known)

        if key is not None and value.text:
            if key in _DATES and key not in options:
                value = _whole_date(value, typed_words)
            options.setdefault(key, []).append(value)
        elif key is not None:
            problems += [NoValue(typed)] if len(problems) < MAX_PROBLEMS else []
            plain.append(word)
        elif typed == _IS and value.text and "status" in known:
            plain.append(Word(value.atoms, word.source))
        elif not value.text or len(typed) == 1 or value.text.startswith(("/", "\\")):
            plain.append(word)
        else:
            unknown.append((typed, word, value))

    values = {key: tuple(values) for key, values in options.items()}
    return Parsed(tuple(plain), values, tuple(problems), unknown=tuple(unknown), known=known)


def _is_label(word: Word, known: Collection[str]) -> bool:
    option = _option(word, ())
    if option is None or option[1].text or option[0] in _FLAGS:
        return False
    return _known_as(option[0], known) is not None


def _labeled(following: deque[Word], known: Collection[str]) -> Token:
    """The words up to the next label, without the comma before it."""
    atoms: list[Atom] = []
    while following and not _is_label(following[0], known):
        atoms += ([Atom(" ")] if atoms else []) + [*following.popleft().atoms]
    if atoms and not atoms[-1].quoted and not atoms[-1].user:
        atoms[-1] = Atom(atoms[-1].text.rstrip(",;"))
    return Token(tuple(atoms))


def _with_quotes_closed(text: str) -> tuple[Word, ...]:
    try:
        return words(f'{text}"')
    except UnclosedQuote:
        return words(f"{text}»")


def _meaning(
    typed: str, known: Collection[str], fields: ByName, project: str | None, *, guess: bool
) -> tuple[str | None, UserError | None]:
    """The key of the custom field, or with a `guess` of the nearest option, and the error if it is unsure."""
    listed = tuple(_BY_ID if key == CUSTOM_FIELD else key for key in known)
    names = [*(key for key in known if key != CUSTOM_FIELD), *filter(None, fields)]
    by_id = typed.startswith("cf") and CUSTOM_FIELD in known
    near = None
    try:
        if key := _custom_field(typed, fields):
            return key, None
        if not guess:
            return None, None
        near = _BY_ID if by_id else nearest(typed, names)
        key = near if near is None or _is_known(near, known) else _custom_field(near, fields)
        return key, UnknownOption(typed, near, listed, project)
    except UserError as error:
        return None, UnknownOption(typed, near, listed, project) if near else error


def _by_name(fields: Iterable[Ref]) -> ByName:
    by_name: dict[str, list[Ref]] = {}
    for custom in fields:
        by_name.setdefault(option_key(custom.name), []).append(custom)
    return by_name


def option_key(name: str) -> str:
    """A custom field's name as an option key: `Customer reference` is `customer-reference`."""
    return re.sub(r"[\W_]+", "-", name.casefold()).strip("-")


def nearest(name: str, names: Collection[str]) -> str | None:
    """The best match for a misspelled name, if any."""
    name = name.lower()
    if name.startswith("-"):
        meant = nearest(name[1:], [n[1:] for n in names if n.startswith("-")])
        return f"-{meant}" if meant else None
    if (other := _SYNONYMS.get(name)) in names:
        return other
    started = [n for n in names if len(name) > 1 and n.startswith(name)]
    close = started or similar(name, sorted(names), 1, cutoff=0.5)
    return close[0] if close else None


def _option(word: Word, equals: Collection[str]) -> tuple[str, Token] | None:
    """The key and value of a word, or None if its colon is only text: `12:30`, `http://…`, `std::x`.

    The keys in `equals` may have `=` in place of the colon.
    """
    first = word.atoms[0]
    match = None if first.quoted or first.user else _OPTION.fullmatch(first.text)
    if match is None or match[3].startswith((":", "//", "=")):
        return None
    key, rest = match[1].lower(), match[3]
    value = Token(((Atom(rest),) if rest else ()) + word.atoms[1:])
    return None if match[2] == "=" and not (value.text and _known_as(key, equals)) else (key, value)


def is_filter(word: Word) -> bool:
    """Whether the word is an option of any command."""
    option = _option(word, ())
    return option is not None and bool(option[1].text)


def _whole_date(value: Token, following: deque[Word]) -> Token:
    """The date with those of the following words, which it takes, that belong to it without quotes:
    `due:next friday`.
    """
    near = tuple(islice(following, _CONTINUED))
    for more in range(len(near), 0, -1):
        parts = [value, *near[:more]]
        if all(part.is_plain for part in parts) and is_date(" ".join(part.text for part in parts)):
            atoms = [*value.atoms]
            for _ in range(more):
                atoms += [Atom(" "), *following.popleft().atoms]
            return Token(tuple(atoms))
    return value


def _known_as(typed: str, known: Collection[str]) -> str | None:
    """The option's key, if it is typed in full, by another name, or as a short form of `priority`."""
    if _is_known(typed, known):
        return typed
    minus, name = ("-", typed[1:]) if typed.startswith("-") else ("", typed)
    if len(name) >= _SHORT and [k for k in known if k.startswith(minus + name)] == [f"{minus}priority"]:
        return f"{minus}priority"
    alias = f"{minus}{_ALIASES.get(name)}"
    return alias if alias in known else None


def _is_known(key: str, known: Collection[str]) -> bool:
    if CUSTOM_FIELD in known and _CUSTOM_FIELD.fullmatch(key):
        return True
    return key in known and key != CUSTOM_FIELD


def _custom_field(key: str, fields: ByName) -> str | None:
    """The key of the custom field with that name. Raises UserError if several have it."""
    meant = () if key.startswith("-") else fields.get(option_key(key), ())
    if len(meant) > 1:
        keys = " or ".join(f"`{CUSTOM_FIELD}{field.id}:`" for field in meant)
        raise UserError("Several fields are named {name}. Use {keys}.", name=meant[0].name, keys=keys)
    return f"{CUSTOM_FIELD}{meant[0].id}" if meant else None
