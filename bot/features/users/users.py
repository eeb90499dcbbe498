"""Shows the service's users, and creates and changes them for administrators.

The service's response to an administrator contains the user's API key (docs/service.md, Users). For a new
account the bot uses it to link the Slack user. No key leaves this module otherwise.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass

import structlog

from bot.access.access import Access
from bot.access.accounts import Session, full_name
from bot.access.name_matching import pick
from bot.access.people import Who
from bot.errors import Forbidden, KeyUnreadable, NotFound, NotLinked, OutcomeUnknown, ServiceError, UserError
from bot.service.inputs import NewUser, UserChanges
from bot.service.models import User
from bot.store.owner import Owner

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class UserProfile:
    firstname: str = ""
    lastname: str = ""
    login: str = ""
    mail: str = ""


class Users:
    def __init__(self, access: Access) -> None:
        self.client, self.store = access.client, access.store
        self.accounts, self.people, self.catalogs = access.accounts, access.people, access.catalogs

    async def show(self, owner: Owner, target: Who) -> User:
        """A user, by ID or as linked, as the caller sees them. Raises UserError."""
        async with self.accounts.reading(owner) as session:
            if isinstance(target, str) and target != "me" and not target.isdecimal():
                known = (await self.catalogs.of(session, None, ["people"])).lists["people"]
                target = str(pick("person", target.removeprefix("@"), known).id)
            return await self._read(session, target)

    async def editable(self, owner: Owner, target: Who) -> User:
        """Like `show`, but raises UserError unless the caller is one."""
        refused, user = await asyncio.gather(
            self.require_administrator(owner), self.show(owner, target), return_exceptions=True
        )
        if isinstance(refused, BaseException):  # it comes first, even if the others failed earlier
            raise refused
        if isinstance(user, BaseException):
            raise user
        return user

    async def require_administrator(self, owner: Owner) -> None:
        """Raise UserError unless the caller is one; the service checks again when a form is sent."""
        if (await self.accounts.whoami(owner)).admin is False:
            raise _administrators_only()

    async def require_unlinked(self, slack_user: Owner) -> None:
        """Raise UserError if the Slack user is linked. Only they can replace their own link."""
        try:
            known = f" as {(await self.store.links.required(slack_user)).name}"
        except KeyUnreadable:
            known = ""
        except NotLinked:
            return
        raise UserError(
            "That person is already linked{known}, and only they can change that. To create an account "
            "that isn't linked to anyone, type `{/tracker user new}`.",
            known=known,
        )

    async def create(
        self, owner: Owner, details: UserProfile, slack_user: Owner | None, *, by_mail: bool
    ) -> tuple[User, bool]:
        """Create the account, returned without its API key, and link the Slack user with that key, if one is
        given; also returns whether they are linked.

        The service generates a password to be changed at the first login, and emails it if `by_mail`.
        Raises UserError if that can't be done, or its outcome is unknown.
        """
        session = await self.accounts.writing(owner)
        if slack_user is not None:
            await self.require_unlinked(slack_user)
        new = NewUser(
            **asdict(details), generate_password=True, must_change_passwd=True, send_information=by_mail
        )
        try:
            user = await self.client.create_user(session.key, new)
        except Forbidden:
            raise _administrators_only() from None
        except OutcomeUnknown:
            raise UserError(
                "{service} stopped responding, so the account may have been created. Check the user list "
                "in {service}. If the account is there, close this form and ask its owner to type "
                "`{/tracker link}`. If it isn't, submit the form again."
            ) from None
        linked = slack_user is not None and await self._link(slack_user, user)
        return _without_key(user), linked

    async def change(self, owner: Owner, user_id: int, changed: Mapping[str, str]) -> None:
        """Change these `UserProfile` of an account.

        Raises UserError, and OutcomeUnknown only if no read confirms the change.
        """
        session = await self.accounts.writing(owner)
        if not changed:
            return

        try:
            await self.client.update_user(session.key, user_id, UserChanges.model_validate(changed))
        except Forbidden:
            raise _administrators_only() from None
        except NotFound:
            raise _no_such_user(user_id) from None
        except OutcomeUnknown:
            with suppress(ServiceError):
                now = asdict(details_of(await self.client.get_user(session.key, user_id)))
                if changed.items() <= now.items():
                    return
            raise

    async def _read(self, session: Session, target: Who) -> User:
        if isinstance(target, Owner):
            user_id = (await self.people.linked(target)).id
        else:
            user_id = session.user_id if target == "me" else int(target)
        try:
            return _without_key(await self.client.get_user(session.key, user_id, ("memberships", "groups")))
        except NotFound:
            raise _no_such_user(user_id) from None

    async def _link(self, slack_user: Owner, user: User) -> bool:
        """Link the Slack user with the key from the response, after checking whose key it is; returns whether
        they are linked.
        """
        if user.api_key is None:
            return False
        try:
            works = (await self.client.get_user(user.api_key, "current")).id == user.id
            return works and await self.store.links.add(slack_user, user.api_key, user.id, full_name(user))
        except Exception:  # the account exists, so a failed link is not a failed creation
            log.exception("new account not linked", action="user.not_linked", user_id=user.id)
            return False


def details_of(user: User) -> UserProfile:
    return UserProfile(user.firstname, user.lastname, user.login or "", user.mail or "")


def _administrators_only() -> UserError:
    return UserError("Only {service} administrators can create and change accounts. Ask one of them.")


def _no_such_user(user_id: int) -> UserError:
    return UserError(
        "There's no user {user_id} in {service}, or you can't see them. Check the ID.", user_id=user_id
    )


def _without_key(user: User) -> User:
    return user.model_copy(update={"api_key": None})
