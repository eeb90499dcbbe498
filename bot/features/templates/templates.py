"""Templates for new issues. Users who may create issues in a project may use and change its templates."""

from collections.abc import Mapping
from dataclasses import replace

from bot.access.access import Access
from bot.access.accounts import Session
from bot.access.catalog import Catalog
from bot.access.name_matching import pick
from bot.access.people import has_permission
from bot.access.projects import KnownProject
from bot.errors import Forbidden, KeyInRequest, NotFound, UserError, WrongField
from bot.features.issues.fields import Draft
from bot.features.issues.issues import Issues
from bot.features.templates.applying import TEMPLATED, applied, read, written
from bot.service.conventions import CREATES_ISSUES, ProjectStatus
from bot.service.filters import IssueFilters
from bot.service.models import Issue, Ref
from bot.store.channels import Channel
from bot.store.owner import Owner
from bot.store.plans import FilterValue, TemplateContent
from bot.store.templates import Template

MAX_TEMPLATES = 10  # how many templates a project may have, and a channel for a project
NAME_LENGTH, DESCRIPTION_LENGTH = (
    60,
    3000,
)  # how long a name and a description may be, so that a form can hold it


def _template_gone() -> UserError:
    """The error for a template that was removed, or whose project the user can't see."""
    return UserError("That template was removed. Type `{/issue} template` to see the others.")


class Templates:
    """Reads and changes templates. The caller's key decides what the caller sees and may change."""

    def __init__(self, access: Access) -> None:
        self.access, self.issues = access, access.shared(Issues)

    async def listed(
        self, owner: Owner, project: str | None, channel: Channel | None
    ) -> tuple[KnownProject, tuple[Template, ...]]:
        """The named project, or the channel's, and its templates.

        Raises UserError, NotLinked, ServiceError.
        """
        async with self.access.accounts.reading(owner) as session:
            chosen = await self.access.projects.chosen(session, project, channel)
            return chosen, await self.offered(owner, chosen, channel)

    async def offered(
        self, owner: Owner, project: KnownProject, channel: Channel | None
    ) -> tuple[Template, ...]:
        """The templates for new issues of a project that the user can see, the channel's own first.

        A channel's template hides the project's with the same name.
        """
        templates = await self.access.store.templates.of_project(owner.team_id, project.id, channel)
        own = [template for template in templates if template.channel_id]
        names = {template.name.casefold() for template in own}
        return (*own, *(one for one in templates if not one.channel_id and one.name.casefold() not in names))

    async def named(
        self, session: Session, project: KnownProject, channel: Channel | None, name: str
    ) -> Template:
        """The template with that name, or ID as `#5`. Raises WrongField."""
        known = {template.id: template for template in await self.offered(session.owner, project, channel)}
        if not known:
            none_yet = UserError(
                "{project} has no templates yet. Leave out `template:`, or create one with "
                "`{/issue} template new`.",
                project=project.name,
            )
            raise WrongField("template", none_yet)
        try:
            ref = pick("template", name, [Ref(id=one.id, name=one.name) for one in known.values()])
        except UserError as error:
            raise WrongField("template", error) from None
        if ref.id not in known:
            raise WrongField("template", _template_gone())
        return known[ref.id]

    async def filled(self, owner: Owner, draft: Draft, channel: Channel | None, text_format: str) -> Draft:
        """The draft of a command, filled in from the template that it names.

        Raises WrongField for an unknown template, the other UserErrors, NotLinked, ServiceError.
        """
        async with self.access.accounts.reading(owner) as session:
            project = await self.access.projects.chosen(session, draft.project, channel)
            template = await self.named(session, project, channel, draft.template or "")
        return applied(draft, template, text_format)

    async def one(self, session: Session, template_id: int) -> tuple[KnownProject, Template]:
        """A template and its project. Raises UserError, also if the user can't see the project."""
        template = await self.access.store.templates.get(session.owner.team_id, template_id)
        if template is None:
            raise _template_gone()
        try:
            return await self.access.projects.by_id(session, template.project_id), template
        except (Forbidden, NotFound):
            raise _template_gone() from None

    async def changeable(self, session: Session, project: KnownProject) -> Catalog:
        """The choices for a project's templates. Raises UserError if the user can't change them."""
        closed = project.status == ProjectStatus.CLOSED
        allowed = (
            False if closed else await has_permission(self.access.client, session, project, CREATES_ISSUES)
        )
        if allowed is False:
            raise UserError(
                "You can't create issues in {project}, so you can't change its templates. "
                "Ask a project manager for permission.",
                project=project.name,
            )
        if allowed is None and not await self._has_created(session, project):
            raise UserError(
                "{service} doesn't say whether you can create issues in {project}. "
                "Create an issue there first. Then you can change its templates.",
                project=project.name,
            )
        return await self.access.catalogs.of(
            session, project.id, [field.choices for field in TEMPLATED if field.choices]
        )

    async def _has_created(self, session: Session, project: KnownProject) -> bool:
        mine = IssueFilters(project_id=project.id, author=("me",), status="any")
        issues = (await self.access.client.list_issues(session.key, mine, limit=1)).items
        return any(issue.author is not None and issue.author.id == session.user_id for issue in issues)

    async def save_issue(
        self, owner: Owner, number: int, name: str, text_format: str
    ) -> tuple[KnownProject, Template]:
        """Add a template that is made from an issue, to the issue's project; raises the errors of `save`."""
        async with self.access.accounts.reading(owner) as session:
            project = (await self.issues.one(session, number)).project
            issue = await self.to_copy(session, project or Ref(id=0), number)
        content = TemplateContent(description=issue.description or "")
        made = Template(0, project.id if project else 0, "", name, content)
        return await self.save(owner, made, choices_of(issue), text_format)

    async def to_copy(self, session: Session, project: KnownProject | Ref, number: int) -> Issue:
        """The issue that a template is made from. Raises UserError, ServiceError."""
        issue = await self.issues.one(session, number)
        if not copyable(issue, project.id):
            wrong = UserError(
                "#{number} is private or in another project. Choose an issue in this project that isn't "
                "private.",
                number=number,
            )
            raise WrongField("copy", wrong)
        return issue

    async def save(
        self, owner: Owner, template: Template, chosen: Mapping[str, FilterValue], text_format: str
    ) -> tuple[KnownProject, Template]:
        """Add a template, or change the one with its ID; `chosen` are its choices by option key.

        What the template has already isn't checked again: the project may have lost it since. Raises
        WrongField, UserError, NotLinked, ServiceError.
        """
        async with self.access.accounts.reading(owner) as session:
            before = TemplateContent()
            if template.id:
                project, stored = await self.one(session, template.id)
                before = stored.content
            else:
                project = await self.access.projects.by_id(session, template.project_id)
            catalog = await self.changeable(session, project)

        if session.key.get_secret_value() in repr(template):
            raise KeyInRequest
        if not template.name:
            raise WrongField("name", UserError("Enter a name."))
        if len(template.name) > NAME_LENGTH:
            raise WrongField("name", UserError("Use {most} characters or fewer.", most=NAME_LENGTH))

        description = template.content.description
        if description != before.description:
            description = _with_headings(description, text_format)
        choices = _choices(before.choices, chosen, catalog)
        content = replace(template.content, description=description, choices=choices)
        template = replace(template, content=content)

        if not template.id:
            await self._check_room(owner, template, project)
        if not await self.access.store.templates.put(owner, template):
            taken = UserError(
                "There's already a template called “{name}”. Choose another name.", name=template.name
            )
            raise WrongField("name", taken)
        return project, template

    async def _check_room(self, owner: Owner, template: Template, project: KnownProject) -> None:
        """Raise UserError if the project, or the channel, has as many templates as it may."""
        channel = Channel(owner.team_id, template.channel_id)
        there = await self.access.store.templates.of_project(owner.team_id, project.id, channel)
        if sum(other.channel_id == template.channel_id for other in there) >= MAX_TEMPLATES:
            raise UserError(
                "There are already {most} templates. Use `{/issue} template` to remove one first.",
                most=MAX_TEMPLATES,
            )

    async def remove(self, owner: Owner, template_id: int) -> tuple[KnownProject, Template]:
        """Remove a template. Raises UserError, NotLinked, ServiceError."""
        async with self.access.accounts.reading(owner) as session:
            project, template = await self.one(session, template_id)
            await self.changeable(session, project)
        await self.access.store.templates.remove(owner.team_id, template_id)
        return project, template


def choices_of(issue: Issue) -> dict[str, FilterValue]:
    """What a template takes over from an issue."""
    refs = {row.key: row.answered(issue) for row in TEMPLATED}
    return {key: FilterValue(ref.id, ref.name) for key, ref in refs.items() if isinstance(ref, Ref)}


def copyable(issue: Issue, project_id: int) -> bool:
    """Whether a template may be made from the issue: everyone who sees the project will see what it says."""
    return not issue.is_private and issue.project is not None and issue.project.id == project_id


def _choices(
    before: Mapping[str, FilterValue], chosen: Mapping[str, FilterValue], catalog: Catalog
) -> dict[str, FilterValue]:
    """The chosen values that the template has already, or that the project has."""
    ids = {key: choice.id for key, choice in chosen.items()}
    choices = {key: kept for key, kept in before.items() if kept.id == ids.get(key)}
    for field in TEMPLATED:
        if ref := next((one for one in field.known(catalog) if one.id == ids.get(field.key)), None):
            choices[field.key] = FilterValue(ref.id, ref.name)
    return choices


def _with_headings(description: str, text_format: str) -> str:
    """The description with its headings as headings. Raises WrongField."""
    described = written(read(description, text_format), text_format)
    if len(described) > DESCRIPTION_LENGTH:
        too_long = UserError(
            "The description has {length} characters. Shorten it to {longest}.",
            length=f"{len(described):,}",
            longest=f"{DESCRIPTION_LENGTH:,}",
        )
        raise WrongField("description", too_long)
    return described
