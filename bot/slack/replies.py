"""How the bot answers one interaction: privately, in the conversation, or in a form."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack import posting
from bot.slack.audience import Audiences
from bot.slack.blocks import JSON, Message, sentence
from bot.slack.directory import Profile, Profiles
from bot.slack.forms import notice
from bot.slack.interaction import ButtonPress, FormSubmission, Interaction, Place
from bot.slack.posting import BROKE_OFF, SLACK_FAILED, Announced, reason
from bot.slack.retractable import retractable
from bot.slack.wording import Wording
from bot.store.channels import Channel
from bot.store.owner import Owner

log = structlog.get_logger(__name__)


class FormNotShown(SlackApiError):
    """Slack didn't open or update a form. Nothing was done by then: what was done is told otherwise, too."""

    def __init__(self, why: BaseException) -> None:
        super().__init__("no form was shown", getattr(why, "response", None))  # type: ignore[no-untyped-call] # slack_sdk's


@dataclass(frozen=True)
class Platform:
    """What every reply needs, built once."""

    wording: Wording
    audiences: Audiences
    profiles: Profiles


@dataclass
class Reply:
    """The ways to answer whoever caused an interaction, in the place where they did.

    `view_id` is the form that this reply opened or that the interaction came from, `answered` is set once the
    person is being told or shown something; copies made by `at` share it.
    """

    slack: AsyncWebClient
    interaction: Interaction
    platform: Platform
    place: Place
    view_id: str | None = None
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    committed: bool = False
    """Set once a form's write is done: whatever fails after that, the form must not act again."""
    give_back: bool = True
    """Whether an error gives the typed command back; not where a key may be in it."""
    progress: Callable[[], str] | None = None
    """How far a form's work is, in mrkdwn, where its handler can tell."""

    @classmethod
    def to(cls, interaction: Interaction, slack: AsyncWebClient, platform: Platform) -> "Reply":
        """The reply to an interaction, with the client of the workspace that it came from."""
        modal = interaction.modal
        return cls(slack, interaction, platform, interaction.place, modal.id if modal else None)

    @property
    def owner(self) -> Owner:
        """Who is answered."""
        return self.interaction.owner

    @property
    def wording(self) -> Wording:
        """What the service and the commands are called."""
        return self.platform.wording

    @property
    def channel(self) -> Channel | None:
        """The conversation that it was asked in."""
        return Channel(self.owner.team_id, self.place.channel_id) if self.place.channel_id else None

    @property
    def in_form(self) -> bool:
        """Whether a form's own button was pressed, so that the answer belongs in a form too."""
        return isinstance(self.interaction, ButtonPress) and self.interaction.modal is not None

    def at(self, place: Place) -> "Reply":
        """The same, answering elsewhere."""
        return replace(self, place=place)

    async def profile(self) -> Profile:
        """Who asked, as Slack knows them."""
        return await self.profile_of(self.owner.user_id)

    async def profile_of(self, user_id: str) -> Profile:
        """Somebody in the same workspace, as Slack knows them."""
        return await self.platform.profiles.of(self.slack, self.owner.team_id, user_id)

    async def today(self) -> date:
        """Today where the person is."""
        return datetime.now((await self.profile()).zone).date()

    async def privately(self, message: Message, *, replace: bool = False) -> None:
        """Answer the person alone; `replace` puts the answer in the place of the message whose button was
        pressed. Raises NotDelivered.
        """
        self.answered.set()
        await posting.privately(self.slack, self.place, self.owner.user_id, message, replace=replace)

    async def announce(self, message: Message) -> Announced:
        """Post where it was asked for, unless outsiders are there or can't be ruled out; the person can
        delete the post.
        """
        announced, _ = await self.post(message)
        return announced

    async def post(self, message: Message) -> tuple[Announced, str | None]:
        """As `announce`, with the post's `ts` if Slack tells it."""
        self.answered.set()
        by = self.owner.user_id if isinstance(self.interaction, FormSubmission) else None
        if channel := self.place.channel_id:
            barred = self.platform.audiences.barred
            if why_not := await barred(self.slack, self.owner.team_id, channel, by):
                return why_not, None
        return await posting.publicly(self.slack, self.place, retractable(message, self.owner))

    async def show(self, view: JSON, *, over: str | None = None) -> None:
        """Open a form, or put it in the place of the one that is open.

        `over` is the hash of the version that it may replace. Raises FormNotShown, with `hash_conflict` for
        another version.
        """
        self.answered.set()
        if self.view_id:
            await _shown(self.slack.views_update(view_id=self.view_id, view=view, hash=over))
        else:
            await self._opened(self.slack.views_open, view)

    async def shown(self, view: JSON, *, over: str | None = None) -> bool:
        """As `show`; whether Slack took it."""
        try:
            await self.show(view, over=over)
        except FormNotShown as error:
            log.info("form gone", action="form.gone", error=reason(error) or "no answer")
            return False
        return True

    async def open(self, view: JSON) -> None:
        """Open a form, above the one whose button was pressed if that was in a form. Raises FormNotShown."""
        if self.in_form:
            await self._opened(self.slack.views_push, view)
        else:
            await self.show(view)

    async def say(self, text: str, *, title: str = "That didn't work") -> None:
        """Say one sentence: in the form that is open, else privately."""
        said = sentence(self.wording.prefixed(text))
        if not (self.view_id and await self.shown(notice(title, said.text))):
            await self.privately(said)

    async def _opened(self, opening: Callable[..., Awaitable[Any]], view: JSON) -> None:
        """Open a form under a name of its own, by which it is found where Slack's answer got lost."""
        name = secrets.token_hex(16)
        trigger_id = self.interaction.trigger_id or ""
        try:
            shown = await _shown(opening(trigger_id=trigger_id, view=view | {"external_id": name}))
        except FormNotShown as error:
            if reason(error) not in BROKE_OFF:
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
