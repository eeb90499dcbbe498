"""What the buttons of digests carry."""

from enum import StrEnum

from bot.slack.surfaces.buttons import Button, Number
from bot.slack.surfaces.drafts import SavedDraft


class DigestAction(StrEnum):
    """What a user can do with one digest, by a command or a button."""

    CHANGE = "digest.change"
    NOW = "digest.now"
    PAUSE = "digest.pause"
    PREVIEW = "digest.preview"
    REMOVE = "digest.remove"
    RESUME = "digest.resume"
    TAKE_OWNERSHIP = "digest.take_over"
    RESTORE = "digest.undo"


class OpenAddForm(Button):
    action = "digest.add"


class SetUpPersonal(Button):
    action = "digest.set_up"


class ReplacePersonal(Button):
    action = "digest.replace"
    zone: str
    schedule: str


class OpenFilledForm(SavedDraft):
    action = "digest.open_form"
    command = "digest"
    digest: str


class ChooseDigestProject(Button):
    """The project for a command; `saved` is the ID of what opens its form."""

    action = "digest.project"
    project: Number
    saved: str


class ChooseSchedule(Button):
    action = "digest.schedule"
    kind: str


class PreviewForm(Button):
    action = "digest.preview_form"


class DigestButton(Button):
    """`confirmed_owner` is the digest's owner whom the confirmation named, `agreed_project` the project that
    isn't public which the user agrees to show, and `schedule` the new one, as typed.
    """

    digest: Number
    confirmed_owner: str = ""
    personal: bool = False
    agreed_project: Number | None = None
    schedule: str = ""


def _carrying(act: DigestAction) -> type[DigestButton]:
    class ActOnDigest(DigestButton):
        action = act

    return ActOnDigest


ACTS = {act: _carrying(act) for act in DigestAction}  # the buttons that act on a digest
