"""What the user sees when a project can't be found, created or made the channel's."""

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
            return f"{service} doesn't let you create projects: ask one of its administrators."
        case NoIdentifier():
            return "Type one: lower case letters, digits and dashes. None could be made of the name."
        case NotInChannel():
            return "Only a channel can have a project of its own: use this command in one."
        case NoVisibleProject():
            return f"You see no project in {service}: ask its administrator to make you a member of one."
        case ProjectNotChosen(projects=projects):
            default = f"{wording.command('tracker')} default"
            return (
                f"Which project? Add `project:` with {listed(projects)}, or set this channel's with "
                f"`{default}`."
            )
    return None
