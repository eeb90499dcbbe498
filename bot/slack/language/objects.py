"""The objects of `add`, `create` and `new`: a new issue, or another thing that the bot knows."""

import re

from bot.slack.language.durations import UNIT

GENERAL = ("new", "create", "add")
EACH = "close|reopen|resolve|assign|reassign|unassign|delete|remove all|every|each|my|these|those"
THOSE = r"(?:.*\s)?(?:issues|tickets|bugs|tasks|stories|features)\b.*"
_ARTICLES = r"(?:an?|another|the|my|our|some|new|one|more)\b"
ARTICLES = rf"{_ARTICLES}(?:\s+{_ARTICLES})*"
"""Words that may stand before a thing: `another new comment`."""
BEFORE = rf"(?:{_ARTICLES}\s+)*+"
_THINGS = (
    r"(?:(?:comment|note|hour|digest|feed|template|(?:sub)?project|user|account|member|attachment|watcher)s?|"
    r"reply|time)\b(?!-)"
)
_KINDS = "private|public|personal|daily|weekly|hourly|live|half"
_BARE = r"(?=\s*(?:$|[.!?])|\s+(?:please|here|now|from|for\s+(?:me|it|this|that|the)\b))"
_ISSUE = re.compile(rf"{BEFORE}(?:issue|ticket)\b(?!\s+(?:#?[0-9]|template)|{_BARE})", re.IGNORECASE)
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
