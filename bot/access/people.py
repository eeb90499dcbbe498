"""Finds the service's user for `me`, a Slack user or a typed name, and what users may do in a project."""

import asyncio
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

from bot.access.accounts import Session
from bot.access.catalog import Catalogs
from bot.access.name_matching import NameIndex, UnclearName
from bot.access.projects import KnownProject
from bot.errors import ServiceError, UserError
from bot.service.client import Client
from bot.service.models import Ref
from bot.store.owner import Owner
from bot.store.store import Store

Who = Owner | str  # a Slack user, `me`, or a name or ID as typed
MAX_ROLES = 20


def unassignable(name: str, project: str) -> UserError:
    """The error for a person who can't be assigned issues in the project."""
    return UserError(
        "{name} can't be assigned issues in {project}. Choose someone else.", name=name, project=project
    )


@dataclass(frozen=True)
class People:
    store: Store
    catalogs: Catalogs

    async def assignee(self, session: Session, who: Who, known: NameIndex, project_id: int | None) -> Ref:
        """Find a member. Raises UserError for anyone else, if the service lists the members."""
        try:
            return await self.find(session, who, known)
        except UnclearName as unknown:
            if unknown.matches:
                raise
            people = (await self.catalogs.of(session, project_id, ["people"])).lists["people"]
            try:
                person = await self.find(session, who, NameIndex("person", people))
            except UnclearName:
                raise unknown from None
        if not await self.catalogs.lists_members(session, project_id):
            return person
        raise unassignable(person.name, await self.catalogs.project_name(session, project_id))

    async def find(self, session: Session, who: Who, people: NameIndex) -> Ref:
        """The matching user. Raises UnclearName, and UserError for one who isn't linked."""
        if who == "me":
            return Ref(id=session.user_id, name=session.name)
        if isinstance(who, Owner):
            return await self.linked(who)
        return people.pick(who.removeprefix("@"))

    async def linked(self, slack_user: Owner) -> Ref:
        """The user that a Slack user is linked to. Raises UserError."""
        link = await self.store.links.get(slack_user)
        if link is None:
            raise UserError(
                "That person hasn't linked an account. Ask them to type `{/tracker link}`, or use their name "
                "or ID in {service}."
            )
        return Ref(id=link.user_id, name=link.name)


async def has_permission(
    client: Client, session: Session, project: KnownProject | Ref, any_of: Collection[str]
) -> bool | None:
    """Whether the user has one of the service's permissions in the project; None if the service doesn't tell.

    Only a member's roles can be read: the service lists no permissions for anyone else.
    """
    with suppress(ServiceError):
        user = await client.get_user(session.key, include={"memberships"})
        if user.admin:
            return True
        memberships = [one for one in user.memberships if one.project and one.project.id == project.id]
        roles = {role.id for role in chain.from_iterable(one.roles for one in memberships)}
        if not 0 < len(roles) <= MAX_ROLES:
            return None
        known_roles = await asyncio.gather(*(client.optional.role(session.key, role) for role in roles))
        permissions = [role.permissions if role else None for role in known_roles]
        if any(not names.isdisjoint(any_of) for names in map(frozenset, filter(None, permissions))):
            return True
        return None if None in permissions else False
    return None
