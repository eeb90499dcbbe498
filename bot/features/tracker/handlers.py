"""Routes `/tracker` to the handlers of accounts, projects, users and emoji."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial

from bot.errors import BotError, UnknownWord
from bot.features.accounts.handlers import AccountHandlers
from bot.features.accounts.views import greeting
from bot.features.emoji.handlers import EmojiHandlers
from bot.features.help import views as help_views
from bot.features.notices.handlers import NoticeHandlers
from bot.features.parts import Parts
from bot.features.projects.handlers import ProjectHandlers
from bot.features.tracker import commands
from bot.features.tracker.commands import Act
from bot.features.users.handlers import UserHandlers
from bot.slack.incoming.feature import Feature, On
from bot.slack.outgoing.posting import privately
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import Element
from bot.slack.surfaces.interaction import ButtonPress, Destination, Event, SlashCommand
from bot.store.channels import Channel


class TrackerHandlers:
    def __init__(self, parts: Parts) -> None:
        self.accounts, self.projects = parts.shared(AccountHandlers), parts.shared(ProjectHandlers)
        self.parts = parts
        self.users, self.emoji = parts.shared(UserHandlers), parts.shared(EmojiHandlers)
        self.notices = parts.shared(NoticeHandlers)
        self.alone = {
            Act.ACCOUNT: self.accounts.account,
            Act.NO_ACCOUNT: self.accounts.without_account,
            Act.HEALTH: self.health,
            Act.LANGUAGE: self.language,
            Act.LINK: self.accounts.open_link,
            Act.UNLINK: self.accounts.unlink,
            Act.LOGOUT: self.accounts.ask_to_unlink,
            Act.WHOAMI: self.accounts.whoami,
            Act.SHOW_DEFAULT: self.projects.show_default,
            Act.CLEAR_DEFAULT: self.projects.clear_default,
            Act.SHOW_EMOJI: self.emoji.show,
            Act.CLEAR_EMOJI: self.emoji.turn_off,
            Act.SHOW_NOTICES: lambda reply: self.notices.command(reply, ""),
            Act.HELP: self.help,
        }
        self.with_text: Mapping[Act, Callable[[Reply, str], Awaitable[None]]] = {
            Act.PROJECTS: self.projects.list_projects,
            Act.PROJECT: self.projects.show,
            Act.MEMBERS: partial(self.projects.show, members=True),
            Act.NEW_PROJECT: self.projects.open_form,
            Act.SET_DEFAULT: self.projects.set_default,
            Act.SET_EMOJI: self.emoji.turn_on,
            Act.SET_NOTICES: self.notices.command,
        }

    def feature(self) -> Feature:
        return Feature(
            commands={"tracker": self.command},
            buttons={help_views.ShowHelp: self.help_pressed},
            events={"member_joined_channel": On(self.invited)},
        )

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        reply.give_back = not commands.may_hold_key(command.text)
        reply.fallback = partial(self._fallback, reply)
        request = commands.tracker_command(command.text, reply.owner)

        if request.act in self.alone:
            await self.alone[request.act](reply)
        elif request.act in self.with_text:
            await self.with_text[request.act](reply, request.text)
        elif number := request.issue:
            await self.notices.mute(reply, number, on=request.act is Act.MUTE)
        elif request.act is Act.NEW_USER:
            await self.users.open_new(reply, request.mentioned)
        else:
            users = self.users
            await (users.open_edit if request.act is Act.EDIT_USER else users.show)(reply, request.who)

    async def invited(self, event: Event, reply: Reply) -> None:
        """The bot was invited to a channel: tell the person who did that, alone, what to do first."""
        team, channel_id = reply.owner.team_id, str(event.event["channel"])
        inviter = replace(reply.owner, user_id=str(event.event["inviter"]))
        linked = await self.parts.store.links.get(inviter) is not None
        if not (linked or (await reply.profile(inviter.user_id)).works_with(inviter)):
            return
        named = await self.parts.store.channels.default_project(Channel(team, channel_id)) is not None
        message = greeting(reply.wording, channel_id, linked=linked, named=named)
        await privately(reply.slack, Destination(channel_id), inviter.user_id, message)

    async def health(self, reply: Reply) -> None:
        await self.parts.accounts.whoami(reply.owner)
        await reply.privately(help_views.beside_help(f"{reply.wording.service} is up. It just responded."))

    async def language(self, reply: Reply) -> None:
        await reply.privately(
            help_views.beside_help(f"I speak English only. Names come from {reply.wording.service}.")
        )

    async def help(self, reply: Reply) -> None:
        await reply.privately(help_views.overview(reply.wording.command))

    async def help_pressed(self, _: ButtonPress[help_views.ShowHelp], reply: Reply) -> None:
        message = help_views.overview(reply.wording.command)
        await reply.open(forms.result("Help", message.blocks), for_anyone=True)

    async def _fallback(self, reply: Reply, error: BotError) -> list[Element]:
        """The buttons below an unknown subcommand: the nearest one, and the help."""
        more = [help_views.help_button()] if isinstance(error, UnknownWord) else []
        return [*await reply.leading_on(error), *more]
