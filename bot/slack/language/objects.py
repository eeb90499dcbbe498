"""The objects of `add`, `create` and `new`: a new issue, or another thing that the bot knows."""

import re
from collections.abc import Sequence

from bot.slack.language.durations import UNIT
from bot.slack.language.tables import CommandTable
from bot.slack.language.tokens import Atom, Word

GENERAL = ("new", "create", "add")
CHANGE = (
    "close|closed|done|resolve|resolved|reopen|assign|unassign|follow|unfollow|mute|unmute|watch|unwatch|mark|"
    "move|give|take|raise|lower|delete|remove|set|comment|attach|start|begin|bump|rename|put|reassign|hand|copy"
)
"""Verbs that change an issue."""
_ASKING = (
    "can|could|i'd|i? you|i|we? want|need|like? to? open|create|report|file|raise|submit|make|start|log|need "
    "a|an new?"
)
NEW_ISSUE = f"{_ASKING} issue|ticket|bug|task here?"
"""A row for what asks for a new issue without saying which."""
EACH = "close|reopen|resolve|assign|reassign|unassign|delete|remove all|every|each|my|these|those"
THOSE = r"(?:.*\s)?(?:issues|tickets|bugs|tasks|stories|features)\b.*"
_ARTICLES = r"(?:an?|another|the|my|our|some|new|one|more)\b"
ARTICLES = rf"{_ARTICLES}(?:\s+{_ARTICLES})*"
"""Words that may stand before a thing: `another new comment`."""
BARE = re.compile(rf"(?:(?:{_ARTICLES}|issue|ticket|bug|task|feature|please)\W*)*", re.IGNORECASE)
"""What says nothing of a new issue."""
BEFORE = rf"(?:{_ARTICLES}\s+)*+"
_THINGS = (
    r"(?:(?:comment|note|hour|digest|feed|template|(?:sub)?project|user|account|member|attachment|watcher)s?|"
    r"reply|time)\b(?!-)"
)
HIDDEN = "private|internal|confidential|secret"
_KINDS = rf"{HIDDEN}|public|personal|daily|weekly|hourly|live|half"
_BARE = r"(?=\s*(?:$|[.!?])|\s+(?:please|here|now|from|for\s+(?:me|it|this|that|the)\b))"
_ISSUE = re.compile(
    rf"{BEFORE}(?:(?:issue|ticket)\b(?!\s+(?:#?[0-9]|template)|{_BARE})|"
    r"sub-?task\s+(?:(?:of|for|under)\s|to\s+#?[0-9]+:\s))",
    re.IGNORECASE,
)
_OTHER = re.compile(
    rf"(?-i:{BEFORE}(?:(?:{_KINDS})\s+)?(?:an?\s+)?{_THINGS}(?!:\S))|"  # `a private comment`
    rf"(?:{BEFORE}|(?:an?|another|the|my|our)\s+(?:\S+\s+){{1,2}}){_THINGS}"
    r"(?=\s*$|[:,.](?:\s|$)|\s+(?:to|for|on|of|with)\b)|"
    rf"[0-9]+(?:[.,:][0-9]+)?\s?{UNIT}\b|#?[0-9]+\s+(?:to|as|on|for|in|from)\b|#[0-9]|<[@#]|"
    rf"{BEFORE}(?:issue|ticket|bug|task|story|feature){_BARE}|\S+\s+here\W*$|"
    r"(?:me|us|him|her|them|it|you|one|(?:some|every|any|no)(?:one|body|thing))"
    r"(?=\s*(?:$|[,.!]|(?:to|as|for|in|on|please|now|too)\b))|"
    r"(?-i:this|that|these|those|here|there|around|to|in|on|at|with|by|issues|tickets|bugs|tasks)\b",
    re.IGNORECASE,
)
_TO_ONE = re.compile(
    r"\s(?:to|on|for|of|from)\s+(?:(?:issue|ticket)\s+)?(?:#[0-9]|[0-9]+\s*(?:$|[:,.]))|"
    rf"\s(?:to|from|as)\s+{BEFORE}(?:this\s+|that\s+)?(?:{_THINGS}|channel\b|thread\b|team\b)|"
    r"\bdigest\s+(?:daily|weekdays|weekly|hourly|live|every|cron)\b",
    re.IGNORECASE,
)


def is_subject(text: str) -> bool:
    """Whether the text after a general verb is a new issue's subject, and names no other thing."""
    return _ISSUE.match(text) is not None or not (_OTHER.match(text) or _TO_ONE.search(text))


_ASKED = (
    "can|could|would? you|i|we? please|pls? i|we? "
    "open|report|file|raise|submit|make|log|create|add|need|want|have|got"
)
_TYPES = "bug|bug:|task|task:|feature|feature:"
_KIND = f"issue|issue:|ticket|ticket:|{_TYPES}"
_OPENED = CommandTable(
    (f"{_ASKED} a|an|another|new another|new? kind={_KIND} report|request? {{rest}}", None),
    ("please|pls? report {titled}", None),
    (f"please|pls? kind=newissue|newissue:|todo|todo:|{_TYPES} {{thing}}", None),
    titled=r"(?-i:[A-Z])\S*\s\S.*",
    thing=r"(?!(?:app|board|branch|flag|item|list|manager|report|request|toggle|tracker)s?\b)\S.*",
)
_NOTHING = frozenset({"please", "pls", "plz", "-", "–", "—"})
_LABEL = 5  # how many words are before a colon: `task for Emil: …`


def opened(words: Sequence[Word]) -> tuple[Word, ...] | None:
    """A new issue without the words that ask for it: `file a bug for …` is `bug: …`; None for other texts."""
    row = _OPENED.take(" ".join(word.source for word in words))
    if row is None:
        return None
    slots = row[1].groupdict()
    asked = next(slot for slot in ("rest", "titled", "thing") if slots.get(slot))
    rest = tuple(words[len(row[1].string[: row[1].start(asked)].split()) :])
    labeled = any(word.source.endswith(":") for word in rest[:_LABEL])
    if not labeled and rest[1:] and rest[0].text.lower() in ("for", "about", "that"):
        rest = rest[1:]
    while rest[1:] and rest[0].text.rstrip(",").lower() in _NOTHING:
        rest = rest[1:]

    kind = slots.get("kind", "").lower()
    if kind not in _TYPES.split("|"):
        return rest
    label = kind if labeled else f"{kind.rstrip(':')}:"
    return (Word((Atom(label),), label), *rest)
