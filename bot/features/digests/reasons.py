"""Why a digest is paused: in the list of digests, and in the notices to its owner and its channel."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.slack.text import escape, line
from bot.store.digests import Digest, Pause
from bot.store.owner import Owner

Command = Callable[[str], str]
"""A slash command as people type it, by its name."""


@dataclass(frozen=True)
class Reason:
    """Ends of sentences, in mrkdwn with the names of facts in braces.

    `listed` stands after “Digest 3 is”, `to_owner` is the same for the digest's owner if that differs, and
    `notice` is what the owner's notice says. `to_channel` says what the owner can't do, for reasons that the
    channel is notified of.
    """

    listed: str
    notice: str
    to_owner: str = ""
    to_channel: str = ""


REASONS: Mapping[Pause, Reason] = {
    Pause.PERSON: Reason("paused; *Resume* makes it go on", "it was paused"),
    Pause.KEY: Reason(
        "stopped, as {owner}'s key no longer works: they link again with `{tracker} link`, or somebody else "
        "takes it over",
        "your {service} key no longer works, or you unlinked your account; link it and resume it",
        "stopped, as your key no longer worked: link again with `{tracker} link`, then resume it",
        "{owner}'s account can't be used any more",
    ),
    Pause.PROJECT: Reason(
        "stopped, as {owner} doesn't see {project} any more: somebody who does can take it over",
        "you don't see the project any more",
        "stopped, as you don't see {project} any more: somebody who does can take it over",
        "{owner}, who set it up, doesn't see the project any more",
    ),
    Pause.CLOSED: Reason(
        "stopped, as {project} is closed: once it is open again, resume it", "the project is closed"
    ),
    Pause.CHANNEL: Reason(
        "stopped, as its channel is archived or I'm not in it any more: invite me with `/invite`, then "
        "resume it",
        "the channel is archived or gone, or I was removed from it; invite me again and resume it",
    ),
    Pause.OUTSIDERS: Reason(
        "stopped, as its channel is shared with people outside your company: add it in another",
        "the channel is shared with people outside your company now",
    ),
    Pause.REFUSED: Reason(
        "stopped, as Slack didn't take its message: once I may post there again, resume it",
        "Slack doesn't let me post it there; tell your administrator to look into my log",
    ),
    Pause.SCHEDULE: Reason(
        "stopped, as its schedule or time zone can't be read: change it, then resume it",
        "its schedule or time zone can't be read any more; change it and resume it",
    ),
}


def listed(digest: Digest, user: Owner, command: Command) -> str:
    """Why a digest is paused, and what `user` can do: the end of a sentence."""
    reason = _reason(digest)
    said = reason.to_owner if digest.owner == user and reason.to_owner else reason.listed
    return said.format(**_names(digest), tracker=command("tracker"))


def in_notice(digest: Digest, service: str) -> str:
    """Why a digest stopped, to its owner."""
    return _reason(digest).notice.format(service=escape(service))


def in_channel(digest: Digest) -> str:
    """Why a digest stopped, to its channel."""
    return _reason(digest).to_channel.format(**_names(digest))


def _reason(digest: Digest) -> Reason:
    return REASONS[digest.paused or Pause.PERSON]


def _names(digest: Digest) -> dict[str, str]:
    return {"owner": line(digest.owner_name), "project": line(digest.plan.project)}
