"""The choices that the form for a new issue searches as the user types."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.features.accounts.accounts import Accounts
from bot.features.issues.buttons import ChooseProject
from bot.features.issues.fields import FIELDS, Kind
from bot.features.issues.inputs import custom_values
from bot.features.issues.issues import Issues
from bot.features.issues.views import issue_option
from bot.features.projects.catalog import Catalog, Catalogs, Part
from bot.features.projects.projects import Projects
from bot.slack import forms
from bot.slack.blocks import JSON, option
from bot.slack.feature import Feature
from bot.slack.forms import number_in
from bot.slack.interaction import OptionsRequest
from bot.slack.replies import Reply


@dataclass(frozen=True)
class ChoiceHandlers:
    """Answers the form's searched selects."""

    issues: Issues
    accounts: Accounts
    projects: Projects
    catalogs: Catalogs

    def feature(self) -> Feature:
        fields = FIELDS.values()
        choices = {f"issue.{field.name}": self.choice_options for field in fields if field.choices}
        issues = {f"issue.{field.name}": self.issue_options for field in fields if field.kind is Kind.ISSUE}
        return Feature(
            options={
                ChooseProject.action: self.project_options,
                "issue.custom": self.custom_options,
                **choices,
                **issues,
            }
        )

    async def project_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """Projects by name or identifier."""
        found = await self.projects.search(reply.owner, request.text)
        return [option(project.name, str(project.id)) for project in found]

    async def issue_options(self, request: OptionsRequest, reply: Reply) -> list[JSON]:
        """Issues by number or subject, in the form's project."""
        chosen = forms.Values(request.view.json if request.view else {}).number("project")
        project = chosen or _project_of(request.block_id)
        async with self.accounts.reading(reply.owner) as session:
            found = await self.issues.suggest(session, request.text, project)
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
        async with self.accounts.reading(reply.owner) as session:
            return await self.catalogs.of(session, _project_of(request.block_id), parts, learned)


def _project_of(block_id: str) -> int | None:
    """The project that a select's choices are from, which is the first part of its tag."""
    _, *tag = block_id.split(":")
    return number_in(tag[0]) if tag else None
