"""Reads a message's text wherever it is: apps often leave `text` empty and use blocks or attachments."""

import re
from collections.abc import Iterator
from typing import Any

from bot.slack.text.mrkdwn import decode, escape

JSON = dict[str, Any]

ATTACHMENT = ("pretext", "title", "text")
_ENTITY = re.compile(r"<([^<>\n]*)>")
_NUMBERED = re.compile(r"(?<![\w&#/])#([0-9]{1,9})(?!\w)")


def text_of(message: JSON) -> str:
    """The message's text in mrkdwn: its own with the messages that it quotes, else that of its blocks, else
    that of its attachments.
    """
    own = str(message.get("text") or "").strip()
    if own:
        return "\n".join((own, *_quoted(message.get("attachments"))))
    return _in_blocks(message.get("blocks")) or _in_attachments(message.get("attachments"))


def issue_named(text: str, base_url: str) -> int | None:
    """The issue that a message names: by its first link to one in the service, else by its first `#42`."""
    return next(iter(issues_named(text, base_url)), None)


def issues_named(text: str, base_url: str) -> tuple[int, ...]:
    """All issues that a message names, those that it links to first."""
    link = re.compile(rf"{re.escape(base_url)}/issues/([0-9]{{1,9}})(?![0-9])", re.IGNORECASE)
    linked = (link.match(decode(entity.partition("|")[0])) for entity in _ENTITY.findall(text))
    numbered = _NUMBERED.finditer(decode(_ENTITY.sub(" ", text)))
    numbers = (int(match[1]) for match in (*filter(None, linked), *numbered))
    return tuple(dict.fromkeys(filter(None, numbers)))


def author_of(message: JSON) -> str | None:
    """The name that an app posted under; None for a user's message."""
    profile = message.get("bot_profile") or {}
    name = message.get("username") or (profile.get("name") if isinstance(profile, dict) else None)
    return str(name) if name else None


def _quoted(attachments: object) -> Iterator[str]:
    """The lines of the messages that are shared in a message, or linked to, as quotes."""
    for attachment in attachments if isinstance(attachments, list) else ():
        if isinstance(attachment, dict) and (attachment.get("is_share") or attachment.get("is_msg_unfurl")):
            author = escape(str(attachment.get("author_name") or "").strip())
            lines = str(attachment.get("text") or "").strip().splitlines()
            yield from (f"&gt; {line}" for line in ([f"*{author}*"] if author and lines else []) + lines)


def _in_blocks(blocks: object) -> str:
    lines = (" ".join(_texts(block)) for block in blocks) if isinstance(blocks, list) else ()
    return "\n".join(line for line in lines if line.strip())


def _in_attachments(attachments: object) -> str:
    lines = []
    for attachment in attachments if isinstance(attachments, list) else ():
        parts = [str(attachment[part]) for part in ATTACHMENT if attachment.get(part)]
        lines.append(
            "\n".join(parts) or _in_blocks(attachment.get("blocks")) or str(attachment.get("fallback") or "")
        )
    return "\n".join(line for line in lines if line.strip())


def _texts(part: object) -> Iterator[str]:
    if isinstance(part, list):
        for item in part:
            yield from _texts(item)
    elif isinstance(part, dict):
        text = part.get("text")
        if isinstance(text, str):
            yield text
        elif part.get("type") == "link" and part.get("url"):
            yield f"<{part['url']}>"
        for key in ("text", "fields", "elements"):
            if not isinstance(part.get(key), str):
                yield from _texts(part.get(key))
