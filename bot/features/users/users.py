"""Shows the service's users, and creates and changes them for administrators.

The service's answer to an administrator contains the user's API key (docs/service.md, Users). For a new
account the bot uses it to link the Slack user. No key leaves this module otherwise.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import Enum, auto

import structlog

from bot.errors import Forbidden, NotFound, OutcomeUnknown, ServiceError, StoredSecretError, UserError
from bot.features.accounts.accounts import Accounts, Session, full_name
from bot.features.users.people import People, Who
from bot.service.client import Client
from bot.service.inputs import NewUser, UserChanges
from bot.service.models import User
from bot.store.owner import Owner
from bot.store.store import Store

log = structlog.get_logger(__name__)


class AdministratorsOnly(UserError):
    """Only the service's administrators create and change accounts."""


class AlreadyLinked(UserError):
    """The Slack user is linked, as `name` if the link can be read, and only they can change that."""

    name: str | None


class NoSuchUser(UserError):
    """The service has no user with that ID, or hides them from the caller."""

    user_id: int


class CreationUnconfirmed(UserError):
    """The account may have been created; users can't be looked up."""


@dataclass(frozen=True)
class Details:
    """The values of an account form."""

    firstname: str = ""
    lastname: str = ""
    login: str = ""
    mail: str = ""


class LinkOutcome(Enum):
    """The outcome of linking a Slack user to their new account."""

    LINKED = auto()
    NO_KEY = auto()
    """The response had no working key."""
    ALREADY_LINKED = auto()
    """The Slack user linked an account in the meantime."""
    NOT_STORED = auto()
    """The key could not be stored."""
    NO_SLACK_USER = auto()
    """The account is for nobody in Slack."""


@dataclass(frozen=True)
class CreatedAccount:
    """A new account, without its API key."""

    user: User
    linking: LinkOutcome


@dataclass(frozen=True)
class Users:
    """Reads and writes accounts with the caller's key."""

    client: Client
    store: Store
    accounts: Accounts
    people: People

    async def show(self, owner: Owner, target: Who) -> User:
        """A user, by ID or as linked, as the caller sees them. Raises NoSuchUser, UserNotLinked."""
        async with self.accounts.reading(owner) as session:
            return await self._read(session, target)

    async def editable(self, owner: Owner, target: Who) -> User:
        """Like `show`, but raises AdministratorsOnly unless the caller is one."""
        refused, user = await asyncio.gather(
            self.require_administrator(owner), self.show(owner, target), return_exceptions=True
        )
        if isinstance(refused, BaseException):  # first, whichever failed first
            raise refused
        if isinstance(user, BaseException):
            raise user
        return user

    async def require_administrator(self, owner: Owner) -> None:
        """Raise AdministratorsOnly unless the caller is one; the service checks again when a form is sent."""
        if (await self.accounts.whoami(owner)).admin is False:
            raise AdministratorsOnly

    async def require_unlinked(self, slack_user: Owner) -> None:
        """Raise AlreadyLinked if the Slack user is linked. Only they can replace their own link."""
        try:
            link = await self.store.links.get(slack_user)
        except StoredSecretError:
            raise AlreadyLinked(None) from None
        if link is not None:
            raise AlreadyLinked(link.name)

    async def create(
        self, owner: Owner, details: Details, slack_user: Owner | None, *, by_mail: bool
    ) -> CreatedAccount:
        """Create the account and link the Slack user with the key from the response.

        The service generates a password to be changed at the first login, and emails it if `by_mail`.
        Raises AlreadyLinked, AdministratorsOnly, CreationUnconfirmed.
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
            raise AdministratorsOnly from None
        except OutcomeUnknown:
            raise CreationUnconfirmed from None
        linking = LinkOutcome.NO_SLACK_USER if slack_user is None else await self._link(slack_user, user)
        return CreatedAccount(_without_key(user), linking)

    async def change(self, owner: Owner, user_id: int, changed: Mapping[str, str]) -> None:
        """Change these `Details` of an account.

        Raises AdministratorsOnly, NoSuchUser, and OutcomeUnknown only if no read confirms the change.
        """
        session = await self.accounts.writing(owner)
        if not changed:
            return
        try:
            await self.client.update_user(session.key, user_id, UserChanges.model_validate(changed))
        except Forbidden:
            raise AdministratorsOnly from None
        except NotFound:
            raise NoSuchUser(user_id) from None
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
            raise NoSuchUser(user_id) from None

    async def _link(self, slack_user: Owner, user: User) -> LinkOutcome:
        """Link the Slack user with the key from the response, after checking whose key it is."""
        if user.api_key is None:
            return LinkOutcome.NO_KEY
        try:
            works = (await self.client.get_user(user.api_key, "current")).id == user.id
        except ServiceError:
            works = False
        if not works:
            return LinkOutcome.NO_KEY
        try:
            added = await self.store.links.add(slack_user, user.api_key, user.id, full_name(user))
        except Exception:  # the account exists, so a failed link is not a failed creation
            log.exception("new account not linked", action="user.not_linked", user_id=user.id)
            return LinkOutcome.NOT_STORED
        return LinkOutcome.LINKED if added else LinkOutcome.ALREADY_LINKED


def details_of(user: User) -> Details:
    """The initial values of the form for changing an account."""
    return Details(user.firstname, user.lastname, user.login or "", user.mail or "")


def _without_key(user: User) -> User:
    return user.model_copy(update={"api_key": None})
