"""Finds the issue that a Slack message is about, and quotes the message in a comment."""

from collections.abc import Iterator

from bot.features.new_issue.from_message import in_words
from bot.slack.blocks import JSON
from bot.slack.message_text import issue_named, text_of
from bot.slack.posting import SLACK_FAILED
from bot.slack.replies import Reply
from bot.store.created_issues import CreatedIssues

READ = 15
"""Messages of a thread that are read: as many as Slack gives any app at once (docs/slack.md)."""
MOST = 5


async def issues_of(reply: Reply, message: JSON, created: CreatedIssues) -> tuple[int, ...]:
    """The issues that a message may be about, the likeliest first: those created from its thread or from
    itself, those that its thread's first message and the bot's posts in it name, the one that it names.
    """
    root = str(message.get("thread_ts") or message["ts"])
    found: list[int] = []
    for ts in dict.fromkeys((root, str(message["ts"]))):
        made = await created.from_message(reply.owner.team_id, reply.place.channel_id or "", ts)
        found += (issue.issue_id for issue in made)
    if "thread_ts" in message:
        found += _named_in(await _thread(reply, root), reply.wording.base_url)
    if named := issue_named(text_of(message), reply.wording.base_url):
        found.append(named)
    return tuple(dict.fromkeys(found))[:MOST]


async def _thread(reply: Reply, root: str) -> list[JSON]:
    """The start of a thread; empty if the bot can't read it."""
    try:
        answer = await reply.slack.conversations_replies(
            channel=reply.place.channel_id or "", ts=root, limit=READ
        )
    except SLACK_FAILED:
        return []
    messages: list[JSON] = answer.get("messages") or []
    return messages


def _named_in(thread: list[JSON], base_url: str) -> Iterator[int]:
    """The issues that a thread's first message and the posts of apps in it name."""
    for message in [*thread[:1], *(reply for reply in thread[1:] if reply.get("bot_id"))]:
        if number := issue_named(text_of(message), base_url):
            yield number


async def quoted(reply: Reply, message: JSON) -> str:
    """A message's author, with a link to it, and its text as a quote, in the service's format.

    Textile has no code blocks in quotes, so a message with one isn't quoted there.
    """
    said = await in_words(reply, message)
    if not said.text:
        return said.source
    text = said.text
    if "<pre>" not in text:
        text = "\n".join(f"> {line}" for line in text.split("\n"))
    return f"{said.source}:\n\n{text}"
