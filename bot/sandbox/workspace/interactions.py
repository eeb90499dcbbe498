"""User interactions: each becomes a payload, is delivered, and takes effect through its acknowledgement."""

from bot.sandbox.workspace import payloads
from bot.sandbox.workspace.blocks.elements import OPTION
from bot.sandbox.workspace.blocks.schema import Problems, fields, items
from bot.sandbox.workspace.blocks.surfaces import elements_of
from bot.sandbox.workspace.exchange import Exchange, Gone, PageError
from bot.sandbox.workspace.forms import VALUE_KEYS, entered
from bot.sandbox.workspace.model import Channel, Command, Message, Shortcut, User, View
from bot.sandbox.workspace.posting import content, post
from bot.sandbox.workspace.shapes import ApiError, JsonObject, as_object
from bot.sandbox.workspace.typed import as_command

SUGGESTIONS = fields({"options": items(OPTION, 0, 100)}, {})
COPIED = ("text", "value", "style", "placeholder", "confirm")


class Interactions:
    """Commands, shortcuts, buttons and selects. (`submissions` handles modals.)"""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._state = exchange.state

    def command(self, user: User, channel: Channel, typed: str) -> None:
        """Run a slash command as typed, name first; raises PageError when the app doesn't have it."""
        name, _, text = typed.strip().partition(" ")
        command = next((known for known in self._state.app.commands if known.command == name), None)
        if command is None:
            raise PageError(f"{name} is not a valid command.")
        self._exchange.background_tasks.start(self._command(user, channel, command, text.strip()))

    async def _command(self, user: User, channel: Channel, command: Command, text: str) -> None:
        payload: JsonObject = {
            "token": payloads.VERIFICATION_TOKEN,
            "team_id": self._state.team.id,
            "team_domain": self._state.team.domain,
            "channel_id": channel.id,
            "channel_name": payloads.channel_name(channel),
            "user_id": user.id,
            "user_name": user.name,
            "command": command.command,
            "text": as_command(self._state, text) if command.should_escape else text,
            "api_app_id": self._state.app.id,
            "is_enterprise_install": "false",
            "response_url": self._exchange.response_urls.issue("commands", user.id, channel.id),
            "trigger_id": self._exchange.triggers.issue(user.id),
        }
        answer = await self._exchange.delivery.deliver("slash_commands", payload, takes_answer=True)
        gone = channel.id not in self._state.channels
        if self._exchange.missed(user, command.command, answer) or gone or not answer.payload:
            return
        reply = answer.payload if isinstance(answer.payload, dict) else {"text": str(answer.payload)}
        try:
            said = content(self._state, reply, command.command)
        except ApiError as api_error:
            self._state.violate(command.command, api_error.error, api_error.detail)
            self._state.toast(user.id, f"{command.command} failed with the error “{api_error.error}”.")
            return
        in_channel = reply.get("response_type") == "in_channel"
        if in_channel:
            typed = f"{command.command} {text}".strip()
            self._state.post(Message(self._state.new_ts(), channel.id, user.id, typed))
        post(self._state, channel, said, to=None if in_channel else user.id)

    def shortcut(
        self, user: User, callback_id: str, channel: Channel | None, message: Message | None
    ) -> None:
        """Run a shortcut, on `message` if given; raises PageError when the app has no such shortcut."""
        known = next(
            (
                shortcut
                for shortcut in self._state.app.shortcuts
                if shortcut.callback_id == callback_id and shortcut.on_message == (message is not None)
            ),
            None,
        )
        if known is None or (message is not None and message.to is not None):
            raise PageError("The app doesn't have this shortcut.")
        self._exchange.background_tasks.start(self._shortcut(user, known, channel, message))

    async def _shortcut(
        self, user: User, shortcut: Shortcut, channel: Channel | None, message: Message | None
    ) -> None:
        kind = "message_action" if message else "shortcut"
        payload = payloads.interaction(self._state, kind, user)
        payload |= {
            "callback_id": shortcut.callback_id,
            "action_ts": self._state.new_ts(),
            "trigger_id": self._exchange.triggers.issue(user.id),
        }
        if message is not None and channel is not None:
            payload |= {
                "channel": payloads.place(channel),
                "message": payloads.message(self._state, message),
                "message_ts": message.ts,
                "response_url": self._exchange.response_urls.issue("app", user.id, channel.id),
            }
        answer = await self._exchange.delivery.deliver("interactive", payload, takes_answer=False)
        if not self._exchange.missed(user, f"“{shortcut.name}”", answer):
            self._exchange.expect_empty(kind, answer)

    def act(
        self, user: User, source: Message | View, block_id: str, posted: JsonObject, values: object
    ) -> None:
        """Press a button or change an input; raises Gone when the element doesn't exist."""
        part = self._part(source, block_id, str(posted.get("action_id")))
        action: JsonObject = {
            "type": part["type"],
            "action_id": part["action_id"],
            "block_id": block_id,
            "action_ts": self._state.new_ts(),
        }
        action |= {key: part[key] for key in part if key in COPIED or key.startswith("initial_")}
        key = "selected_option" if part["type"] == "overflow" else VALUE_KEYS.get(part["type"])
        if key is not None:
            action[key] = posted.get(key)
        if isinstance(source, View):
            source.values = entered(source.blocks, values, source.values)
            payload = self._on_view(user, source)
        else:
            payload = self._on_message(user, source)
            payload["state"] = {"values": entered(source.blocks, values)}
        payload["actions"] = [action]
        self._exchange.background_tasks.start(self._act(user, payload))

    async def _act(self, user: User, payload: JsonObject) -> None:
        answer = await self._exchange.delivery.deliver("interactive", payload, takes_answer=False)
        if not self._exchange.missed(user, self._state.app.name, answer):
            self._exchange.expect_empty("block_actions", answer)

    @staticmethod
    def _part(source: Message | View, block_id: str, action_id: str) -> JsonObject:
        for block in source.blocks:
            for part in elements_of(block) if block["block_id"] == block_id else ():
                if part.get("action_id") == action_id:
                    return part
        raise Gone("This message or form was removed.")

    def _surface(self, source: Message | View) -> JsonObject:
        if isinstance(source, View):
            return {
                "container": {"type": "view", "view_id": source.id},
                "view": payloads.view(self._state, source),
            }
        container: JsonObject = {
            "type": "message",
            "message_ts": source.ts,
            "channel_id": source.channel,
            "is_ephemeral": source.to is not None,
        }
        if source.thread_ts:
            container["thread_ts"] = source.thread_ts
        surface: JsonObject = {
            "container": container,
            "channel": payloads.place(self._state.channels[source.channel]),
        }
        if source.to is None:
            surface["message"] = payloads.message(self._state, source)
        return surface

    def _on_view(self, user: User, view: View) -> JsonObject:
        trigger = self._exchange.triggers.issue(user.id, in_modal=view.type == "modal")
        payload = payloads.interaction(self._state, "block_actions", user) | self._surface(view)
        return payload | {"trigger_id": trigger}

    def _on_message(self, user: User, message: Message) -> JsonObject:
        payload = payloads.interaction(self._state, "block_actions", user) | self._surface(message)
        return payload | {
            "trigger_id": self._exchange.triggers.issue(user.id),
            "response_url": self._exchange.response_urls.issue(
                "actions", user.id, message.channel, message.ts
            ),
        }

    async def suggest(
        self, user: User, source: Message | View, block_id: str, action_id: str, *, typed: str
    ) -> JsonObject:
        """Ask the app for an external select's options.

        Raises Gone when the select doesn't exist, PageError without a valid response in time.
        """
        self._part(source, block_id, action_id)
        payload = payloads.interaction(self._state, "block_suggestion", user) | self._surface(source)
        payload |= {"block_id": block_id, "action_id": action_id, "value": typed}
        answer = await self._exchange.delivery.deliver("interactive", payload, takes_answer=True)
        where = f"options of {action_id}"
        if answer.outcome != "acknowledged":
            if answer.outcome != "offline":
                self._state.violate(
                    where, "operation_timeout", "The app didn't return options within 3 seconds."
                )
            raise PageError("The options couldn't be loaded. Try again.")
        problems: Problems = []
        SUGGESTIONS(answer.payload, "", problems)
        if problems:
            self._state.violate(where, "invalid_options", "; ".join(problems))
            raise PageError("The options couldn't be loaded. Try again.")
        return {"options": as_object(answer.payload)["options"]}
