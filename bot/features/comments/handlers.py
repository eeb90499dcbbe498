"""Comments on issues: `/issue 42 comment …`, *Comment* on an issue, and a message that is added to one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial

from bot.errors import BotError, InProgress
from bot.features.comments import comments, views
from bot.features.comments.views import ChooseIssue, CommentWithMessage, OpenComment
from bot.features.files.attach import Batch
from bot.features.files.selections import FileSelection, SavedSelections, new_batch
from bot.features.files.views import progress
from bot.features.issues.buttons import CommentOnIssue
from bot.features.issues.handlers import IssueHandlers
from bot.features.issues.issues import IssueNotFound, UpdatesUnsupported
from bot.features.issues.publicity import exposure_of
from bot.features.issues.views import open_buttons, open_row, this_message
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature, Form
from bot.slack.outgoing import posting
from bot.slack.outgoing.messages import quoted_message, writer
from bot.slack.outgoing.outcomes import PostOutcome
from bot.slack.outgoing.replies import Reply, always
from bot.slack.surfaces import forms, rich_input
from bot.slack.surfaces.blocks import JSON, Element, Message, actions, section, typed
from bot.slack.surfaces.buttons import ActionExpired, Number
from bot.slack.surfaces.forms import FormResult, loading
from bot.slack.surfaces.interaction import ButtonPress, Destination, FormSubmission, Shortcut
from bot.slack.surfaces.view import Metadata
from bot.slack.text.mrkdwn import prose

DOING = "Adding the comment in {service}…"


class CommentMetadata(Metadata):
    """Of the form: the `issue`, unless it is chosen there; the saved `files` of the message that is added;
    `after` as in `Comment`; whether the user was asked to check if the comment is there (`checked`); and
    whether what they typed tells that it's `private`.
    """

    issue: Number | None = None
    files: str | None = None
    after: Number | None = None
    checked: bool = False
    private: bool = False


class CommentHandlers:
    def __init__(self, parts: Parts) -> None:
        self.comments, self.selections = parts.shared(comments.Comments), parts.shared(SavedSelections)
        self.issues = parts.shared(IssueHandlers)

    def feature(self) -> Feature:
        return Feature(
            shortcuts={"comment_from_message": self.open_from_message},
            buttons={
                CommentOnIssue: lambda press, reply: self.open_form(reply, press.button.issue),
                CommentWithMessage: self.open_with_message,
                OpenComment: self.open_saved,
                ChooseIssue: self.issue_chosen,
            },
            forms={"comment.add": Form(self.submit, DOING, looks=True)},
            options={ChooseIssue.action: self.issues.options},
        )

    async def comment(self, reply: Reply, number: int | None, text: str) -> None:
        """`/issue 42 comment …`; opens the form if the number or the text is missing."""
        if number is None or not text:
            await self.open_form(reply, number, text)
            return
        done = await self.add(reply, number, text)
        await reply.privately(views.commented(done, reply.wording, text))

    async def add(self, reply: Reply, number: int, text: str) -> comments.Commented:
        """Add a comment that wasn't typed into a form, which the reply to an error opens. Raises as
        `Comments.add`.
        """
        reply.fallback = partial(self._fallback, reply, number, text)
        return await self.comments.add(reply.owner, number, comments.Comment(text), Batch(()))

    async def _fallback(self, reply: Reply, number: int, text: str, error: BotError) -> list[Element]:
        """Return the buttons below an error: the form with the user's text, or the issue."""
        if isinstance(error, UpdatesUnsupported):
            return open_buttons(number, reply.wording)
        after = error.after if isinstance(error, comments.CommentUnconfirmed) else None
        return await reply.leading_on(error, OpenComment(issue=number, text=text, after=after))

    # Opening the form

    async def open_saved(self, press: ButtonPress[OpenComment], reply: Reply) -> None:
        """*Open form*: show the form with the user's text and its problems."""
        await reply.open(loading(views.TITLE))
        saved = press.button
        place = reply.place.as_json()
        if saved.files:
            place = (await self.selections.message(reply, saved.files)).place
        metadata = CommentMetadata(
            issue=saved.issue, files=saved.files, after=saved.after, checked=saved.checked, place=place
        )
        text = await rich_input.prefilled(saved.text, reply.wording.text_format)
        await self._show(reply, metadata, text, warning=saved.warning)

    async def open_from_message(self, shortcut: Shortcut, reply: Reply) -> None:
        """The message shortcut: add the message to the issue that its thread is about, or to a chosen one."""
        reply, message = await reply.opened_for(shortcut, loading(views.TITLE)), shortcut.message
        about = await self.issues.about(reply, message)
        saved_id = await self.selections.save_message(reply, message)
        await self._show_message(reply, saved_id, about.id if about else None)

    async def open_with_message(self, press: ButtonPress[CommentWithMessage], reply: Reply) -> None:
        """*Comment* on an issue that was found from a message: add the message to it."""
        await reply.open(loading(views.TITLE))
        await self._show_message(reply, press.button.saved, press.button.issue)

    async def _show_message(self, reply: Reply, saved_id: str, number: int | None) -> None:
        saved = await self.selections.message(reply, saved_id)
        reply = reply.at(Destination.from_json(saved.place))
        text = await rich_input.prefilled(await quoted(reply, saved.message), reply.wording.text_format)
        metadata = CommentMetadata(files=saved_id, place=saved.place)
        await self._show(reply, metadata, text, number=number)

    async def open_form(
        self, reply: Reply, number: int | None, text: str = "", *, private: bool = False
    ) -> None:
        """Open the form; what may be `private` is, unless the user chooses otherwise or can't write private
        notes, which the form says.
        """
        reply.fallback = always(*open_buttons(number, reply.wording) if number else ())
        await reply.open(loading(views.TITLE))
        typed = await rich_input.prefilled(text, reply.wording.text_format) if text else None
        metadata = CommentMetadata(issue=number, private=private, place=reply.place.as_json())
        await self._show(reply, metadata, typed)

    async def _show(
        self,
        reply: Reply,
        metadata: CommentMetadata,
        text: JSON | None,
        *,
        number: int | None = None,
        warning: str | None = None,
    ) -> None:
        """Show the form for its issue, or to choose one, with `number` chosen at first."""
        target: comments.Target | None = None
        if number := metadata.issue or number:
            try:
                target = await self.comments.target(reply.owner, number)
            except IssueNotFound as error:
                metadata, warning = metadata.model_copy(update={"issue": None}), reply.wording.sentence(error)
        if metadata.private and target and not target.private_notes:
            warning = views.PUBLIC.format(service=reply.wording.service)
        view = views.comment_form(
            target,
            reply.wording,
            text,
            metadata.dump(),
            fixed=metadata.issue is not None,
            private=metadata.private,
            files=await self.selections.form_field(reply, metadata.files),
            warning=warning,
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
        """Add the comment, with the message's files; on failure the form keeps the user's text."""
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
        saved = await self.selections.message(reply, metadata.files) if metadata.files else None
        await self.selections.fill_from_form(reply, form, batch)
        permalink = await posting.permalink(reply.slack, reply.place, saved.message) if saved else None
        private = "yes" in values.all_chosen("private")

        try:
            async with self._once(reply, saved, number, private=private) as tried_at:
                since = None if metadata.checked else tried_at or reply.tried_at
                comment = comments.Comment(text, private, permalink, metadata.after, since)
                done = await self.comments.add(reply.owner, number, comment, batch)
        except comments.CommentUnconfirmed as error:
            warning = reply.wording.sentence(error)
            if error.after is None:  # only the user can look, so the form isn't left open
                again = OpenComment(issue=number, text=text, files=metadata.files, checked=True)
                rows = [open_row(number, reply.wording), actions(await reply.leading_on(error, again))]
                message = Message(prose(warning), (section(prose(warning)), typed(text), *rows))
                return FormResult.notice("Not confirmed", message)

            later = metadata.model_copy(update={"after": error.after}).dump()
            return FormResult.again(form.view.json, warning, later)
        except (comments.AddedAlready, InProgress, UpdatesUnsupported) as error:
            warning = reply.wording.sentence(error)
            view = _linked(forms.refilled(form.view.json, warning), number, reply)
            return FormResult(view=view, warning=warning)

        reply.committed = True
        return await self._result(
            reply, done, text, batch, adds_message=saved is not None, permalink=permalink
        )

    @asynccontextmanager
    async def _once(
        self, reply: Reply, saved: FileSelection | None, number: int, *, private: bool
    ) -> AsyncIterator[datetime | None]:
        """Hold the claim on adding a message to this issue; gives when an earlier attempt began that may have
        added it. Raises AddedAlready and InProgress.

        A private note's claim is its author's own: those who can't see the note mustn't learn of it, and the
        others find it on the issue.
        """
        if saved is None:
            yield None
            return
        place, ts = Destination.from_json(saved.place), saved.message["ts"]
        claim = f"comment:{reply.owner.team_id}:{place.channel_id}:{ts}:{number}"
        if private:
            claim += f":private:{reply.owner.user_id}"
        unknown = (comments.CommentUnconfirmed,)
        async with reply.claim(claim, comments.AddedAlready(number), unknown_after=unknown) as lease:
            yield lease.tried_at

    async def _result(
        self,
        reply: Reply,
        done: comments.Commented,
        text: str,
        batch: Batch,
        *,
        adds_message: bool,
        permalink: str | None,
    ) -> FormResult:
        """Reply to the user, and in the thread of an added message if everyone there can see the comment."""
        number, wording, exposure = done.issue.id, reply.wording, exposure_of(done.issue)
        files = await self.selections.results(reply, number, batch) if batch.files else None
        if not reply.place.channel_id:
            blocks = [*views.commented(done, wording, text).blocks, *(files.blocks if files else ())]
            return FormResult(view=forms.result("Comment added", blocks))

        async def tell() -> None:
            if files:
                await reply.privately(files)
            if not adds_message:
                await reply.privately(views.commented(done, wording, text))
                return

            announced: PostOutcome | None = None
            if done.certain and not done.private:
                did = f"added {this_message(permalink)} to"
                announced = await self.issues.announce_action(reply, exposure, did)
            await reply.privately(views.added(done, wording, announced))

        return FormResult(then=tell)


def _linked(view: JSON, number: int, reply: Reply) -> JSON:
    """The form with buttons for the issue below its warning."""
    row = open_row(number, reply.wording)
    banner, *others = (b for b in view["blocks"] if not str(b.get("block_id")).startswith("open-"))
    return view | {"blocks": [banner, row, *others]}


async def quoted(reply: Reply, message: JSON) -> str:
    """A message's author, with a link to it, and its text as a quote, in the service's format.

    Textile has no code blocks in quotes, so a message with one isn't quoted there.
    """
    quote = await quoted_message(reply, message)
    if not quote.text:
        return quote.source
    text = quote.text
    if "<pre>" not in text:
        text = "\n".join(f"> {line}" for line in text.split("\n"))
    return f"{quote.source}:\n\n{text}"
