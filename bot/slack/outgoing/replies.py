"""Replies to one interaction: privately, in the conversation, or in a form."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any, TypeVar

import structlog
from pydantic import ValidationError
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import BotError, InProgress, KeyInRequest, Offer, UserError
from bot.service.models import Issue
from bot.slack.language.doubts import Question, without_question
from bot.slack.language.tokens import corrected
from bot.slack.language.values import CommandContext, NoZone
from bot.slack.outgoing import posting
from bot.slack.outgoing.conversations import Conversations
from bot.slack.outgoing.outbox import Outbox
from bot.slack.outgoing.outcomes import PostOutcome
from bot.slack.outgoing.posting import NotDelivered, deletable
from bot.slack.outgoing.stored import StoredPosts
from bot.slack.surfaces.blocks import JSON, Element, Message, button, filled, sentence, shortened
from bot.slack.surfaces.buttons import ActionExpired
from bot.slack.surfaces.drafts import RESUMES, ResumeRequest, SavedDraft, saveable
from bot.slack.surfaces.forms import notice, result
from bot.slack.surfaces.interaction import (
    ButtonPress,
    Destination,
    FormSubmission,
    Interaction,
    Shortcut,
    SlashCommand,
)
from bot.slack.text.mrkdwn import without_keys
from bot.slack.text.wording import Wording
from bot.slack.workspaces.directory import Profile, Profiles
from bot.slack.workspaces.slack_errors import SLACK_FAILED, Failure, failure, reason
from bot.store.channels import Channel
from bot.store.claims import Claim
from bot.store.owner import Owner
from bot.store.store import Store

log = structlog.get_logger(__name__)

S = TypeVar("S", bound=SavedDraft)
Fallback = Callable[[BotError], Awaitable[Sequence[Element]]]
"""Makes the buttons below an error, such as *Open form* with the user's text."""
WhyNotShow = Callable[[], Awaitable[PostOutcome | None]]
"""Called right before a post: why others there may not see its content; None if they may."""
DOUBLE_CLICK = timedelta(seconds=5)
"""For this long, a second share of the same thing in the same place is refused."""


class FormNotShown(SlackApiError):
    """Slack didn't open or update a form. Nothing was done yet: results are delivered in another way too."""

    def __init__(self, why: BaseException | None = None) -> None:
        super().__init__("no form was shown", getattr(why, "response", None))  # type: ignore[no-untyped-call] # slack_sdk's


def always(*buttons: Element) -> Fallback:
    """The same buttons below any error."""

    async def fallback(_: BotError) -> Sequence[Element]:
        return buttons

    return fallback


async def _no_home(_: "Reply") -> None:
    """Until the features are built there is no Home tab."""


async def _no_feed(_reply: "Reply", _issue: Issue, _message: Message, _why_not: WhyNotShow) -> None:
    """Until the features are built there are no live feeds."""


@dataclass
class Platform:
    """The parts of every reply, built once. `file_hosts` are where Slack keeps files."""

    wording: Wording
    conversations: Conversations
    profiles: Profiles
    outbox: Outbox
    posts: StoredPosts
    store: Store
    file_hosts: frozenset[str] = frozenset()
    publish_home: Callable[["Reply"], Awaitable[None]] = _no_home
    """Publishes the user's Home tab again; set by `features.build`."""
    announce_live: Callable[["Reply", Issue, Message, WhyNotShow], Awaitable[PostOutcome | None]] = _no_feed
    """Announces a created issue as a live feed's post; None if none has it; set by `features.build`."""


class Acknowledgement:
    """The response to a form submission: given once, within Slack's three seconds."""

    def __init__(self) -> None:
        self._given = asyncio.Event()
        self._body: JSON = {}

    def give(self, **body: object) -> bool:
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
    """The ways to reply to the user who caused an interaction.

    `view_id` is the form that this reply opened or that the interaction came from. `answered` is set once the
    user has a reply; copies made by `at` share it.
    """

    slack: AsyncWebClient
    interaction: Interaction
    platform: Platform
    owner: Owner = field(init=False)
    wording: Wording = field(init=False)
    place: Destination = field(init=False)
    view_id: str | None = field(init=False)
    answered: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    acknowledgement: Acknowledgement | None = field(default=None, init=False)
    """What Slack waits for after a form was submitted."""
    tried_at: datetime | None = field(default=None, init=False)
    """When an earlier submission of this form began that may have succeeded."""
    committed: bool = field(default=False, init=False)
    """Set once a form's write succeeded: the form must not act again, whatever fails after that."""
    give_back: bool = field(default=True, init=False)
    """Whether an error quotes the typed command; not if it may contain a key."""
    fallback: Fallback = field(init=False)
    progress: Callable[[], str] | None = field(default=None, init=False)
    """How far a form's work is, in mrkdwn, if its handler can tell."""

    def __post_init__(self) -> None:
        asked = self.interaction
        self.owner, self.place, self.wording = asked.owner, asked.place, self.platform.wording
        self.view_id = asked.modal.id if asked.modal else None
        self.fallback = self.leading_on

    @property
    def channel(self) -> Channel | None:
        return Channel(self.owner.team_id, self.place.channel_id) if self.place.channel_id else None

    @property
    def own_channel(self) -> Channel:
        """The conversation where the user asked. Raises UserError if it's none."""
        if self.channel is None:
            raise UserError("Type this command in a channel.")
        return self.channel

    @property
    def form_needs_press(self) -> bool:
        """Whether no form can open until the user chooses a button, as after a message."""
        return self.interaction.place.said_there and not (self.interaction.trigger_id or self.view_id)

    @property
    def in_form(self) -> bool:
        """Whether the user chose a button in a form, so that the reply belongs in a form too."""
        return isinstance(self.interaction, ButtonPress) and self.interaction.modal is not None

    def acknowledge(self, **body: object) -> bool:
        """Respond to a form's submission; returns False if that isn't, or is no longer, possible."""
        return self.acknowledgement is not None and self.acknowledgement.give(**body)

    def at(self, place: Destination) -> "Reply":
        other = copy(self)
        other.place = place
        return other

    def of(self, owner: Owner) -> "Reply":
        """The same for the person whose earlier attempt this request finishes."""
        other = copy(self)
        other.owner = owner
        return other

    async def refresh_home(self) -> None:
        """Publish the Home tab again after an action on it, which succeeded: errors are logged."""
        try:
            await self.platform.publish_home(self)
        except Exception:
            log.exception("Home tab not refreshed", action="home.not_refreshed")

    async def profile(self, user_id: str | None = None) -> Profile:
        """The profile of that Slack user, by default of the one who gets the reply."""
        return await self.platform.profiles.of(self.slack, self.owner.team_id, user_id or self.owner.user_id)

    async def typist(self) -> CommandContext:
        profile = await self.profile()
        return CommandContext(self.owner, profile.zone, profile.locale, self.wording.base_url)

    async def today(self) -> date | None:
        """The user's date, to show days by; None if their time zone is unknown."""
        typist = await self.typist()
        return None if typist.zone is NoZone.UNKNOWN else typist.today()

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
        """Reply only to the user; `replace` replaces the message whose button they chose.

        Raises NotDelivered.
        """
        self.answered.set()
        await posting.privately(self.slack, self.place, self.owner.user_id, message, replace=replace)

    async def privately_or_later(self, message: Message) -> None:
        """Reply privately; if no way works now, in a direct message later."""
        try:
            await self.privately(message)
        except NotDelivered:
            await self.platform.posts.tell(self.owner, message)

    async def post(self, message: Message, why_not_show: WhyNotShow) -> tuple[PostOutcome, str | None]:
        """Post where the user asked, unless outsiders can or may read it; the user can delete the post.

        Returns the outcome, and the post's `ts` if Slack returns it.
        """
        self.answered.set()
        if why_not := await self.why_not_post():
            return why_not, None
        message = await self.deletable(message)
        if why_not := await why_not_show():
            return why_not, None
        return await posting.publicly(self.slack, self.place, message)

    async def why_not_post(self) -> PostOutcome | None:
        """Why nothing may be posted where the user asked: outsiders read it, or may."""
        if (channel := self.place.channel_id) is None:
            return PostOutcome.NOWHERE
        from_form = isinstance(self.interaction, FormSubmission) or self.in_form
        by = self.owner.user_id if from_form else None
        return await self.platform.conversations.why_not_share(self.slack, self.owner.team_id, channel, by)

    async def deletable(self, message: Message) -> Message:
        return deletable(message, self.owner, (await self.profile()).first_name, self.wording.service)

    async def show(self, view: JSON, *, over: str | None = None, for_anyone: bool = False) -> None:
        """Open a form, or replace the one that is open.

        `over` is the hash of the only version that it may replace. A form opens only for linked users unless
        it is `for_anyone`. Raises NotLinked, and FormNotShown, with `hash_conflict` for another version.
        """
        self.answered.set()
        if self.view_id:
            await _view_from(self.slack.views_update(view_id=self.view_id, view=view, hash=over))
        else:
            await self._open(self.slack.views_open, view, for_anyone=for_anyone)

    async def try_show(self, view: JSON, *, over: str | None = None, for_anyone: bool = False) -> bool:
        """Show a form; returns whether Slack accepted it."""
        try:
            await self.show(view, over=over, for_anyone=for_anyone)
        except FormNotShown as error:
            log.info("form is closed", action="form.gone", error=reason(error) or "no answer")
            return False
        return True

    async def answer(self, title: str, message: Message, *, replace: bool = False) -> None:
        """Reply where the user asked: in the form, or the one that is open for the Home tab, or privately."""
        if self.in_form or self.place.home:
            await self.show(result(title, message.blocks))
        else:
            await self.privately(message, replace=replace)

    async def open(self, view: JSON, *, for_anyone: bool = False) -> None:
        """Show a form on top of the form whose button the user chose, if any."""
        if self.in_form:
            await self._open(self.slack.views_push, view, for_anyone=for_anyone)
        else:
            await self.show(view, for_anyone=for_anyone)

    # What is done once

    @asynccontextmanager
    async def claim(
        self, key: str, done: UserError, *, unknown_after: tuple[type[Exception], ...] = ()
    ) -> AsyncIterator[Claim]:
        """Hold a key (`Claims.hold`). Raises `done` if the work is done, and InProgress while it is in
        progress.
        """
        async with self.platform.store.claims.hold(key, unknown_after=unknown_after) as claim:
            if not claim.won:
                raise done if claim.done else InProgress
            yield claim

    async def announce_once(
        self,
        key: str,
        announce: Callable[[], Awaitable[PostOutcome]],
        not_announced: Callable[[PostOutcome], UserError],
    ) -> None:
        """Announce something, or raise `not_announced`. If nothing was posted, the user can try again."""
        async with self.platform.store.claims.hold(key, repeats_after=DOUBLE_CLICK) as claim:
            if not claim.won:
                raise UserError(
                    "I just got the same request. If nothing shows up in a few seconds, try again."
                )
            announced = await announce()
            if announced not in (PostOutcome.YES, PostOutcome.UNCONFIRMED):
                raise not_announced(announced)
        if announced is PostOutcome.UNCONFIRMED:
            raise not_announced(announced)

    # What was typed

    async def save(self, draft: S) -> S:
        """Save a draft for this user, and return its button's form of it."""
        content = draft.model_dump(mode="json", exclude_defaults=True)
        return draft.model_copy(update={"id": await self.platform.store.saved_input.put(self.owner, content)})

    async def try_save(self, draft: S) -> S | None:
        """Save a draft to offer after the work is done; None if the database fails."""
        try:
            return await self.save(draft)
        except Exception:
            log.exception("draft not saved", action="draft.not_saved", draft=draft.action)
            return None

    async def save_request(self, **changes: str) -> ResumeRequest:
        """Save this request, or a changed one, to be resumed; the one that it resumes is saved already."""
        payload = self.interaction.payload
        saved_id = "" if changes else payload.get(RESUMES, "")
        request = ResumeRequest(payload=saveable(payload | changes), id=saved_id)
        return request if saved_id else await self.save(request)

    async def saved(self, kind: type[S], draft_id: str) -> S | None:
        """The user's saved draft; None if it is gone."""
        values = await self.platform.store.saved_input.get(self.owner, draft_id, kind.lifetime)
        try:
            return kind.model_validate(values | {"id": draft_id}) if values else None
        except ValidationError:  # it is of another kind
            return None

    async def leading_on(self, error: BotError, draft: SavedDraft | None = None) -> list[Element]:
        """The buttons below an error: to run the command corrected, to open a form with the draft and its
        problems (never with an API key), and the error's offers.
        """
        asked = self.interaction
        again = _corrected(asked, error) if isinstance(asked, SlashCommand) else ()
        buttons = await self.offered(*again, style="primary")
        if draft and not isinstance(error, KeyInRequest):
            warning = without_keys(self.wording.sentence(error))
            saved = await self.save(draft.model_copy(update={"warning": warning}))
            buttons.append(button("Open form", saved, style=None if buttons else "primary"))
        alone = not buttons and len(error.offers) == 1
        return [*buttons, *await self.offered(*error.offers, style="primary" if alone else None)]

    async def offered(self, *offers: Offer, style: str | None = None) -> list[Element]:
        """The offers' buttons; those that run a command only if one was typed."""
        buttons = []
        for one in offers:
            command = self.wording.command(one.command) if one.command else None
            changes = filled({}, text=one.text, command=command)
            if not changes or isinstance(self.interaction, SlashCommand):
                buttons.append(button(one.label, await self.save_request(**changes), style=style))
        return buttons

    async def say(self, text: str, *, title: str = "That didn't work") -> None:
        """Say one sentence: in the open form, or else privately."""
        message = sentence(text)
        if not (self.view_id and await self.try_show(notice(title, message.text))):
            await self.privately(message)

    async def _open(self, opening: Callable[..., Awaitable[Any]], view: JSON, *, for_anyone: bool) -> None:
        """Open a form with a unique `external_id`, to find it if Slack's response is lost."""
        if not for_anyone:
            await self.platform.store.links.required(self.owner)
        if self.form_needs_press:
            raise FormNotShown
        name = secrets.token_hex(16)
        trigger_id = self.interaction.trigger_id or ""
        try:
            opened = await _view_from(opening(trigger_id=trigger_id, view=view | {"external_id": name}))
        except FormNotShown as error:
            if failure(error) is not Failure.UNKNOWN:
                raise
            try:
                opened = await _view_from(self.slack.views_update(external_id=name, view=view))
            except FormNotShown:
                raise error from None
        self.view_id = opened.get("id")


def _corrected(command: SlashCommand, error: BotError) -> list[Offer]:
    """The offer to run what was typed with the name that a misspelled one most likely means, or without its
    question mark, if there is either.
    """
    if isinstance(error, Question):
        text = without_question(command.text)
        return [Offer(f"Run “{shortened(text, 60)}”", text)] if text else []
    if error.correction is None:
        return []
    again = corrected(command.text, *error.correction)
    return [Offer(f"Use {error.correction[1]}", again)] if again else []


async def _view_from(call: Awaitable[Any]) -> JSON:
    try:
        answer = await call
    except SLACK_FAILED as error:
        raise FormNotShown(error) from error
    view: JSON = answer.get("view") or {}
    return view
