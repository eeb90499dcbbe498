"""What buttons and menu options carry: one frozen model per action, packed into Slack's `value`.

A subclass names its `action` and declares what it carries as fields:

    class ShowIssue(Button):
        action = "issue.show"
        issue: Number

Views import these models, also from other features; handlers are registered under them.
"""

from typing import Annotated, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.errors import UserError
from bot.slack_limits import BUTTON_VALUE_LENGTH, OPTION_VALUE_LENGTH

MENU = "menu"  # the action ID of every overflow menu; an option's value names the action
Number = Annotated[int, Field(ge=0, lt=10**12)]


class ActionExpired(UserError):
    """A button carries nothing, or something that this version of the bot doesn't know."""

    says = "That action has expired. Run the command again."


class Button(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)
    action: ClassVar[str]
    shows_progress: ClassVar[bool] = False
    """Whether the form that it is in shows its progress, and so nothing else until it ends."""

    def pack(self) -> str:
        """The fields' values joined by colons; only the last one may contain colons.

        Raises ValueError if Slack's limit for a button is exceeded.
        """
        values = ("" if value is None else value for value in vars(self).values())
        packed = ":".join(f"{value:d}" if isinstance(value, bool) else str(value) for value in values)
        if len(packed) > BUTTON_VALUE_LENGTH:
            raise ValueError(f"{self.action} carries {len(packed)} characters")
        return packed

    def as_option(self) -> str:
        """Pack with the action's name, for an option of an overflow menu."""
        packed = f"{self.action} {self.pack()}"
        if len(packed) > OPTION_VALUE_LENGTH:
            raise ValueError(f"{self.action} carries {len(packed)} characters in a menu")
        return packed

    @classmethod
    def unpack(cls, value: object) -> Self:
        """Read what `pack` wrote. Raises ActionExpired for anything else."""
        fields = cls.model_fields
        texts = value.split(":", len(fields) - 1) if fields and isinstance(value, str) else []
        pairs = zip(fields.items(), texts, strict=False)
        given = {name: text for (name, field), text in pairs if text or field.is_required()}
        try:
            return cls.model_validate(given)
        except ValidationError:
            raise ActionExpired from None


def shows_progress(action: str) -> bool:
    return any(it.action == action for it in Button.__subclasses__() if it.shows_progress)


class OpenPage(Button):
    """A link: Slack opens it, and reports the press."""

    action = "open"


class DeletePost(Button):
    """Deletes a post, for the user who caused it."""

    action = "post.delete"
    enterprise_id: str = ""
    team_id: str
    user_id: str
