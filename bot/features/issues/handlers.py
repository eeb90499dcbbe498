"""Handles `/issue`, an issue's card, and sharing it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial

from bot.errors import BotError, UserError, WrongField
from bot.features.following.buttons import FollowIssue
from bot.features.help import views as help_views
from bot.features.issues import views
from bot.features.issues.announce import announce_and_confirm
from bot.features.issues.buttons import DeleteAnnouncement, ShareIssue, ShareListedIssue, ShowMore
from bot.features.issues.buttons import ShowIssue as ShowPressed
from bot.features.issues.card import card
from bot.features.issues.commands import (
    AddComment,
    AttachFiles,
    ChangeIssue,
    CreateIssue,
    IssueRequest,
    ListTemplates,
    NewTemplate,
    OpenForm,
    ShowIssue,
    issue_command,
    unknown_field,
)
from bot.features.issues.creating import Creating, Similar
from bot.features.issues.errors import NotUnderstood, UnknownSubcommand
from bot.features.issues.fields import Draft
from bot.features.issues.issues import Assigned, Issues, Shown
from bot.features.issues.publicity import Exposure, Publicity
from bot.features.name_matching import AmbiguousName, UnknownName
from bot.features.projects.custom_fields import CommandParser
from bot.features.projects.projects import KnownProject, ProjectNotChosen
from bot.slack import forms, posting
from bot.slack.blocks import Block, Message, sentence
from bot.slack.claims import announced_once
from bot.slack.errors import NotYourPost, PostNotDeleted
from bot.slack.feature import Feature
from bot.slack.grammar.requests import Help
from bot.slack.interaction import ButtonPress, Place, SlashCommand
from bot.slack.posting import Announced, NotAnnounced
from bot.slack.replies import Reply
from bot.store.channels import Channel
from bot.store.claims import Claims
from bot.store.owner import Owner


class PrivateIssueNotShared(UserError):
    """A private issue is never shared."""

    number: int


class NotShared(UserError):
    """The issue wasn't shared, or it is unknown whether it was."""

    number: int
    why: NotAnnounced


@dataclass(frozen=True)
class IssueHandlers:
    """Handles `/issue`, an issue's card and its buttons."""

    issues: Issues
    creating: Creating
    publicity: Publicity
    claims: Claims
    parser: CommandParser
    open_create_form: Callable[[Reply, Draft], Awaitable[None]]
    offer_create_form: Callable[[Reply, Draft, BotError], Awaitable[Block | None]]
    open_files_form: Callable[[Reply, int | None], Awaitable[None]]
    comment: Callable[[Reply, int | None, str], Awaitable[None]]
    list_templates: Callable[[Reply, str | None], Awaitable[None]]
    open_template_form: Callable[[Reply, str | None], Awaitable[None]]
    from_template: Callable[[Owner, Draft, Channel | None, str], Awaitable[Draft]]
    change: Callable[[Reply, int, str], Awaitable[None]]
    similar: Similar
    assigned: Assigned

    def feature(self) -> Feature:
        return Feature(
            commands={"issue": self.command},
            buttons={
                ShowPressed: self.show_pressed,
                ShowMore: self.more_pressed,
                ShareIssue: self.share_pressed,
                ShareListedIssue: self.share_pressed,
                DeleteAnnouncement: self.delete_announcement,
            },
        )

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        """`/issue …`."""
        reply.recovery = partial(self._way_on, reply)
        match await self._request(command.text, reply):
            case CreateIssue(draft):
                await self._create(reply, draft)
            case OpenForm(draft):
                await self.open_create_form(reply, draft)
            case ShowIssue(number):
                await self.show(reply, number)
            case ChangeIssue(number, text):
                await self.change(reply, number, text)
            case AttachFiles(number):
                await self.open_files_form(reply, number)
            case AddComment(number, text):
                await self.comment(reply, number, text)
            case ListTemplates(project):
                await self.list_templates(reply, project)
            case NewTemplate(project):
                await self.open_template_form(reply, project)
            case Help():
                await reply.privately(help_views.of("issue", reply.wording.command))

    async def _request(self, typed: str, reply: Reply) -> IssueRequest:
        """The request; the project's custom fields are read only if an option may be one of them."""
        base_url = reply.wording.base_url
        parse = partial(issue_command, typed, await reply.today(), reply.owner, base_url=base_url)
        try:
            return parse()
        except NotUnderstood as error:
            if (unknown := unknown_field(error)) is None:
                raise
            draft = error.draft
        try:
            return parse(await self.parser.custom_fields(reply, unknown.project))
        except (AmbiguousName, UnknownName) as error:
            raise NotUnderstood(draft, WrongField("project", error), ()) from None

    async def _create(self, reply: Reply, draft: Draft) -> None:
        reply.recovery = partial(self.offer_create_form, reply, draft)
        filled, text_format = draft, reply.wording.text_format
        try:
            if draft.template:
                filled = await self.from_template(reply.owner, draft, reply.channel, text_format)
            created = await self.creating.create(reply.owner, filled, reply.channel, similar=self.similar)
        except ProjectNotChosen:
            await self.open_create_form(reply, draft)
        else:
            await announce_and_confirm(reply, created, self.publicity)
            await self.assigned(reply.owner, created.issue)

    async def _way_on(self, reply: Reply, error: BotError) -> Block | None:
        """The buttons below an error in reading the command."""
        match error:
            case NotUnderstood(draft=draft) | UnknownSubcommand(draft=draft):
                return await self.offer_create_form(reply, draft, error)
        return None

    async def show_pressed(self, press: ButtonPress[ShowPressed], reply: Reply) -> None:
        """*Show*, on a message or in a menu."""
        await self.show(reply, press.button.issue)

    async def more_pressed(self, press: ButtonPress[ShowMore], reply: Reply) -> None:
        """*Show more*: replace the card with one that has the whole description."""
        await self.show(reply, press.button.issue, whole=True)

    async def show(self, reply: Reply, number: int, *, whole: bool = False) -> None:
        """Show an issue's card, only to the user; a `whole` one replaces the card that it expands."""
        in_form = reply.in_form or reply.place.home
        if in_form and not whole:
            await reply.open(forms.loading(f"#{number}"))
        shown = await self.issues.show(reply.owner, number)
        message = await self._card(reply, shown, shareable=not in_form, whole=whole)
        if in_form:
            await reply.show(forms.said(f"#{number}", message.blocks))
        else:
            await reply.privately(message, replace=whole)

    async def _card(self, reply: Reply, shown: Shown, **how: bool) -> Message:
        description = await reply.wording.mrkdwn(shown.issue.description)
        today, thread = await reply.today(), reply.place.thread_ts
        return card(shown, reply.wording, description, today, thread=thread, **how)

    async def delete_announcement(self, press: ButtonPress[DeleteAnnouncement], reply: Reply) -> None:
        """*Delete post* on the private answer about a created issue."""
        post, owner = press.button, reply.owner
        if (post.team_id, post.user_id) != (owner.team_id, owner.user_id):
            raise NotYourPost((await reply.profile_of(post.user_id)).first_name)
        if not await posting.delete_post(reply.slack, Place(reply.place.channel_id), post.ts):
            raise PostNotDeleted
        said = sentence(f"The post is deleted. The issue stays in {reply.wording.service}.")
        await reply.privately(said, replace=True)

    async def share_pressed(self, press: ButtonPress[ShareIssue | ShareListedIssue], reply: Reply) -> None:
        """*Share here*. Show the card, which asks, unless everyone can see the issue or it has asked."""
        agreed = press.button.agreed if isinstance(press.button, ShareIssue) else None
        if seen := await self.share(reply, press.button.issue, agreed):
            project = KnownProject.of(seen.project) if seen.project else None
            shown = replace(await self.issues.show(reply.owner, press.button.issue), project=project)
            await reply.privately(await self._card(reply, shown, asks_first=True))

    async def share(self, reply: Reply, number: int, agreed: int | None) -> Exposure | None:
        """Post an issue in the conversation, as seen with the user's key.

        Returns it instead if not everyone can see it, unless it is in the project that the user `agreed` to
        show. Raises PrivateIssueNotShared, NotShared.
        """
        seen = await self.publicity.of(reply.owner, number)
        if (issue := seen.issue) is None or issue.is_private:
            raise PrivateIssueNotShared(number)
        if seen.asks(agreed):
            return seen
        where = f"{reply.place.channel_id}:{reply.place.thread_ts or ''}"
        twice = f"share:{reply.owner.team_id}:{reply.owner.user_id}:{where}:{number}"

        async def announce() -> Announced:
            mention = await self.issues.assignee_to_mention(reply.owner, issue)
            follow = FollowIssue(issue=number) if reply.place.thread_ts else None
            does = f"{(await reply.profile()).name} shared"
            post = views.posted(does, issue, reply.wording, mention, follow)
            return await reply.announce(post, partial(self.publicity.may_post, reply.owner, seen, agreed))

        announced = await announced_once(self.claims, twice, announce)
        if announced is not Announced.YES:
            raise NotShared(number, announced)
        return None
