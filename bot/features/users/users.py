"""Shows the service's users, and creates and changes them for administrators.

The service's answer to an administrator contains the user's API key (docs/service.md, Users). For a new
account the bot uses it to link the Slack user. No key leaves this module otherwise.
"""

import asyncio
from dataclasses import dataclass
from enum import Enum
from typing import Literal

import structlog

from bot.errors import Forbidden, NotFound, OutcomeUnknown, ServiceError, StoredSecretError, UserError
from bot.features.accounts.accounts import Accounts, Session, full_name
from bot.features.users.people import People
from bot.service.client import Client
from bot.service.inputs import NewUser, UserChanges
from bot.service.models import User
from bot.store.owner import Owner
from bot.store.store import Store

log = structlog.get_logger(__name__)

ADMINISTRATORS = "{service} lets only its administrators create and change accounts: ask one of them."

UserTarget = Owner | int | Literal["me"]
"""A Slack user, the service's user ID, or `me` for the caller."""


@dataclass(frozen=True)
class Details:
    """The values of an account form."""

    firstname: str = ""
    lastname: str = ""
    login: str = ""
    mail: str = ""


class LinkOutcome(Enum):
    """The outcome of linking a Slack user to their new account."""

    DONE = "linked with the key from the response"
    NO_KEY = "the response had no working key"
    ALREADY_LINKED = "the user linked an account in the meantime"
    NOT_STORED = "the key could not be stored"
    NO_SLACK_USER = "the account has no Slack user"


@dataclass(frozen=True)
class CreatedAccount:
    """A new account, without its API key."""

    user: User
    linking: LinkOutcome


class Users:
    """Reads and writes accounts with the caller's key."""

    def __init__(self, client: Client, store: Store, accounts: Accounts, people: People) -> None:
        self._client = client
        self._store = store
        self._accounts = accounts
        self._people = people

    async def show(self, owner: Owner, target: UserTarget) -> User:
        """A user as the caller sees them. Raises UserError if there is none, NotLinked, ServiceError."""
        async with self._accounts.reading(owner) as session:
            return await self._read(session, target)

    async def editable(self, owner: Owner, target: UserTarget) -> User:
        """Like `show`, but raises UserError unless the caller is an administrator."""
        _, user = await asyncio.gather(self.require_administrator(owner), self.show(owner, target))
        return user

    async def require_administrator(self, owner: Owner) -> None:
        """Raise UserError unless the caller is an administrator. Raises NotLinked, ServiceError too.

        Checked before a form opens. The service checks again when it is submitted.
        """
        if (await self._accounts.whoami(owner)).admin is False:
            raise UserError(ADMINISTRATORS)

    async def require_unlinked(self, slack_user: Owner) -> None:
        """Raise UserError if the Slack user is linked. Only they can replace their own link."""
        try:
            link = await self._store.links.get(slack_user)
        except StoredSecretError:
            name = ""
        else:
            if link is None:
                return
            name = f", as {link.name}"
        raise UserError(
            f"The person you mentioned has linked an account already{name}: only they can link another. "
            "`/tracker user new` alone makes an account that nobody is linked to."
        )

    async def create(
        self, owner: Owner, details: Details, slack_user: Owner | None, *, by_mail: bool
    ) -> CreatedAccount:
        """Create the account and link the Slack user with the key from the response.

        The service generates a password to be changed at the first login, and emails it if `by_mail`.
        Raises UserError, NotLinked and ServiceError, including OutcomeUnknown since users can't be looked up.
        """
        session = await self._accounts.writing(owner)
        if slack_user is not None:
            await self.require_unlinked(slack_user)
        new = NewUser(
            login=details.login,
            firstname=details.firstname,
            lastname=details.lastname,
            mail=details.mail,
            generate_password=True,
            must_change_passwd=True,
            send_information=by_mail,
        )
        try:
            user = await self._client.create_user(session.key, new)
        except Forbidden:
            raise UserError(ADMINISTRATORS) from None
        linking = LinkOutcome.NO_SLACK_USER if slack_user is None else await self._link(slack_user, user)
        return CreatedAccount(_without_key(user), linking)

    async def change(self, owner: Owner, user_id: int, details: Details) -> None:
        """Change the account.

        Raises UserError, NotLinked and ServiceError, and OutcomeUnknown only if no read confirms the change.
        """
        session = await self._accounts.writing(owner)
        changes = UserChanges(
            login=details.login, firstname=details.firstname, lastname=details.lastname, mail=details.mail
        )
        try:
            await self._client.update_user(session.key, user_id, changes)
        except Forbidden:
            raise UserError(ADMINISTRATORS) from None
        except NotFound:
            raise _no_such_user(user_id) from None
        except OutcomeUnknown:
            if not await self._has_details(session, user_id, details):
                raise

    async def _read(self, session: Session, target: UserTarget) -> User:
        if isinstance(target, Owner):
            user_id = (await self._people.linked(target)).id
        else:
            user_id = session.user_id if target == "me" else target
        try:
            return _without_key(await self._client.get_user(session.key, user_id, ("memberships", "groups")))
        except NotFound:
            raise _no_such_user(user_id) from None

    async def _link(self, slack_user: Owner, user: User) -> LinkOutcome:
        """Link the Slack user with the key from the response, after checking whose key it is."""
        if user.api_key is None:
            return LinkOutcome.NO_KEY
        try:
            own = await self._client.get_user(user.api_key, "current")
        except ServiceError:
            return LinkOutcome.NO_KEY
        if own.id != user.id:
            return LinkOutcome.NO_KEY
        try:
            added = await self._store.links.add(slack_user, user.api_key, user.id, full_name(user))
        except Exception:  # the account exists, so a failed link is not a failed creation
            log.exception("new account not linked", action="user.not_linked", user_id=user.id)
            return LinkOutcome.NOT_STORED
        return LinkOutcome.DONE if added else LinkOutcome.ALREADY_LINKED

    async def _has_details(self, session: Session, user_id: int, details: Details) -> bool:
        try:
            return details_of(await self._client.get_user(session.key, user_id)) == details
        except ServiceError:
            return False


def details_of(user: User) -> Details:
    """The initial values of the form for changing an account."""
    return Details(user.firstname, user.lastname, user.login or "", user.mail or "")


def _without_key(user: User) -> User:
    return user.model_copy(update={"api_key": None})


def _no_such_user(user_id: int) -> UserError:
    return UserError(f"There is no user {user_id} in {{service}}, or you can't see them.")
