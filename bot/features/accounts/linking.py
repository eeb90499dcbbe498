"""Asks users who aren't linked to link their account, with a form or a button that opens it."""

from bot.features.accounts import views
from bot.features.accounts.accounts import Accounts
from bot.slack.blocks import JSON, Message
from bot.slack.replies import Reply
from bot.store.owner import Owner


class Linking:
    """Offers to link an account. The original request is saved under an ID and resumes after linking."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    def form(self, reply: Reply, why: str, saved: str) -> JSON:
        """The form for an API key. `why` is the reason it opened, `saved` the ID of the saved request."""
        return views.link_form(reply.wording, reply.place, saved, said=why, waiting=_waiting(reply))

    def offer(self, reply: Reply, why: str, saved: str) -> Message:
        """A message with a *Link account* button, for when no form can be opened."""
        return views.link_offer(why, _waiting(reply), saved)

    async def verify(self, owner: Owner) -> None:
        """Check the user's key with the service. Raises NotLinked, KeyRejected, ServiceError."""
        await self._accounts.whoami(owner)


def _waiting(reply: Reply) -> str | None:
    return reply.interaction.typed if reply.give_back else None
