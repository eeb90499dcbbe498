"""Answers one interaction: privately, in the conversation, or in a form."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import BotError
from bot.slack import posting
from bot.slack.audience import Audiences
from bot.slack.blocks import JSON, Block, Message, sentence
from bot.slack.buttons import ActionExpired
from bot.slack.directory import Profile, Profiles
from bot.slack.forms import notice
from bot.slack.interaction import ButtonPress, FormSubmission, Interaction, Place, Shortcut
from bot.slack.outgoing.outbox import Outbox
from bot.slack.posting import OUTCOME_UNKNOWN, SLACK_FAILED, Announced, reason
from bot.slack.retractable import retractable
from bot.slack.wording import Wording
from bot.store.channels import Channel
from bot.store.owner import Owner

log = structlog.get_logger(__name__)


class FormNotShown(SlackApiError):
    """Slack didn't open or update a form. Nothing was done yet: results are delivered in another way too."""

    def __init__(self, why: BaseException) -> None:
        super().__init__("no form was shown", getattr(why, "response", None))  # type: ignore[no-untyped-call] # slack_sdk's


@dataclass(frozen=True)
class Platform:
    """What every reply needs, built once."""

    wording: Wording
    audiences: Audiences
    profiles: Profiles
    outbox: Outbox
    linked: Callable[[Owner], Awaitable[object]]
    """Raises NotLinked for a user without a linked account."""


class Acknowledgement:
    """The response to a form submission: given once, within Slack's three seconds."""

    def __init__(self) -> None:
        self._given = asyncio.Event()
        self._body: JSON = {}

    def give(self, **body: object) -> bool:
        """Respond; returns False if a response was already given."""
        if self._given.is_set():
            return False
        self._body = body
        self._given.set()
        return True

    async def body(self, seconds: float) -> JSON:
        """The response; empty, which closes the form, if none is given within `seconds`."""
        try:
            await asyncio.wait_for(self._given.wait(), seconds)
        except TimeoutError:
            self._given.set()
        return self._body


@dataclass
class Reply:
    """The ways to answer the user who caused an interaction.

    `view_id` is the form that this reply opened or that the interaction came from. `answered` is set once the
    user has been answered; copies made by `at` share it.
    """

    slack: AsyncWebClient
    interaction: Interaction
    platform: Platform
    place: Place
    view_id: str | None = None
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    acknowledgement: Acknowledgement | None = None
    """What Slack waits for after a form was submitted."""
    attempted_at: datetime | None = None
    """When an earlier submission of this form began that was lost in a crash."""
    committed: bool = False
    """Set once a form's write succeeded: the form must not act again, whatever fails after that."""
    give_back: bool = True
    """Whether an error quotes the typed command; not if it may contain a key."""
    recovery: Callable[[BotError], Awaitable[Block | None]] | None = None
    """Makes the buttons below an error, such as *Open form* with what was typed."""
    progress: Callable[[], str] | None = None
    """How far a form's work is, in mrkdwn, if its handler can tell."""

    @classmethod
    def to(cls, interaction: Interaction, slack: AsyncWebClient, platform: Platform) -> "Reply":
        """The reply to an interaction, with the client of its workspace."""
        modal = interaction.modal
        return cls(slack, interaction, platform, interaction.place, modal.id if modal else None)

    @property
    def owner(self) -> Owner:
        return self.interaction.owner

    @property
    def wording(self) -> Wording:
        return self.platform.wording

    @property
    def channel(self) -> Channel | None:
        return Channel(self.owner.team_id, self.place.channel_id) if self.place.channel_id else None

    @property
    def in_form(self) -> bool:
        """Whether a button in a form was pressed, so that the answer belongs in a form too."""
        return isinstance(self.interaction, ButtonPress) and self.interaction.modal is not None

    def acknowledge(self, **body: object) -> bool:
        """Respond to a form's submission; returns False if that isn't, or is no longer, possible."""
        return self.acknowledgement is not None and self.acknowledgement.give(**body)

    def at(self, place: Place) -> "Reply":
        return replace(self, place=place)

    async def profile(self) -> Profile:
        return await self.profile_of(self.owner.user_id)

    async def profile_of(self, user_id: str) -> Profile:
        return await self.platform.profiles.of(self.slack, self.owner.team_id, user_id)

    async def today(self) -> date:
        return datetime.now((await self.profile()).zone).date()

    async def opened_for(self, shortcut: Shortcut, loading: JSON) -> "Reply":
        """Show `loading`, and return this reply in the thread of the shortcut's message."""
        if not self.view_id:
            await self.show(loading)
        message = shortcut.message
        if not message:
            raise ActionExpired
        thread = message.get("thread_ts") or message["ts"]
        return self.at(replace(self.place, thread_ts=thread))

    async def privately(self, message: Message, *, replace: bool = False) -> None:
        """Answer only the user; `replace` replaces the message whose button was pressed.

        Raises NotDelivered.
        """
        self.answered.set()
        await posting.privately(self.slack, self.place, self.owner.user_id, message, replace=replace)

    async def announce(self, message: Message, may_post: Callable[[], Awaitable[bool]]) -> Announced:
        """Post where the user asked, unless outsiders read it or may; the user can delete the post.

        `may_post`, asked right before the post, tells whether others there may see what it says.
        """
        announced, _ = await self.post(message, may_post)
        return announced

    async def post(
        self, message: Message, may_post: Callable[[], Awaitable[bool]]
    ) -> tuple[Announced, str | None]:
        """As `announce`, with the post's `ts` if Slack returns it."""
        self.answered.set()
        from_form = isinstance(self.interaction, FormSubmission) or self.in_form
        by = self.owner.user_id if from_form else None
        if channel := self.place.channel_id:
            why_not_post = self.platform.audiences.why_not_post
            if why_not := await why_not_post(self.slack, self.owner.team_id, channel, by):
                return why_not, None
        message = await retractable(message, self)
        if not await may_post():
            return Announced.HIDDEN, None
        return await posting.publicly(self.slack, self.place, message)

    async def show(self, view: JSON, *, over: str | None = None, for_anyone: bool = False) -> None:
        """Open a form, or replace the one that is open.

        `over` is the hash of the only version that it may replace. A form opens only for linked users unless
        it is `for_anyone`. Raises NotLinked, and FormNotShown, with `hash_conflict` for another version.
        """
        self.answered.set()
        if self.view_id:
            await _shown(self.slack.views_update(view_id=self.view_id, view=view, hash=over))
        else:
            await self._open(self.slack.views_open, view, for_anyone=for_anyone)

    async def shown(self, view: JSON, *, over: str | None = None, for_anyone: bool = False) -> bool:
        """As `show`; returns whether Slack accepted it."""
        try:
            await self.show(view, over=over, for_anyone=for_anyone)
        except FormNotShown as error:
            log.info("form is closed", action="form.gone", error=reason(error) or "no answer")
            return False
        return True

    async def open(self, view: JSON, *, for_anyone: bool = False) -> None:
        """As `show`, on top of the form whose button was pressed, if any."""
        if self.in_form:
            await self._open(self.slack.views_push, view, for_anyone=for_anyone)
        else:
            await self.show(view, for_anyone=for_anyone)

    async def say(self, text: str, *, title: str = "That didn't work") -> None:
        """Say one sentence: in the open form, or else privately."""
        said = sentence(text)
        if not (self.view_id and await self.shown(notice(title, said.text))):
            await self.privately(said)

    async def _open(self, opening: Callable[..., Awaitable[Any]], view: JSON, *, for_anyone: bool) -> None:
        """Open a form with a unique `external_id`, to find it if Slack's response is lost."""
        if not for_anyone:
            await self.platform.linked(self.owner)
        name = secrets.token_hex(16)
        trigger_id = self.interaction.trigger_id or ""
        try:
            shown = await _shown(opening(trigger_id=trigger_id, view=view | {"external_id": name}))
        except FormNotShown as error:
            if reason(error) not in OUTCOME_UNKNOWN:
                raise
            try:
                shown = await _shown(self.slack.views_update(external_id=name, view=view))
            except FormNotShown:
                raise error from None
        self.view_id = shown.get("id")


async def _shown(call: Awaitable[Any]) -> JSON:
    try:
        answer = await call
    except SLACK_FAILED as error:
        raise FormNotShown(error) from error
    view: JSON = answer.get("view") or {}
    return view
