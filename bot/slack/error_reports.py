"""Tells users about errors: in the form they are in, with a button that leads on, or privately."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from bot.errors import BotError, Forbidden, NotLinked, Unauthorized
from bot.slack.acknowledgements import Acknowledgement
from bot.slack.blocks import JSON, Message, button_row, section
from bot.slack.buttons import ResumeRequest
from bot.slack.errors import FormNotOpened, InternalError, Interrupted
from bot.slack.failures import Failures, log_if_undelivered
from bot.slack.measurement import Act
from bot.slack.posting import NotDelivered, reason
from bot.slack.replies import FormNotShown, Reply
from bot.slack.saved_payload import saveable
from bot.store.owner import Owner
from bot.store.saved_input import SavedInput

TOO_LATE = frozenset({"expired_trigger_id", "exchanged_trigger_id", "trigger_expired"})


class Linking(Protocol):
    """What the accounts feature does for a user who isn't linked."""

    def form(self, reply: Reply, why: str, saved: str) -> JSON:
        """The form that asks for an API key and, once it works, resumes the saved request."""

    def offer(self, reply: Reply, why: str, saved: str) -> Message:
        """The same as a message."""

    async def verify(self, owner: Owner) -> object:
        """Check the user's key with the service. Raises NotLinked if it doesn't work, or ServiceError."""


class ErrorReports:
    """Reports what a handler raises to the user, once."""

    def __init__(self, failures: Failures, saved: SavedInput, linking: Linking) -> None:
        self._failures = failures
        self._saved = saved
        self._linking = linking

    @asynccontextmanager
    async def reported(
        self, act: Act, reply: Reply, last_answer: float, ack: Acknowledgement | None = None
    ) -> AsyncIterator[None]:
        """Tell the user about any error in the block, once; re-raises a cancellation.

        `last_answer` is how long that may take, in seconds, when the process stops.
        """
        tell = self._failures.tell
        try:
            yield
        except asyncio.CancelledError:
            telling = tell(reply, Interrupted(), ack)
            await log_if_undelivered(asyncio.wait_for(telling, last_answer))
            raise
        except NotLinked as error:
            act.outcome = "not_linked"
            await log_if_undelivered(self._offer_link(reply, error, ack))
        except Unauthorized as error:
            act.failed(error)
            await log_if_undelivered(self._check_key(reply, error, ack))
        except BotError as error:
            act.failed(error)
            await log_if_undelivered(tell(reply, error, ack))
        except FormNotShown as error:
            act.failed(error)
            await log_if_undelivered(self._offer_form(reply, reason(error)))
        except NotDelivered as error:
            act.failed(error)
        except Exception as error:  # noqa: BLE001 - it is logged
            act.failed(error)
            await log_if_undelivered(tell(reply, InternalError(act.reference), ack))

    async def _check_key(self, reply: Reply, error: Unauthorized, ack: Acknowledgement | None) -> None:
        """After Unauthorized: tell whether the key is invalid or just lacks permission."""
        said: BotError = Forbidden(error.method, error.path)
        try:
            await self._linking.verify(reply.owner)
        except NotLinked as dead:
            await self._offer_link(reply, dead, ack)
            return
        except BotError:
            said = error
        await self._failures.tell(reply, said, ack)

    async def _offer_link(self, reply: Reply, why: NotLinked, ack: Acknowledgement | None = None) -> None:
        """Open the link form, and save the request so that it resumes once the user is linked."""
        saved = await self._saved.put(reply.owner, saveable(reply.interaction.payload))
        said = reply.wording.sentence(why)
        form = self._linking.form(reply, said, saved)
        if ack and ack.give(response_action="update", view=form):
            return
        if not await reply.shown(form):
            await reply.privately(self._linking.offer(reply, said, saved))

    async def _offer_form(self, reply: Reply, why: str | None) -> None:
        """Offer a button to open the form that Slack didn't show."""
        if reply.view_id:
            if why != "not_found":  # not_found: the user closed it
                await self._failures.tell(reply, FormNotOpened())
            return
        saved = await self._saved.put(reply.owner, saveable(reply.interaction.payload))
        said = "Slack timed out before the form opened." if why in TOO_LATE else "Slack didn't open the form."
        row = button_row("Open form", ResumeRequest(saved=saved))
        await reply.privately(Message(said, (section(said), row)))

    async def offer_link_only(self, reply: Reply, why: NotLinked) -> None:
        """Offer to link where nothing can be resumed afterwards."""
        await reply.privately(self._linking.offer(reply, reply.wording.sentence(why), ""))
