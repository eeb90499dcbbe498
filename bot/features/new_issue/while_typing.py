"""What the form for a new issue answers as the user types: the choices of selects, and similar issues."""

from collections.abc import Sequence

import structlog

from bot.access.access import Access
from bot.access.accounts import Session
from bot.access.catalog import Catalog, Part
from bot.errors import BotError
from bot.features.issues.buttons import ChooseProject, TypeSubject
from bot.features.issues.creating import Source
from bot.features.issues.field_inputs import custom_values
from bot.features.issues.fields import FIELDS, Kind
from bot.features.issues.issues import Issues
from bot.features.issues.views import issue_option, name_of, title
from bot.features.new_issue.duplicates import Duplicates
from bot.features.new_issue.form import NewIssueMetadata
from bot.features.parts import Parts
from bot.service.models import Issue
from bot.slack.incoming.debounce import Debouncer
from bot.slack.incoming.feature import Feature
from bot.slack.incoming.interaction import ButtonPress, OptionsRequest
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import JSON, Block, option, section
from bot.slack.surfaces.buttons import ActionExpired
from bot.slack.surfaces.forms import number_in
from bot.slack.text.wording import Wording

log = structlog.get_logger(__name__)

KNOWN = "known"


class TypingHandlers:
    """Answers the form's searched selects, and looks for similar issues once the user `pauses`."""

    def __init__(self, parts: Parts, pauses: Debouncer) -> None:
        self.parts, self.pauses = parts, pauses

    def feature(self) -> Feature:
        fields = FIELDS.values()
        choices = {f"issue.{field.name}": self.choice_options for field in fields if field.choices}
        issues = {f"issue.{field.name}": self.issue_options for field in fields if field.kind is Kind.ISSUE}
        return Feature(
            buttons={TypeSubject: self.subject_typed},
            options={
                ChooseProject.action: self.project_options,
                "issue.custom": self.custom_options,
                **choices,
                **issues,
            },
        )

    async def project_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        found = await self.parts.projects.search(reply.owner, request.text)
        return [option(project.name, str(project.id)) for project in found]

    async def issue_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """Issues by number or subject, in the form's project."""
        chosen = forms.Values(request.view.json if request.view else {}).number("project")
        project = chosen or _project_of(request.block_id)
        found = await Issues(self.parts).suggest(reply.owner, request.text, project)
        return [issue_option(issue) for issue in found]

    async def choice_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """A select whose choices are too many to list at once."""
        sought, name = request.text.strip().casefold(), request.name.partition(".")[2]
        field = next(field for field in FIELDS.values() if field.name == name)
        refs = field.known(await self._catalog(request, reply, field.choices))
        return [option(ref.name, str(ref.id)) for ref in refs if sought in ref.name.casefold()]

    async def custom_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """The select of a custom field that has a list of values."""
        number = number_in(request.block_id.partition(":")[0].removeprefix("cf_"))
        catalog = await self._catalog(request, reply, learned=(number,))
        return custom_values(catalog.custom_field(number), request.text)

    async def _catalog(
        self, request: OptionsRequest, reply: Reply, part: Part | None = None, learned: Sequence[int] = ()
    ) -> Catalog:
        parts = (part,) if part else ()
        async with self.parts.accounts.reading(reply.owner) as session:
            return await self.parts.catalogs.of(session, _project_of(request.block_id), parts, learned)

    async def subject_typed(self, press: ButtonPress[TypeSubject], reply: Reply) -> None:
        """The subject changed: once the user pauses, look for similar issues."""
        if press.view is None:
            raise ActionExpired
        view, source = press.view.json, NewIssueMetadata.of(press.view).source
        if not await self.pauses.wait(press.form_key, press.pressed_at):
            return
        try:
            project = forms.Values(view).number("project")
            async with self.parts.accounts.reading(reply.owner) as session:
                found = await duplicate_notes(
                    self.parts, reply, session, press.button.subject, project_id=project, source=source
                )
        except BotError as error:  # submitting the form reports it, if it persists
            log.info("similar issues not looked up", action="duplicates.unknown", error=type(error).__name__)
            return
        updated = with_notes(view, found)
        unchanged = self.pauses.hash_now(press.form_key, view["hash"]) == view["hash"]
        if self.pauses.is_latest(press.form_key, press.pressed_at) and not (
            unchanged and notes_in(updated) == notes_in(view)
        ):
            await self.pauses.update(reply.slack, press, view, updated, "duplicates.form_moved_on")


def _project_of(block_id: str) -> int | None:
    """The project that a select's choices are from, which is the first part of its tag."""
    _, *tag = block_id.split(":")
    return number_in(tag[0]) if tag else None


async def duplicate_notes(
    access: Access,
    reply: Reply,
    session: Session,
    subject: str,
    *,
    project_id: int | None,
    source: Source | None,
) -> list[Block]:
    """The notes below the form's subject; none on an error, so that the form still opens."""
    try:
        made, similar = await Duplicates(access).find(session, subject, project_id, source)
    except BotError as error:
        log.info("similar issues not looked up", action="duplicates.unknown", error=type(error).__name__)
        return []
    parts, wording = [], reply.wording
    if made:
        links = ", ".join(title(issue, wording) for issue in made)
        parts.append(
            f":information_source: Already created from this message: {links}. "
            "You can still create another issue."
        )
    if similar:
        lines = "\n".join(f"• {_similar(issue, wording)}" for issue in similar)
        leads = (
            "*Is it this one?* It's open and has a similar subject."
            if len(similar) == 1
            else "*Is it one of these?* They're open and have similar subjects."
        )
        parts.append(f":mag: {leads}\n{lines}")
    return [section("\n".join(parts), block_id=KNOWN)] if parts else []


def _similar(issue: Issue, wording: Wording) -> str:
    return " · ".join(
        filter(None, (title(issue, wording), name_of(issue.status), name_of(issue.assigned_to)))
    )


def with_notes(view: JSON, blocks: list[Block]) -> JSON:
    """A payload's form with other notes below its subject; what was typed stays."""
    kept = [block for block in view["blocks"] if block.get("block_id") != KNOWN]
    names = [str(block.get("block_id")).partition(":")[0] for block in kept]
    below = names.index("subject") + 1 if "subject" in names else len(kept)
    return forms.redefined(view, [*kept[:below], *blocks, *kept[below:]])


def notes_in(view: JSON) -> str:
    return next((b["text"]["text"] for b in view["blocks"] if b.get("block_id") == KNOWN), "")
