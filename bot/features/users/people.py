"""Finds the service's user for `me`, a Slack user or a typed name."""

from dataclasses import dataclass

from bot.errors import StoredSecretError, UserError
from bot.features.accounts.accounts import Session
from bot.features.name_matching import AmbiguousName, Names, UnknownName
from bot.features.projects.catalog import Catalogs
from bot.service.models import Ref
from bot.store.owner import Owner
from bot.store.store import Store

Who = Owner | str
"""A Slack user, `me`, or a name or ID as typed."""


class UserNotLinked(UserError):
    """The mentioned Slack user isn't linked."""


class Unassignable(UserError):
    """A person who can't be assigned issues in the project."""

    name: str
    project: str


@dataclass(frozen=True)
class People:
    store: Store
    catalogs: Catalogs

    async def assignee(self, session: Session, who: Who, known: Names, project_id: int | None) -> Ref:
        """As `find`. Raises Unassignable for others than members, if the service lists those."""
        try:
            return await self.find(session, who, known)
        except UnknownName as unknown:
            people = (await self.catalogs.of(session, project_id, ["people"])).lists["people"]
            try:
                person = await self.find(session, who, Names("person", people))
            except (UnknownName, AmbiguousName):
                raise unknown from None
        if not await self.catalogs.lists_members(session, project_id):
            return person
        raise Unassignable(person.name, await self.catalogs.project_name(session, project_id))

    async def find(self, session: Session, who: Who, people: Names) -> Ref:
        """The matching user. Raises UserNotLinked, UnknownName, AmbiguousName."""
        if who == "me":
            return Ref(id=session.user_id, name=session.name)
        if isinstance(who, Owner):
            return await self.linked(who)
        return people.pick(who.removeprefix("@"))

    async def linked(self, slack_user: Owner) -> Ref:
        """The user that a Slack user is linked to. Raises UserNotLinked."""
        try:
            link = await self.store.links.get(slack_user)
        except StoredSecretError:
            link = None
        if link is None:
            raise UserNotLinked
        return Ref(id=link.user_id, name=link.name)
