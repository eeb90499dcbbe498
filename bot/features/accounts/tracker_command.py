"""`/tracker …`: to the handlers of accounts, projects and users."""

from bot.features.accounts import commands as asked
from bot.features.accounts.commands import tracker_command
from bot.features.accounts.handlers import AccountHandlers
from bot.features.help import views as help_views
from bot.features.projects.handlers import ProjectHandlers
from bot.features.users.handlers import UserHandlers
from bot.slack.feature import Feature
from bot.slack.interaction import SlashCommand
from bot.slack.replies import Reply


class TrackerCommand:
    """The one command that three features answer to."""

    def __init__(self, accounts: AccountHandlers, projects: ProjectHandlers, users: UserHandlers) -> None:
        self._accounts = accounts
        self._projects = projects
        self._users = users

    def feature(self) -> Feature:
        """What this answers to."""
        return Feature(commands={"tracker": self.command})

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        """`/tracker …`."""
        reply.give_back = command.text.split(" ", 1)[0].casefold() != "link"  # a key may follow
        match tracker_command(command.text):
            case asked.Account():
                await self._accounts.account(reply)
            case asked.Link():
                await self._accounts.open_link(reply)
            case asked.Unlink():
                await self._accounts.unlink(reply)
            case asked.Whoami():
                await self._accounts.whoami(reply)
            case asked.Projects(text=sought):
                await self._projects.list_projects(reply, sought)
            case asked.ShowProject(project=wanted):
                await self._projects.show(reply, wanted)
            case asked.NewProject(name=name):
                await self._projects.open_form(reply, name)
            case asked.ShowUser() | asked.NewUser() | asked.EditUser() as request:
                await self._users.command(reply, request)
            case asked.ShowDefault() | asked.SetDefault() | asked.ClearDefault() as request:
                await self._projects.default_command(reply, request)
            case asked.TrackerHelp():
                await reply.privately(help_views.overview(reply.wording.command, reply.wording.service))
