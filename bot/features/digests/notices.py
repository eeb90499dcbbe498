"""Notices to owners and channels about digests that stopped, are delayed, or may not have been posted."""

from collections.abc import Sequence

from bot.features.digests import reasons
from bot.features.digests.buttons import ResumeDigest
from bot.features.digests.views import take_over
from bot.slack.blocks import Block, Message, button, context, section
from bot.slack.text import bold, escape, line
from bot.slack.wording import Wording
from bot.store.digests import Digest, Notice

SHOWN = 20


def to_owner(digests: Sequence[Digest], notice: Notice, wording: Wording) -> Message:
    """The notice to the owner of these digests."""
    service, shown = wording.service, digests[:SHOWN]
    lines = [section(f"• {_named(digest)}") for digest in shown]
    why = ""
    match notice:
        case "unsure":
            said = "I was interrupted while I posted, and can't look up whether it stands there:"
            hint = "I don't post it a second time. Look in the channel; the next ones come as usual."
        case "delayed":
            said = (
                f"I have tried for a day and can't post this, as {escape(service)} or Slack doesn't let me:"
            )
            hint = (
                "I go on trying. Look whether you can work there yourself, and tell your administrator if so."
            )
        case "stopped":
            several = len(digests) > 1
            said = f"{len(digests)} of your digests stopped:" if several else "A digest of yours stopped:"
            resume = f"`{wording.command('digest')} resume <number>`"
            hint = f"What is opened meanwhile is in the next one, after {resume} too."
            lines = [_stopped(digest, service) for digest in shown]
            causes = dict.fromkeys(reasons.in_notice(digest, service) for digest in digests)
            why = f" ({'; '.join(causes)})"
    more = [context(f"and {len(digests) - SHOWN} more")] if len(digests) > SHOWN else []
    named = "; ".join(map(_named, shown))
    return Message(f"{said} {named}{why}", (section(said), *lines, *more, context(hint)))


def to_channel(digests: Sequence[Digest], wording: Wording) -> Message:
    """The notice to a channel whose digests stopped, with buttons to take them over."""
    blocks: list[Block] = []
    texts: list[str] = []
    for digest in digests[:SHOWN]:
        why = reasons.in_channel(digest)
        text = f"The digest of {bold(digest.plan.project)} ({_when(digest)}) stopped: {why}."
        texts.append(text)
        blocks.append(section(text, accessory=take_over(digest, "Take it over")))
    service = escape(wording.service)
    blocks.append(
        context(f"Who sees the project in {service} can take it over; it runs with their key then.")
    )
    return Message(" ".join(texts), tuple(blocks))


def _stopped(digest: Digest, service: str) -> Block:
    resume = button("Resume", ResumeDigest(digest=digest.id))
    return section(f"• {_named(digest)}: {reasons.in_notice(digest, service)}.", accessory=resume)


def _named(digest: Digest) -> str:
    return f"number {digest.id}, {bold(digest.plan.project)} in <#{digest.channel_id}> ({_when(digest)})"


def _when(digest: Digest) -> str:
    return f"{line(digest.plan.schedule)}, {line(digest.plan.zone)}"
