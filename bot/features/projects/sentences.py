"""How the errors of projects are worded."""

from bot.errors import BotError
from bot.features.projects.handlers import NoIdentifier, NotInChannel
from bot.features.projects.projects import CreationForbidden, NoVisibleProject, ProjectNotChosen
from bot.features.sentences import listed
from bot.slack.wording import Wording


def sentence(error: BotError, wording: Wording) -> str | None:
    """The sentence for an error of this feature; None for any other error."""
    service = wording.service
    match error:
        case CreationForbidden():
            return f"You can't create projects in {service}. Ask an administrator for permission."
        case NoIdentifier():
            return "Enter an identifier. I can't make one from this name."
        case NotInChannel():
            return "Only a channel can have a project. Type this command in a channel."
        case NoVisibleProject():
            return f"You can't see any projects in {service}. Ask an administrator to add you to one."
        case ProjectNotChosen(projects=projects):
            default = f"{wording.command('tracker')} default <project>"
            return (
                f"Which project? Add `project:` with {listed(projects)}, or set one for this channel with "
                f"`{default}`."
            )
    return None
