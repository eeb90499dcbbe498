"""Finds out what the service's refusal of an issue is about."""

from contextlib import suppress
from dataclasses import dataclass

from bot.errors import Refused, ServiceError, UserError, WrongField
from bot.features.accounts.accounts import Accounts
from bot.features.issues.errors import IssueRefused
from bot.features.issues.fields import FIELDS, Meant, fields_named
from bot.features.projects.catalog import Catalogs, CustomField, Part
from bot.features.users.people import Unassignable
from bot.service.models import Ref
from bot.store.owner import Owner

ASSIGNEE = FIELDS["to"].name


@dataclass(frozen=True)
class Refusals:
    """Explains refusals with the requesting user's key."""

    accounts: Accounts
    catalogs: Catalogs

    async def explained(
        self, owner: Owner, error: Refused, project_id: int | None, assignee: Meant | None
    ) -> IssueRefused | WrongField:
        """The refusal with the fields that it names, or the assignee who can't be assigned; never raises.

        The service's messages may be in any language, so its list of members decides about the assignee, too.
        """
        custom_fields: tuple[CustomField, ...] = ()
        who, project, barred = assignee if isinstance(assignee, Ref) else None, "", False
        parts: list[Part] = ["custom_fields", "assignees"] if who else ["custom_fields"]
        with suppress(ServiceError, UserError):
            async with self.accounts.reading(owner) as session:
                catalog = await self.catalogs.of(session, project_id, parts)
                project = await self.catalogs.project_name(session, project_id)
                listed = who is not None and await self.catalogs.lists_members(session, project_id)
            custom_fields = catalog.custom_fields
            if who and listed:
                barred = who.id not in {ref.id for ref in catalog.lists["assignees"]}
        fields = fields_named(error.errors, custom_fields)
        about_assignee = ASSIGNEE in fields if fields else barred
        if who and project and about_assignee and len(error.errors) == 1:
            return WrongField(ASSIGNEE, Unassignable(who.name, project))
        return IssueRefused(error, fields)
