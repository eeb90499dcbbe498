"""What the user sees when a user can't be found, created or changed."""

from bot.errors import BotError
from bot.features.users.people import UserNotLinked
from bot.features.users.users import AdministratorsOnly, AlreadyLinked, CreationUnconfirmed, NoSuchUser
from bot.slack.wording import Wording


def sentence(error: BotError, wording: Wording) -> str | None:
    """The sentence for an error of this feature; None for any other error."""
    service, tracker = wording.service, wording.command("tracker")
    match error:
        case AdministratorsOnly():
            return f"{service} lets only its administrators create and change accounts: ask one of them."
        case AlreadyLinked(name=name):
            known = f", as {name}" if name is not None else ""
            return (
                f"The person you mentioned has linked an account already{known}: only they can link another. "
                f"`{tracker} user new` alone makes an account that nobody is linked to."
            )
        case UserNotLinked():
            return (
                f"The person you mentioned hasn't linked an account yet: ask them to use `{tracker} link`, "
                f"or write their name or number as {service} has it."
            )
        case NoSuchUser(user_id=user_id):
            return f"There is no user {user_id} in {service}, or you can't see them."
        case CreationUnconfirmed():
            return (
                f"{service} broke off before it answered, so the account may have been created or not, and I "
                "can't look people up there. Look in its list of users: if the account is there, close this "
                f"form, and whose it is links it with `{tracker} link`; if not, send the form again."
            )
    return None
