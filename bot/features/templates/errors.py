"""What can be wrong with templates."""

from bot.errors import UserError


class NoTemplates(UserError):
    """The project has no template, so none has the name that was typed."""

    project: str


class TemplateGone(UserError):
    """The template was removed, or the user can't see its project."""


class PartsMissing(UserError):
    """Nothing is written below headings that a template requires."""

    template: str
    parts: tuple[str, ...]


class NameMissing(UserError):
    """The template's name is only spaces."""


class NameTaken(UserError):
    name: str


class UnknownPart(UserError):
    """A required part isn't a heading of the description; `headings` are those there are."""

    part: str
    headings: tuple[str, ...]


class DescriptionTooLong(UserError):
    length: int
    longest: int


class TooManyTemplates(UserError):
    most: int


class TemplatesForbidden(UserError):
    """The user can't create issues in the project, or the service doesn't tell (`known` is False)."""

    project: str
    known: bool


class NothingToCopy(UserError):
    """The issue is private, or in another project."""

    number: int
