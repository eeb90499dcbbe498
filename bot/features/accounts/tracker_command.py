"""`/tracker …`: to the listeners of accounts, projects and users."""

from bot.features.accounts import commands as asked
from bot.features.accounts import handlers as accounts
from bot.features.accounts.commands import tracker_command
from bot.features.help import views as help_views
from bot.features.projects import handlers as projects
from bot.features.users import handlers as users
from bot.slack.replies import Reply
from bot.slack.interaction import (
    ButtonPress,
    Event,
    FormClosed,
    FormSubmission,
    OptionsRequest,
    Shortcut,
    SlashCommand,
    Place,
)
from bot.slack.forms import FormResult, number_in


class TrackerCommand:
    """TODO"""

    def __init__(
        self,
    ) -> None:
        pass

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        """`/tracker …`."""
        text = reply.text
        reply.typed = reply.typed if text.split(" ", 1)[0].casefold() != "link" else None  # a key may follow
        match tracker_command(text):
            case asked.Account():
                await accounts.account(reply)
            case asked.Link():
                await accounts.open_link(reply)
            case asked.Unlink():
                await accounts.unlink(reply)
            case asked.Whoami():
                await accounts.whoami(reply)
            case asked.Projects(text=sought):
                await projects.list_projects(reply, sought)
            case asked.ShowProject(project=wanted):
                await projects.show(reply, wanted)
            case asked.NewProject(name=name):
                await projects.open_form(reply, name)
            case asked.ShowUser() | asked.NewUser() | asked.EditUser() as request:
                await users.command(reply, request)
            case asked.ShowDefault() | asked.SetDefault() | asked.ClearDefault() as request:
                await projects.default_command(reply, request)
            case asked.TrackerHelp():
                await reply.privately(help_views.overview(reply.wording.command, reply.wording.service))
