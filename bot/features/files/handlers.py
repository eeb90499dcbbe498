"""Attaching files to an issue: `/issue attach`, the button on an issue's card, and a message's files."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import structlog

from bot.errors import ServiceError, Unauthorized, UserError
from bot.features.files import views
from bot.features.files.attach import Batch, Files, FileState, FileToAttach
from bot.features.files.selections import FileSelection, SavedSelections, name_of, new_batch
from bot.features.files.views import AttachFromMessage, DescribeFile, RetryFiles
from bot.features.issues.buttons import OpenFilesForm
from bot.features.issues.handlers import IssueHandlers
from bot.features.issues.issues import IssueNotFound, UpdatesUnsupported
from bot.features.issues.publicity import Publicity
from bot.features.issues.views import this_message
from bot.features.parts import Parts
from bot.service.models import Issue
from bot.slack.incoming.feature import Feature, Form
from bot.slack.incoming.form_results import finish, follow
from bot.slack.outgoing import posting
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import JSON
from bot.slack.surfaces.buttons import ActionExpired, Number
from bot.slack.surfaces.drafts import message_saveable
from bot.slack.surfaces.forms import FormResult, loading
from bot.slack.surfaces.interaction import ButtonPress, Destination, FormSubmission, Shortcut
from bot.slack.surfaces.view import Metadata
from bot.spelling import counted

log = structlog.get_logger(__name__)

TITLE = "Files"
DOING = "Uploading files to {service}…"


class AttachMetadata(Metadata):
    """Of the form that attaches files: to `issue`, or else the saved `files` to the chosen issue."""

    issue: Number | None = None
    files: str | None = None


class DescribeMetadata(Metadata):
    issue: Number
    attachment: Number


class FileHandlers:
    def __init__(self, parts: Parts) -> None:
        self.files, self.selections = parts.shared(Files), parts.shared(SavedSelections)
        self.issues, self.publicity = parts.shared(IssueHandlers), parts.shared(Publicity)
        self.progress_seconds = parts.delays.progress
        """The interval between two looks at the progress of a retry."""

    def feature(self) -> Feature:
        return Feature(
            shortcuts={"files_to_issue": self.open_from_message},
            buttons={
                OpenFilesForm: lambda press, reply: self.open_form(reply, press.button.issue),
                AttachFromMessage: self.open_with_message,
                DescribeFile: self.describe_pressed,
                RetryFiles: self.retry_pressed,
            },
            forms={
                "files.attach": Form(self.submit, DOING, looks=True),
                "files.describe": Form(self.submit_description, "Saving to {service}…", repeatable=True),
            },
            options={"files.issue": self.issues.options},
        )

    async def open_form(self, reply: Reply, number: int | None) -> None:
        """Open the form; the user chooses the issue in it if none is given, or they can't see it."""
        await reply.open(loading("Attach files"))
        warning, issue = None, None
        async with self.files.access.accounts.reading(reply.owner) as session:
            if number is not None:
                try:
                    issue = await self.files.issues.one(session, number)
                except IssueNotFound as error:
                    warning = reply.wording.sentence(error)
        metadata = AttachMetadata(issue=issue and issue.id, place=reply.place.as_json())
        view = views.files_form(issue, metadata.dump())
        await reply.show(forms.warned(view, warning) if warning else view)

    async def open_from_message(self, shortcut: Shortcut, reply: Reply) -> None:
        """The message shortcut: choose files of the message, and an issue."""
        reply, message = await reply.opened_for(shortcut, loading("Attach files")), shortcut.message
        # The upload may take longer than the response URL works.
        reply = reply.at(replace(reply.place, response_url=None))
        saved = await self.selections.from_message(reply, message)
        about = await self.issues.about(reply, message)
        saved_id = await self.selections.save(
            reply, saved.model_copy(update={"message": message_saveable(message)})
        )
        await self._show_message_form(reply, saved, saved_id, about)

    async def open_with_message(self, press: ButtonPress[AttachFromMessage], reply: Reply) -> None:
        """*Attach files* on an issue that was found from a message: choose files of the message."""
        await reply.open(loading("Attach files"))
        saved = await self.selections.load(reply, press.button.saved)
        async with self.files.access.accounts.reading(reply.owner) as session:
            issue = await self.files.issues.one(session, press.button.issue)
        await self._show_message_form(
            reply.at(Destination.from_json(saved.place)), saved, press.button.saved, issue
        )

    async def _show_message_form(
        self, reply: Reply, saved: FileSelection, saved_id: str, issue: Issue | None
    ) -> None:
        if not saved.files:
            why = " ".join(f"{file.name}: {file.why}" for file in saved.missing)
            raise UserError("I can't attach these files. {why}", why=why)
        known = [(file.id, file.name) for file in saved.files]
        files = views.files_field(known, saved.missing, optional=False)
        metadata = AttachMetadata(files=saved_id, place=reply.place.as_json())
        await reply.show(views.message_form(known, files, issue, saved_id, metadata.dump()))

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        metadata, values = AttachMetadata.of(form.view), forms.Values(form.view.json)
        number = metadata.issue or values.number("issue")
        if number is None:
            raise ActionExpired
        batch = new_batch(None)
        reply.progress = lambda: _progress(reply, batch)

        if metadata.files:
            saved = await self.selections.load(reply, metadata.files)
            saved = saved.model_copy(update={"files": _chosen(saved.files, values)})
        else:
            files = [
                FileToAttach(id=str(file.get("id")), name=name_of(file)) for file in values.files("files")
            ]
            saved = FileSelection(files=tuple(files), place=reply.place.as_json(), own=True)
        await self.selections.fill(reply, batch, saved.files, own=saved.own)
        return await self._attach(reply, number, batch, saved)

    async def retry_pressed(self, press: ButtonPress[RetryFiles], reply: Reply) -> None:
        """*Retry*: attach the failed files, only once even if the user chooses it again."""
        saved_id = press.button.saved
        saved = await self.selections.load(reply, saved_id)
        in_form = reply.in_form
        if not in_form:
            await reply.open(loading("Attach files"))
        pressed = reply.place
        reply = reply.at(Destination.from_json(saved.place))
        batch = new_batch(saved.since)
        retried = UserError("You've already retried these files. Check the issue.")

        async with reply.claim(f"retry:{saved_id}", retried):
            await self.selections.fill(reply, batch, saved.files, own=saved.own)
            work = asyncio.create_task(self._attach(reply, saved.issue or 0, batch, saved))
            result = await follow(reply, work, lambda: _progress(reply, batch), "", self.progress_seconds)
        if not in_form:
            await posting.dismiss(reply.slack, pressed)
        await finish(reply, result)
        if result.then:
            await result.then()

    async def describe_pressed(self, press: ButtonPress[DescribeFile], reply: Reply) -> None:
        issue, attachment = press.button.issue, press.button.attachment
        await reply.open(loading("Rename or describe"))
        file = await self.files.own_attachment(reply.owner, issue, attachment)
        metadata = DescribeMetadata(issue=issue, attachment=attachment)
        await reply.show(views.describe_form(file, metadata.dump()))

    async def submit_description(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Rename or describe a file; submitting the form twice does no harm."""
        metadata, values = DescribeMetadata.of(form.view), forms.Values(form.view.json)
        name, description = values.text("name") or "", values.text("description") or ""
        await self.files.describe(reply.owner, metadata.issue, metadata.attachment, name, description)
        return FormResult.notice(TITLE, views.described(metadata.issue, name, description, reply.wording))

    async def _attach(self, reply: Reply, number: int, batch: Batch, saved: FileSelection) -> FormResult:
        try:
            await self.files.attach(reply.owner, number, batch)
        except UpdatesUnsupported:
            saved_id = await self.selections.save(reply, saved.model_copy(update={"issue": number}))
            return FormResult.notice(TITLE, views.new_instead(number, saved_id, reply.wording))
        except ServiceError as error:
            if not saved.own:
                raise
            if isinstance(error, Unauthorized):
                await self.files.access.accounts.whoami(reply.owner)  # raises if the key is dead
            # Slack can't refill a form's file input, so a retry button takes the form's place.
            for file in batch.in_state(FileState.WAITING, FileState.UPLOADED):
                file.end(FileState.FAILED, error)

        result = FormResult.notice(TITLE, await self.selections.results(reply, number, batch, saved))
        if saved.message and (count := batch.newly_attached):
            return replace(result, then=partial(self._announce, reply, number, count, saved.message))
        return result

    async def _announce(self, reply: Reply, number: int, count: int, message: JSON) -> None:
        """Announce the files in the message's thread if everyone can see them; else say why not to the user.

        The upload may have taken minutes, so who may see the issue is read again.
        """
        try:
            exposure = await self.publicity.of(reply.owner, number)
        except (ServiceError, UserError) as error:
            log.info("files not announced", action="files.not_announced", error=type(error).__name__)
            return
        permalink = await posting.permalink(reply.slack, reply.place, message)
        did = f"attached {counted(count, 'file')} from {this_message(permalink)} to"
        announced = await self.issues.announce_action(reply, exposure, did)
        if exposure.issue and (answer := views.attached(exposure.issue, count, reply.wording, announced)):
            await reply.privately(answer)


def _chosen(files: Sequence[FileToAttach], values: forms.Values) -> tuple[FileToAttach, ...]:
    """The checked files, with the names and descriptions given in the form."""
    checked = values.all_chosen("files")
    return tuple(
        FileToAttach(
            id=file.id,
            name=(values.text(f"name_{index}") or file.name).strip(),
            description=(values.text(f"description_{index}") or "").strip(),
        )
        for index, file in enumerate(files)
        if file.id in checked
    )


def _progress(reply: Reply, batch: Batch) -> str:
    return views.progress(batch, DOING.format(service=reply.wording.service))
