"""What the buttons of digests carry."""

from enum import StrEnum

from bot.slack.buttons import Button, Number


class Act(StrEnum):
    """What a user can do with one digest, by a command or a button."""

    CHANGE = "digest.change"
    NOW = "digest.now"
    PAUSE = "digest.pause"
    REMOVE = "digest.remove"
    RESUME = "digest.resume"
    TAKE_OVER = "digest.take_over"


class OpenAddForm(Button):
    action = "digest.add"


class DigestButton(Button):
    digest: Number


class OpenChangeForm(DigestButton):
    action = Act.CHANGE


class PostNow(DigestButton):
    action = Act.NOW


class PauseDigest(DigestButton):
    action = Act.PAUSE


class ResumeDigest(DigestButton):
    action = Act.RESUME


class RestoreDigest(DigestButton):
    action = "digest.undo"


class AgreedButton(DigestButton):
    """`owner` is the digest's owner whom the confirmation named."""

    owner: str = ""


class TakeOverDigest(AgreedButton):
    action = Act.TAKE_OVER


class RemoveDigest(AgreedButton):
    action = Act.REMOVE
