"""A user's personal digest, as they manage it."""

from bot.features.digests.buttons import Act, SetUpPersonal
from bot.features.digests.views import act_button, status_line, title
from bot.slack.blocks import Block, Message, actions, button, context, section
from bot.slack.wording import Wording
from bot.store.digests import Digest

SET_UP = (
    "Your digest is set up. I'll send you a direct message with what's overdue, due today, newly assigned to "
    "you, or changed."
)


def listing(digest: Digest | None, wording: Wording, said: Message | None = None) -> Message:
    """The user's own digest with its buttons, or an offer to set it up, below the result of an action."""
    blocks: list[Block] = list(said.blocks) if said else []
    if digest is None:
        text = "You don't have a personal digest yet."
        about = (
            "It's a direct message with your issues that are overdue, due today, newly assigned to you, or "
            "changed since the last one. I send it only if there are any."
        )
        blocks += [section(text), context(about)]
        blocks.append(actions([button("Set up", SetUpPersonal(), style="primary")]))
    else:
        text = f"{title(digest)}\n{status_line(digest, digest.owner, wording)}"
        acts = [Act.RESUME] if digest.paused else [Act.NOW, Act.PAUSE]
        shown = [act_button(act, digest, digest.owner) for act in (*acts, Act.CHANGE, Act.REMOVE)]
        blocks += [section(text), actions(shown)]
    return Message(" ".join(filter(None, (said.text if said else "", text))), tuple(blocks))
