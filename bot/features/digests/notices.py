"""Notices to owners and channels about digests that stopped, are delayed, or may not have been posted."""

from collections.abc import Sequence

from bot.features.digests.views import take_over
from bot.slack.blocks import Block, Message, button, context, section
from bot.slack.text import bold, escape, line, prose
from bot.slack.wording import Wording
from bot.store.digests import Digest, Notice, Pause

SHOWN = 20
WHY = {
    Pause.PERSON: "it was paused",
    Pause.KEY: "your {service} key no longer works, or you unlinked your account; link it and resume it",
    Pause.PROJECT: "you don't see the project any more",
    Pause.CLOSED: "the project is closed",
    Pause.CHANNEL: "the channel is archived or gone, or I was removed from it; invite me again and resume it",
    Pause.OUTSIDERS: "the channel is shared with people outside your company now",
    Pause.REFUSED: "Slack doesn't let me post it there; tell your administrator to look into my log",
    Pause.SCHEDULE: "its schedule or time zone can't be read any more; change it and resume it",
}


def to_owner(digests: Sequence[Digest], notice: Notice, wording: Wording) -> Message:
    """The notice to the owner of these digests."""
    service = wording.service
    lines: list[Block]
    if notice == "unsure":
        said = "I was interrupted while I posted, and can't look up whether it stands there:"
        hint = "I don't post it a second time. Look in the channel; the next ones come as usual."
        lines = [section(f"• {_named(digest)}") for digest in digests[:SHOWN]]
    elif notice == "delayed":
        said = f"I have tried for a day and can't post this, as {escape(service)} or Slack doesn't let me:"
        hint = "I go on trying. Look whether you can work there yourself, and tell your administrator if so."
        lines = [section(f"• {_named(digest)}") for digest in digests[:SHOWN]]
    else:
        said = (
            "A digest of yours stopped:" if len(digests) == 1 else f"{len(digests)} of your digests stopped:"
        )
        resume = f"`{wording.command('digest')} resume <number>`"
        hint = f"What is opened meanwhile is in the next one, after {resume} too."
        lines = [_stopped(digest, service) for digest in digests[:SHOWN]]
    blocks: list[Block] = [section(said), *lines]
    if (more := len(digests) - SHOWN) > 0:
        blocks.append(context(f"and {more} more"))
    blocks.append(context(hint))
    named = "; ".join(_named(digest) for digest in digests[:SHOWN])
    reasons = [_why(digest, service) for digest in digests] if notice == "stopped" else []
    why = f" ({'; '.join(dict.fromkeys(reasons))})" if reasons else ""
    return Message(f"{said} {named}{why}", tuple(blocks))


def to_channel(digests: Sequence[Digest], wording: Wording) -> Message:
    """The notice to a channel whose digests stopped, with buttons to take them over."""
    blocks: list[Block] = []
    texts: list[str] = []
    for digest in digests[:SHOWN]:
        whose = line(digest.owner_name)
        why = f"{whose}'s account" if digest.paused is Pause.KEY else f"{whose}, who set it up,"
        cant = "can't be used any more" if digest.paused is Pause.KEY else "doesn't see the project any more"
        text = f"The digest of {bold(digest.plan.project)} ({_when(digest)}) stopped: {why} {cant}."
        texts.append(text)
        blocks.append(section(text, accessory=take_over(digest, "Take it over")))
    service = escape(wording.service)
    blocks.append(
        context(f"Who sees the project in {service} can take it over; it runs with their key then.")
    )
    return Message(" ".join(texts), tuple(blocks))


def _stopped(digest: Digest, service: str) -> Block:
    resume = button("Resume", "digest.resume", str(digest.id))
    return section(f"• {_named(digest)}: {_why(digest, service)}.", accessory=resume)


def _why(digest: Digest, service: str) -> str:
    return prose(WHY[digest.paused or Pause.PERSON].replace("{service}", service))


def _named(digest: Digest) -> str:
    return f"number {digest.id}, {bold(digest.plan.project)} in <#{digest.channel_id}> ({_when(digest)})"


def _when(digest: Digest) -> str:
    return f"{line(digest.plan.schedule)}, {line(digest.plan.zone)}"
