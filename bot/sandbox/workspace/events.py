"""The Events API: delivers the events the app subscribes to, and retries unacknowledged ones.

Sources: https://docs.slack.dev/apis/events-api and …/reference/events.
"""

import re
from urllib.parse import urlsplit

from bot.sandbox.workspace import payloads
from bot.sandbox.workspace.delivery import Delivery, Retry
from bot.sandbox.workspace.model import Channel, Details, Message, User
from bot.sandbox.workspace.shapes import BackgroundTasks, JsonObject
from bot.sandbox.workspace.state import State
from bot.sandbox.workspace.triggers import Triggers

RETRY_AFTER = (0.0, 60.0, 300.0)
MESSAGE_EVENTS = {"channel": "message.channels", "private": "message.groups", "im": "message.im"}
CHANNEL_TYPES = {"channel": "channel", "private": "group", "im": "im"}
LINK = re.compile(r"<(https?://[^|<>\s]{1,2000})(?:\|[^<>]{0,2000})?>")
REASONS = {"timeout": "timeout", "refused": "http_error", "offline": "connection_failed"}


class Events:
    def __init__(
        self,
        state: State,
        delivery: Delivery,
        background_tasks: BackgroundTasks,
        triggers: Triggers,
        service_url: str,
    ) -> None:
        self._state = state
        self._triggers = triggers
        self._delivery = delivery
        self._background_tasks = background_tasks
        self._service = urlsplit(service_url).netloc

    def deliver(self, inner: JsonObject, *, shared: bool = False) -> None:
        """Deliver one event; retry at once, after 1 and after 5 minutes until it is acknowledged."""
        name = inner["type"]
        self._background_tasks.start(self._tell(payloads.event(self._state, inner, shared=shared), name))

    async def _tell(self, payload: JsonObject, name: str) -> None:
        answer = await self._delivery.deliver("events_api", payload, takes_answer=False)
        for number, wait in enumerate(RETRY_AFTER, start=1):
            if answer.outcome == "acknowledged":
                return
            if answer.outcome != "offline":
                self._state.violate(
                    name,
                    f"event_{answer.outcome}",
                    "The app didn't acknowledge this event. Slack will retry.",
                )
            await self._state.clock.sleep(wait)
            retry = Retry(number, REASONS[answer.outcome])
            answer = await self._delivery.deliver("events_api", payload, takes_answer=False, retry=retry)

    def home_opened(self, user: User) -> None:
        """Report that a user opened the app's Home tab."""
        if "app_home_opened" not in self._state.app.events:
            return
        inner: JsonObject = {
            "type": "app_home_opened",
            "user": user.id,
            "channel": self._state.im(user.id).id,
            "tab": "home",
            "event_ts": self._state.new_ts(),
        }
        home = self._state.homes.get(user.id)
        if home is not None:
            inner["view"] = payloads.view(self._state, home)
        self.deliver(inner)

    def entity_opened(self, user: User, message: Message, url: str) -> None:
        """Report that a user opened the details of the Work Object for a link."""
        entity = message.entities[url]
        trigger_id = self._triggers.issue(user.id)
        self._state.details[user.id] = Details(trigger_id, entity)
        self._state.changed((user.id,))
        if "entity_details_requested" not in self._state.app.events:
            return
        inner: JsonObject = {
            "type": "entity_details_requested",
            "user": user.id,
            "external_ref": entity["external_ref"],
            "entity_url": entity["url"],
            "link": {"url": url, "domain": urlsplit(url).hostname or ""},
            "app_unfurl_url": url,
            "trigger_id": trigger_id,
            "user_locale": user.locale,
            "channel": message.channel,
            "message_ts": message.ts,
            "event_ts": self._state.new_ts(),
        }
        if message.thread_ts:
            inner["thread_ts"] = message.thread_ts
        self.deliver(inner, shared=self._state.channels[message.channel].is_ext_shared)

    def posted(self, message: Message) -> None:
        """Report a user's message: messages, mentions and links the app subscribes to."""
        channel = self._state.channels[message.channel]
        member = self._state.app.bot_user_id in channel.members
        wanted = self._state.app.events
        inner = payloads.message(self._state, message)
        inner |= {
            "channel": channel.id,
            "event_ts": message.ts,
            "channel_type": CHANNEL_TYPES[channel.kind],
        }
        if message.files:
            inner["subtype"] = "file_share"
        if member and MESSAGE_EVENTS[channel.kind] in wanted:
            self.deliver(inner, shared=channel.is_ext_shared)
        if member and "app_mention" in wanted and f"<@{self._state.app.bot_user_id}>" in message.text:
            self.deliver(inner | {"type": "app_mention"}, shared=channel.is_ext_shared)
        if "link_shared" in wanted:
            self._links(message, channel, member=member)

    def edited(self, message: Message, before: JsonObject) -> None:
        """Report that a user edited a message; `before` is the old one."""
        channel = self._state.channels[message.channel]
        if self._state.app.bot_user_id not in channel.members:
            return
        if MESSAGE_EVENTS[channel.kind] in self._state.app.events:
            inner: JsonObject = {
                "type": "message",
                "subtype": "message_changed",
                "hidden": True,
                "channel": channel.id,
                "channel_type": CHANNEL_TYPES[channel.kind],
                "message": payloads.message(self._state, message),
                "previous_message": before,
                "ts": self._state.new_ts(),
            }
            self.deliver(inner | {"event_ts": inner["ts"]}, shared=channel.is_ext_shared)

    def _links(self, message: Message, channel: Channel, *, member: bool) -> None:
        links = []
        for url in dict.fromkeys(LINK.findall(message.text)):
            address = urlsplit(url)
            host = address.hostname or ""
            registered = any(
                host == domain or host.endswith(f".{domain}") for domain in self._state.app.unfurl_domains
            )
            if registered or address.netloc == self._service:
                links.append({"url": url.replace("&amp;", "&"), "domain": host})
        if not links:
            return
        inner: JsonObject = {
            "type": "link_shared",
            "channel": channel.id,
            "user": message.user,
            "message_ts": message.ts,
            "is_bot_user_member": member,
            "unfurl_id": f"{channel.id}-{message.ts}",
            "source": "conversations_history",
            "links": links,
            "event_ts": self._state.new_ts(),
        }
        if message.thread_ts:
            inner["thread_ts"] = message.thread_ts
        self.deliver(inner, shared=channel.is_ext_shared)
