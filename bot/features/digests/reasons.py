"""Why a digest is paused, and what to do about it: in the list of digests, and in notices."""

from collections.abc import Mapping

from bot.slack.text import escape, line
from bot.slack.wording import Wording
from bot.store.digests import Digest, Pause
from bot.store.owner import Owner

TAKE_OWNERSHIP = "Anyone who can see the project can take ownership."
REASONS: Mapping[Pause, tuple[str, str]] = {
    Pause.KEY: ("{whose} {service} API key no longer works", TAKE_OWNERSHIP),
    Pause.LEFT: ("{whose} Slack account is deactivated", TAKE_OWNERSHIP),
    Pause.PROJECT: ("{who} can't see {project} anymore", TAKE_OWNERSHIP),
    Pause.NOT_PUBLIC: ("{project} isn't public", TAKE_OWNERSHIP),
    Pause.CLOSED: ("{project} is closed", "Reopen the project, then resume the digest."),
    Pause.CHANNEL: (
        "the channel is archived or I'm not in it anymore",
        "Invite me with `/invite`, then resume the digest.",
    ),
    Pause.OUTSIDERS: (
        "the channel is shared with people outside your company",
        "Add the digest in another channel.",
    ),
    Pause.REFUSED: (
        "Slack didn't accept the post",
        "Ask your administrator to check my log, then resume the digest.",
    ),
    Pause.SCHEDULE: (
        "its schedule or time zone is no longer valid",
        "Edit the digest, then resume it.",
    ),
}
"""Why a digest stopped, and the next step; in mrkdwn with the names of facts in braces."""


def why_paused(digest: Digest, user: Owner | None, wording: Wording) -> str:
    """Why a digest is paused and what to do, as sentences for `user`, or for everyone in its channel."""
    if digest.paused is None or digest.paused is Pause.PERSON:
        return "Paused"
    why, then = REASONS[digest.paused]
    if digest.personal and digest.paused in {Pause.CHANNEL, Pause.OUTSIDERS}:
        why, then = "Slack doesn't let me send you direct messages", "Resume the digest to try again."
    owner, mine = line(digest.owner_name), user == digest.owner
    if mine and digest.paused in {Pause.KEY, Pause.LEFT}:
        then = f"Link your account with `{wording.command('tracker')} link`, then resume the digest."
    if mine and digest.paused is Pause.NOT_PUBLIC:
        then = f"If everyone in <#{digest.channel_id}> may see its issues, resume the digest."
    facts = {
        "who": "you" if mine else owner,
        "whose": "your" if mine else f"{owner}'s",
        "service": escape(wording.service),
        "project": line(digest.plan.project),
    }
    return f"Stopped because {why.format(**facts)}. {then}"
