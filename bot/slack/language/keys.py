"""API keys that people type. A git commit's ID looks like one, so the words beside it decide."""

import re

from bot.errors import UserError
from bot.service.conventions import KEY
from bot.slack.text.mrkdwn import without_keys

LINK = ("link", "login", "signin", "connect", "auth", "key")
_LINKED = re.compile(
    rf"\s*(?:<@[^<>]*>\s*)?/?(?:[\w-]*tracker\s+)?(?:{'|'.join(LINK)})\s+"
    r"((?=[A-Za-z]*[0-9])[0-9A-Za-z]{16,})\s*",
    re.IGNORECASE,
)
_MENTION = re.compile(r"<@[^<>]*>")
_INTRODUCING = frozenset(
    {
        *(*LINK, "tracker", "account", "my", "me", "the", "api", "access", "token", "is", "it", "to"),
        *("with", "this", "here", "please", "pls", "plz", "hey", "hi", "ok", "okay", "thanks", "s"),
    }
)


def types_key(text: str) -> bool:
    """Whether a text is an API key, alone or introduced: `link …`, `my key is …`."""
    beside, keys = KEY.subn(" ", _MENTION.sub(" ", text))
    words = re.findall(r"[^\W_]+", beside.casefold())
    return bool(_LINKED.fullmatch(text)) or (keys > 0 and _INTRODUCING.issuperset(words))


def without_typed_key(text: str) -> str:
    """The text without the key, if it is one."""
    if match := _LINKED.fullmatch(text):
        return f"{text[: match.start(1)]}…"
    return without_keys(text) if types_key(text) else text


def key_typed() -> UserError:
    """The error for a key that was typed into a command, where logs may keep it."""
    return UserError(
        "Never type your API key into a command, because it may end up in logs. Create a new key "
        "under “My account” in {service}, then enter it with `{/tracker link}`."
    )


def reject_key(text: str) -> None:
    """Raise UserError, without repeating it, if an API key was typed."""
    if types_key(text):
        raise key_typed()
