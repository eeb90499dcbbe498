"""Templates for new issues. Whoever may create issues in a project may use and change its templates."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bot.errors import Forbidden, KeyInRequest, NotFound, UserError, WrongField
from bot.features.accounts.accounts import Accounts, Session
from bot.features.issues.fields import DESCRIPTION, Draft
from bot.features.issues.issues import Issues
from bot.features.name_matching import pick
from bot.features.projects.catalog import Catalog, Catalogs
from bot.features.projects.permissions import may
from bot.features.projects.projects import KnownProject, Projects
from bot.features.templates.applying import TEMPLATED, applied, missing
from bot.features.templates.errors import (
    DescriptionTooLong,
    NameMissing,
    NameTaken,
    NoTemplates,
    NothingToCopy,
    PartsMissing,
    TemplateGone,
    TemplatesForbidden,
    TooManyTemplates,
    UnknownPart,
)
from bot.features.templates.outline import read, written
from bot.service.client import Client
from bot.service.conventions import CREATES_ISSUES, ProjectStatus
from bot.service.filters import IssueFilters
from bot.service.models import Issue, Ref
from bot.store.channels import Channel
from bot.store.choice import Choice
from bot.store.owner import Owner
from bot.store.store import Store
from bot.store.templates import Content, Template

MOST = 10
"""How many templates a project may have, and a channel for a project."""
LONGEST = 3000
"""How long a description may be, so that a form can hold it."""


@dataclass(frozen=True)
class Offered:
    """A project, and its templates for new issues in a channel."""

    project: KnownProject
    templates: tuple[Template, ...]


@dataclass(frozen=True)
class Templates:
    """Reads and changes templates. The caller's key decides what the caller sees and may change."""

    client: Client
    store: Store
    accounts: Accounts
    projects: Projects
    catalogs: Catalogs
    issues: Issues

    async def listed(self, owner: Owner, project: str | None, channel: Channel | None) -> Offered:
        """The templates of the named project, or of the channel's.

        Raises UserError, NotLinked, ServiceError.
        """
        async with self.accounts.reading(owner) as session:
            chosen = await self.projects.chosen(session, project, channel)
            return Offered(chosen, await self.offered(owner, chosen, channel))

    async def offered(
        self, owner: Owner, project: KnownProject, channel: Channel | None
    ) -> tuple[Template, ...]:
        """The templates for new issues of a project that the user can see, the channel's own first.

        A channel's template hides the project's with the same name.
        """
        found = await self.store.templates.of_project(owner.team_id, project.id, channel)
        own = [template for template in found if template.channel_id]
        names = {template.name.casefold() for template in own}
        return (*own, *(one for one in found if not one.channel_id and one.name.casefold() not in names))

    async def named(
        self, session: Session, project: KnownProject, channel: Channel | None, name: str
    ) -> Template:
        """The template with that name, or ID as `#5`. Raises WrongField."""
        known = {template.id: template for template in await self.offered(session.owner, project, channel)}
        try:
            if not known:
                raise NoTemplates(project.name)
            ref = pick("template", name, [Ref(id=one.id, name=one.name) for one in known.values()])
            if ref.id not in known:
                raise TemplateGone
        except UserError as error:
            raise WrongField("template", error) from None
        return known[ref.id]

    async def filled(self, owner: Owner, draft: Draft, channel: Channel | None, text_format: str) -> Draft:
        """The draft of a command, filled in from the template that it names.

        Raises WrongField for an unknown template and for parts that it requires and the draft leaves out, the
        other UserErrors, NotLinked, ServiceError.
        """
        async with self.accounts.reading(owner) as session:
            project = await self.projects.chosen(session, draft.project, channel)
            template = await self.named(session, project, channel, draft.template or "")
        filled = applied(draft, template, text_format)
        if parts := missing(filled, template, text_format):
            raise WrongField(DESCRIPTION.name, PartsMissing(template.name, parts))
        return filled

    async def stored(self, owner: Owner, template_id: int) -> Template | None:
        """A template, for a form that was filled in from it."""
        return await self.store.templates.get(owner.team_id, template_id)

    async def one(self, session: Session, template_id: int) -> tuple[KnownProject, Template]:
        """A template and its project. Raises TemplateGone, also if the user can't see the project."""
        template = await self.store.templates.get(session.owner.team_id, template_id)
        if template is None:
            raise TemplateGone
        try:
            return await self.projects.by_id(session, template.project_id), template
        except (Forbidden, NotFound):
            raise TemplateGone from None

    async def changeable(self, session: Session, project: KnownProject) -> Catalog:
        """The choices for a project's templates. Raises TemplatesForbidden if the user can't change them."""
        if project.status == ProjectStatus.CLOSED:
            raise TemplatesForbidden(project.name, known=True)
        allowed = await may(self.client, session, project, CREATES_ISSUES)
        if allowed is None:
            allowed = await self._has_created(session, project) or None
        if not allowed:
            raise TemplatesForbidden(project.name, known=allowed is False)
        return await self.catalogs.of(
            session, project.id, [field.choices for field in TEMPLATED if field.choices]
        )

    async def _has_created(self, session: Session, project: KnownProject) -> bool:
        mine = IssueFilters(project_id=project.id, author=("me",), status="any")
        found = (await self.client.list_issues(session.key, mine, limit=1)).items
        return any(issue.author is not None and issue.author.id == session.user_id for issue in found)

    async def to_copy(self, session: Session, project: KnownProject, number: int) -> Issue:
        """The issue that a template is made from. Raises NothingToCopy, UserError, ServiceError."""
        issue = await self.issues.one(session, number)
        if not copyable(issue, project.id):
            raise WrongField("copy", NothingToCopy(number))
        return issue

    async def save(
        self, owner: Owner, template: Template, chosen: Mapping[str, Choice], text_format: str
    ) -> tuple[KnownProject, Template]:
        """Add a template, or change the one with its ID; `chosen` are its choices by option key.

        What the template has already isn't checked again: the project may have lost it since. Raises
        WrongField, UserError, NotLinked, ServiceError.
        """
        async with self.accounts.reading(owner) as session:
            before = Content()
            if template.id:
                project, stored = await self.one(session, template.id)
                before = stored.content
            else:
                project = await self.projects.by_id(session, template.project_id)
            catalog = await self.changeable(session, project)
        if session.key.get_secret_value() in repr(template):
            raise KeyInRequest
        if not template.name:
            raise WrongField("name", NameMissing())
        content = template.content
        if (content.description, content.required) != (before.description, before.required):
            content = _checked(content, text_format)
        wanted = {key: choice.id for key, choice in chosen.items()}
        choices = {key: held for key, held in before.choices.items() if held.id == wanted.get(key)}
        choices |= {
            field.key: Choice(ref.id, ref.name)
            for field in TEMPLATED
            for ref in field.known(catalog)
            if ref.id == wanted.get(field.key)
        }
        template = replace(template, content=replace(content, choices=choices))
        if not template.id:
            channel = Channel(owner.team_id, template.channel_id)
            there = await self.store.templates.of_project(owner.team_id, project.id, channel)
            if sum(other.channel_id == template.channel_id for other in there) >= MOST:
                raise TooManyTemplates(MOST)
        if not await self.store.templates.put(owner, template):
            raise WrongField("name", NameTaken(template.name))
        return project, template

    async def remove(self, owner: Owner, template_id: int) -> tuple[KnownProject, Template]:
        """Remove a template. Raises TemplateGone, TemplatesForbidden, NotLinked, ServiceError."""
        async with self.accounts.reading(owner) as session:
            project, template = await self.one(session, template_id)
            await self.changeable(session, project)
        await self.store.templates.remove(owner.team_id, template_id)
        return project, template


def copyable(issue: Issue, project_id: int) -> bool:
    """Whether a template may be made from the issue: everyone who sees the project will see what it says."""
    return not issue.is_private and issue.project is not None and issue.project.id == project_id


def _checked(content: Content, text_format: str) -> Content:
    """The content with headings, and the required ones as they are spelled there. Raises WrongField."""
    outline = read(content.description, text_format)
    description = written(outline, text_format)
    if len(description) > LONGEST:
        raise WrongField("description", DescriptionTooLong(len(description), LONGEST))
    required = []
    for part in content.required:
        if (heading := outline.heading(part)) is None:
            raise WrongField("required", UnknownPart(part, tuple(part.heading for part in outline.parts)))
        required.append(heading)
    return replace(content, description=description, required=tuple(dict.fromkeys(required)))
