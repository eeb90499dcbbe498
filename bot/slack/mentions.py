"""The names of the users and channels that a text mentions."""

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice

from bot.slack import rich_input
from bot.slack.blocks import JSON
from bot.slack.posting import SLACK_FAILED
from bot.slack.replies import Reply

MOST = 10


async def names_of(reply: Reply, mentioned: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The names by ID of what is mentioned, a `user` or `channel` and its ID each; up to `MOST`."""

    async def name(kind: str, mentioned_id: str) -> str:
        if kind == "user":
            return (await reply.profile_of(mentioned_id)).name
        try:
            answer = await reply.slack.conversations_info(channel=mentioned_id)
        except SLACK_FAILED:
            return mentioned_id
        return str((answer.get("channel") or {}).get("name") or mentioned_id)

    known = list(islice(mentioned, MOST))
    names = await asyncio.gather(*(name(kind, mentioned_id) for kind, mentioned_id in known))
    return {mentioned_id: found for (_, mentioned_id), found in zip(known, names, strict=True)}


async def writer(reply: Reply, rich: JSON) -> Callable[[JSON], str]:
    """What converts rich text to the service's format, with the names of whom `rich` mentions."""
    names = await names_of(reply, rich_input.ids_in(rich))
    return partial(
        rich_input.written,
        text_format=reply.wording.text_format,
        name_of=lambda mentioned: names.get(mentioned, mentioned),
    )
