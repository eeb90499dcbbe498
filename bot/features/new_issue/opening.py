"""Opens the form for a new issue: empty, with a draft, from a template, for a message or for files."""

import asyncio
import secrets
from typing import Any

from bot.access.name_matching import UnclearName
from bot.errors import BotError, Forbidden, KeyInRequest, NotFound, NotLinked, Refused, TooLarge, UserError
from bot.features.files.selections import SavedSelections
from bot.features.issues.buttons import NewIssueWithFiles, OpenIssueForm
from bot.features.issues.creating import Source
from bot.features.issues.fields import Draft, IssueRefused, fields_of
from bot.features.issues.issues import Issues
from bot.features.new_issue.filling import FormFilling
from bot.features.new_issue.form import TITLE, FormState, NewIssueMetadata
from bot.features.new_issue.thread import ThreadInclusion
from bot.features.new_issue.unfinished import UnfinishedForms, with_offer
from bot.features.parts import Parts
from bot.features.related.views import CreateFromMessage
from bot.features.templates.views import UseTemplate
from bot.slack.incoming.feature import Feature
from bot.slack.language.keys import without_typed_key
from bot.slack.outgoing.messages import quoted_message
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.blocks import JSON, Element, button, shortened
from bot.slack.surfaces.drafts import SavedDraft
from bot.slack.surfaces.forms import loading
from bot.slack.surfaces.interaction import ButtonPress, Destination, Shortcut

SUBJECT_SHOWN_LENGTH = 120
OFFERED = (UserError, Refused, Forbidden, NotFound, TooLarge)  # errors that another try in the form may avoid


class OpenDraft(SavedDraft):
    """Opens the form with a draft; `wrong` are the fields that the error is about, `needed` those of them
    that the service needs.
    """

    action = "issue.open_draft"
    command = "issue"
    draft: Draft
    wrong: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()


class FormOpening:
    def __init__(self, parts: Parts) -> None:
        self.parts, self.selections, self.issues = parts, parts.shared(SavedSelections), parts.shared(Issues)
        self.inclusion, self.filling = parts.shared(ThreadInclusion), parts.shared(FormFilling)
        self.unfinished = parts.shared(UnfinishedForms)

    def feature(self) -> Feature:
        return Feature(
            shortcuts={
                "create_issue": self.open_create,
                "issue_from_message": lambda shortcut, reply: self._open_for_message(reply, shortcut.message),
            },
            buttons={
                OpenIssueForm: self.open_create,
                UseTemplate: lambda press, reply: self.open_form(reply, press.button.draft),
                CreateFromMessage: self.open_with_message,
                NewIssueWithFiles: self.open_with_files,
                OpenDraft: self.open_draft,
            },
        )

    async def open_create(self, _: Shortcut | ButtonPress[Any], reply: Reply) -> None:
        """The global shortcut, and the button on the Home tab."""
        await self.open_form(reply, Draft())

    async def open_with_message(self, press: ButtonPress[CreateFromMessage], reply: Reply) -> None:
        """*Create an issue* in a list of related issues: the form replaces the list."""
        saved = await self.selections.message(reply, press.button.saved)
        place = Destination.from_json(saved.place)
        await self._open_for_message(reply.at(place), saved.message, whole=press.button.whole)

    async def _open_for_message(self, reply: Reply, message: JSON, *, whole: bool = False) -> None:
        """The form filled from a message in the reply's channel, announced in the message's thread; `whole`
        includes the thread.
        """
        await reply.show(loading(TITLE))
        channel, ts = reply.place.channel_id or "", message["ts"]
        thread = reply.place.in_thread(str(message.get("thread_ts") or ts))
        draft, files = await asyncio.gather(
            draft_from_message(reply, message), self._files_of(reply, message)
        )
        saved = await self.inclusion.offer(reply, message, draft.description, checked=whole)
        metadata = NewIssueMetadata(source=Source(channel, ts), files=files, thread=saved)
        await self.open_form(reply.at(thread), draft, metadata)

    async def _files_of(self, reply: Reply, message: JSON) -> str | None:
        """The ID of the saved selection for a message's files; None if it has none."""
        if not message.get("files"):
            return None
        return await self.selections.save(reply, await self.selections.from_message(reply, message))

    async def open_with_files(self, press: ButtonPress[NewIssueWithFiles], reply: Reply) -> None:
        """*Create a new issue with them*: the form with files that were chosen before."""
        saved = await self.selections.load(reply, press.button.saved)
        place = Destination.from_json(saved.place)
        if reply.in_form:  # this button was the form's answer: the new form replaces it
            await reply.show(loading(TITLE))

        draft, source = Draft(), None
        if saved.message and place.channel_id:
            draft = await draft_from_message(reply.at(place), saved.message)
            source = Source(place.channel_id, saved.message["ts"])
        elif saved.issue:
            async with self.parts.accounts.reading(reply.owner) as session:
                issue = await self.issues.one(session, saved.issue)
            draft = Draft(
                subject=f"Files for #{issue.id} {issue.subject}",
                project=f"#{issue.project.id}" if issue.project else None,
                values={"desc": f"Files for #{issue.id}."},
            )
        fresh = await self.selections.save(reply, saved.model_copy(update={"issue": None}))
        await self.open_form(reply.at(place), draft, NewIssueMetadata(source=source, files=fresh))

    async def open_form(
        self,
        reply: Reply,
        draft: Draft,
        metadata: NewIssueMetadata = NewIssueMetadata(),  # noqa: B008 - it is frozen
        state: FormState = FormState(),  # noqa: B008 - it is frozen
    ) -> None:
        """Open the form right away, then fill in its choices."""
        if not reply.view_id:
            await reply.show(loading(TITLE))
        form = secrets.token_urlsafe(8)
        metadata = metadata.model_copy(update={"place": reply.place.as_json(), "form": form})
        view = await self.filling.opened(reply, draft, metadata=metadata, state=state)
        unfinished = await self.unfinished.offered(reply.owner, form)
        await reply.show(with_offer(view, unfinished.offer()) if unfinished else view)

    async def offer(self, reply: Reply, draft: Draft, error: BotError) -> list[Element]:
        """The buttons that lead on, first *Open form* with what was understood; none if it can't help."""
        if isinstance(error, NotLinked | KeyInRequest) or not isinstance(error, OFFERED):
            return []
        named = isinstance(error, UnclearName | Forbidden | NotFound)
        # A name elsewhere than in the project is a WrongField.
        fields = ("project",) if named else fields_of(error)
        needed = fields if isinstance(error, IssueRefused) else ()
        return await reply.leading_on(error, OpenDraft(draft=draft, wrong=fields, needed=needed))

    async def offer_new(self, reply: Reply, draft: Draft) -> Element:
        """A button that opens the form with a draft in which nothing is wrong."""
        label = f"Create issue “{shortened(without_typed_key(draft.subject), 50)}”"
        return button(label, await reply.save(OpenDraft(draft=draft)))

    async def open_draft(self, press: ButtonPress[OpenDraft], reply: Reply) -> None:
        """*Open form*: the form with the draft that was saved."""
        await reply.open(loading(TITLE))
        saved = press.button
        state = FormState(warning=saved.warning, wrong=saved.wrong, needed=frozenset(saved.needed))
        await self.open_form(reply, saved.draft, state=state)


async def draft_from_message(reply: Reply, message: JSON) -> Draft:
    """Return a message as a draft: its first line is the subject, its text with a link the description."""
    quote = await quoted_message(reply, message)
    description = f"{quote.text}\n\n– {quote.source}".lstrip()
    return Draft(
        subject=shortened(quote.first_line.rstrip("."), SUBJECT_SHOWN_LENGTH), values={"desc": description}
    )
