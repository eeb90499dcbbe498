"""The service's users: shown to whoever sees them, created and changed by administrators.

The answer to an administrator carries the user's key: a secret (service-facts.md, Users). A new account's
links the Slack user whom the account is for; beyond that no key leaves this module.
"""

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

Whose = Owner | int | Literal["me"]
"""A Slack user, the service's number, or oneself."""


@dataclass(frozen=True)
class Details:
    """What an account's form holds."""

    firstname: str = ""
    lastname: str = ""
    login: str = ""
    mail: str = ""


class Linking(Enum):
    """What became of linking the Slack user whom an account was created for."""

    DONE = "linked with the key from the service's answer"
    NO_KEY = "the answer held no key that works"
    LINKED_MEANWHILE = "they have linked an account themselves, which stays"
    NOT_KEPT = "the key could not be stored"
    NOBODY = "the account is for no Slack user"


@dataclass(frozen=True)
class Made:
    """An account that now exists, without its key."""

    user: User
    linking: Linking


class Users:
    """Reads and writes accounts with the key of whoever asks."""

    def __init__(self, client: Client, store: Store, accounts: Accounts, people: People) -> None:
        self._client = client
        self._store = store
        self._accounts = accounts
        self._people = people

    async def show(self, owner: Owner, whose: Whose) -> User:
        """A user as this person sees them. Raises UserError when they see none, NotLinked, ServiceError."""
        async with self._accounts.reading(owner) as session:
            return await self._read(session, whose)

    async def editable(self, owner: Owner, whose: Whose) -> User:
        """As `show`, for administrators: raises UserError for anybody else."""
        await self.administering(owner)
        return await self.show(owner, whose)

    async def administering(self, owner: Owner) -> None:
        """Raises UserError for who is no administrator, NotLinked, ServiceError.

        Asked before a form is filled in; the service has the last word when it is sent.
        """
        if (await self._accounts.whoami(owner)).admin is False:
            raise UserError(ADMINISTRATORS)

    async def unlinked(self, slack_user: Owner) -> None:
        """Raises UserError when the Slack user is linked: nobody else may put another account there."""
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
    ) -> Made:
        """Create the account once, and link the Slack user it is for with the key from the answer.

        Its password is made up, to be changed at the first login; `by_mail` has the service mail it.
        Raises UserError, NotLinked, ServiceError; OutcomeUnknown too, as users can't be looked up.
        """
        session = await self._accounts.writing(owner)
        if slack_user is not None:
            await self.unlinked(slack_user)
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
        linking = Linking.NOBODY if slack_user is None else await self._link(slack_user, user)
        return Made(_keyless(user), linking)

    async def change(self, owner: Owner, user_id: int, details: Details) -> None:
        """Change the account. Raises UserError, NotLinked, ServiceError; OutcomeUnknown only after a look."""
        session = await self._accounts.writing(owner)
        changes = UserChanges(
            login=details.login, firstname=details.firstname, lastname=details.lastname, mail=details.mail
        )
        try:
            await self._client.update_user(session.key, user_id, changes)
        except Forbidden:
            raise UserError(ADMINISTRATORS) from None
        except NotFound:
            raise _nobody(user_id) from None
        except OutcomeUnknown:
            if not await self._has_become(session, user_id, details):
                raise

    async def _read(self, session: Session, whose: Whose) -> User:
        if isinstance(whose, Owner):
            user_id = (await self._people.linked(whose)).id
        else:
            user_id = session.user_id if whose == "me" else whose
        try:
            return _keyless(await self._client.get_user(session.key, user_id, ("memberships", "groups")))
        except NotFound:
            raise _nobody(user_id) from None

    async def _link(self, slack_user: Owner, user: User) -> Linking:
        """Link with the key that the answer gave, once it has proved to be this user's."""
        if user.api_key is None:
            return Linking.NO_KEY
        try:
            own = await self._client.get_user(user.api_key, "current")
        except ServiceError:
            return Linking.NO_KEY
        if own.id != user.id:
            return Linking.NO_KEY
        try:
            added = await self._store.links.add(slack_user, user.api_key, user.id, full_name(user))
        except Exception:  # the account exists: that it can't be linked must not make a failure of it
            log.exception("not linked", action="user.not_linked", user_id=user.id)
            return Linking.NOT_KEPT
        return Linking.DONE if added else Linking.LINKED_MEANWHILE

    async def _has_become(self, session: Session, user_id: int, details: Details) -> bool:
        try:
            return details_of(await self._client.get_user(session.key, user_id)) == details
        except ServiceError:
            return False


def details_of(user: User) -> Details:
    """What the form for changing an account begins with."""
    return Details(user.firstname, user.lastname, user.login or "", user.mail or "")


def _keyless(user: User) -> User:
    return user.model_copy(update={"api_key": None})


def _nobody(user_id: int) -> UserError:
    return UserError(f"There is no user {user_id} in {{service}}, or you can't see them.")
