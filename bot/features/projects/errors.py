"""What can go wrong with projects that the service doesn't report itself."""

from collections.abc import Sequence

from bot.errors import UserError
from bot.service.models import Ref


class CreationForbidden(UserError):
    """The service doesn't let the user create projects."""


class NoIdentifier(UserError):
    """The form names no identifier, and the project's name yields none."""


class NotInChannel(UserError):
    """Only a channel has a default project."""


class NoVisibleProject(UserError):
    """The user sees no project at all."""


class ProjectNotChosen(UserError):
    """The user named no project, and neither the channel nor what they see settles it."""

    projects: Sequence[Ref]
