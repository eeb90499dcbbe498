"""Changes issues by `/issue 42 …` and by the form behind *Edit*."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

from bot.access.catalog import Part
from bot.access.name_matching import UnclearName
from bot.errors import BotError, KeyInRequest, NotLinked, Refused, UnknownWord, UserError, WrongField
from bot.features.editing import views
from bot.features.editing.commands import (
    NotAChange,
    TypedChange,
    edit_command,
    typed_change,
)
from bot.features.editing.editing import EditConflict, Edited, Editing, way_back
from bot.features.editing.edits import Edit
from bot.features.editing.views import EditMetadata, OpenEdit, UndoChange
from bot.features.issues.buttons import AssignToMe, EditIssue, SetStatus, comment_offer
from bot.features.issues.field_inputs import hidden_fields
from bot.features.issues.fields import NotUnderstood, StatusRefused, fields_of
from bot.features.issues.handlers import IssueHandlers
from bot.features.issues.issues import ASSIGNEE, IssueNotFound, UpdatesUnsupported
from bot.features.issues.views import open_buttons
from bot.features.notices.messenger import AssignmentMessenger
from bot.features.parts import Parts
from bot.features.reading import PARTS, read_with, vocabulary
from bot.service.models import Ref
from bot.slack.incoming.feature import Feature, Form
from bot.slack.language.doubts import asks
from bot.slack.language.keys import types_key
from bot.slack.language.marks import Vocabulary
from bot.slack.language.options import Parsed
from bot.slack.language.reading import needs
from bot.slack.outgoing.replies import Reply, always
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import Element, button
from bot.slack.surfaces.forms import FormResult
from bot.slack.surfaces.interaction import ButtonPress, FormSubmission
from bot.spelling import fingerprint

GUESSED = ("status", "assignee")  # fields whose names may be words of a comment
LAST_CHANGE = "last change"
EDITED: Mapping[str, Part] = {"version": "versions"}
"""Where a change takes other names than a search."""


class EditHandlers:
    def __init__(self, parts: Parts) -> None:
        self.editing, self.messenger = parts.shared(Editing), parts.shared(AssignmentMessenger)
        self.cards = parts.shared(IssueHandlers)

    def feature(self) -> Feature:
        return Feature(
            buttons={
                EditIssue: lambda press, reply: self._open(reply, press.button.issue, Edit()),
                OpenEdit: self.open_saved,
                UndoChange: lambda press, reply: self._undo(reply, press.button, replace=True),
                SetStatus: self.status_chosen,
                AssignToMe: lambda press, reply: self.assign(reply, press.button),
            },
            forms={views.CALLBACK_ID: Form(self.submit, "Saving to {service}…")},
        )

    async def command(self, reply: Reply, number: int, text: str) -> None:
        """`/issue 42 close due:friday`; without a change, the form."""
        reply.fallback = partial(self._fallback, reply, number, None)

        typed = typed_change(text, number)
        reply.fallback = partial(self._fallback, reply, number, None, comment=typed.comment)
        edit = await self._read(reply, typed)
        if edit == Edit():
            await self._open(reply, number, edit)
            return
        comment = typed.comment if edit.guessed else ""
        reply.fallback = partial(self._fallback, reply, number, edit, comment=comment)
        edited = await self.editing.apply(reply.owner, number, edit)
        await self._tell(reply, edited, hidden_fields([*edit.values, *edit.cleared], edited.issue))

    async def change(
        self, reply: Reply, number: int, text: str, *, tried_at: datetime | None = None
    ) -> Edited:
        """Change an issue as typed, unless an earlier attempt at `tried_at` may have done it.

        Raises NotUnderstood, UserError, and what `Editing.apply` raises.
        """
        access = self.editing.access
        if tried_at:
            async with access.accounts.reading(reply.owner) as session:
                await self.editing.issues.require_unchanged(session, number, tried_at)
        edit = await self._read(reply, typed_change(text, number))
        edited = await self.editing.apply(reply.owner, number, edit)
        await self.notify(reply, edited)
        return edited

    async def require_readable(self, reply: Reply, number: int, text: str) -> None:
        """Raise NotUnderstood or WrongField if a change has words or names that can't be read."""
        edit = await self._read(reply, typed_change(text, number))
        _, _, errors = await self.editing.editable(reply.owner, number, edit, edit.parts)
        for error in errors:
            if isinstance(error, WrongField) and isinstance(error.error, UnclearName):
                raise error

    async def _read(self, reply: Reply, typed: TypedChange) -> Edit:
        known = await self._vocabulary(reply, typed.number, typed.parsed)
        return await read_with(known, partial(edit_command, typed, await reply.typist(), known))

    async def undo_last(self, reply: Reply) -> None:
        """`/issue undo`: what *Undo* on the last confirmation does."""
        kept = await reply.platform.store.saved_input.kept(reply.owner, LAST_CHANGE)
        saved = await reply.saved(UndoChange, str(kept["id"])) if kept else None
        if saved is None:
            raise UserError("You have no changes from the last ten minutes to undo.")
        await self._undo(reply, saved, replace=False)

    async def _vocabulary(self, reply: Reply, number: int, parsed: Parsed) -> Vocabulary:
        """The names that the words may be, in the issue's project, and its custom fields."""
        kinds = needs(parsed.words, "change")
        if not (kinds or parsed.unknown):
            return Vocabulary()
        projects = await vocabulary(self.editing.access, reply.owner, None, None, kinds & {"project"})
        parts = {kind: EDITED.get(kind, PARTS[kind]) for kind in kinds - {"project"}}
        editable, _, _ = await self.editing.editable(reply.owner, number, Edit(), tuple(parts.values()))
        lists = {**editable.catalog.lists, "statuses": editable.every_status}
        names = {kind: tuple(ref.name for ref in lists[part]) for kind, part in parts.items()}
        fields = [Ref(id=field.id, name=field.name) for field in editable.issue.custom_fields]
        return Vocabulary(names | projects, fields)

    async def _fallback(
        self, reply: Reply, number: int, edit: Edit | None, error: BotError, *, comment: str = ""
    ) -> list[Element]:
        """Return the buttons below an error: the form filled in, or else the issue.

        Offers to add the text as a `comment` if it isn't a change.
        """
        if isinstance(error, NotLinked | KeyInRequest | IssueNotFound):
            return []
        if isinstance(error, NotUnderstood) and isinstance(error.draft, Edit):
            edit = error.draft
        if (
            edit is None
            or isinstance(error, UpdatesUnsupported)
            or not isinstance(error, UserError | Refused)
        ):
            return [*open_buttons(number, reply.wording), *await reply.offered(*error.offers)]
        buttons = await reply.leading_on(error, OpenEdit(issue=number, edit=edit, wrong=fields_of(error)))
        first = error.first if isinstance(error, NotUnderstood) else error
        if isinstance(first, NotAChange) and len(first.understood) == 1:
            comment = comment.removeprefix(f"{first.understood[0]}, ")  # that is in the form
        doubtful = asks(comment) or types_key(comment) or error.correction
        if comment and not doubtful and _may_be_comment(error):
            buttons += await reply.offered(comment_offer(comment, number))

        refused = error.error if isinstance(error, WrongField) else None
        alone = edit.without(["status"]) == Edit(step=edit.step, guessed=edit.guessed)
        if isinstance(refused, StatusRefused) and alone:
            statuses = [(SetStatus(issue=number, status=one.id).pack(), one.name) for one in refused.allowed]
            buttons += [forms.choice(SetStatus.action, statuses, None, "Set status")] if statuses else []
        return buttons

    async def _tell(
        self, reply: Reply, edited: Edited, notes: Sequence[str] = (), *, replace: bool = False
    ) -> None:
        await self._show(reply, edited, await _undo_of(reply, edited), notes=notes, replace=replace)
        await self.notify(reply, edited)

    async def _show(
        self,
        reply: Reply,
        edited: Edited,
        undo: Sequence[Element] = (),
        *,
        notes: Sequence[str] = (),
        replace: bool = False,
        back: bool = False,
    ) -> None:
        """Show what changed; the arguments are those of `views.edited`."""
        shareable = reply.place.channel_id is not None and not reply.in_form
        message = views.edited(edited, reply.wording, undo, shareable=shareable, notes=notes, back=back)
        await reply.answer(f"#{edited.issue.id}", message, replace=replace)

    async def notify(self, reply: Reply, edited: Edited) -> None:
        """Notify somebody whom the change assigned the issue to."""
        if edited.assigned:
            await self.messenger.changed(reply.owner, edited.issue)

    async def _undo(self, reply: Reply, undo: UndoChange, *, replace: bool) -> None:
        """*Undo* on a confirmation, which is then replaced: change back what the change made, once."""
        done = UserError("You've already undone this change.")
        reply.fallback = always(*open_buttons(undo.issue, reply.wording))
        async with reply.claim(f"undo:{undo.id}", done):
            edited = await self.editing.undo(reply.owner, undo.issue, undo.back, undo.after)
        await self._show(reply, edited, replace=replace, back=True)

    async def status_chosen(self, press: ButtonPress[SetStatus], reply: Reply) -> None:
        """*Status* on a card, which is then shown again: also after a refusal, since it shows the choice."""
        number, status = press.button.issue, press.button.status
        reply.fallback = always(*open_buttons(number, reply.wording))
        try:
            edited = await self.editing.apply(reply.owner, number, Edit(values={"status": f"#{status}"}))
        except (WrongField, Refused):
            with suppress(BotError):
                await self.cards.show(reply, number, again=True)
            raise

        await self._tell(reply, edited)
        if not reply.in_form:
            with suppress(BotError):  # the user has the reply already
                await self.cards.show(reply, number, again=True)

    async def assign(self, reply: Reply, assign: AssignToMe) -> None:
        """*Assign to me*: change the assignee, unless it is somebody whom the user didn't agree to replace.
        Then ask.
        """
        number, confirmed = assign.issue, assign.holder is not None
        reply.fallback = always(*open_buttons(number, reply.wording))
        if (reply.in_form or reply.place.home) and not confirmed:
            await reply.open(forms.loading(f"#{number}"))

        opened = {ASSIGNEE.name: fingerprint(str(assign.holder)) if confirmed else fingerprint()}
        try:
            edited = await self.editing.apply(reply.owner, number, Edit(values={"to": "me"}), opened)
        except EditConflict as error:
            question = views.assign_instead(error.editable.issue, reply.wording)
            await reply.answer(f"#{number}", question, replace=confirmed)
            return
        await self._tell(reply, edited, replace=confirmed)

    # The form

    async def open_saved(self, press: ButtonPress[OpenEdit], reply: Reply) -> None:
        """*Open form*: the form with the change that was typed."""
        saved = press.button
        await self._open(reply, saved.issue, saved.edit, warning=saved.warning, wrong=saved.wrong)

    async def _open(
        self, reply: Reply, number: int, edit: Edit, *, warning: str = "", wrong: tuple[str, ...] = ()
    ) -> None:
        """Open the form right away, then show the issue's values in it, and over them those of `edit`."""
        await reply.open(forms.loading(views.form_title(number)))
        reply.fallback = always(*open_buttons(number, reply.wording))
        editable, target, errors = await self.editing.editable(reply.owner, number, edit)
        more = [sentence for sentence in map(reply.wording.sentence, errors) if sentence not in warning]
        view = views.edit_form(
            editable,
            target,
            reply.place.as_json(),
            reply.wording,
            warning=" ".join(filter(None, [warning, *more])),
            wrong=(*wrong, *(error.field for error in errors if isinstance(error, WrongField))),
        )
        await reply.show(view)

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Save the changes in the form, unless somebody else changed the same fields in the meantime."""
        metadata = EditMetadata.of(form.view)
        edit = views.submitted(form.view.json, metadata.opened, (await reply.profile()).locale)
        try:
            edited = await self.editing.apply(reply.owner, metadata.issue, edit, metadata.opened)
        except EditConflict as error:
            return self._conflict(reply, error)
        reply.committed = True

        if reply.place.channel_id:
            return FormResult(then=partial(self._tell, reply, edited))
        blocks = views.edited(edited, reply.wording, await _undo_of(reply, edited), shareable=False).blocks
        view = forms.result(f"#{edited.issue.id}", blocks)
        return FormResult(view=view, then=partial(self.notify, reply, edited))

    def _conflict(self, reply: Reply, error: EditConflict) -> FormResult:
        """Return the form with the current issue and the user's input over it."""
        warning = reply.wording.sentence(error)
        view = views.edit_form(
            error.editable,
            error.target,
            reply.place.as_json(),
            reply.wording,
            warning=warning,
            notes=[views.conflict(error.fields)],
            wrong=[one.field.name for one in error.fields if one.field],
        )
        return FormResult(view=view, warning=warning)


def _may_be_comment(error: BotError) -> bool:
    """Whether words were left over, or taken for the name of a status that there isn't."""
    errors = error.errors if isinstance(error, NotUnderstood) else (error,)
    unknown = (one.error if isinstance(one, WrongField) and one.field in GUESSED else one for one in errors)
    return any(
        isinstance(one, NotAChange | UnknownWord) or (isinstance(one, UnclearName) and not one.matches)
        for one in unknown
    )


async def _undo_of(reply: Reply, edited: Edited) -> list[Element]:
    """*Undo* for a change; none if there is no way back, or if saving fails: the change is made."""
    names = [] if edited.final else [change.name for change in edited.changed]
    if not names:
        return []
    back, marks = way_back(edited.before, edited.issue, names)
    undo = await reply.try_save(UndoChange(issue=edited.issue.id, back=back, after=marks))
    if undo:
        with suppress(Exception):  # the change is made, and its button is there
            kept = reply.platform.store.saved_input
            await kept.keep(reply.owner, LAST_CHANGE, datetime.now(UTC), lambda _: {"id": undo.id})
    return [button("Undo", undo)] if undo else []
