"""One payload's turn with the bot: who asked, where, and the ways to answer them."""

import asyncio
import re
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import BotError, UserError
from bot.features.issues.announcement_views import takeable
from bot.features.issues.views import Style
from bot.features.parts import Parts
from bot.features.projects.projects import Channel
from bot.service.conventions import issue_number
from bot.slack import posting
from bot.slack.blocks import JSON, Message, sentence
from bot.slack.directory import Profile
from bot.slack.forms import NONSENSE, notice, number_in
from bot.slack.grammar.tokens import as_typed
from bot.slack.posting import BROKE_OFF, SLACK_FAILED, Announced, Place, reason
from bot.store.owner import Owner

log = structlog.get_logger(__name__)

NAMED_BY_LINK = re.compile(
    r"(?:^attach\s++|^\s*+|parent:\s*+)<?(https?://[^|>\s]{1,2000}/issues/[0-9][^|>\s]{0,2000})",
    re.IGNORECASE,
)
"""Where a command takes a link for an issue's number."""
COMMAND_LENGTH = 8_000
"""How long a command can be: reading one takes a few milliseconds for each thousand characters."""
COMMAND = re.compile(r"`/(?=issue|issues|timelog|digest|tracker)(\w{1,20})")


class Unshown(SlackApiError):
    """Slack showed no form; nothing had been done by then, as what was done is told in another way too."""

    def __init__(self, why: BaseException) -> None:
        super().__init__("no form was shown", getattr(why, "response", None))  # type: ignore[no-untyped-call] # slack_sdk's


@dataclass
class Turn:
    """What a listener gets. `view_id` is the form that this turn opened or came from, if any."""

    parts: Parts
    slack: AsyncWebClient
    body: JSON
    owner: Owner
    place: Place
    trigger_id: str | None = None
    view_id: str | None = None
    typed: str | None = None
    """The command as it was typed, to be said back on an error."""
    heard: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the person is being told or shown something; the same for the turn's copies."""

    @classmethod
    def from_body(cls, parts: Parts, slack: AsyncWebClient, body: JSON) -> "Turn":
        """Read a command's or an interaction's payload."""
        container = body.get("container") or {}
        message = body.get("message") or {}
        view = modal(body) or {}
        place = Place(
            channel_id=body.get("channel_id")
            or (body.get("channel") or {}).get("id")
            or container.get("channel_id"),
            thread_ts=message.get("thread_ts") or container.get("thread_ts"),
            response_url=body.get("response_url"),
            home=(body.get("view") or {}).get("type") == "home",
        )
        typed = f"{body['command']} {as_typed(body.get('text') or '')}".strip() if "command" in body else None
        return cls(parts, slack, body, owner_of(body), place, body.get("trigger_id"), view.get("id"), typed)

    @property
    def service(self) -> str:
        """What people call the service."""
        return self.parts.service_name

    @property
    def style(self) -> Style:
        """What the views' words depend on."""
        return self.parts.style

    @property
    def channel(self) -> Channel | None:
        """The channel as use cases know it."""
        return Channel(self.owner.team_id, self.place.channel_id) if self.place.channel_id else None

    @property
    def view(self) -> JSON:
        """The form, or the Home tab, that the payload came from. Raises UserError where it came from none."""
        return self._part("view")

    @property
    def message(self) -> JSON:
        """The message that the payload came from. Raises UserError where it came from none."""
        return self._part("message")

    @property
    def action(self) -> JSON:
        """The one action of a `block_actions` payload."""
        pressed: JSON = self.body["actions"][0]
        return pressed

    @property
    def value(self) -> str:
        """What the pressed button, or the chosen option, carries. Raises UserError where that is nothing."""
        option = self.action.get("selected_option")
        value = option.get("value") if isinstance(option, dict) else self.action.get("value")
        if not isinstance(value, str):
            raise UserError(NONSENSE)
        return value

    @property
    def number(self) -> int:
        """The number of what the pressed button is about. Raises UserError where its value is none."""
        return number_in(self.value)

    def _part(self, name: str) -> JSON:
        part: JSON | None = self.body.get(name)
        if part is None:
            raise UserError(NONSENSE)
        return part

    @property
    def form(self) -> str:
        """The form that this turn came from, by an id that no form in another workspace has."""
        return f"{self.owner.team_id}:{self.view['id']}"

    @property
    def acted_at(self) -> float:
        """When the action was made, in Slack's seconds."""
        return float(self.action.get("action_ts") or time.time())

    def at(self, place: Place) -> "Turn":
        """The same turn, answering elsewhere."""
        return replace(self, place=place)

    async def profile(self) -> Profile:
        """Who asked, as Slack knows them."""
        return await self.profile_of(self.owner.user_id)

    async def profile_of(self, user_id: str) -> Profile:
        """Somebody in the same workspace, as Slack knows them."""
        return await self.parts.profiles.of(self.slack, self.owner.team_id, user_id)

    async def today(self) -> date:
        """Today where the person is."""
        return datetime.now((await self.profile()).zone).date()

    async def answer(self, message: Message, *, replace: bool = False) -> None:
        """Answer privately."""
        self.heard.set()
        await posting.privately(self.slack, self.place, self.owner.user_id, message, replace=replace)

    async def announce(self, message: Message) -> Announced:
        """Post where the work was asked for, unless outsiders read along there or can't be ruled out; the
        person can take it back.
        """
        announced, _ = await self.post(message)
        return announced

    async def post(self, message: Message) -> tuple[Announced, str | None]:
        """As `announce`, with the post's `ts` if Slack tells it."""
        self.heard.set()
        by = self.owner.user_id if self.body.get("type") == "view_submission" else None
        if channel := self.place.channel_id:
            barred = self.parts.audiences.barred
            if why_not := await barred(self.slack, self.owner.team_id, channel, by):
                return why_not, None
        return await posting.publicly(self.slack, self.place, takeable(message, self.owner))

    async def show(self, view: JSON, *, over: str | None = None) -> None:
        """Open a form, or put it in the place of the one that this turn has open.

        `over` is the hash of what it may replace. Raises Unshown, with `hash_conflict` for anything else.
        """
        self.heard.set()
        if self.view_id:
            await _shown(self.slack.views_update(view_id=self.view_id, view=view, hash=over))
            return
        await self._opened(self.slack.views_open, view)

    async def shown(self, view: JSON, *, over: str | None = None) -> bool:
        """As `show`; whether Slack took it."""
        try:
            await self.show(view, over=over)
        except Unshown as error:
            log.info("form gone", action="form.gone", error=reason(error) or "broke off")
            return False
        return True

    async def open(self, view: JSON) -> None:
        """Open a form; above the one whose button was pressed, if it was one in a form. Raises Unshown."""
        if self.in_form:
            await self._opened(self.slack.views_push, view)
        else:
            await self.show(view)

    async def _opened(self, opening: Callable[..., Awaitable[Any]], view: JSON) -> None:
        """Open a form, under a name by which it is found where Slack shows it and the answer got lost."""
        name = secrets.token_hex(16)
        try:
            shown = await _shown(opening(trigger_id=self.trigger_id or "", view=view | {"external_id": name}))
        except Unshown as error:
            found = await self._found(name, view) if reason(error) in BROKE_OFF else None
            if found is None:
                raise
            shown = found
        self.view_id = shown.get("id")

    async def _found(self, name: str, view: JSON) -> JSON | None:
        """The form of that name, if it is there."""
        try:
            return await _shown(self.slack.views_update(external_id=name, view=view))
        except Unshown:
            return None

    @property
    def in_form(self) -> bool:
        """Whether this turn came from a form's own button, so that its answer belongs in a form too."""
        return self.body.get("type") == "block_actions" and modal(self.body) is not None

    @property
    def text(self) -> str:
        """A command's text. Raises UserError when it is too long to be read."""
        text = str(self.body.get("text") or "")
        if len(text) > COMMAND_LENGTH:
            raise UserError(
                f"Your command has {len(text):,} characters, and I read up to {COMMAND_LENGTH:,}. "
                "Shorten it, and attach the rest as a file."
            )
        return text

    def own_text(self) -> str:
        """A command's text. Raises UserError when it is too long, or names an issue by a link to somewhere
        else.
        """
        text = self.text
        for url in NAMED_BY_LINK.findall(text):
            if issue_number(self.parts.client.base_url, url) is None:
                raise UserError("That link doesn't lead to an issue of {service}: give the issue's number.")
        return text

    def sentence(self, error: BotError) -> str:
        """An error's sentence as people here know the service and the commands."""
        return self.worded(error.sentence(self.service))

    @property
    def at_home(self) -> bool:
        """Whether this turn came from the Home tab, where there is no conversation to answer in."""
        return self.place.home

    def worded(self, said: str) -> str:
        """A sentence with the commands as they are called here, with their prefix."""
        return COMMAND.sub(rf"`/{self.parts.prefix}\1", said)

    async def say(self, text: str, *, title: str = "That didn't work") -> None:
        """Say one sentence: in the form that is open, else privately."""
        said = sentence(self.worded(text))
        if not (self.view_id and await self.shown(notice(title, said.text))):
            await self.answer(said)


async def _shown(call: Awaitable[Any]) -> JSON:
    try:
        answer = await call
    except SLACK_FAILED as error:
        raise Unshown(error) from error
    view: JSON = answer.get("view") or {}
    return view


def modal(body: JSON) -> JSON | None:
    """The form that the payload came from; the Home tab is none."""
    view: JSON | None = body.get("view")
    return view if view and view.get("type") == "modal" else None


def _authorization(body: JSON) -> JSON:
    """The enterprise and workspace of the installation that an event is for: Slack may name them only there.

    In a channel that is shared with another company the person may be from there.
    """
    authorizations = body.get("authorizations")
    if not authorizations or body.get("is_ext_shared_channel"):
        return {}
    return {key: authorizations[0].get(key) for key in ("enterprise_id", "team_id")}


def owner_of(body: JSON) -> Owner:
    """Who sent the payload. External people of shared channels come with their own team (slack-rules)."""
    user = body.get("user") or {}
    if isinstance(event := body.get("event"), dict):
        user = {"id": event.get("user")}
        body = _authorization(body) | {key: value for key, value in body.items() if value}
    where = body.get("team") or {}  # None in an organization's own installation, as is a view's
    enterprise = (
        (body.get("enterprise") or {}).get("id") or body.get("enterprise_id") or where.get("enterprise_id")
    )
    view = body.get("view") or {}
    there = where.get("id") or body.get("team_id") or view.get("team_id")
    own = user.get("team_id")
    team = (there or own if enterprise else own or there) or ""
    return Owner(enterprise or None, team, user.get("id") or body.get("user_id") or "")
