"""Notices to owners and channels about digests that stopped, are delayed, or may not have been posted."""

from collections.abc import Sequence

from bot.features.digests.buttons import Act
from bot.features.digests.reasons import why_paused
from bot.features.digests.views import act_button, when_of, where
from bot.slack.blocks import Block, Message, context, section
from bot.slack.text import bold, escape
from bot.slack.wording import Wording
from bot.store.digests import Digest, Notice

SHOWN = 20


def to_owner(digests: Sequence[Digest], notice: Notice, wording: Wording) -> Message:
    """The notice to the owner of these digests."""
    service, several = escape(wording.service), len(digests) > 1
    match notice:
        case "unsure":
            said = "Slack didn't confirm this post, and I can't check whether it's in the channel."
            hint = "Check the channel. I won't post it again. The next one posts as usual."
        case "delayed":
            said = f"I've tried to post this for a day, but {service} or Slack isn't responding."
            hint = f"I'll keep trying. If {service} works for you, ask your administrator to check my log."
        case "stopped":
            said = f"{len(digests)} of your digests stopped." if several else "Your digest stopped."
            hint = (
                f"Press *Resume* or type `{wording.command('digest')} resume <number>`. The next post "
                "catches up."
            )
    blocks = [_to_owner(digest, notice, wording) for digest in digests[:SHOWN]]
    if len(digests) > SHOWN:
        blocks.append(context(f"and {len(digests) - SHOWN} more"))
    named = "; ".join(block["text"]["text"] for block in blocks if "text" in block)
    return Message(f"{said} {named}", (section(said), *blocks, context(escape(hint))))


def to_channel(digests: Sequence[Digest], wording: Wording) -> Message:
    """The notice to a channel whose digests stopped, with buttons to take them over."""
    blocks: list[Block] = [
        section(
            f"Digest {digest.id}: {bold(digest.plan.project)}, {when_of(digest.plan)}\n"
            f"{why_paused(digest, None, wording)}",
            accessory=act_button(Act.TAKE_OVER, digest, None),
        )
        for digest in digests[:SHOWN]
    ]
    return Message(" ".join(block["text"]["text"] for block in blocks), tuple(blocks))


def _to_owner(digest: Digest, notice: Notice, wording: Wording) -> Block:
    text = f"• Digest {digest.id}: {bold(digest.plan.project)} in {where(digest)}, {when_of(digest.plan)}"
    if notice != "stopped":
        return section(text)
    why = why_paused(digest, digest.owner, wording)
    return section(f"{text}\n{why}", accessory=act_button(Act.RESUME, digest, digest.owner))
