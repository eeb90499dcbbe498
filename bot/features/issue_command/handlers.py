"""Handles `/issue`: each request goes to its feature."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from bot.access.projects import ProjectNotChosen
from bot.errors import BotError, Offer, ServiceError, UserError
from bot.features.comments.handlers import CommentHandlers
from bot.features.editing import views as edit_views
from bot.features.editing.handlers import EditHandlers
from bot.features.files.handlers import FileHandlers
from bot.features.following.handlers import FollowHandlers
from bot.features.help import views as help_views
from bot.features.issue_command import commands, views
from bot.features.issue_command.commands import Act
from bot.features.issue_command.views import ChangeSeveral
from bot.features.issues.creating import IssueCreator
from bot.features.issues.field_inputs import hidden_fields
from bot.features.issues.fields import Draft, NotUnderstood
from bot.features.issues.handlers import IssueHandlers
from bot.features.issues.issues import IssueNotFound, Issues
from bot.features.new_issue.opening import FormOpening, OpenDraft
from bot.features.notices.handlers import NoticeHandlers
from bot.features.notices.messenger import AssignmentMessenger
from bot.features.parts import Parts
from bot.features.reading import is_search_phrase, read_with, vocabulary_for
from bot.features.related.related import Duplicates
from bot.features.search.handlers import SearchHandlers
from bot.features.search.views import search_button
from bot.features.templates.handlers import TemplateHandlers
from bot.features.templates.templates import Templates
from bot.features.timelog.handlers import TimelogHandlers
from bot.service.conventions import SUBJECT_LENGTH
from bot.slack.incoming.feature import Feature
from bot.slack.language.marks import Vocabulary
from bot.slack.language.values import Help, OneIssue
from bot.slack.outgoing.replies import Reply, always
from bot.slack.surfaces.blocks import Element, shortened
from bot.slack.surfaces.interaction import ButtonPress, SlashCommand
from bot.spelling import series


class IssueCommand:
    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.issues, self.creator = parts.shared(Issues), parts.shared(IssueCreator)
        self.similar, self.from_template = parts.shared(Duplicates).similar, parts.shared(Templates).filled
        self.cards, self.form = parts.shared(IssueHandlers), parts.shared(FormOpening)
        self.edits, self.files = parts.shared(EditHandlers), parts.shared(FileHandlers)
        self.comments, self.follows = parts.shared(CommentHandlers), parts.shared(FollowHandlers)
        self.templates, self.time = parts.shared(TemplateHandlers), parts.shared(TimelogHandlers)
        self.notices = parts.shared(NoticeHandlers)
        self.search, self.messenger = parts.shared(SearchHandlers), parts.shared(AssignmentMessenger)

    def feature(self) -> Feature:
        return Feature(
            commands={"issue": self.command},
            buttons={ChangeSeveral: self.change_several},
        )

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        reply.fallback = partial(self._fallback, reply)
        typist = await reply.typist()
        request: commands.IssueRequest | commands.CreateIssue
        try:
            request = commands.issue_command(command.text, typist)
        except commands.UnknownSubcommand:
            if not await is_search_phrase(self.parts, reply, command.text):
                raise
            request = commands.OnIssues(Act.SEARCH, text=command.text)
        if isinstance(request, commands.TypedIssue):
            if subjects := commands.several_subjects(request):
                await self._ask_for(reply, subjects, request.parsed.text)
                return
            known = await vocabulary_for(self.parts, reply, request.parsed, "new")
            request = await read_with(known, partial(commands.new_issue, request, typist, known))

        match request:
            case commands.CreateIssue(draft):
                await self._create(reply, draft)
            case commands.OpenForm(draft):
                await self.form.open_form(reply, draft)
            case Help():
                await reply.privately(help_views.of("issue", reply.wording.command))
            case OneIssue(number):
                await self.cards.show(reply, number)
            case commands.ChangeIssues(numbers, text):
                await self._ask_about(reply, numbers, text)
            case commands.OnIssues():
                await self._act(command, reply, request)

    async def _act(self, command: SlashCommand, reply: Reply, request: commands.OnIssues) -> None:
        number, text = request.number, request.text
        match request.act:
            case Act.SEARCH:
                await self.search.search_for(reply, text)
            case Act.LOG_TIME:
                await self.time.command(replace(command, raw=f"{number} {text}"), reply)
            case Act.CHANGE:
                await self.edits.command(reply, number, text)
            case Act.UNDO:
                await self.edits.undo_last(reply)
            case Act.ATTACH:
                await self.files.open_form(reply, number or None)
            case Act.COMMENT:
                await self.comments.comment(reply, number or None, text)
            case Act.MAYBE_PRIVATE:
                await self.comments.open_form(reply, number or None, text, private=True)
            case Act.FOLLOW:
                await self.follows.follow(reply, number)
            case Act.UNFOLLOW:
                await self.follows.unfollow(reply, number)
            case Act.MUTE | Act.UNMUTE:
                await self.notices.mute(reply, number, on=request.act is Act.MUTE)
            case _:
                await self._of_templates(request, reply)

    async def _of_templates(self, request: commands.OnIssues, reply: Reply) -> None:
        templates, project = self.templates, request.project
        if request.act is Act.TEMPLATES:
            await templates.show(reply, project)
        elif request.act is Act.NEW_TEMPLATE:
            await templates.open_new(reply, project)
        elif request.act is Act.SAVE_TEMPLATE:
            await templates.save_issue(reply, request.number, request.text)
        else:
            remove = request.act is Act.REMOVE_TEMPLATE
            await templates.on_named(reply, request.text, project, remove=remove)

    async def _create(self, reply: Reply, draft: Draft) -> None:
        reply.fallback = partial(self.form.offer, reply, draft)
        filled, text_format = draft, reply.wording.text_format
        try:
            if draft.template:
                filled = await self.from_template(reply.owner, draft, reply.channel, text_format)
            made = await self.creator.create(
                reply.owner, filled, reply.channel, similar=self.similar, announced=not reply.place.direct
            )
        except ProjectNotChosen:
            await self.form.open_form(reply, draft)
        else:
            reply.committed = True
            notes = hidden_fields(draft.values, made.issue)
            if draft.phrases:
                read = series([f"“{phrase}”" for phrase in draft.phrases], "and")
                notes.append(f"I used {read} to fill in fields. To change them, choose “Edit”.")
            await self.cards.tell(reply, made, notes)
            await self.messenger.assigned(reply.owner, made.issue, made.mention)

    async def _ask_for(self, reply: Reply, subjects: Sequence[str], text: str) -> None:
        """Ask whether several issues are meant: a button creates each."""
        one = await reply.save(OpenDraft(draft=Draft(subject=shortened(text, SUBJECT_LENGTH))))
        each = [Offer(f"Create “{subject}”", f"new {subject}") for subject in subjects]
        await reply.privately(views.asked_for(subjects, await reply.offered(*each), one))

    async def _ask_about(self, reply: Reply, numbers: Sequence[int], text: str) -> None:
        """Ask before the same change is made to several issues."""
        if text.lower() in ("delete", "remove"):
            these = series([f"#{number}" for number in numbers], "and")
            raise UserError(
                "I can't delete issues. Close {these} instead, or delete them in {service}.",
                these=these,
                offers=[Offer(f"Close {these}", f"{these} close")],
            )
        async with self.parts.accounts.reading(reply.owner) as session:
            issues = await self.issues.several(session, numbers)
        for number in numbers:
            if number not in issues:
                raise IssueNotFound(number)
        reply.fallback = always(views.search_for(numbers))
        await self.edits.require_readable(reply, numbers[0], f"{numbers[0]} {text}")
        saved = await reply.save(ChangeSeveral(issues=tuple(numbers), text=text))
        await reply.privately(views.asked([issues[number] for number in numbers], saved, reply.wording))

    async def change_several(self, press: ButtonPress[ChangeSeveral], reply: Reply) -> None:
        """*Change both*: change each issue, once, and say what became of each."""
        change, results, failed = press.button, dict[int, str](), list[int]()
        done = UserError("You've already changed these issues.")
        async with reply.claim(f"several:{change.id}", done) as claim:
            for number in change.issues:
                try:
                    edited = await self.edits.change(
                        reply, number, f"{number} {change.text}", tried_at=claim.tried_at
                    )
                except (UserError, ServiceError) as error:
                    results[number] = views.failed(number, reply.wording.sentence(error))
                    failed.append(number)
                else:
                    results[number] = edit_views.summary(edited, reply.wording)

        again = (
            await reply.try_save(ChangeSeveral(issues=tuple(failed), text=change.text)) if failed else None
        )
        await reply.privately(views.changed(results, change, again), replace=True)

    async def _draft(self, reply: Reply, new: commands.TypedIssue) -> Draft:
        """What can be read of a new issue."""
        known = Vocabulary()
        with suppress(BotError):  # without names, words stay in the subject
            known = await vocabulary_for(self.parts, reply, new.parsed, "new")
        try:
            read = await read_with(known, partial(commands.new_issue, new, await reply.typist(), known))
        except NotUnderstood as error:
            return Draft.model_validate(error.draft)
        return read.draft

    async def _fallback(self, reply: Reply, error: BotError) -> list[Element]:
        """The buttons below an error in reading the command."""
        match error:
            case NotUnderstood(draft=draft):
                return await self.form.offer(reply, draft, error)
            case commands.UnknownSubcommand(text=text, new=new):
                create = await self.form.offer_new(reply, await self._draft(reply, new))
                return [*await reply.leading_on(error), create, search_button(text)]
        return await reply.leading_on(error)
