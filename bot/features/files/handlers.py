"""Attaching files to an issue: `/issue attach`, the button on its card, and a message's files."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress

from bot.errors import BotError, ServiceError, Unauthorized, UserError
from bot.features.accounts.accounts import Session
from bot.features.files import views
from bot.features.files.attach import CantAttach, Load, State
from bot.features.files.jobs import Job, Wanted, fill, keep, kept, load_since, of_message, told
from bot.features.timelog.commands import issue_named
from bot.slack import forms, posting
from bot.slack.blocks import JSON, option
from bot.slack.dispatch import message_kept
from bot.slack.files import name_of
from bot.slack.forms import FormResult, loading, number_in
from bot.slack.interaction import (
    ButtonPress,
    FormSubmission,
    OptionsRequest,
    Place,
    Shortcut,
)
from bot.slack.replies import Reply

RETRIED = "These files were tried again already: look at what came of it."


def _named(wanted: Sequence[Wanted], values: forms.Values) -> tuple[Wanted, ...]:
    """The ticked ones, with the names and descriptions that were given in the form."""
    ticked = values.all_chosen("files")
    return tuple(
        Wanted(
            id=one.id,
            name=(values.text(f"name_{index}") or one.name).strip(),
            description=(values.text(f"description_{index}") or "").strip(),
        )
        for index, one in enumerate(wanted)
        if one.id in ticked
    )


class FileHandlers:
    """TODO"""

    def __init__(self, accounts: TODO_accounts, issues: TODO_issues, files: TODO_files) -> None:
        self._accounts = accounts
        self._issues = issues
        self._files = files

    async def open_pressed(self, press: ButtonPress, reply: Reply) -> None:
        """The button *Attach files*."""
        await self.open_form(reply, number_in(press.value))

    async def open_form(self, reply: Reply, number: int) -> None:
        """Open the form for an issue that the person sees."""
        await reply.open(loading("Attach files"))
        async with self._accounts.reading(reply.owner) as session:
            await self._issues.one(session, number)
        await reply.show(
            views.files_form(number, json.dumps({"issue": number, "place": reply.place.as_json()}))
        )

    async def open_from_message(self, shortcut: Shortcut, reply: Reply) -> None:
        """The message shortcut: which of its files, to which issue."""
        if not reply.view_id:
            await reply.show(loading("Attach files"))
        message = shortcut.message
        reply = reply.at(Place(reply.place.channel_id, message.get("thread_ts") or message["ts"]))
        async with self._accounts.reading(reply.owner) as session:
            job = await of_message(reply, message)
            issue = await self._named_in(reply, session, message)
        if not job.files:
            raise UserError(f"None of these files can be attached. {'; '.join(job.lost)}.")
        job_id = await keep(reply, job.model_copy(update={"message": message_kept(message)}))
        known = [(one.id, one.name) for one in job.files]
        metadata = json.dumps({"files": job_id, "place": reply.place.as_json()})
        await reply.show(views.message_form(known, job.lost, issue, job_id, metadata))

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """A form was submitted: carry the files over, say how far each is, then what became of it."""
        view = form.view.json
        metadata, values = metadata_of(view), forms.Values(view)
        pass
        number = forms.number_in(metadata.get("issue") or values.chosen("issue"))
        load = load_since(None)

        async def work() -> Reply:
            try:
                async with once(reply):
                    if metadata.get("files"):
                        job = await kept(reply, str(metadata["files"]))
                        job = job.model_copy(update={"files": _named(job.files, values)})
                    else:
                        files = [
                            Wanted(id=str(file.get("id")), name=name_of(file))
                            for file in values.files("files")
                        ]
                        job = Job(files=tuple(files), place=reply.place.as_json(), own=True)
                    await fill(reply, load, job.files, own=job.own)
                    return await self._carry(reply, number, load, job)
            except BotError as error:
                return refused(reply, error)

        await settle(reply, ack, work(), lambda: self._progress(reply, load))

    async def retry_pressed(self, press: ButtonPress, reply: Reply) -> None:
        """The button *Retry*: only what failed, and nothing twice."""
        job_id = press.value
        job = await kept(reply, job_id)
        in_form = reply.in_form
        if not in_form:
            await reply.open(loading("Attach files"))
        pressed = reply.place
        reply = reply.at(Place.from_json(job.place))
        load = load_since(job.since)
        async with claimed(reply, f"retry:{job_id}", RETRIED):
            await fill(reply, load, job.files, own=job.own)
            work = asyncio.create_task(self._carry(reply, job.issue or 0, load, job))
            reply = await followed(reply, work, lambda: self._progress(reply, load), "")
        if not in_form:
            await posting.dismiss(reply.slack, pressed)
        await finish(reply, reply)

    async def describe_pressed(self, press: ButtonPress, reply: Reply) -> None:
        """The button *Rename or describe*."""
        issue, _, attachment = press.value.partition(":")
        number = forms.number_in(issue)
        await reply.open(loading("Rename or describe"))
        found = await self._files.own(reply.owner, number, forms.number_in(attachment))
        await reply.show(views.describe_form(found, json.dumps({"issue": number, "attachment": found.id})))

    async def submit_description(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Another name or description was sent; sending it twice does no harm."""
        metadata, values = form.view.metadata, forms.Values(form.view.json)
        number, attachment = (
            forms.number_in(metadata.get("issue")),
            forms.number_in(metadata.get("attachment")),
        )
        name = values.text("name") or ""
        description = values.text("description") or ""

        async def work() -> Reply:
            try:
                await self._files.describe(reply.owner, number, attachment, name, description)
            except BotError as error:
                return refused(reply, error)
            said = views.described(number, name, description, reply.wording)
            return Reply(view=forms.said("Files", said.blocks), message=said)

        await settle(reply, ack, work(), f"Saving it in {reply.wording.service}…")

    async def issue_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """Issues by number or subject, everywhere."""
        async with self._accounts.reading(reply.owner) as session:
            found = await self._issues.suggest(session, request.text, None)
        return [option(f"#{issue.id} {issue.subject}", str(issue.id)) for issue in found]

    async def _carry(self, reply: Reply, number: int, load: Load, job: Job) -> Reply:
        try:
            await self._files.attach(reply.owner, number, load)
        except CantAttach as error:
            job_id = await keep(reply, job.model_copy(update={"issue": number}))
            said = views.new_instead(number, error, job_id, reply.wording)
            return Reply(view=forms.said("Files", said.blocks), message=said)
        except Unauthorized:
            raise
        except ServiceError as error:
            if not job.own:
                raise
            for one in load.in_state(
                State.WAITING, State.UPLOADED
            ):  # no form can be given back the files that were in it
                one.end(State.FAILED, error)
        said = await told(reply, number, load, own=job.own, rows=job.rows)
        return Reply(view=forms.said("Files", said.blocks), message=said)

    async def _named_in(self, reply: Reply, session: Session, message: JSON) -> JSON | None:
        """The issue that the message names, where the person sees it."""
        number = issue_named(str(message.get("text") or ""), reply.wording.base_url)
        if number is None:
            return None
        with suppress(UserError):
            issue = await self._issues.one(session, number)
            return option(f"#{issue.id} {issue.subject}", str(issue.id))
        return None

    def _progress(self, reply: Reply, load: Load) -> str:
        return views.progress(load, f"Carrying the files to {reply.wording.service}…")
