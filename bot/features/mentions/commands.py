"""Which command a message to the bot means; the command's own grammar reads the rest (docs/commands.md)."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from bot.features.digests import schedules
from bot.service.conventions import SUBJECT_LENGTH
from bot.service.conventions import issue_number as linked_issue
from bot.slack.language import values
from bot.slack.language.dates import Today
from bot.slack.language.doubts import asks, is_doubtful
from bot.slack.language.durations import DURATION, LONG
from bot.slack.language.marks import URGENT, Vocabulary
from bot.slack.language.objects import ARTICLES, CHANGE, EACH, GENERAL, HIDDEN, NEW_ISSUE, THOSE, is_subject
from bot.slack.language.options import Parsed, is_filter
from bot.slack.language.phrases import QUESTION_WORDS
from bot.slack.language.reading import is_search
from bot.slack.language.tables import COMMON, CommandTable, shapes, without_greeting
from bot.slack.language.tokens import UnclosedQuote, as_typed, words
from bot.slack.surfaces.blocks import shortened
from bot.slack.surfaces.interaction import COMMAND_LENGTH
from bot.slack.text.mrkdwn import decode, without_emoji


@dataclass(frozen=True)
class RoutedCommand:
    """A command, without its slash and prefix, and the text after it."""

    command: str
    text: str = ""


@dataclass(frozen=True)
class Nothing:
    """Only the bot's name."""


@dataclass(frozen=True)
class Wordless:
    """Only emoji or punctuation."""


@dataclass(frozen=True)
class Talk:
    """Nothing to do, and what to reply."""

    reply: str


@dataclass(frozen=True)
class Unclear:
    """No command: a new issue with this subject and description, or a search for the subject.

    `long` is whether it has more characters than a command may have.
    """

    subject: str
    description: str = ""
    long: bool = False


@dataclass(frozen=True)
class OfThread:
    """A change to the issue that a thread is about: the command and its text after the issue's number."""

    command: str
    text: str


@dataclass(frozen=True)
class IssueOfThread:
    """A new issue from a thread's first message, of this type and for this person."""

    tracker: str = ""
    person: str = ""


@dataclass(frozen=True)
class CommentOfThread:
    """A thread's first message as a comment on issue `number`, or on the one that the thread is about."""

    number: int | None


Meant = RoutedCommand | Nothing | Wordless | Talk | Unclear | OfThread | IssueOfThread | CommentOfThread
LOG, ON, IT = "log|time|track|book|spent", "on|for|to|in|issue", "it|this|that"
SHOW, OF_ISSUE = "show|view|open|edit|change|update", "me|on|for|the|issue|ticket|bug"
ACCOUNT = "help|whoami|link|unlink|login|logout|connect|disconnect"
TO_ISSUE = ("issue", "{act} {issue} {rest}")
OF_FIELD = ("issue", "{issue} {act} {field} {to}")
TIMED = rf"(?:#?[0-9]{{1,12}}|<?https?://[^\s>]{{1,2000}}>?|{DURATION}|{LONG})[:,]?(?:\s.*|\Z)"
NOTE = f"{{before?}} hidden={HIDDEN}? comment|note"
THING = "{before?} when=daily|weekly|hourly|live?"
STATES = URGENT | {"high", "low", "normal", "private", "public", "done", "due", "mine"}
"""What may be made of an issue, but is no type."""
Row = tuple[str, str]  # a command, and its text with the slots of the row
_THREAD = CommandTable[Row](
    (f"act={CHANGE}|note {IT}? {{rest?}}", ("issue", "{act} {rest}")),
    (f"i'll take|grab {IT} {{rest?}}", ("issue", "take it {rest}")),
    (f"{LOG}? {{spent}} on|for this|it {{dated?}}", ("timelog", "{spent} {dated}")),
    (f"{LOG}? {{timed}}", ("timelog", "{timed}")),
    (f"make {IT} {{state}}", ("issue", "set it {state}")),
    timed=rf"{DURATION}(?:\s.*)?",
    spent=rf"{DURATION}(?:\s.*?)?",
    dated=r"(?:today|yesterday|last|on)(?![^\s.,!]).*",
    state=rf"(?:{'|'.join(sorted(STATES))}|\S+\s(?:priority|prio))(?![^\s.,!]).*",
)
_AS_COMMENT = shapes(
    f"add|put|post|attach|save {IT} thread|message? to|on|in? issue? {{issue?}} as a|the? comment|note",
    f"add|put|post|attach|save {IT} thread|message? as a|the? comment|note to|on|in? issue? {{issue?}}",
)
_ADDED = CommandTable[Row](
    ("{new}", ("issue", "new")),
    ("a|an? new? issue:|ticket: {rest}", ("issue", "new {rest}")),
    ("{subject?}", ("issue", "new {subject}")),
    (f"{NOTE} to|on|for? issue? {{issue}} {{rest?}}", ("issue", "add {hidden} comment {issue} {rest}")),
    (f"{NOTE} to|on|for? issue?", ("issue", "{hidden} comment")),
    (f"time {ON}? {ON}? {{timed?}}", ("timelog", "{timed}")),
    ("{spent}", ("timelog", "{spent}")),
    ("{before} {spent}", ("timelog", "{spent}")),
    (f"{THING} digest|digest: {{named?}}", ("digest", "add {name} {when}")),
    (f"{THING} template|template: {{named?}}", ("issue", "template new")),
    (f"{THING} project|project: {{named?}}", ("tracker", "project new {name}")),
    (f"{THING} user|account for? {{mention}}", ("tracker", "user new {mention}")),
    (f"{THING} user|account|user:|account: {{named?}}", ("tracker", "user new")),
    before=ARTICLES,
    new=r"(?:an?\s+)?(?:new\s+)?(?:issue|ticket)(?![^\s,.!?])",
    timed=TIMED,
    spent=rf"(?:(?:half\s+an\s+)?hours?|{DURATION})(?=\s*\Z|\s+(?:to|on|for|in|of)\s).*",
    mention=r"<@.*",
    named=r"(?:(?:called|named|for|of|in|on|:)(?:\s+|\Z)|(?-i:(?![a-z])))(?P<name>.*)",
)
_SPENT = CommandTable((f"{{duration}} {ON}? {ON}? {{issue}} {{rest?}}", ""), duration=rf"{DURATION}|{LONG}")
_TABLE = CommandTable[Row](
    ("{plain} issue|ticket {rest?}", ("issue", "{rest}")),
    ("{plain} issues|tickets {rest?}", ("issues", "{rest}")),
    ("{plain} digest|digests {rest?}", ("digest", "{rest}")),
    ("{plain} act=timelog|tracker {rest?}", ("{act}", "{rest}")),
    ("my hours|time|timesheet {rest?}", ("timelog", "{all}")),
    ("how much|many {logged}", ("timelog", "{all}")),
    ("how much|many hours|time did|have i {rest}", ("timelog", "{all}")),
    ("how much|many hours|time did|has|does {others}", ("timelog", "{all}")),
    ("how much did|have i work|worked|log|book {rest?}", ("timelog", "{all}")),
    ("change|update my|today's|yesterday's|last {logged}", ("timelog", "{all}")),
    ("what did|have i {logged}", ("timelog", "{all}")),
    ("who|delete|edit|undo|remove {logged}", ("timelog", "{all}")),
    (f"i? {LOG}|worked|logged time|me? {ON}? {ON}? {{timed}}", ("timelog", "{timed}")),
    ("start|stop|begin|pause the|a? timer|clock {rest?}", ("timelog", "{all}")),
    ("i did|put {duration} {rest}", ("timelog", "{duration} {rest}")),
    (f"{LOG} time?", ("timelog", "")),
    (f"{LOG} edit", ("timelog", "edit")),
    ("{spent}", ("timelog", "{all}")),
    ("{issue} {rest?}", ("issue", "{all}")),
    (f"{{plain}} act={CHANGE}|{SHOW} {OF_ISSUE}? {OF_ISSUE}? {{issue}} {{rest?}}", TO_ISSUE),
    ("start|begin work|working on? issue? {issue} {rest?}", ("issue", "start {issue} {rest}")),
    ("i'll act=take|grab issue? {issue} {rest?}", TO_ISSUE),
    ("act=assign|unassign {who} to|from issue? {issue}", ("issue", "{issue} {act} {who}")),
    ("act=set|change|update|move|clear|remove the? {field} of|on|for|from issue? {issue} {to?}", OF_FIELD),
    ("act=raise|lower|bump the? {field} of|on|for issue? {issue} {to?}", OF_FIELD),
    ("keep me posted|updated|informed on|about issue? {issue}", ("issue", "follow {issue}")),
    ("stop following|watching issue? {issue}", ("issue", "unfollow {issue}")),
    ("stop sending|telling|notifying|pinging me {about} issue? {issue}", ("issue", "mute {issue}")),
    ("who|who's is? on issue? {issue}", ("issue", "{issue}")),
    ("tell me about issue? {issue}", ("issue", "{issue}")),
    (f"{{plain}} act=note {OF_ISSUE} {OF_ISSUE}? {{issue}} {{rest?}}", TO_ISSUE),
    ("{plain} act=note {hash} {rest?}", ("issue", "{act} {hash} {rest}")),
    ("act=template|templates {rest?}", ("issue", "{act} {rest}")),
    (f"act={CHANGE}|note {IT}?", ("issue", "{act}")),
    ("search|find for? {rest?}", ("issues", "{rest}")),
    ("can|could|would you please? search|find|show|list for|me? {rest}", ("issues", "{rest}")),
    ("list|show my|the|all? projects", ("tracker", "projects")),
    ("list|show my|the|all? digests", ("digest", "list")),
    ("list|show my|the|all? templates", ("issue", "templates")),
    ("list|show {rest?}", ("issues", "{rest}")),
    (NEW_ISSUE, ("issue", "{all}")),
    ("what can you do {help?}", ("tracker", "help")),
    ("{search}", ("issues", "{all}")),
    (f"{EACH} {{those}}", ("issue", "{all}")),
    ("add|remove {who} watcher|watchers to|from|on? issue? {issue}", ("issue", "{all}")),
    ("help act=issue|issues|timelog|digest|tracker", ("{act}", "help")),
    ("act=stop|pause|resume|remove|delete|preview|change|edit my digest", ("digest", "me {act}")),
    ("act=stop|pause|resume|remove|delete|preview|change|edit {digest}", ("digest", "{act} {digest}")),
    ("send|message|dm|remind|tell|give {sent}", ("digest", "me {when}")),
    ("can|could? you? please? post {posted}", ("digest", "")),
    ("can|could? you? please? send us {posted}", ("digest", "")),
    ("can|could? you? please? post all|any|the? new issues|tickets|bugs|tasks {rest}", ("digest", "")),
    ("act=projects|settings {few?}", ("tracker", "{act} {few}")),
    ("act=project|default|user {few}", ("tracker", "{act} {few}")),
    ("who's {name}", ("tracker", "who is {name}")),
    ("who act=is|am {name}", ("tracker", "who {act} {name}")),
    ("act=notify|notifications {topics?}", ("tracker", "notify {topics}")),
    (
        "notify|alert|tell me when|if|about something|anything|someone|somebody|issues? {news}",
        ("tracker", "notify"),
    ),
    ("stop sending|messaging|notifying|pinging me {rest?}", ("tracker", "notify")),
    ("don't|dont|never notify|message|ping|dm me {rest?}", ("tracker", "notify")),
    (
        "turn|switch|stop on|off? the|my|all|comments|changes? notifications|notices on|off?",
        ("tracker", "notify"),
    ),
    (f"act={ACCOUNT} my? account|me?", ("tracker", "{act}")),
    ("log|sign me? in|out|off", ("tracker", "{all}")),
    ("my settings|account", ("tracker", "{all}")),
    ("hi|hello|hey|there|-h|--help there|all|everyone?", ("tracker", "help")),
    ("{account}", ("tracker", "{all}")),
    account=r"(?:i|we)\s(?:don['’]?t\s)?have\s(?:no|an|any)\saccount\b.*",
    logged=r"(?:.*\s)?(?:log|logged|entry)(?![^\s.!?]).*",
    others=r"(?!i\s)\S+(?:\s\S+)?\s(?:spend|spent|log|logged|book|booked|track|tracked)(?!\S).*",
    news=r"(?!(?:issue\s)?#?[0-9])\S.*",  # not of one issue, which is followed
    timed=TIMED,
    those=THOSE,
    who=r"\S.*?",
    field=r"(?:due(?:\sdate)?|deadline|priority|prio|status|assignee|owner|category|version|milestone|type|"
    r"start\sdate|estimate|subject|title)(?!\S)",
    to=r"(?:to|as)\s.*",
    about=r"(?:\S+\s+){0,3}?(?:about|for|of|on)(?!\S)",
    help=r"(?:for|with)(?![^\s.,!?]).*",
    plain=r"(?=\S)",  # the first word isn't a label, as in `issue: …`
    hash=r"#[0-9]{1,12}[:,]?(?!\S)",
    topics=r"(?:(?:all|assigned|assignments|comments|changes|on|off|and)(?:[\s,]+|\Z))+",
    digest=r"(?:.*\s)?digests?(?![^\s.!?]).*",
    sent=rf"(?:me|my)\s(?:.*?\s)?(?P<when>{schedules.START}.*)",
    posted=r"(?:\S+\s+){1,6}?(?:every|each|daily|weekly)(?!\S).*",
    name=r"\S+(?:\s+\S+)?",
    few=r"\S+(?:\s+\S+){0,2}",  # more words are a sentence
)
"""What messages mean; slots with a check of their own fit as `meant` says."""
_ASKS = CommandTable(
    (f"status|{'|'.join(QUESTION_WORDS)} {{rest?}}", ""),
    ("yes|no|ok|okay|sure|yep|nope|done|cool|great|fine|nice", ""),
)
UNDO = "To undo a change, choose “Undo” below its confirmation within ten minutes."
_SMILEY = re.compile(r"[:;]-?[)D(]{1,9}\Z")
_TALK = CommandTable(
    ("thanks|thx|cheers|thank you? a|so|very? lot|much|again|bot?", "You're welcome!"),
    ("thanks|thank you? for {rest}", "You're welcome!"),
    ("good? morning|afternoon|evening there|all|everyone|team?", "Hello!"),
    ("thanks|thx|thank you? you're|you are? the? best|great|awesome|star|hero|rock", "You're welcome!"),
    ("undo|revert that|it|this? please?", UNDO),
    ("that's|this|that is? wrong|incorrect", UNDO),
    ("that's|this|that is? wrong|incorrect i meant {rest}", UNDO),
    ("that's|this|that is|isn't? not? what i asked|wanted|meant for?", UNDO),
    (
        "are you a|an? real? human|bot|robot|real|person|ai",
        "I'm a bot. I work with issues and time in your tracker.",
    ),
)
_REMINDS = CommandTable(
    ("remind|reminder {rest?}", ""),
    ("set|add|create a? reminder {rest?}", ""),
    ("notify|alert|tell|ping me when|if|once {rest}", ""),
    ("let me know when|if|once {rest}", ""),
)
LEADS = (
    ("Log time", "time hours log logged timesheet", RoutedCommand("timelog")),
    ("Digests", "digest digests notify notifications summary", RoutedCommand("digest")),
    ("My account", "account key login link linked password", RoutedCommand("tracker")),
    ("My issues", "issue issues ticket tickets my assigned", RoutedCommand("issues", "mine")),
)
"""Where questions lead that have one of the words."""
MAKE = ("make", "turn", "create", "file", "raise", "open", "log", "add")
THIS = frozenset(IT.split("|"))
_NOTHING = THIS.union(
    ("into", "a", "an", "as", "from", "out", "of", "new", "thread", "message", "issue", "ticket")
)


def meant(text: str, base_url: str, today: Today, prefix: str = "", *, in_thread: bool = False) -> Meant:
    """Return the meaning of a message, without the bot's mention; `base_url` is the service's."""
    if not text:
        return Nothing()
    text = without_greeting(text)
    if not any(character.isalnum() for character in without_emoji(text)):
        return Nothing() if text == "?" else Wordless()
    if talk := _TALK.take(_SMILEY.sub("", text.rstrip()).rstrip()):
        return Talk(talk[0])
    first, rest = [*text.split(maxsplit=1), ""][:2]
    word = first.lower().removeprefix("/").removeprefix(prefix).rstrip(":,!")
    if len(text) > COMMAND_LENGTH:
        return _unclear(rest if word in GENERAL else text, long=True)

    numbered, asked = partial(_number, base_url=base_url), asks(rest.partition("\n")[0])
    checks: dict[str, Callable[[str], object]] = {
        "issue": numbered,
        "plain": lambda _: not first.endswith(":") or numbered(first),
        "spent": lambda _: _is_spent(text, numbered),
        "search": lambda _: _only_search_phrases(text, today),
    }
    of_new: dict[str, Callable[[str], object]] = {
        "issue": numbered,
        "new": lambda _: not asked,
        "subject": lambda typed: (
            is_subject(typed) and not (asked or _only_search_phrases(f"{word} {rest}", today))
        ),
    }

    if as_comment := _AS_COMMENT.take(f"{word} {rest}", issue=numbered):
        number = as_comment[1]["issue"] or ""
        in_form = RoutedCommand("issue", f"comment {number}".strip())
        return CommentOfThread(numbered(number)) if in_thread else in_form
    if in_thread and (command := _of_thread(word, rest, numbered)):
        return command
    added = _routed(_ADDED, rest or " ", rest, of_new) if word in GENERAL else None
    return added or _routed(_TABLE, f"{word} {rest}", text, checks) or _unclear(text)


def _routed(
    table: CommandTable[Row], phrase: str, text: str, checks: Mapping[str, Callable[[str], object]]
) -> RoutedCommand | None:
    """The command of the row that fits; `text` is all of the message."""
    row = table.take(phrase, **checks)
    if row is None:
        return None
    (command, template), match = row
    slots = {slot: value.strip() for slot, value in match.groupdict("").items()}
    slots |= {"act": slots.get("act", "").lower(), "all": text}
    meaning = template.format(**slots).strip()
    asked = meaning and meaning != text and asks(slots["end"])
    return RoutedCommand(command.format(**slots), f"{meaning}?" if asked else meaning)


def _is_spent(text: str, numbered: Callable[[str], int | None]) -> bool:
    """Whether a text is a duration and its issue, of which neither may be a time of day or another number."""
    spent = _SPENT.take(text, issue=numbered)
    if spent is None:
        return False
    typed, issue = spent[1]["duration"], spent[1]["issue"]
    figures = not any(map(str.isalpha, typed))
    return not ((":" in typed and issue[0].isdigit()) or (figures and is_doubtful(text)))


def is_reply(text: str) -> bool:
    """Whether a message asks or answers something, so that it is hardly an issue."""
    return asks(text) or is_reminder(text) or _ASKS.take(text) is not None


def is_reminder(text: str) -> bool:
    """Whether a message asks to be reminded of something."""
    return _REMINDS.take(text) is not None


def leading(text: str, base_url: str) -> Iterator[tuple[str, RoutedCommand]]:
    """The commands that may answer a question, each with the label of its button."""
    if not is_reply(text):
        return
    words_in = [word.strip("?!.,") for word in text.lower().split()]
    numbers = [*dict.fromkeys(filter(None, (_number(word, base_url) for word in words_in)))][:2]
    for number in numbers:
        yield f"Show #{number}", RoutedCommand("issue", str(number))
    if numbers and is_reminder(text):
        yield f"Follow #{numbers[0]}", RoutedCommand("issue", f"follow {numbers[0]}")
    leads = [(label, run) for label, words_of, run in LEADS if set(words_of.split()).intersection(words_in)]
    yield from leads
    if (about := _topic(words_in)) and not (numbers or leads):
        yield f"Search for “{about}”", RoutedCommand("issues", about)


def _only_search_phrases(text: str, today: Today) -> bool:
    """Whether the whole text is phrases or filters of a search, which tells of half a phrase."""
    try:
        parsed = Parsed(words(text), {})
    except UnclosedQuote:
        return False
    return is_search(parsed, today, Vocabulary(), half=True) or all(map(is_filter, parsed.words))


def _of_thread(
    word: str, rest: str, numbered: Callable[[str], int | None]
) -> OfThread | IssueOfThread | None:
    """Return the action on the issue that a thread is about, or on the thread's first message."""
    typed = rest.lower().rstrip(".!").split()
    if any(map(numbered, (word, *typed))):
        return None
    if word in MAKE and THIS.intersection(typed) and not asks(rest):
        first, _, person = " ".join(typed).partition(" for ")
        if THIS.intersection(person.split()[:1]):
            person = person.partition(" for ")[2]
        tracker = [one for one in first.split() if one not in _NOTHING]
        if len(tracker) <= 1 and STATES.isdisjoint(tracker):
            return IssueOfThread("".join(tracker), person)
    routed = _routed(_THREAD, f"{word} {rest}", f"{word} {rest}", {"issue": numbered})
    return OfThread(routed.command, routed.text) if routed else None


def _unclear(text: str, *, long: bool = False) -> Unclear:
    first, _, below = text.strip().partition("\n")
    subject, whole = " ".join(as_typed(first).split()), as_typed(text).strip()
    fits = len(subject) <= SUBJECT_LENGTH
    description = as_typed(below).strip() if fits else whole
    return Unclear(shortened(subject, SUBJECT_LENGTH), description, long)


def _number(word: str, base_url: str) -> int | None:
    """The issue in `42`, `#42` or a link to the service."""
    target = decode(word.strip("<>").partition("|")[0])
    return linked_issue(base_url, target) if "://" in target else values.issue_number(target)


def _topic(words_in: Sequence[str]) -> str:
    """The few words that a question is about; empty if it has many."""
    about = [word for word in words_in if word and word not in COMMON]
    return " ".join(about) if len(about) <= min(3, len(words_in) - 1) else ""
