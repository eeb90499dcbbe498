"""What the tests of mentions share: people who talk to the bot, and events as Slack sends them."""

from dataclasses import dataclass
from typing import Any

from bot.sandbox.workspace import payloads
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of

BOT = "@Issue Bot"


@dataclass
class Talker:
    """A user who mentions the bot, or writes to it directly."""

    person: Person

    @property
    def office(self) -> Office:
        return self.person.office

    @property
    def direct_channel(self) -> str:
        return self.office.workspace.state.im(self.person.user_id).id

    async def mention(self, text: str, thread: JSON | None = None) -> JSON:
        """Mentions the bot in the channel, or in a thread; returns the answer, a private one first."""
        return await self._answered(self.office.channel_id(self.person.channel), f"{BOT} {text}", thread)

    async def direct(self, text: str, thread: JSON | None = None) -> JSON:
        """Writes to the bot; returns the one answer."""
        return await self._answered(self.direct_channel, text, thread)

    async def _answered(self, channel: str, text: str, thread: JSON | None) -> JSON:
        before = {message["ts"] for message in await self.messages(channel)}
        sent = await self.send(channel, text, thread)

        async def answers() -> list[JSON]:
            now = await self.messages(channel)
            return [m for m in now if m["ts"] not in before | {sent} and m["user"] != self.person.user_id]

        await self.person.until(answers)
        await self.office.idle()
        found = await answers()
        return ([message for message in found if message["ephemeral"]] or found)[-1]

    async def send(self, channel: str, text: str, thread: JSON | None = None) -> str:
        below = {"thread_ts": thread["ts"]} if thread else {}
        answer = await self.person._post("message", channel=channel, text=text, **below)
        return str(answer["ts"])

    async def messages(self, channel: str) -> list[JSON]:
        seen: list[JSON] = (await self.person.state())["messages"].get(channel, [])
        return seen

    async def said(self, text: str) -> str:
        return text_of(await self.direct(text))

    async def thread(self, text: str = "Checkout is slow again", *replies: str) -> JSON:
        """Starts a thread in the channel."""
        first = await self.person.say(text)
        for reply in replies or ("Same here",):
            await self.person.say(reply, first)
        return first


async def deliver(
    office: Office, name: str, *, shared: bool = False, about: Any = None, **event: Any
) -> None:
    """Delivers an event as Slack does, with `about` in its envelope; delays until the bot has handled it."""
    state = office.workspace.state
    inner = {"type": name, "event_ts": state.new_ts()} | event
    payload = payloads.event(state, {k: v for k, v in inner.items() if v is not None}, shared=shared)
    answer = await office.workspace._delivery.deliver(
        "events_api", payload | (about or {}), takes_answer=False
    )
    assert answer.outcome == "acknowledged"
    await office.idle()
