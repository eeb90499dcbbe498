"""Parses `/issue`."""

import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from textwrap import shorten

from bot.errors import UnknownWord, UserError, WrongField
from bot.features.issues.field_inputs import OptionReader
from bot.features.issues.fields import FIELDS, SUBJECT, Draft, NotUnderstood
from bot.service.conventions import SUBJECT_LENGTH
from bot.slack.language import values
from bot.slack.language.dates import NUMBERS
from bot.slack.language.doubts import is_several
from bot.slack.language.marks import Vocabulary
from bot.slack.language.objects import BEFORE, GENERAL, is_subject
from bot.slack.language.options import CUSTOM_FIELD, Parsed, understand
from bot.slack.language.phrases import QUESTION_WORDS
from bot.slack.language.questions import Question, asks, is_question, reject_question, without_question
from bot.slack.language.reading import HalfPhrase, is_search, subject
from bot.slack.language.tokens import Atom, Value, Word, as_typed, split_first_line, words
from bot.slack.language.values import Help, OneIssue, Typist
from bot.slack.surfaces.blocks import shortened
from bot.spelling import word_meant

OPTIONS = ("project", "template", SUBJECT.key, *FIELDS, CUSTOM_FIELD)
TEMPLATES = ("template", "templates")
SHOW = ("show", "view", "open")
BEFORE_NUMBER = ("me", "the", "issue", "ticket")
BEFORE_ASKED = (*BEFORE_NUMBER, "is", "of", "on", "about", "for", "with", "does", "did", "was", "close")
COMMENT = ("comment", "note")
EDIT_TEMPLATE, REMOVE_TEMPLATE = ("edit", "change"), ("delete", "remove")
MAKE = ("open", "report", "file", "raise", "submit", "make", "log")
_AN_ISSUE = re.compile(r"an? (?:new )?(?:issue|ticket|bug|task|feature)", re.IGNORECASE)
QUOTES = '"“”„'
_SAVED = re.compile(r"(?:issue )?#?([0-9]{1,9}) as (.+)", re.IGNORECASE)
FOLLOW = {"follow": True, "watch": True, "unfollow": False, "unwatch": False}
SEARCH = ("search", "find")
LIST = (*SEARCH, "list", "mine", "my")
NOUNS_OF_SEVERAL = ("issues", "tickets", "bugs", "tasks")
MAX_AT_ONCE = 10
SUBCOMMANDS = (*GENERAL, *TEMPLATES, *SHOW, *COMMENT, *FOLLOW, *LIST, "attach", "help")
_COMMENT = re.compile(
    rf"\s*(?:(?:(?:add|create|post|leave|write)\s+{BEFORE})?(?:comment|note)\s+(?:(?:on|to|for|issue)\s+)*+"
    r"(?P<after>\S+)|(?P<before>\S+)\s+(?:comment|note):?)(?!\S)(?P<text>.*)",
    re.DOTALL | re.IGNORECASE,
)


class UnknownSubcommand(UserError):
    """The text isn't a subcommand, and may be the subject of a new issue."""

    says = "{instead}"
    text: str
    draft: Draft
    meant: UnknownWord | None

    @property
    def correction(self) -> tuple[str, str] | None:
        return self.meant.correction if self.meant else None

    @property
    def instead(self) -> UserError:
        return self.meant or UserError(
            "To create that issue, type `{/issue} new {text}`. To see one, type `{/issue} 42`. To search, "
            "type `{/issues}`.",
            text=self.text,
        )


@dataclass(frozen=True)
class TypedIssue:
    """`/issue new …`, which `new_issue` reads with the names that its project has."""

    parsed: Parsed
    below: str


@dataclass(frozen=True)
class CreateIssue:
    """`/issue new` with a subject."""

    draft: Draft


@dataclass(frozen=True)
class OpenForm:
    """`/issue`, or `/issue new` without a subject: the create form with what was typed."""

    draft: Draft = field(default_factory=Draft)


@dataclass(frozen=True)
class SearchIssues:
    """`/issue list`, `/issue my issues`: what `/issues` answers."""

    text: str


@dataclass(frozen=True)
class ChangeIssue:
    """`/issue 42 close` or `/issue close 42`: the text after the command, which `features/editing` reads."""

    number: int
    text: str


@dataclass(frozen=True)
class ChangeIssues:
    """`/issue 12, 13 close`: the same change to several issues, which is asked about first."""

    numbers: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class UndoLast:
    """`/issue undo`: undo the last change, as its button does."""


@dataclass(frozen=True)
class AttachFiles:
    """`/issue attach 42`; without a number the form asks for the issue."""

    number: int | None


@dataclass(frozen=True)
class LogTime:
    """`/issue 42 log 2h`: what `/timelog` takes."""

    number: int
    text: str


@dataclass(frozen=True)
class AddComment:
    """`/issue 42 comment` with a text; without a number or a text the form asks for it."""

    number: int | None
    text: str


@dataclass(frozen=True)
class FollowIssue:
    """`/issue 42 follow`, or `on` is false: `/issue 42 unfollow`."""

    number: int
    on: bool


@dataclass(frozen=True)
class ListTemplates:
    """`/issue template`, of the named project or of the channel's."""

    project: str | None


@dataclass(frozen=True)
class OpenTemplateForm:
    """`/issue template new`."""

    project: str | None


@dataclass(frozen=True)
class OnTemplate:
    """`/issue template edit bug`, `delete bug`."""

    name: str
    project: str | None
    remove: bool


@dataclass(frozen=True)
class SaveTemplate:
    """`/issue template save 42 as bug-report`."""

    issue: int
    name: str


TemplateRequest = ListTemplates | OpenTemplateForm | OnTemplate | SaveTemplate
IssueRequest = (
    TypedIssue
    | OpenForm
    | OneIssue
    | SearchIssues
    | ChangeIssue
    | ChangeIssues
    | UndoLast
    | AttachFiles
    | LogTime
    | AddComment
    | TemplateRequest
    | FollowIssue
    | Help
)


def issue_command(text: str, typist: Typist) -> IssueRequest:
    """The request in `/issue <text>`. Raises UserError."""
    if comment := _comment(text, typist.base_url):
        return comment
    first_line, below = split_first_line(text)
    parsed = understand(first_line, OPTIONS, equals=False)
    subcommand = parsed.words[0].text.lower() if parsed.words else ""
    rest = parsed.after(1)
    if subcommand in ("", "new") or (subcommand in GENERAL and is_subject(rest.plain)):
        return TypedIssue(rest if subcommand else parsed, below)
    if subcommand in MAKE and _AN_ISSUE.fullmatch(rest.plain):
        return OpenForm()
    if typist.base_url:
        values.own_text(first_line, typist.base_url)
    if found := _follow(parsed) or _other(subcommand, rest, below, typist):
        return found
    with suppress(HalfPhrase):
        if subcommand in LIST or is_search(parsed, typist.today, Vocabulary()):
            sought = text.split(maxsplit=1)[1:] if subcommand in SEARCH else [text]
            return SearchIssues("".join(sought))
    if found := _several(first_line, parsed) or _about_one(text, parsed, has_more=bool(below)):
        return found
    typed_text = shorten(parsed.text.replace("`", "'"), 80, placeholder="…")
    try:
        draft = _draft(parsed.with_fields(), below, typist)
    except NotUnderstood as error:
        draft = error.draft
    near = word_meant(subcommand, SUBCOMMANDS)
    meant = UnknownWord("issue", subcommand, near) if near else None
    raise UnknownSubcommand(typed_text or "…", draft, meant)


def _about_one(text: str, parsed: Parsed, *, has_more: bool) -> IssueRequest | None:
    """What is done with an issue whose number comes first or second."""
    verb, rest = parsed.words[0].text.lower() if parsed.words else "", parsed.after(1)
    typed = rest if verb in SHOW and rest.words else parsed
    while typed is rest and rest.words[1:] and rest.words[0].text.lower() in BEFORE_NUMBER:
        typed = rest = rest.after(1)  # `show me issue 42`
    if number := values.issue_number(typed.words[0].text) if typed.words else None:
        match [word.text.lower() for word in typed.words[1:]]:
            case _ if parsed.options or parsed.problems or parsed.unknown or has_more:
                pass
            case [] | ["show" | "status" | "details" | "info"]:
                return OneIssue(number)
            case ["attach", *_]:
                return AttachFiles(number)
            case ["log", *spent]:
                return LogTime(number, " ".join(spent))
            case [word, *_] if word in QUESTION_WORDS and is_question(parsed.words):
                return OneIssue(number)
        return ChangeIssue(number, text)
    if verb in QUESTION_WORDS:
        found = (
            values.issue_number(one.text) for before, one in pairwise(parsed.words) if _names(before, one)
        )
        asked = next(filter(None, found), None)
        return OneIssue(asked) if asked else None
    second = values.issue_number(rest.words[0].text) if rest.words else None
    return ChangeIssue(second, text) if second else None


def _names(before: Word, word: Word) -> bool:
    """Whether a number in a question is an issue's."""
    return word.text.startswith("#") or before.text.lower() in BEFORE_ASKED


def _several(line: str, parsed: Parsed) -> ChangeIssues | SearchIssues | None:
    """The same change to several issues; without one, they are searched for."""
    if parsed.problems:
        return None
    numbers, others = values.several_issues(words(line.replace(" %", "%")))
    if len(numbers) < 2:  # noqa: PLR2004 - several
        return None
    if {word.text.lower() for word in others}.issubset((*SHOW, "issue", "issues")):
        return SearchIssues(" ".join(map(str, numbers)))
    return ChangeIssues(numbers[:MAX_AT_ONCE], " ".join(word.source for word in others))


def _follow(parsed: Parsed) -> FollowIssue | None:
    """The request in `42 follow` or `follow 42`; None for anything else."""
    said = without_question(parsed.plain.lower()).split()
    match sorted(said, key=FOLLOW.__contains__):
        case [about, verb] if (
            verb in FOLLOW and not parsed.options and (number := values.issue_number(about))
        ):
            reject_question(parsed.text, parsed.words)
            return FollowIssue(number, FOLLOW[verb])
    return None


def _other(subcommand: str, rest: Parsed, below: str, typist: Typist) -> IssueRequest | None:
    if subcommand in ("help", "undo") and not rest.words:
        return Help() if subcommand == "help" else UndoLast()
    if subcommand == "attach":
        return AttachFiles(values.issue_number(rest.text))
    if subcommand not in TEMPLATES:
        return None
    reject_question(rest.text, rest.words)
    return _of_templates(_draft(rest.with_fields(), below, typist))


def new_issue(
    typed: TypedIssue,
    typist: Typist,
    vocabulary: Vocabulary = Vocabulary(),  # noqa: B008 - it is frozen
) -> CreateIssue | OpenForm:
    """A new issue, with the phrases at the end of its subject as fields. Raises NotUnderstood."""
    parsed = _below_another(typed.parsed.with_fields(vocabulary.fields, vocabulary.problem))
    draft = _draft(subject(parsed, vocabulary, typist.today), typed.below, typist)
    if draft.subject and not without_question(draft.subject):
        raise Question(draft.subject)
    return CreateIssue(draft) if draft.subject else OpenForm(draft)


def _below_another(parsed: Parsed) -> Parsed:
    """The same with the parent in `subtask of 12: …` as an option."""
    said = [word.text.lower() for word in parsed.words[:4]]
    if said[:1] not in (["subtask"], ["sub-task"], ["child"]) or said[1:2] not in (
        ["of"],
        ["for"],
        ["under"],
    ):
        return parsed
    at = 3 if said[2:3] in (["issue"], ["ticket"]) else 2
    number = values.issue_number(said[at]) if at < len(said) else None
    if number is None or "parent" in parsed.options:
        return parsed
    parent = {"parent": (Value((Atom(str(number)),)),)}
    return replace(parsed.after(at + 1), options={**parsed.options, **parent})


def several_subjects(typed: TypedIssue) -> tuple[str, ...]:
    """The subjects in `3 tickets: a, b, c`; none if that isn't what was typed."""
    said = [word.text.lower() for word in typed.parsed.words[:2]]
    if typed.below or said[1:2] not in ([f"{noun}:"] for noun in NOUNS_OF_SEVERAL):
        return ()
    found = [part.strip() for part in typed.parsed.after(2).text.split(",")][:MAX_AT_ONCE]
    return tuple(found) if said[0] in (str(len(found)), *NUMBERS[len(found) - 1 : len(found)]) else ()


def _comment(text: str, base_url: str | None) -> AddComment | None:
    """The comment in `42 comment …` or `comment 42 …`, as it was typed; None for anything else."""
    if text.strip().lower() in COMMENT:
        return AddComment(None, "")
    if (typed := _COMMENT.match(text)) is None:
        return None
    about = as_typed(typed["after"] or typed["before"])
    number = values.issue_number(values.own_text(about, base_url) if base_url else about)
    if number is None:
        return None
    said = as_typed(typed["text"]).strip()
    if asks(text[: typed.start("text")] if without_question(said) else text):
        raise Question(as_typed(text))
    if typed["after"] and is_several(f"{about} {said}"):
        return AddComment(None, f"{about} {said}")
    return AddComment(number, said)


def _of_templates(draft: Draft) -> IssueRequest:
    """The request in `/issue template …`; a text without a verb is the name of a template to use."""
    if not draft.subject:
        return ListTemplates(draft.project)
    verb, _, rest = draft.subject.partition(" ")
    verb, saved = verb.lower(), _SAVED.fullmatch(rest)
    if verb in GENERAL and not rest:
        return OpenTemplateForm(draft.project)
    if verb in (*EDIT_TEMPLATE, *REMOVE_TEMPLATE):
        name = rest.strip(QUOTES)
        return (
            OnTemplate(name, draft.project, verb in REMOVE_TEMPLATE) if name else ListTemplates(draft.project)
        )
    if verb == "save":
        if saved is None:
            raise UserError(
                "Which issue? Type its number and a name: `{/issue} template save 42 as bug-report`."
            )
        return SaveTemplate(int(saved[1]), saved[2].strip(QUOTES))
    return OpenForm(draft.model_copy(update={"subject": "", "template": draft.subject}))


def _draft(parsed: Parsed, below: str, typist: Typist) -> Draft:
    """The draft of an issue; the lines below the first are its description. Raises NotUnderstood."""
    reader = OptionReader(parsed, typist)
    found = reader.fields(FIELDS.values())
    project, template, custom = reader.text("project"), reader.text("template"), reader.custom_fields()
    title = " ".join(filter(None, [reader.text(SUBJECT.key), *parsed.text.split()]))
    phrases = tuple(said for said, _ in parsed.phrases)
    description = [found.get("desc"), as_typed(below).strip(), " ".join(parsed.left)]
    if len(title) > SUBJECT_LENGTH:
        too_long = UserError(
            "The subject has {length} characters. The limit is {longest}.",
            length=len(title),
            longest=SUBJECT_LENGTH,
        )
        reader.problems.append(WrongField("subject", too_long))
        description = [title, *description]
    draft = Draft(
        subject=shortened(title, SUBJECT_LENGTH),
        project=project,
        template=template,
        values=found | {"desc": "\n\n".join(str(part) for part in description if part)},
        custom_fields=custom,
        unread=reader.unread,
        phrases=phrases,
    )
    if reader.problems:
        raise NotUnderstood(reader.problems[0], tuple(reader.problems[1:]), draft)
    return draft
