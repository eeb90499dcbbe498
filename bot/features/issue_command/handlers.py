"""Handles `/issue`: each request goes to the feature that answers it."""

from collections.abc import Awaitable, Callable
from functools import partial

from bot.access.projects import ProjectNotChosen
from bot.access.vocabulary import vocabulary
from bot.errors import BotError
from bot.features.assigned.messenger import AssignmentMessenger
from bot.features.comments.handlers import CommentHandlers
from bot.features.editing.handlers import EditHandlers
from bot.features.files.handlers import FileHandlers
from bot.features.following.handlers import FollowHandlers
from bot.features.help import views as help_views
from bot.features.issue_command import commands
from bot.features.issue_command.commands import Do
from bot.features.issues.creating import IssueCreator
from bot.features.issues.field_inputs import fields_in_project, hidden_fields, with_custom_fields
from bot.features.issues.fields import Draft, NotUnderstood
from bot.features.issues.handlers import IssueHandlers
from bot.features.new_issue.duplicates import Duplicates
from bot.features.new_issue.opening import FormOpening
from bot.features.parts import Parts
from bot.features.search.handlers import SearchHandlers
from bot.features.search.views import search_button
from bot.features.templates.handlers import TemplateHandlers
from bot.features.templates.templates import Templates
from bot.slack.incoming.feature import Feature
from bot.slack.incoming.interaction import SlashCommand
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.blocks import Block, actions
from bot.spelling import series


class IssueCommand:
    def __init__(self, parts: Parts) -> None:
        self.parts, follow, templates = parts, FollowHandlers(parts), TemplateHandlers(parts)
        self.acts: dict[Do, Callable[..., Awaitable[object]]] = {
            Do.OPEN_FORM: FormOpening(parts).open_form,
            Do.SHOW: IssueHandlers(parts).show,
            Do.SEARCH: SearchHandlers(parts).search_for,
            Do.CHANGE: EditHandlers(parts).command,
            Do.ATTACH: FileHandlers(parts).open_form,
            Do.COMMENT: CommentHandlers(parts).comment,
            Do.FOLLOW: follow.follow,
            Do.UNFOLLOW: follow.unfollow,
            Do.HELP: self._help,
            Do.LIST_TEMPLATES: templates.show,
            Do.NEW_TEMPLATE: templates.open_new,
            Do.EDIT_TEMPLATE: partial(templates.on_named, remove=False),
            Do.REMOVE_TEMPLATE: partial(templates.on_named, remove=True),
            Do.SAVE_TEMPLATE: templates.save_issue,
        }

    def feature(self) -> Feature:
        return Feature(commands={"issue": self.command})

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        reply.recovery = partial(self._way_on, reply)
        request = await self._request(command.text, reply)
        if isinstance(request, commands.CreateIssue):
            await self._create(reply, request.draft)
        else:
            act, *about = request
            await self.acts[act](reply, *about)

    async def _help(self, reply: Reply) -> None:
        await reply.privately(help_views.of("issue", reply.wording.command))

    async def _request(self, typed: str, reply: Reply) -> commands.IssueRequest:
        parse = partial(commands.issue_command, typed, await reply.typist())
        fields = fields_in_project(self.parts, reply)
        request = await with_custom_fields(parse, fields)
        if not (isinstance(request, commands.CreateIssue) and request.unnamed):
            return request
        about = (reply.owner, request.draft.project, reply.channel, request.unnamed)
        names = await vocabulary(self.parts, *about)
        return await with_custom_fields(partial(parse, names=names), fields)

    async def _create(self, reply: Reply, draft: Draft) -> None:
        form = FormOpening(self.parts)
        reply.recovery = partial(form.offer, reply, draft)
        filled, text_format = draft, reply.wording.text_format
        try:
            if draft.template:
                filled = await Templates(self.parts).filled(reply.owner, draft, reply.channel, text_format)
            similar = Duplicates(self.parts).similar
            made = await IssueCreator(self.parts).create(reply.owner, filled, reply.channel, similar=similar)
        except ProjectNotChosen:
            await form.open_form(reply, draft)
        else:
            reply.committed = True
            issues = IssueHandlers(self.parts)
            notes = hidden_fields(draft.values, made.issue)
            read = series([f"“{said}”" for said in draft.phrases], "and")
            notes += [f"I set fields from {read}. To change them, select Edit."] if draft.phrases else []
            await issues.confirm(reply, made, await issues.announce(reply, made), notes)
            await AssignmentMessenger(self.parts).told(reply.owner, made.issue)

    async def _way_on(self, reply: Reply, error: BotError) -> Block | None:
        """The buttons below an error in reading the command."""
        match error:
            case NotUnderstood(draft=draft):
                return await FormOpening(self.parts).offer(reply, draft, error)
            case commands.UnknownSubcommand(text=text, draft=draft):
                row = await FormOpening(self.parts).offer_new(reply, draft, search_button(text))
                again = await reply.corrected(error)
                return actions([again, *row["elements"]]) if again else row
        return None
