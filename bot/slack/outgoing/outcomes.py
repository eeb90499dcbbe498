"""Outcomes of posts, and of looking them up later."""

from dataclasses import dataclass
from enum import Enum


class ChannelStatus(Enum):
    OPEN = "open"
    GONE = "gone"  # archived, deleted, or the bot is not in it
    SHARED = "shared"  # people outside the company are in it
    UNREAD = "not read"  # Slack doesn't tell at the moment


@dataclass(frozen=True)
class Posted:
    ts: str


@dataclass(frozen=True)
class PostRefused:
    """Nothing was posted, and a retry won't help. `status`: the channel's new status, if that is why;
    `error`: Slack's error code, if Slack refused it.
    """

    status: ChannelStatus | None = None
    error: str | None = None


@dataclass(frozen=True)
class Delayed:
    """Nothing was posted; it can be retried after `seconds`."""

    seconds: float


@dataclass(frozen=True)
class NotPosted:
    """Nothing was posted, because the check right before didn't allow it; `reason` is for its caller."""

    reason: object = None


class Unconfirmed:
    """Slack didn't confirm the message, which may have been posted."""


@dataclass(frozen=True)
class Unfinished:
    """The search can continue after `seconds`, at `searched_to`, Slack's `ts`."""

    seconds: float
    searched_to: str | None = None


class Absent:
    """The message isn't in the channel."""


class Hidden:
    """The message can't be looked up, now or later."""


DeliveryOutcome = Posted | PostRefused | Delayed | Unconfirmed
PostLookup = Posted | Absent | Hidden | Unfinished


class PostOutcome(Enum):
    YES = "posted"
    NOWHERE = "not asked for in a conversation"
    SHARED = "outsiders read the channel"
    ELSEWHERE = "the user isn't in the conversation"
    HIDDEN = "not everyone can see it in the service"
    PUBLICITY_UNREAD = "the service doesn't tell who can see it"
    AUDIENCE_UNREAD = "Slack doesn't tell who reads the channel"
    DELAYED = "Slack limits posts or can't be reached"
    FAILED = "refused"
    UNCONFIRMED = "not confirmed"


NOT_ANNOUNCED = {
    PostOutcome.NOWHERE: "there's no channel to post in. Run this from a channel",
    PostOutcome.SHARED: "this channel is shared with people outside your company",
    PostOutcome.ELSEWHERE: "you aren't in that conversation. Join it to post there",
    PostOutcome.HIDDEN: "the project isn't public, and others here may not have access to it",
    PostOutcome.PUBLICITY_UNREAD: "I couldn't check whether the project is public. Try again in a minute",
    PostOutcome.AUDIENCE_UNREAD: (
        "I can't see who's in this channel. Invite me with `/invite @Issue Bot` to post here"
    ),
    PostOutcome.DELAYED: "Slack isn't accepting posts right now. Try again in a minute",
    PostOutcome.FAILED: "Slack rejected the post. Check who can post in this channel",
    PostOutcome.UNCONFIRMED: "Slack didn't confirm the post. Check the channel before you try again",
}
"""Why something wasn't announced; each ends a sentence."""


def not_posted(why: PostOutcome) -> str:
    """Why a reply wasn't announced, or may not have been."""
    match why:
        case PostOutcome.UNCONFIRMED:
            return "Slack didn't confirm the post. Check the channel before you share this again."
        case PostOutcome.PUBLICITY_UNREAD:
            return "I couldn't check whether the project is public, so I didn't post this. Share it later."
        case PostOutcome.DELAYED:
            return "Slack isn't accepting posts right now, so I didn't post this. Share it in a minute."
    return f"I didn't post this because {NOT_ANNOUNCED[why]}."
