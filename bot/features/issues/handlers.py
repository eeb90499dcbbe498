"""Handles `/issue`, an issue's card, and sharing it."""

from datetime import timedelta
from functools import partial
from typing import Any

from bot.errors import UserError
from bot.features.files.handlers import FileHandlers
from bot.features.help import views as help_views
from bot.features.issues import views
from bot.features.issues.announce import announce_and_confirm
from bot.features.issues.assign_handlers import AssignHandlers
from bot.features.issues.commands import AttachFiles, NewIssue, OpenForm, ShowIssue, issue_command
from bot.features.issues.create_form_handlers import CreateFormHandlers
from bot.features.issues.drafts import draft_from_command
from bot.features.issues.issues import Draft, Issues
from bot.features.projects.custom_fields import CommandParser
from bot.features.timelog.handlers import TimelogHandlers
from bot.features.timelog.timelog import TimeDraft
from bot.slack import forms
from bot.slack.feature import Feature
from bot.slack.forms import loading, number_in
from bot.slack.grammar.requests import Help
from bot.slack.grammar.values import own_text
from bot.slack.interaction import ButtonPress, SlashCommand
from bot.slack.posting import Announced
from bot.slack.replies import Reply
from bot.slack.sentences import NOT_ANNOUNCED
from bot.store.deliveries import Deliveries

DOUBLE_CLICK = timedelta(seconds=5)
"""For this long, a second share of the same issue in the same place is ignored."""


class IssueHandlers:
    """Handles `/issue`, an issue's card and its buttons."""

    def __init__(
        self,
        issues: Issues,
        deliveries: Deliveries,
        parser: CommandParser,
        *,
        create_form: CreateFormHandlers,
        assign: AssignHandlers,
        files: FileHandlers,
        timelog: TimelogHandlers,
    ) -> None:
        self._issues = issues
        self._deliveries = deliveries
        self._parser = parser
        self._create_form = create_form
        self._assign = assign
        self._files = files
        self._timelog = timelog

    def feature(self) -> Feature:
        return Feature(
            commands={"issue": self.command},
            buttons={
                "issue.show": self.show_pressed,
                "issue.share": self.share_pressed,
                "issue.menu": self.menu_chosen,
            },
        )

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        """`/issue …`."""
        text, today = own_text(command.text, reply.wording.base_url), await reply.today()
        request = await self._parser.parse(reply, partial(issue_command, text, today))
        match request:
            case OpenForm():
                await self._create_form.open_form(reply, draft_from_command(request.prefilled, reply.owner))
            case ShowIssue():
                await self.show(reply, request.number)
            case AttachFiles():
                await self._files.open_form(reply, request.number)
            case NewIssue():
                await self.create(reply, draft_from_command(request, reply.owner))
            case Help():
                await reply.privately(help_views.of("issue", reply.wording.command))

    async def create(self, reply: Reply, draft: Draft) -> None:
        """Create an issue without the form, and announce it."""
        await announce_and_confirm(reply, await self._issues.create(reply.owner, draft, reply.channel))

    async def show(self, reply: Reply, number: int) -> None:
        """Show an issue's card, only to the user."""
        if not (reply.in_form or reply.place.home):
            shown = await self._issues.show(reply.owner, number)
            await reply.privately(
                views.card(shown, reply.wording, await reply.wording.mrkdwn(shown.issue.description))
            )
            return
        await reply.open(loading(f"#{number}"))
        shown = await self._issues.show(reply.owner, number)
        description = await reply.wording.mrkdwn(shown.issue.description)
        card = views.card(shown, reply.wording, description, shareable=False)
        await reply.show(forms.said(f"#{number}", card.blocks))

    async def show_pressed(self, press: ButtonPress[Any], reply: Reply) -> None:
        """The button *Show*."""
        await self.show(reply, number_in(press.value))

    async def share_pressed(self, press: ButtonPress[Any], reply: Reply) -> None:
        """The button *Share here*."""
        await self.share(reply, number_in(press.value))

    async def menu_chosen(self, press: ButtonPress[Any], reply: Reply) -> None:
        """The `…` menu of an issue's line."""
        what, _, number = press.value.partition(":")
        match what:
            case "show":
                await self.show(reply, number_in(number))
            case "share":
                await self.share(reply, number_in(number), sure=False)
            case "take":
                await self._assign.take(press, reply, number_in(number))
            case "time":
                await self._timelog.open_form(reply, TimeDraft(issue=number_in(number)))

    async def share(self, reply: Reply, number: int, *, sure: bool = True) -> None:
        """Post an issue in the conversation, as seen with the user's key.

        A menu can't ask first: unless the user is `sure`, an issue of a project that isn't public is shown
        to them privately instead, and the button on its card asks.
        """
        shown = await self._issues.show(reply.owner, number)
        if not sure and not shown.public and not shown.issue.is_private:
            why = (
                f"{shown.project.name} is not public"
                if shown.project
                else "I can't tell whether it is public"
            )
            description = await reply.wording.mrkdwn(shown.issue.description)
            await reply.privately(
                views.card(shown, reply.wording, description, said=f"{why}, so this asks first.")
            )
            return
        if shown.issue.is_private:
            raise UserError(
                f"Issue #{number} is private and stays with those who may see it: it can't be shared."
            )
        twice = f"share:{reply.owner.team_id}:{reply.owner.user_id}:{reply.place.channel_id}:{number}"
        if not await self._deliveries.claim_for(twice, DOUBLE_CLICK):
            return
        announced = await reply.announce(views.shared(shown, reply.wording, reply.owner.user_id))
        if announced is Announced.UNSURE:
            raise UserError(
                f"Issue #{number} may have been shared: Slack broke off, so look before you try again."
            )
        if announced is not Announced.YES:
            await self._deliveries.release(twice)
            raise UserError(f"Issue #{number} was not shared: {NOT_ANNOUNCED[announced]}.")
