"""Routes `/tracker` to the handlers of accounts, projects and users."""

from functools import partial

from bot.errors import BotError
from bot.features.accounts.handlers import AccountHandlers
from bot.features.help import views as help_views
from bot.features.projects.handlers import ProjectHandlers
from bot.features.tracker import commands as requests
from bot.features.tracker.commands import may_hold_key, tracker_command
from bot.features.users.handlers import UserHandlers
from bot.slack.blocks import Block, actions, button
from bot.slack.buttons import ResumeRequest
from bot.slack.feature import Feature
from bot.slack.grammar.errors import UnknownWord
from bot.slack.grammar.requests import Help
from bot.slack.interaction import SlashCommand
from bot.slack.replies import Reply
from bot.slack.saved_payload import saveable
from bot.store.saved_input import SavedInput


class TrackerHandlers:
    """The `/tracker` command, which three features share."""

    def __init__(
        self, accounts: AccountHandlers, projects: ProjectHandlers, users: UserHandlers, saved: SavedInput
    ) -> None:
        self._accounts = accounts
        self._projects = projects
        self._users = users
        self._saved = saved

    def feature(self) -> Feature:
        return Feature(commands={"tracker": self.command})

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        reply.give_back = not may_hold_key(command.text)
        reply.recovery = partial(self._way_on, command, reply)
        match tracker_command(command.text):
            case requests.Account():
                await self._accounts.account(reply)
            case requests.Link():
                await self._accounts.open_link(reply)
            case requests.Unlink():
                await self._accounts.unlink(reply)
            case requests.Whoami():
                await self._accounts.whoami(reply)
            case requests.Projects(text=text):
                await self._projects.list_projects(reply, text)
            case requests.ShowProject(project=wanted):
                await self._projects.show(reply, wanted)
            case requests.NewProject(name=name):
                await self._projects.open_form(reply, name)
            case requests.ShowDefault() | requests.SetDefault() | requests.ClearDefault() as request:
                await self._default(reply, request)
            case requests.ShowUser() | requests.NewUser() | requests.EditUser() as request:
                await self._user(reply, request)
            case Help():
                await reply.privately(help_views.overview(reply.wording.command))

    async def _way_on(self, command: SlashCommand, reply: Reply, error: BotError) -> Block | None:
        """The buttons below an unknown subcommand: the nearest one, and the help."""
        if not isinstance(error, UnknownWord):
            return None
        buttons = [help_views.help_button()]
        if error.nearest:
            _, _, rest = command.text.strip().partition(" ")
            again = saveable(command.payload | {"text": f"{error.nearest} {rest}".strip()})
            carries = ResumeRequest(saved=await self._saved.put(reply.owner, again))
            name = reply.wording.command("tracker")
            buttons.insert(0, button(f"Run {name} {error.nearest}", carries, style="primary"))
        return actions(buttons)

    async def _default(
        self, reply: Reply, request: requests.ShowDefault | requests.SetDefault | requests.ClearDefault
    ) -> None:
        match request:
            case requests.ShowDefault():
                await self._projects.show_default(reply)
            case requests.SetDefault(project=wanted):
                await self._projects.set_default(reply, wanted)
            case requests.ClearDefault():
                await self._projects.clear_default(reply)

    async def _user(
        self, reply: Reply, request: requests.ShowUser | requests.NewUser | requests.EditUser
    ) -> None:
        match request:
            case requests.ShowUser(who=who):
                await self._users.show(reply, who)
            case requests.NewUser(user=mentioned):
                await self._users.open_new(reply, mentioned)
            case requests.EditUser(who=who):
                await self._users.open_edit(reply, who)
