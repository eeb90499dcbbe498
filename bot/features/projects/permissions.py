"""What a user may do in a project, according to the service."""

import asyncio
from collections.abc import Collection
from contextlib import suppress

from bot.errors import ServiceError
from bot.features.accounts.accounts import Session
from bot.features.projects.projects import KnownProject
from bot.service.client import Client
from bot.service.models import Ref

MOST_ROLES = 20


async def may(
    client: Client, session: Session, project: KnownProject | Ref, any_of: Collection[str]
) -> bool | None:
    """Whether the user has one of the service's permissions in the project; None if the service doesn't tell.

    Only a member's roles can be read: the service lists no permissions for anyone else.
    """
    with suppress(ServiceError):
        user = await client.get_user(session.key, include={"memberships"})
        if user.admin:
            return True
        roles = {
            role.id
            for membership in user.memberships
            if membership.project and membership.project.id == project.id
            for role in membership.roles
        }
        if not 0 < len(roles) <= MOST_ROLES:
            return None
        found = await asyncio.gather(*(client.optional.role(session.key, role) for role in roles))
        permissions = [role.permissions if role else None for role in found]
        if any(not names.isdisjoint(any_of) for names in map(frozenset, filter(None, permissions))):
            return True
        return None if None in permissions else False
    return None
