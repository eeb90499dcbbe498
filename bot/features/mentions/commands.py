"""Which command a message to the bot means; the command's own grammar reads the rest (docs/commands.md)."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from bot.errors import UserError
from bot.features.digests import schedules
from bot.service.conventions import SUBJECT_LENGTH
from bot.service.conventions import issue_number as linked_issue
from bot.slack.incoming.interaction import COMMAND_LENGTH
from bot.slack.language import values
from bot.slack.language.dates import Today
from bot.slack.language.doubts import is_doubtful
from bot.slack.language.durations import hours
from bot.slack.language.marks import Vocabulary
from bot.slack.language.objects import BEFORE, GENERAL, is_subject
from bot.slack.language.options import Parsed
from bot.slack.language.questions import asks
from bot.slack.language.reading import HalfPhrase, is_search
from bot.slack.language.tokens import UnclosedQuote, as_typed, words
from bot.slack.surfaces.blocks import shortened
from bot.slack.text.mrkdwn import decode


@dataclass(frozen=True)
class Run:
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


Meant = Run | Nothing | Wordless | Unclear | OfThread | IssueOfThread
COMMANDS = ("issue", "issues", "timelog", "digest", "tracker")
SYNONYMS = {"digests": "digest", "ticket": "issue", "tickets": "issues"}
CHANGE = frozenset(
    (
        *("show", "view", "open", "edit", "change", "update", "set", "comment", "note", "attach"),
        *("close", "closed", "done", "resolve", "reopen", "assign", "unassign"),
        *("follow", "unfollow", "watch", "unwatch", "mark", "move", "give", "take", "raise", "lower"),
        *("delete", "remove", "resolved"),
    )
)
"""Verbs before an issue's number."""
OF_THREAD = CHANGE - {"show", "view", "open", "edit", "change", "update"} | {"comment:", "note:"}
MAKE = frozenset({"make", "turn", "create", "file", "raise", "open", "log", "add"})
IT = frozenset({"it", "this", "that"})
_NOTHING = IT | {"into", "a", "an", "as", "from", "out", "of", "new", "thread", "message", "issue", "ticket"}
LISTS = {"projects": "tracker", "digests": "digest", "templates": "issue"}
LIST = frozenset({"list", "show"})
SEARCH = frozenset({"search", "find"})
LOG = frozenset({"log", "time", "track", "spent"})
QUESTIONS = frozenset(
    {
        *("how", "what", "what's", "when", "who", "why", "where", "which", "can", "could", "should", "would"),
        *("status", "is", "are", "did", "does", "do", "will", "has", "have", "was", "am"),
    }
)
REPLIES = frozenset(
    {"yes", "no", "ok", "okay", "sure", "yep", "nope", "done", "cool", "great", "fine", "nice"}
)
LEADS = (
    ("Log time", frozenset({"time", "hours", "log", "logged", "timesheet"}), Run("timelog", "")),
    ("Digests", frozenset({"digest", "digests", "notify", "notifications", "summary"}), Run("digest", "")),
    ("My account", frozenset({"account", "key", "login", "link", "linked", "password"}), Run("tracker", "")),
    (
        "My issues",
        frozenset({"issue", "issues", "ticket", "tickets", "my", "assigned"}),
        Run("issues", "mine"),
    ),
)
DIGEST_VERBS = frozenset({"stop", "pause", "resume", "remove", "delete", "preview", "change", "edit"})
SENDS = frozenset({"send", "message", "dm", "remind", "tell", "give"})
ABOUT_TIME = frozenset({"how", "who", "delete", "edit", "undo", "remove"})
ALONE = frozenset({"help", "whoami", "link", "unlink", "login", "logout", "connect", "disconnect"})
ACCOUNT = frozenset({"projects", "project", "default", "user", "who", "who's", "settings"})
TEMPLATES = frozenset({"template", "templates"})
GREETINGS = frozenset({"hi", "hello", "hey", "thanks", "thank you", "?", "what can you do"})
FEW = 3  # how many words may follow a noun of `/tracker`, since more are a sentence
_FIRST = re.compile(r"(<[^<>\n]*>|\S+)(.*)", re.DOTALL)
_EMOJI = re.compile(r":[a-z0-9_+'-]{1,100}:")
_AN_ISSUE = re.compile(r"(?:an?\s+)?(?:new\s+)?(?:issue|ticket)(?:\s*:\s*|\s*$)", re.IGNORECASE)
_ISSUE = re.compile(r"(?:(?:me|on|for|the|issue|ticket|bug)\s+){0,2}", re.IGNORECASE)
_LOGGED = re.compile(r"(?:time\s+)?(?:(?:on|for|to|issue)\s+){0,2}", re.IGNORECASE)
_FILTER = re.compile(r"(?!https?:)-?[a-z_0-9]+:.+", re.IGNORECASE | re.DOTALL)
_COMMENT = re.compile(
    rf"{BEFORE}(?:comment|note)\b(?:\s+(?:to|on|for|issue))*+((?:\s.*)?)", re.IGNORECASE | re.DOTALL
)
_TIME = re.compile(
    rf"{BEFORE}(?:half\s+an\s+)?(?:time|hours?)(?=\s*$|\s+(?:to|on|for|in|of)\s)|"
    r"[0-9]+(?:[.,:][0-9]+)?\s?(?:hours?|hrs?|h|minutes?|mins?|m)"
    r"(?:\s?[0-9]+\s?(?:minutes?|mins?|m)?)?(?=\s*$|\s+(?:to|on|for|in|of)\s)",
    re.IGNORECASE,
)
_THING = re.compile(
    rf"{BEFORE}(?P<when>(?:daily|weekly|hourly|live)\s+)?(?P<thing>digest|template|project|user|account)\b"
    r"(?P<link>\s*(?:called|named|for|of|in|on|:)(?=\s|$))?(?P<name>.*)",
    re.IGNORECASE | re.DOTALL,
)
_ON_IT = re.compile(r"\s(?:on|for)\s(?:this|it)(?=\W*$|,|\s(?:today|yesterday|last|on)\b)", re.IGNORECASE)
_LINKING = frozenset({"on", "for", "to", "in", "issue"})
_DURATION_WORDS = 4


def meant(text: str, base_url: str, today: Today, prefix: str = "", *, in_thread: bool = False) -> Meant:
    """What a message means, without the bot's mention; `base_url` is the service's."""
    if not text:
        return Nothing()
    if not any(character.isalnum() for character in _EMOJI.sub("", text)):
        return Nothing() if text == "?" else Wordless()
    first, rest = _split(text)
    while rest and first.lower().rstrip(",!") in ("please", "pls", "hey", "hi", "ok", "okay"):
        text = rest
        first, rest = _split(text)
    word = first.lower().removeprefix("/").removeprefix(prefix).rstrip(":,!")
    if len(text) > COMMAND_LENGTH:
        return _unclear(rest if word in GENERAL else text, long=True)
    if (command := SYNONYMS.get(word, word)) in COMMANDS and not first.endswith(":"):
        return Run(command, rest)
    if in_thread and (of_thread := _of_thread(word, text, rest, base_url)):
        return of_thread
    about = _about_new(word, rest, today, base_url) if word in GENERAL else None
    about = about or _about_time(word, text, rest, base_url) or _about_issue(word, first, rest, base_url)
    return about or _about_others(word, text, rest, today) or _unclear(text)


def is_reply(text: str) -> bool:
    """Whether a message asks or answers something, so that it is hardly an issue."""
    said = text.lower().strip(" .!,")
    return asks(text) or said in REPLIES or said.split()[:1] in ([word] for word in QUESTIONS)


def leading(text: str, base_url: str) -> Iterator[tuple[str, Run]]:
    """The commands that may answer a question, each with what its button says."""
    if not is_reply(text):
        return
    words_in = [word.strip("?!.,") for word in text.lower().split()]
    number = next(filter(None, (_number(word, base_url) for word in words_in)), None)
    if number:
        yield f"Show #{number}", Run("issue", str(number))
    for label, words_of, run in LEADS:
        if words_of.intersection(words_in):
            yield label, run


def _only_search_phrases(text: str, today: Today) -> bool:
    """Whether the whole text is phrases or filters of a search, which tells of half a phrase."""
    try:
        parsed = Parsed(words(text), {})
        phrases = is_search(parsed, today, Vocabulary())
    except UnclosedQuote:
        return False
    except HalfPhrase:
        return True
    return phrases or all(_FILTER.fullmatch(word.source) for word in parsed.words)


def _of_thread(word: str, text: str, rest: str, base_url: str) -> OfThread | IssueOfThread | None:
    """What is done with the issue that a thread is about, or with the thread's first message."""
    typed = rest.lower().rstrip(".!").split()
    if word in MAKE and IT.intersection(typed) and not asks(text):
        first, _, person = " ".join(typed).partition(" for ")
        tracker = [one for one in first.split() if one not in _NOTHING]
        if len(tracker) <= 1 and not any(_number(one, base_url) for one in typed):
            return IssueOfThread("".join(tracker), person)
    if any(_number(one, base_url) for one in text.split()):
        return None
    if word in OF_THREAD or f"{word}:" in OF_THREAD:
        said = rest.split(" ", 1)
        rest = said[1] if said[1:] and said[0].lower() in IT else "" if said[0].lower() in IT else rest
        return OfThread("issue", f"{word} {rest}".strip())
    count = next(_durations(text.split()), 0)
    spent = count or (word in LOG and next(_durations(rest.split()), 0))
    return OfThread("timelog", _ON_IT.sub("", text if count else rest, count=1)) if spent else None


def _about_new(word: str, rest: str, today: Today, base_url: str) -> Run | None:
    """A new issue, or another thing that is added; None for a question, and where it isn't certain."""
    named = _AN_ISSUE.match(rest)
    certain = is_subject(rest) and not asks(rest.partition("\n")[0])
    if named or (certain and not (rest and _only_search_phrases(f"{word} {rest}", today))):
        return Run("issue", f"new {rest[named.end() :] if named else rest}".strip())
    if commented := _COMMENT.fullmatch(rest):
        about = commented[1].strip()
        known = not about or _number(_split(about)[0], base_url)
        return Run("issue", f"comment {about}".strip()) if known else None
    if _TIME.match(rest):
        return _about_time("log", f"log {rest}", rest, base_url) or Run("timelog", rest)
    found = _THING.fullmatch(rest)
    name = found["name"].strip() if found else ""
    if found is None or (name[:1].islower() and not found["link"]):
        return None
    match found["thing"].lower():
        case "digest":
            return Run("digest", f"add {name} {found['when'] or ''}".strip())
        case "template":
            return Run("issue", "template new")
        case "project":
            return Run("tracker", f"project new {name}".strip())
    return Run("tracker", f"user new {name if name.startswith('<@') else ''}".strip())


def _about_issue(word: str, first: str, rest: str, base_url: str) -> Run | None:
    if _number(first, base_url):
        return Run("issue", f"{first} {rest}".strip())
    if word in CHANGE and not first.endswith(":"):
        about = rest[len(_leading(_ISSUE, rest)) :]
        counted = word == "note" and about == rest and about[:1].isdigit()  # `note 12 users …`
        if _number(_split(about)[0], base_url) and not counted:
            return Run("issue", f"{word} {about}")
    if word in TEMPLATES or (word == "attach" and not rest):
        return Run("issue", f"{word} {rest}".strip())
    return None


def _about_time(word: str, text: str, rest: str, base_url: str) -> Run | None:
    said = set(text.lower().rstrip("?!.").split())
    if word == "i" and rest.lower().startswith(("spent ", "worked ", "logged ")):
        word, _, rest = rest.partition(" ")
        return _about_time("log", text, rest, base_url)
    how = word != "how" or said & {"much", "many"}
    if word in ABOUT_TIME and how and said & {"log", "logged", "entry"}:
        return Run("timelog", text)
    if word in LOG:
        spent = rest[len(_leading(_LOGGED, rest)) :]
        known = _number(_split(spent)[0], base_url) or any(_durations(spent.split()))
        return Run("timelog", spent.removeprefix("time")) if known or spent in ("", "edit", "time") else None
    typed = text.split()
    for count in _durations(typed):
        linking = _LINKING.intersection(word.lower() for word in typed[count : count + 2])
        about = typed[count + len(linking) :]
        clock = ":" in typed[0] and about[:1] and about[0].isdigit()  # `10:30 on 12`
        unsure = clock or (is_doubtful(text) and not any(map(str.isalpha, "".join(typed[:count]))))
        if about and _number(about[0], base_url):
            return None if unsure else Run("timelog", text)
    return None


def _about_others(word: str, text: str, rest: str, today: Today) -> Run | None:
    """A search, a digest, an account, or help."""
    said = rest.lower()
    if word in SEARCH:
        return Run("issues", rest)
    if word in LIST:
        return Run(LISTS[said], said) if said in LISTS else Run("issues", rest)
    if _only_search_phrases(text, today):
        return Run("issues", text)
    if word == "help" and said.removeprefix("/") in COMMANDS:
        return Run(said.removeprefix("/"), "help")
    if word in DIGEST_VERBS and {"digest", "digests"}.intersection(said.split()):
        return Run("digest", f"{word} {rest}")
    if word in SENDS and (at := next((n for n, one in enumerate(said.split()) if schedules.starts(one)), 0)):
        return Run("digest", f"me {' '.join(rest.split()[at:])}")
    few = word in ACCOUNT and (word in ("projects", "settings") or rest) and len(rest.split()) <= FEW
    alone = not rest or said.rstrip("!.?") in ("my account", "me", "please")
    if (word in ALONE and alone) or few:
        return Run("tracker", f"{word} {rest}".strip())
    return Run("tracker", "help") if text.lower().rstrip("!?. ") in GREETINGS else None


def _unclear(text: str, *, long: bool = False) -> Unclear:
    first, _, below = text.strip().partition("\n")
    subject, whole = " ".join(as_typed(first).split()), as_typed(text).strip()
    fits = len(subject) <= SUBJECT_LENGTH
    description = as_typed(below).strip() if fits else whole
    return Unclear(shortened(subject, SUBJECT_LENGTH), description, long)


def _split(text: str) -> tuple[str, str]:
    """The first word or link of a text as Slack wrote it, and what follows it."""
    found = _FIRST.match(text.strip())
    return (found[1], found[2].strip()) if found else ("", "")


def _leading(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.match(text)
    return found[0] if found else ""


def _number(word: str, base_url: str) -> int | None:
    """The issue in `42`, `#42` or a link to the service."""
    target = decode(word.strip("<>").partition("|")[0])
    return linked_issue(base_url, target) if "://" in target else values.issue_number(target)


def _durations(typed: list[str]) -> Iterator[int]:
    """How many words the duration at the start may take, the most first; a bare number is none."""
    for count in range(min(len(typed), _DURATION_WORDS), 0, -1):
        duration = " ".join(typed[:count])
        if not duration.isdecimal():
            with suppress(UserError):
                hours(duration)
                yield count
