"""Comments on issues: `/issue 42 comment …`, *Comment* on an issue, and a message that is added to one."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from pydantic import ValidationError

from bot.errors import BotError, InProgress, KeyInRequest, NotLinked
from bot.features.comments import views
from bot.features.comments.buttons import ChooseIssue, CommentOnIssue, CommentWithMessage, OpenComment
from bot.features.comments.comments import (
    AddedAlready,
    Comment,
    Commented,
    Comments,
    CommentUnconfirmed,
    Target,
)
from bot.features.comments.form_state import CommentMetadata, SavedComment
from bot.features.comments.from_message import issues_of, quoted
from bot.features.files.batch import Batch
from bot.features.files.jobs import FileJobs, Job, new_batch
from bot.features.files.views import progress
from bot.features.issues.actions import open_buttons, opening
from bot.features.issues.issues import IssueNotFound
from bot.features.issues.publicity import Publicity, exposure_of
from bot.features.issues.updates import UpdatesUnsupported
from bot.slack import forms, posting, rich_input
from bot.slack.blocks import JSON, Block, Message, button_row, section
from bot.slack.buttons import ActionExpired
from bot.slack.claims import claimed
from bot.slack.errors import FormExpired
from bot.slack.feature import Feature, Form
from bot.slack.forms import FormResult, loading
from bot.slack.interaction import ButtonPress, FormSubmission, OptionsRequest, Place, Shortcut
from bot.slack.mentions import writer
from bot.slack.posting import Announced
from bot.slack.redaction import typed
from bot.slack.replies import Reply
from bot.slack.text import prose
from bot.store.store import Store

DOING = "Adding the comment in {service}…"


@dataclass(frozen=True)
class CommentHandlers:
    """Adds comments from commands, forms and messages."""

    comments: Comments
    jobs: FileJobs
    publicity: Publicity
    store: Store
    issue_options: Callable[[OptionsRequest, Reply], Awaitable[list[JSON]]]

    def feature(self) -> Feature:
        return Feature(
            shortcuts={"comment_from_message": self.open_from_message},
            buttons={
                CommentOnIssue: self.open_pressed,
                CommentWithMessage: self.open_with_message,
                OpenComment: self.open_saved,
                ChooseIssue: self.issue_chosen,
            },
            forms={"comment.add": Form(self.submit, DOING, looks=True)},
            options={ChooseIssue.action: self.issue_options},
        )

    async def comment(self, reply: Reply, number: int | None, text: str) -> None:
        """`/issue 42 comment …`; opens the form if the number or the text is missing."""
        if number is None or not text:
            await self._open(reply, CommentMetadata(issue=number, place=reply.place.as_json()))
            return
        reply.recovery = partial(self._way_on, reply, number, text)
        done = await self.comments.add(reply.owner, number, Comment(text), Batch(()))
        await reply.privately(views.commented(done, reply.wording, text))

    async def _way_on(self, reply: Reply, number: int, text: str, error: BotError) -> Block | None:
        """The buttons below an error: the form with what was typed, or the issue."""
        match error:
            case NotLinked() | KeyInRequest():
                return None
            case UpdatesUnsupported():
                return open_buttons(number, reply.wording)
        after = error.after if isinstance(error, CommentUnconfirmed) else None
        said = reply.wording.sentence(error)
        return await self._form_row(reply, SavedComment(issue=number, text=text, said=said, after=after))

    async def _form_row(self, reply: Reply, comment: SavedComment) -> Block:
        saved = await self.store.saved_input.put(reply.owner, comment.model_dump())
        return button_row("Open form", OpenComment(saved=saved))

    # Opening the form

    async def open_pressed(self, press: ButtonPress[CommentOnIssue], reply: Reply) -> None:
        """*Comment* on an issue."""
        await self._open(reply, CommentMetadata(issue=press.button.issue, place=reply.place.as_json()))

    async def open_saved(self, press: ButtonPress[OpenComment], reply: Reply) -> None:
        """*Open form*: the form with what was typed, and what was wrong."""
        await reply.open(loading(views.TITLE))
        try:
            saved = SavedComment.model_validate(
                await self.store.saved_input.get(reply.owner, press.button.saved)
            )
        except ValidationError:
            raise FormExpired("issue") from None
        place = (await self.jobs.message(reply, saved.files)).place if saved.files else reply.place.as_json()
        metadata = CommentMetadata(
            issue=saved.issue, files=saved.files, after=saved.after, checked=saved.checked, place=place
        )
        text = await rich_input.prefilled(saved.text, reply.wording.text_format)
        await self._show(reply, metadata, text, said=saved.said)

    async def open_from_message(self, shortcut: Shortcut, reply: Reply) -> None:
        """The message shortcut: add the message to the issue that its thread is about, or to a chosen one."""
        reply, message = await reply.opened_for(shortcut, loading(views.TITLE)), shortcut.message
        likely = await issues_of(reply, message, self.store.created_issues)
        number = await self.comments.first_visible(reply.owner, likely)
        await self._show_message(reply, await self.jobs.save_message(reply, message), number)

    async def open_with_message(self, press: ButtonPress[CommentWithMessage], reply: Reply) -> None:
        """*Comment* on an issue that was found from a message: add the message to it."""
        await reply.open(loading(views.TITLE))
        await self._show_message(reply, press.button.job, press.button.issue)

    async def _show_message(self, reply: Reply, job_id: str, number: int | None) -> None:
        job = await self.jobs.message(reply, job_id)
        reply = reply.at(Place.from_json(job.place))
        text = await rich_input.prefilled(await quoted(reply, job.message), reply.wording.text_format)
        metadata = CommentMetadata(files=job_id, place=job.place)
        await self._show(reply, metadata, text, number=number)

    async def _open(self, reply: Reply, metadata: CommentMetadata) -> None:
        reply.recovery = opening(metadata.issue, reply.wording)
        await reply.open(loading(views.TITLE))
        await self._show(reply, metadata, None)

    async def _show(
        self,
        reply: Reply,
        metadata: CommentMetadata,
        text: JSON | None,
        *,
        number: int | None = None,
        said: str | None = None,
    ) -> None:
        """Show the form for its issue, or to choose one, with `number` chosen at first."""
        target: Target | None = None
        if number := metadata.issue or number:
            try:
                target = await self.comments.target(reply.owner, number)
            except IssueNotFound as error:
                metadata, said = metadata.model_copy(update={"issue": None}), reply.wording.sentence(error)
        view = views.comment_form(
            target,
            reply.wording,
            text,
            metadata.dump(),
            fixed=metadata.issue is not None,
            files=await self.jobs.form_field(reply, metadata.files),
            said=said,
        )
        await reply.show(view)

    async def issue_chosen(self, press: ButtonPress[ChooseIssue], reply: Reply) -> None:
        """Another issue was chosen in the form, where the user may or may not write private notes."""
        metadata = CommentMetadata.of(press.view)
        text = forms.Values(press.view.json).rich_text("comment") if press.view else None
        kept = text if text and rich_input.has_content(text) else None
        await self._show(reply, metadata, kept, number=press.button.issue)

    # Submitting

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Add the comment, with the message's files; on failure the form keeps what was typed."""
        metadata, values = CommentMetadata.of(form.view), forms.Values(form.view.json)
        number = metadata.issue or values.number("issue")
        if number is None:
            raise ActionExpired
        rich = values.rich_text("comment") or {}
        text = (await writer(reply, rich))(rich).strip()
        if not text:
            return FormResult(errors={"comment": "Write a comment."})
        batch = new_batch(None)
        reply.progress = lambda: progress(batch, DOING.format(service=reply.wording.service))
        job = await self.jobs.message(reply, metadata.files) if metadata.files else None
        await self.jobs.fill_from_form(reply, form, batch)
        permalink = await posting.permalink(reply.slack, reply.place, job.message) if job else None
        private = "yes" in values.all_chosen("private")
        try:
            async with self._once(reply, job, number, private=private) as tried_at:
                since = None if metadata.checked else tried_at or reply.attempted_at
                comment = Comment(text, private, permalink, metadata.after, since)
                done = await self.comments.add(reply.owner, number, comment, batch)
        except CommentUnconfirmed as error:
            said = reply.wording.sentence(error)
            if error.after is None:  # only the user can look, so the form isn't left open
                saved = SavedComment(issue=number, text=text, said=said, files=metadata.files, checked=True)
                rows = open_buttons(number, reply.wording), await self._form_row(reply, saved)
                message = Message(prose(said), (section(prose(said)), typed(text), *rows))
                return FormResult(view=forms.said("Check first", message.blocks), message=message)
            later = metadata.model_copy(update={"after": error.after}).dump()
            return FormResult(view=forms.refilled(form.view.json, said, later), said=said)
        except (AddedAlready, InProgress, UpdatesUnsupported) as error:
            said = reply.wording.sentence(error)
            return FormResult(view=_linked(forms.refilled(form.view.json, said), number, reply), said=said)
        reply.committed = True
        return await self._result(reply, done, text, batch, adds_message=job is not None, permalink=permalink)

    @asynccontextmanager
    async def _once(
        self, reply: Reply, job: Job | None, number: int, *, private: bool
    ) -> AsyncIterator[datetime | None]:
        """Hold the claim on adding a message to this issue; gives when an earlier attempt began that may have
        added it. Raises AddedAlready and InProgress.

        A private note's claim is its author's own: those who can't see the note mustn't learn of it, and the
        others find it on the issue.
        """
        if job is None:
            yield None
            return
        place, ts = Place.from_json(job.place), job.message["ts"]
        claim = f"comment:{reply.owner.team_id}:{place.channel_id}:{ts}:{number}"
        if private:
            claim += f":private:{reply.owner.user_id}"
        unknown = (CommentUnconfirmed,)
        async with claimed(self.store.claims, claim, AddedAlready(number), unknown=unknown) as held:
            yield held.tried_at

    async def _result(
        self,
        reply: Reply,
        done: Commented,
        text: str,
        batch: Batch,
        *,
        adds_message: bool,
        permalink: str | None,
    ) -> FormResult:
        """The answer: in the thread of an added message if everyone may see it there, and to the user."""
        number, wording, seen = done.issue.id, reply.wording, exposure_of(done.issue)
        files = await self.jobs.results(reply, number, batch) if batch.files else None
        if not reply.place.channel_id:
            blocks = [*views.commented(done, wording, text).blocks, *(files.blocks if files else ())]
            return FormResult(view=forms.said("Comment added", blocks))

        async def tell() -> None:
            if files:
                await reply.privately(files)
            if not adds_message:
                await reply.privately(views.commented(done, wording, text))
                return
            announced: Announced | None = None
            meant_private = await self.publicity.meant_private(number)
            if done.certain and not (done.private or done.issue.is_private or meant_private):
                by, thread = (await reply.profile()).name, reply.place.thread_ts
                announced = await reply.announce(
                    views.announced(done, wording, by, permalink, thread),
                    partial(self.publicity.may_post, reply.owner, seen),
                )
            await reply.privately(views.added(done, wording, announced))

        return FormResult(then=tell)


def _linked(view: JSON, number: int, reply: Reply) -> JSON:
    """The form with buttons for the issue below its warning."""
    row = open_buttons(number, reply.wording)
    banner, *others = (b for b in view["blocks"] if not str(b.get("block_id")).startswith("open-"))
    return view | {"blocks": [banner, row, *others]}
