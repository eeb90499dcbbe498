"""What the errors of templates say to the user."""

from bot.errors import BotError
from bot.features.series import series
from bot.features.templates import errors
from bot.slack.wording import Wording


def sentence(error: BotError, wording: Wording) -> str | None:
    """The sentence for an error of this feature; None for any other error."""
    templates = f"{wording.command('issue')} template"
    match error:
        case errors.NoTemplates(project=project):
            return (
                f"{project} has no templates yet. Leave out `template:`, or create one with "
                f"`{templates} new`."
            )
        case errors.TemplateGone():
            return f"That template was removed. Type `{templates}` to see the others."
        case errors.PartsMissing(template=template, parts=parts):
            them = "that part" if len(parts) == 1 else "those parts"
            return f"The template “{template}” requires {_quoted(parts)}. Fill in {them}."
        case errors.NameMissing():
            return "Enter a name."
        case errors.NameTaken(name=name):
            return f"There's already a template called “{name}”. Choose another name."
        case errors.UnknownPart(part=part, headings=()):
            return f"The description has no heading “{part}”. Put each heading in bold on a line of its own."
        case errors.UnknownPart(part=part, headings=headings):
            return f"The description has no heading “{part}”. Try {_quoted(headings, 'or')}."
        case errors.DescriptionTooLong(length=length, longest=longest):
            return f"The description has {length:,} characters. Shorten it to {longest:,}."
        case errors.TooManyTemplates(most=most):
            return f"There are already {most} templates. Use `{templates}` to remove one first."
        case errors.TemplatesForbidden(project=project, known=True):
            return (
                f"You can't create issues in {project}, so you can't change its templates. "
                "Ask a manager of the project for permission."
            )
        case errors.TemplatesForbidden(project=project):
            return (
                f"{wording.service} doesn't say whether you can create issues in {project}. "
                "Create an issue there first. Then you can change its templates."
            )
        case errors.NothingToCopy(number=number):
            return (
                f"#{number} is private or in another project. Choose an issue of this project that isn't "
                "private."
            )
    return None


def _quoted(names: tuple[str, ...], conjunction: str = "and") -> str:
    return series([f"“{name}”" for name in names], conjunction)
