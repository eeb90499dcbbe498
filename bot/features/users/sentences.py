"""How the errors of accounts in the service are worded."""

from bot.errors import BotError
from bot.features.users.people import Unassignable, UserNotLinked
from bot.features.users.users import AdministratorsOnly, AlreadyLinked, CreationUnconfirmed, NoSuchUser
from bot.slack.wording import Wording


def sentence(error: BotError, wording: Wording) -> str | None:
    """The sentence for an error of this feature; None for any other error."""
    service, tracker = wording.service, wording.command("tracker")
    match error:
        case AdministratorsOnly():
            return f"Only {service} administrators can create and change accounts. Ask one of them."
        case AlreadyLinked(name=name):
            known = f" as {name}" if name is not None else ""
            return (
                f"That person is already linked{known}, and only they can change that. To create an account "
                f"that isn't linked to anyone, type `{tracker} user new`."
            )
        case Unassignable(name=name, project=project):
            return f"{name} can't be assigned issues in {project}. Choose someone else."
        case UserNotLinked():
            return (
                f"That person hasn't linked an account. Ask them to type `{tracker} link`, or use their name "
                f"or ID in {service}."
            )
        case NoSuchUser(user_id=user_id):
            return f"There's no user {user_id} in {service}, or you can't see them. Check the ID."
        case CreationUnconfirmed():
            return (
                f"{service} stopped responding, so the account may have been created. Check the user list "
                f"in {service}. If the account is there, close this form and ask its owner to type "
                f"`{tracker} link`. If it isn't, submit the form again."
            )
    return None
