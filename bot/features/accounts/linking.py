"""What a person who isn't linked gets in place of an answer: the link form, or a button that opens it."""

import json

from bot.features.accounts import views
from bot.features.accounts.accounts import Accounts
from bot.service.conventions import account_url
from bot.slack.blocks import JSON, Message
from bot.slack.replies import Reply
from bot.store.owner import Owner


class Linking:
    """Offers linking; what was asked is saved under an id and goes on afterwards."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    def form(self, reply: Reply, why: str, saved: str) -> JSON:
        """The form that takes a key; `why` says why it opened."""
        metadata = json.dumps({"continue": saved, "place": reply.place.as_json()})
        wording = reply.wording
        waiting = reply.interaction.typed if reply.give_back else None
        return views.link_form(
            wording.service, account_url(wording.base_url), said=why, waiting=waiting, metadata=metadata
        )

    def offer(self, reply: Reply, why: str, saved: str) -> Message:
        """The same as a message, for when no form can be opened."""
        waiting = reply.interaction.typed if reply.give_back else None
        return views.link_offer(reply.wording.service, why, waiting, saved)

    async def verify(self, owner: Owner) -> None:
        """Ask the service whether the person's key works. Raises NotLinked where it doesn't, ServiceError."""
        await self._accounts.whoami(owner)
