"""Parses `/issue`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from textwrap import shorten

from bot.errors import Offer, UnknownWord, UserError, WrongField
from bot.features.issues.buttons import comment_offer
from bot.features.issues.field_inputs import OptionReader
from bot.features.issues.fields import FIELDS, SUBJECT, Draft, NotUnderstood
from bot.service.conventions import SUBJECT_LENGTH
from bot.slack.language import values
from bot.slack.language.doubts import (
    Question,
    asks,
    is_question,
    is_several,
    reject_question,
    without_question,
)
from bot.slack.language.durations import NUMBERS, WITH_UNIT
from bot.slack.language.marks import Vocabulary, plain
from bot.slack.language.objects import (
    ARTICLES,
    BARE,
    CHANGE,
    EACH,
    GENERAL,
    HIDDEN,
    NEW_ISSUE,
    THOSE,
    is_subject,
    opened,
)
from bot.slack.language.options import CUSTOM_FIELD, Parsed, understand
from bot.slack.language.phrases import QUESTION_WORDS
from bot.slack.language.reading import is_search, subject
from bot.slack.language.tables import CommandTable, shapes
from bot.slack.language.tokens import as_typed, split_first_line, words
from bot.slack.language.values import CommandContext, Help, OneIssue
from bot.slack.surfaces.blocks import shortened
from bot.slack.surfaces.interaction import HELP
from bot.spelling import word_meant

OPTIONS = ("project", "template", SUBJECT.key, *FIELDS, CUSTOM_FIELD)
NOUNS_OF_SEVERAL = ("issues", "tickets", "bugs", "tasks")
MAX_AT_ONCE = 10
TOGETHER = frozenset(("are", "both", "all", "them"))  # filler after several issues
QUOTES = '"“”„'


_OPTION_LINE = re.compile(
    r"[ \t]*(project|type|tracker|priority|assignee|due):[ \t]*([^\s\"][^\"]*)", re.IGNORECASE
)
"""An option alone on the last line below a new issue."""
_HIDDEN = (
    rf"(?:(?:{HIDDEN})(?:ly)?|(?:team|staff|us)[\s-]only|(?:just|only)\sfor\s(?:us|(?:the\s)?(?:team|staff)))"
)
_LEAD = "please|pls|keep|this|it|that|one|is|should|stays?|be|for|as|in|an?|the|note|strictly|highly|to"
_NOTE = "note|comment|message|info|use|only|please"
_TECHNICAL = "server|error|api|network|link|tool|test|user|team|system|service|id|docs?"
_PRIVATE = re.compile(
    # Before the comment: `keep this private: …`, `internal note …`; not `internal server error`.
    rf"\A(?::\w[\w+-]*:|[\W_])*+(?:(?:{_LEAD})[\W_]+){{0,6}}"
    rf"(?:(?:private|confidential)(?:ly)?|internal(?:ly(?!,))?(?!\s(?:{_TECHNICAL})s?\b)|"
    rf"{_HIDDEN}(?=\s?[:!–—-]))"  # not `secret key`
    rf"(?:[/-](?:{_NOTE}|{_HIDDEN}))*_?(?![\w/-]|['’]\w)|"
    # In brackets, anywhere: `(internal only)`.
    rf"[(\[{{](?:(?:{_LEAD})\s){{0,4}}{_HIDDEN}(?:[\s,:-]{{1,3}}(?:{_NOTE})){{0,3}}[\s.!:]*[)\]}}]|"
    # After the comment: `…, private`, `… #internal`.
    rf"(?:[,.;:!?–—#\n]|\s[-/])\s{{0,3}}{_HIDDEN}(?:[\s,]{{1,3}}(?:{_NOTE})){{0,3}}[\s.!]*\Z",
    re.IGNORECASE,
)
"""What tells of a comment that the form may keep private."""
Act = Enum(
    "Act",
    "EACH WHICH SEARCH SEARCH_FOR SHOW ANSWER CHANGE SEVERAL UNDO ATTACH LOG_TIME OFFER_TIME COMMENT "
    "MAYBE_PRIVATE FOLLOW UNFOLLOW MUTE UNMUTE TEMPLATES NEW_TEMPLATE EDIT_TEMPLATE REMOVE_TEMPLATE "
    "SAVE_TEMPLATE",
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
    """`/issue`, or `/issue new` without a subject: the create form with the user's text."""

    draft: Draft = field(default_factory=Draft)


@dataclass(frozen=True)
class OnIssues:
    """What to do: with an issue, or what to search for, or with the template `text`, also in a `project`."""

    act: Act
    number: int = 0
    text: str = ""
    project: str | None = None


@dataclass(frozen=True)
class ChangeIssues:
    """`/issue 12, 13 close`: the same change to several issues, which is asked about first."""

    numbers: tuple[int, ...]
    text: str


SHOW, OF = "show|view|open", "me|the|issue|ticket"
FACETS = "show|view|status|details|info|history|comments|link|share"
ADD, TO = "add|create|post|leave|write", "on|to|for|issue"
_QUESTIONS = "|".join(sorted(QUESTION_WORDS))
_ROWS = CommandTable[Act | Help | OpenForm | None](
    # The first row that fits counts. Verbs with one meaning, before the changes, which take any: `42 mute`.
    ("{issue?} help", Help()),
    ("undo", Act.UNDO),
    ("{issue?} attach {rest?}", Act.ATTACH),
    ("follow|watch {issue}", Act.FOLLOW),
    ("{issue} follow|watch", Act.FOLLOW),
    ("mute {issue}", Act.MUTE),
    ("{issue} mute", Act.MUTE),
    ("unmute {issue}", Act.UNMUTE),
    ("{issue} unmute", Act.UNMUTE),
    ("unfollow|unwatch {issue}", Act.UNFOLLOW),
    ("{issue} unfollow|unwatch", Act.UNFOLLOW),
    # Verbs that take all that follows, before the rows that look for an issue in it: `find 42`.
    ("template|templates {rest?}", Act.TEMPLATES),
    ("search|find {rest?}", Act.SEARCH_FOR),
    ("list|mine|my {rest?}", Act.SEARCH),
    # A new issue, and one to show, before the searches, in which `open` is a status.
    (NEW_ISSUE, OpenForm()),
    (f"{SHOW}? {OF}? {OF}? {{issue}} {FACETS}?", Act.SHOW),
    # Searches, before the questions: `how many open issues`. Several issues, before one: `12, 13 close`.
    ("{search}", Act.SEARCH),
    ("assign|reassign all|every|each|my|these|those of? {those} to {rest}", Act.EACH),
    (f"{EACH} of? {{those}}", Act.EACH),
    ("{several}", Act.SEVERAL),
    # What follows an issue's number: time and questions, before the change, which takes any other text.
    ("{issue} log {rest?}", Act.LOG_TIME),
    ("{issue} {spent} {rest?}", Act.OFFER_TIME),
    (f"{{issue}} {_QUESTIONS} {{rest?}}", Act.ANSWER),
    (f"{SHOW}? {OF}? {OF}? {{issue}} {{rest}}", Act.CHANGE),
    # Questions, before the changes that begin with a verb, which is any word: `is 42 closed`, `close 42`.
    (f"{_QUESTIONS} {{asked}}", Act.SHOW),
    (f"{_QUESTIONS} {{rest}}", None),
    ("add|remove {who} watcher|watchers to|from|on? issue? {issue}", Act.CHANGE),
    ("{word} {issue} {rest?}", Act.CHANGE),
    ("{verb} it|this|that?", Act.WHICH),
    spent=WITH_UNIT,
    verb=rf"(?:{CHANGE})\b",
    those=THOSE,
    who=r"\S.*?",
    asked=r"(?:.*\s)?(?:(?:me|the|issue|ticket|is|of|on|about|for|with|does|did|was|close)\s+|(?=#))"
    r"(?P<number>#?[0-9]{1,9})(?![^\s.,!?]).*",
    word=r"\S+",
)
_COMMENTED = CommandTable(
    (f"{ADD}? {{before?}} {{private?}} act=comment|note", Act.COMMENT),
    (f"act=comment|note {TO}? {TO}? {{issue}} {{rest?}}", Act.COMMENT),
    (
        f"act={ADD} {{before?}} {{private?}} comment|note {TO}? {TO}? {{issue}} {{rest?}}",
        Act.COMMENT,
    ),
    (f"{{issue}} {ADD}? {{before?}} {{private?}} comment|note|comment:|note: {{rest?}}", Act.COMMENT),
    ("{issue} reply {rest}", Act.COMMENT),
    before=ARTICLES,
    private=_HIDDEN,
)
_OF_TEMPLATES = CommandTable(
    ("", Act.TEMPLATES),
    ("new|create|add", Act.NEW_TEMPLATE),
    ("edit|change|delete|remove", Act.TEMPLATES),
    ("edit|change {rest}", Act.EDIT_TEMPLATE),
    ("delete|remove {rest}", Act.REMOVE_TEMPLATE),
    ("save issue? {issue} as {rest}", Act.SAVE_TEMPLATE),
    ("save {rest?}", Act.SAVE_TEMPLATE),
)
_COPY = shapes(
    "a|an? copy|clone|duplicate|same|similar|like|identical of|as|to|like? issue|ticket? {issue} {but?}",
    but=r"(?:but|except|for|only|with|in|on|and)\b.*",
)
SUBCOMMANDS = (_ROWS.verbs - QUESTION_WORDS - {"i'd"}) | {*GENERAL, "comment", "note"}


class UnknownSubcommand(UserError):
    """The text isn't a subcommand, and may be the subject of a new issue."""

    says = "{instead}"
    text: str
    new: TypedIssue
    meant: UnknownWord | None

    @property
    def correction(self) -> tuple[str, str] | None:
        return self.meant.correction if self.meant else None

    @property
    def instead(self) -> UserError:
        return self.meant or UserError(
            "To create that issue, type `{/issue} new {text}`. To see one, type `{/issue} 42`. To search, "
            "type `{/issues}`.",
            text=_shown(self.new.parsed),
        )


IssueRequest = TypedIssue | OpenForm | OneIssue | OnIssues | ChangeIssues | Help


def issue_command(text: str, typist: CommandContext) -> IssueRequest:
    """The request in `/issue <text>`. Raises UserError."""
    first_line, below = split_first_line(text)
    options = ""  # before the first line, in which a quote may be open
    above, _, last = below.rstrip().rpartition("\n")
    while line := _OPTION_LINE.fullmatch(last):
        options, below = f'{line[1]}:"{line[2]}" {options}', above
        above, _, last = above.rstrip().rpartition("\n")

    parsed = understand(options + first_line, OPTIONS, equals=False)
    subcommand = parsed.words[0].text.lower() if parsed.words else ""
    if subcommand != "new" and (comment := _comment(text, typist.base_url)):
        return comment
    rest = parsed.after(1)
    if subcommand in GENERAL and rest.plain.lower() in ("help", *HELP[1:]):
        return Help()
    if subcommand in GENERAL and BARE.fullmatch(rest.plain):
        return TypedIssue(replace(rest, words=()), below)
    if subcommand in ("", "new") or (subcommand in GENERAL and is_subject(rest.plain)):
        return TypedIssue(rest if subcommand else parsed, below)

    if typist.base_url:
        values.own_text(first_line, typist.base_url)
    row = _ROWS.take(
        parsed.source,
        search=lambda _: is_search(parsed, typist.today, Vocabulary()),
        several=lambda _: _several(options + first_line, parsed),
    )

    match row and row[0]:
        case Help() | OpenForm() as request:
            return request
        case Act.TEMPLATES:
            reject_question(rest.text, rest.words)
            return _of_templates(_draft(rest.with_fields(), below, typist))
        case Act.EACH if row:
            those = row[1]["those"]
            raise UserError(
                "I can only change issues by number. Search first, then type `{/issue} 12, 13 close`.",
                offers=[Offer(f"Search for “{shortened(those, 50)}”", those, "issues")],
            )
        case Act.SEVERAL if several := _several(options + first_line, parsed):
            return several
        case Act() as act if row:
            more = bool(parsed.options or parsed.problems or parsed.unknown or below)
            return _on_issue(act, row[1].groupdict(""), text, parsed, more=more)

    asked = opened(parsed.words)
    near = None if asked else word_meant(subcommand, SUBCOMMANDS)
    meant = UnknownWord("issue", subcommand, near) if near else None
    new = TypedIssue(replace(parsed, words=asked or parsed.words), below)
    raise UnknownSubcommand(_shown(parsed), new, meant)


def _shown(parsed: Parsed) -> str:
    return shorten(parsed.text.replace("`", "'"), 80, placeholder="…") or "…"


def _on_issue(
    act: Act, slots: Mapping[str, str], text: str, parsed: Parsed, *, more: bool
) -> OneIssue | OnIssues:
    """The request of a row; `more` is whether the text has options, or lines below the first."""
    number = _number(slots.get("number") or slots.get("issue") or slots.get("rest"))
    asked = act is Act.SHOW or is_question(parsed.words)
    match act:
        case Act.SEARCH | Act.SEARCH_FOR:
            return OnIssues(Act.SEARCH, text=text if act is Act.SEARCH else text.partition(" ")[2].strip())
        case Act.FOLLOW | Act.UNFOLLOW | Act.MUTE | Act.UNMUTE:
            reject_question(parsed.text, parsed.words)
            return OnIssues(act, number)
        case Act.WHICH:
            raise UserError(
                "Which issue? Type its number, such as `{/issue} {verb} 42`.",
                verb=slots["verb"],
                offers=[Offer("My issues", "mine", "issues")],
            )
        case Act.OFFER_TIME if not (asked or more):
            raise _maybe_time(number, slots["spent"], slots["rest"])
        case Act.SHOW | Act.ANSWER if "number" in slots or (asked and not more):
            return OneIssue(number)
    if slots.get("issue") and (more or act in (Act.SHOW, Act.ANSWER, Act.CHANGE, Act.OFFER_TIME)):
        return OnIssues(Act.CHANGE, number, text)
    return OnIssues(act, number, slots["rest"] if act is Act.LOG_TIME else "")


def _maybe_time(number: int, spent: str, rest: str) -> UserError:
    """The error for a duration after an issue's number: it isn't said what to do with it."""
    text = f"{spent} {rest}".strip()
    return UserError(
        "To log {spent} on #{number}, choose “Log time”.",
        spent=spent,
        number=number,
        offers=[Offer("Log time", f"{number} {text}", "timelog"), comment_offer(text, number)],
    )


def _number(text: str | None) -> int:
    """The issue's number, or 0."""
    return values.issue_number(text or "") or 0


def _several(line: str, parsed: Parsed) -> ChangeIssues | OnIssues | None:
    """The same change to several issues; without one, they are searched for."""
    numbers, others = values.several_issues(() if parsed.problems else words(line.replace(" %", "%")))
    if len(numbers) < 2:  # noqa: PLR2004 - several
        return None
    others = tuple(word for word in others if word.quoted or plain(word) not in TOGETHER)
    if {word.text.lower() for word in others}.issubset((*SHOW.split("|"), "issue", "issues")):
        return OnIssues(Act.SEARCH, text=" ".join(map(str, numbers)))
    return ChangeIssues(numbers[:MAX_AT_ONCE], " ".join(word.source for word in others))


def new_issue(
    typed: TypedIssue,
    typist: CommandContext,
    vocabulary: Vocabulary,
) -> CreateIssue | OpenForm:
    """A new issue, with the phrases at the end of its subject as fields. Raises NotUnderstood."""
    parsed = typed.parsed.with_fields(vocabulary.fields, vocabulary.problem)
    draft = _draft(subject(parsed, vocabulary, typist.today), typed.below, typist)
    if draft.subject and not without_question(draft.subject):
        raise Question(draft.subject)
    if copied := _COPY.take(draft.subject):
        cannot = UserError(
            "I can't copy #{number}, so I didn't create an issue. Describe the new one in the form.",
            number=_number(copied[1]["issue"]),
        )
        raise NotUnderstood(cannot, (), draft)
    return CreateIssue(draft) if draft.subject else OpenForm(draft)


def several_subjects(typed: TypedIssue) -> tuple[str, ...]:
    """The subjects in `3 tickets: a, b, c`; none for other texts."""
    words = [word.text.lower() for word in typed.parsed.words[:2]]
    if typed.below or words[1:2] not in ([f"{noun}:"] for noun in NOUNS_OF_SEVERAL):
        return ()
    subjects = [part.strip() for part in typed.parsed.after(2).text.split(",")][:MAX_AT_ONCE]
    counts = str(len(subjects)), *NUMBERS[len(subjects) - 1 : len(subjects)]
    return tuple(subjects) if words[0] in counts else ()


def _comment(text: str, base_url: str | None) -> OnIssues | None:
    """The comment in `42 comment …` or `comment 42 …`, as it was typed; None for anything else."""

    def numbered(about: str) -> int | None:
        about = as_typed(about)
        return values.issue_number(values.own_text(about, base_url) if base_url else about)

    row = _COMMENTED.take(text.strip(), issue=numbered)
    if row is None:
        return None
    typed = row[1].groupdict("")
    comment, about = as_typed(typed.get("rest", "")).strip(), as_typed(typed.get("issue", ""))
    if asks(text.strip()[: row[1].start("rest")] if without_question(comment) else text):
        raise Question(as_typed(text))
    act = Act.MAYBE_PRIVATE if typed.get("private") or _PRIVATE.search(comment) else Act.COMMENT
    if not about or (typed.get("act") and is_several(f"{about} {comment}")):
        return OnIssues(act, text=f"{about} {comment}".strip())
    return OnIssues(act, _number(about), comment)


def _of_templates(draft: Draft) -> IssueRequest:
    """The request in `/issue template …`; a text without a verb is the name of a template to use."""
    row = _OF_TEMPLATES.take(draft.subject)
    if row is None:
        return OpenForm(draft.model_copy(update={"subject": "", "template": draft.subject}))
    act, slots = row[0], row[1].groupdict("")
    number = _number(slots.get("issue"))
    if act is Act.SAVE_TEMPLATE and not number:
        raise UserError("Which issue? Type its number and a name: `{/issue} template save 42 as bug-report`.")
    return OnIssues(act, number, slots.get("rest", "").strip(QUOTES), draft.project)


def _draft(parsed: Parsed, below: str, typist: CommandContext) -> Draft:
    """The draft of an issue; the lines below the first are its description. Raises NotUnderstood."""
    reader = OptionReader(parsed, typist)
    fields = reader.fields(FIELDS.values())
    project, template, custom = reader.text("project"), reader.text("template"), reader.custom_fields()
    title = " ".join(filter(None, [reader.text(SUBJECT.key), *parsed.text.split()]))
    phrases = tuple(phrase for phrase, _ in parsed.phrases)
    description = [fields.get("desc"), as_typed(below).strip(), " ".join(parsed.left)]
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
        values=fields | {"desc": "\n\n".join(str(part) for part in description if part)},
        custom_fields=custom,
        unread=reader.unread,
        phrases=phrases,
    )
    if reader.problems:
        raise NotUnderstood(reader.problems[0], tuple(reader.problems[1:]), draft)
    return draft
