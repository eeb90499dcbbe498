"""Routes `/tracker` to the handlers of accounts, projects, users and emoji."""

from dataclasses import replace
from functools import partial

from bot.errors import BotError, UnknownWord
from bot.features.accounts.handlers import AccountHandlers
from bot.features.emoji.handlers import EmojiHandlers
from bot.features.help import views as help_views
from bot.features.parts import Parts
from bot.features.projects.handlers import ProjectHandlers
from bot.features.tracker import commands, views
from bot.features.tracker.commands import Bare
from bot.features.users.handlers import UserHandlers
from bot.slack.incoming.feature import Feature
from bot.slack.incoming.interaction import Event, SlashCommand
from bot.slack.outgoing.posting import Place, privately
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.blocks import Block, actions
from bot.store.channels import Channel


class TrackerHandlers:
    def __init__(self, parts: Parts) -> None:
        self.accounts, self.projects = AccountHandlers(parts), ProjectHandlers(parts)
        self.parts = parts
        self.users, self.emoji = UserHandlers(parts), EmojiHandlers(parts)
        self.bare = {
            Bare.ACCOUNT: self.accounts.account,
            Bare.LINK: self.accounts.open_link,
            Bare.UNLINK: self.accounts.unlink,
            Bare.LOGOUT: self.accounts.ask_to_unlink,
            Bare.WHOAMI: self.accounts.whoami,
            Bare.SHOW_DEFAULT: self.projects.show_default,
            Bare.CLEAR_DEFAULT: self.projects.clear_default,
            Bare.SHOW_EMOJI: self.emoji.show,
            Bare.CLEAR_EMOJI: self.emoji.turn_off,
            Bare.HELP: self.help,
        }

    def feature(self) -> Feature:
        return Feature(commands={"tracker": self.command}, events={"member_joined_channel": self.invited})

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        reply.give_back = not commands.may_hold_key(command.text)
        reply.recovery = partial(self._way_on, reply)
        match commands.tracker_command(command.text, reply.owner):
            case Bare() as bare:
                await self.bare[bare](reply)
            case commands.ListProjects(text=text):
                await self.projects.list_projects(reply, text)
            case commands.OneProject(project=wanted):
                await self.projects.show(reply, wanted)
            case commands.OpenProjectForm(name=name):
                await self.projects.open_form(reply, name)
            case commands.SetDefault(project=wanted):
                await self.projects.set_default(reply, wanted)
            case commands.SetEmoji(emoji=emoji):
                await self.emoji.turn_on(reply, emoji)
            case commands.ShowUser(who=who):
                await self.users.show(reply, who)
            case commands.OpenAccountForm(user=mentioned):
                await self.users.open_new(reply, mentioned)
            case commands.EditUser(who=who):
                await self.users.open_edit(reply, who)

    async def invited(self, event: Event, reply: Reply) -> None:
        """The bot was invited to a channel: tell the person who did that, alone, what to do first."""
        team, channel_id = reply.owner.team_id, str(event.event["channel"])
        inviter = replace(reply.owner, user_id=str(event.event["inviter"]))
        linked = await self.parts.accounts.linked_as(inviter) is not None
        if not (linked or (await reply.profile(inviter.user_id)).works_with(inviter)):
            return
        named = await self.parts.store.channels.default_project(Channel(team, channel_id)) is not None
        said = views.greeting(reply.wording, channel_id, linked=linked, named=named)
        await privately(reply.slack, Place(channel_id), inviter.user_id, said)

    async def help(self, reply: Reply) -> None:
        await reply.privately(help_views.overview(reply.wording.command))

    async def _way_on(self, reply: Reply, error: BotError) -> Block | None:
        """The buttons below an unknown subcommand: the nearest one, and the help."""
        if not isinstance(error, UnknownWord):
            return await reply.correction(error)
        again = await reply.corrected(error)
        return actions([*([again] if again else []), help_views.help_button()])
