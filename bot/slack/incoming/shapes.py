"""The shape of Slack's payloads, as far as the bot relies on it; anything else is rejected."""

import json
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

Id = Annotated[str, Field(pattern=r"^[!-~]{1,255}$")]
Moment = Annotated[str, Field(pattern=r"^[0-9]{1,12}(\.[0-9]{1,12})?$")]
Parts = list[dict[str, Any]]
REQUIRED = {
    "command": ("user_id", "trigger_id"),
    "block_actions": ("user", "actions", "trigger_id"),
    "view_submission": ("user", "view"),
    "view_closed": ("user", "view"),
    "shortcut": ("user", "callback_id", "trigger_id"),
    "message_action": ("user", "callback_id", "trigger_id", "channel", "message"),
    "block_suggestion": ("user", "action_id", "block_id"),
    "event_callback": ("event",),
}
"""Required fields by payload type; a command has no type of its own."""
DETAILS = "entity_detail"
"""The type of a view with a Work Object's details, as Slack sends it when a user has edited them."""
REQUIRED_OF_EVENT = {
    "app_home_opened": ("user",),
    "function_executed": ("function", "function_execution_id"),
    "reaction_added": ("user", "item", "reaction"),
    "link_shared": ("message_ts", "links"),
    "entity_details_requested": ("user", "trigger_id"),
    "entity_comments_requested": ("user", "trigger_id"),
    "member_joined_channel": ("user", "channel"),
    "team_access_revoked": ("team_ids",),
    "user_change": ("user",),
}


class Malformed(Exception):
    """An invalid payload; the message names the place and never quotes the payload."""


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, defer_build=True, hide_input_in_errors=True)

    def require(self, *names: str) -> Self:
        """The same part. Raises ValueError if one of these fields is missing."""
        if missing := [name for name in names if getattr(self, name) is None]:
            raise ValueError(f"without {missing[0]}")
        return self


class _Installed(_Part):
    """An installation; Bolt reads an event's from any payload."""

    team_id: Id | None = None
    enterprise_id: Id | None = None


class _Authorization(_Installed):
    user_id: Id | None = None


class _Identified(_Installed):
    id: Id


class _Text(_Part):
    text: str


class _Option(_Part):
    value: str
    text: _Text | None = None


class _Entered(_Part):
    value: str | None = None
    selected_option: _Option | None = None
    selected_options: list[_Option] | None = None
    selected_conversation: str | None = None
    selected_date: str | None = None
    files: Parts | None = None


class _Action(_Entered):
    action_id: str
    action_ts: Moment | None = None


class _Container(_Part):
    channel_id: Id | None = None
    message_ts: Moment | None = None
    thread_ts: Moment | None = None


class _Element(_Part):
    options: Parts | None = None


class _Shown(_Part):
    type: str
    elements: list[_Element] | None = None
    accessory: _Element | None = None


class _Message(_Part):
    ts: Moment
    thread_ts: Moment | None = None
    text: str | None = None
    user: Id | None = None
    blocks: list[_Shown] | None = None
    attachments: Parts | None = None
    files: Parts | None = None


class _Block(_Part):
    type: str
    block_id: str
    label: _Text | None = None
    text: _Text | None = None
    element: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _check_complete(self) -> Self:
        return self.require("label", "element") if self.type == "input" else self


class _State(_Part):
    values: dict[str, dict[str, _Entered]] = {}


class _Reference(_Part):
    type: str | None = None
    id: str | None = None


class _View(_Installed):
    type: str
    id: Id | None = None
    hash: str | None = None
    callback_id: str = ""
    private_metadata: str = ""
    title: _Text | None = None
    blocks: list[_Block] | None = None
    state: _State = _State()
    external_ref: _Reference | None = None

    @model_validator(mode="after")
    def _check_complete(self) -> Self:
        if self.type == DETAILS:
            return self.require("external_ref")
        return self.require("id", "hash", "blocks", *(["title"] if self.type == "modal" else ()))


class _Link(_Part):
    url: str


class _Item(_Part):
    type: str
    channel: Id | None = None
    ts: Moment | None = None


class _Function(_Part):
    callback_id: str
    input_parameters: Parts | None = None


class _Changed(_Identified):
    deleted: bool = False


class _Event(_Part):
    type: str
    user: Id | _Changed | None = None
    channel: Id | None = None
    tab: str | None = None
    source: str | None = None
    links: list[_Link] | None = None
    message_ts: str | None = None
    trigger_id: str | None = None
    external_ref: _Reference | None = None
    cursor: str | None = None
    limit: int | None = None
    thread_root_id: str | None = None
    view: _View | None = None
    team_ids: list[Id] | None = None
    item: _Item | None = None
    function: _Function | None = None
    function_execution_id: Id | None = None
    inputs: dict[str, Any] | None = None
    reaction: str | None = None
    text: str | None = None
    ts: Moment | None = None
    thread_ts: Moment | None = None
    channel_type: str | None = None
    inviter: Id | None = None
    subtype: str | None = None
    files: Parts | None = None

    @model_validator(mode="after")
    def _check_complete(self) -> Self:
        if isinstance(self.user, str if self.type == "user_change" else _Changed):
            raise ValueError("user of another type")  # noqa: TRY004 - what pydantic turns into an error
        return self.require(*REQUIRED_OF_EVENT.get(self.type, ()))


class _Payload(_Installed):
    type: str | None = None
    command: str | None = None
    callback_id: str | None = None
    action_id: str | None = None
    block_id: str | None = None
    user_id: Id | None = None
    channel_id: Id | None = None
    authorizations: list[_Authorization] | None = None
    user: _Identified | None = None
    team: _Identified | None = None
    enterprise: _Identified | None = None
    channel: _Identified | None = None
    container: _Container | None = None
    message: _Message | None = None
    view: _View | None = None
    actions: Annotated[list[_Action], Field(min_length=1)] | None = None
    event: _Event | None = None
    text: str | None = None
    value: str | None = None
    action_ts: Moment | None = None
    trigger_id: str | None = None
    response_url: str | None = None

    @model_validator(mode="after")
    def _check_complete(self) -> Self:
        kind = "command" if self.command is not None else self.type
        if kind not in REQUIRED or (self.event and kind != "event_callback") or self.type == "command":
            raise ValueError("unknown type")
        return self.require(*REQUIRED[kind])


def is_slack_check(body: object) -> bool:
    """Check a payload's shape, and return whether it is a check of Slack's own (`url_verification`,
    `ssl_check`), which has none. Raises Malformed.
    """
    if not isinstance(body, dict):
        raise Malformed("not an object")
    try:
        json.dumps(body, ensure_ascii=False).encode()
        slack_checks = body.get("type") == "url_verification" or "ssl_check" in body
        if slack_checks and "command" not in body and "event" not in body:
            return True
        _Payload.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        what = first["msg"] if first["type"] == "value_error" else first["type"]
        # No deeper: those names may come from the payload.
        raise Malformed(" ".join([what, *map(str, first["loc"][:2])])) from None
    except (UnicodeEncodeError, RecursionError) as error:
        raise Malformed(type(error).__name__) from None
    return False
