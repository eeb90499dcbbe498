"""Routes `/tracker` to the handlers of accounts, projects and users."""

from dataclasses import dataclass
from functools import partial

from bot.errors import BotError
from bot.features.accounts.handlers import AccountHandlers
from bot.features.help import views as help_views
from bot.features.projects.handlers import ProjectHandlers
from bot.features.tracker import commands as requests
from bot.features.tracker.commands import Bare, may_hold_key, tracker_command
from bot.features.users.handlers import UserHandlers
from bot.slack.blocks import Block, actions, button
from bot.slack.buttons import ResumeRequest
from bot.slack.feature import Feature
from bot.slack.grammar.errors import UnknownWord
from bot.slack.interaction import SlashCommand
from bot.slack.replies import Reply
from bot.slack.saved_payload import saveable
from bot.store.saved_input import SavedInput


@dataclass(frozen=True)
class TrackerHandlers:
    """The `/tracker` command, which three features share."""

    accounts: AccountHandlers
    projects: ProjectHandlers
    users: UserHandlers
    saved: SavedInput

    def feature(self) -> Feature:
        return Feature(commands={"tracker": self.command})

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        reply.give_back = not may_hold_key(command.text)
        reply.recovery = partial(self._way_on, command, reply)
        match tracker_command(command.text):
            case Bare() as bare:
                await self._bare(bare, reply)
            case requests.Projects(text=text):
                await self.projects.list_projects(reply, text)
            case requests.ShowProject(project=wanted):
                await self.projects.show(reply, wanted)
            case requests.NewProject(name=name):
                await self.projects.open_form(reply, name)
            case requests.SetDefault(project=wanted):
                await self.projects.set_default(reply, wanted)
            case requests.ShowUser(who=who):
                await self.users.show(reply, who)
            case requests.NewUser(user=mentioned):
                await self.users.open_new(reply, mentioned)
            case requests.EditUser(who=who):
                await self.users.open_edit(reply, who)

    async def _bare(self, bare: Bare, reply: Reply) -> None:
        match bare:
            case Bare.ACCOUNT:
                await self.accounts.account(reply)
            case Bare.LINK:
                await self.accounts.open_link(reply)
            case Bare.UNLINK:
                await self.accounts.unlink(reply)
            case Bare.WHOAMI:
                await self.accounts.whoami(reply)
            case Bare.SHOW_DEFAULT:
                await self.projects.show_default(reply)
            case Bare.CLEAR_DEFAULT:
                await self.projects.clear_default(reply)
            case Bare.HELP:
                await reply.privately(help_views.overview(reply.wording.command))

    async def _way_on(self, command: SlashCommand, reply: Reply, error: BotError) -> Block | None:
        """The buttons below an unknown subcommand: the nearest one, and the help."""
        if not isinstance(error, UnknownWord):
            return None
        buttons = [help_views.help_button()]
        if error.nearest:
            _, _, rest = command.text.strip().partition(" ")
            again = saveable(command.payload | {"text": f"{error.nearest} {rest}".strip()})
            carries = ResumeRequest(saved=await self.saved.put(reply.owner, again))
            name = reply.wording.command("tracker")
            buttons.insert(0, button(f"Run {name} {error.nearest}", carries, style="primary"))
        return actions(buttons)
