"""The shape of Slack's payloads, as far as the bot relies on it; anything else is rejected.

Sources: https://docs.slack.dev/reference/interaction-payloads, …/reference/events, and for commands
https://docs.slack.dev/interactivity/implementing-slash-commands
"""

import json
from typing import Annotated, Any, Literal

import structlog
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

log = structlog.get_logger(__name__)

Id = Annotated[str, Field(pattern=r"^[!-~]{1,255}$")]
Moment = Annotated[str, Field(pattern=r"^[0-9]{1,12}(\.[0-9]{1,12})?$")]
Parts = list[dict[str, Any]]
NEEDED = {
    "app_home_opened": ("user",),
    "link_shared": ("message_ts", "links"),
    "entity_details_requested": ("user", "trigger_id"),
    "team_access_revoked": ("team_ids",),
}
"""Required fields by event type."""


class Malformed(Exception):
    """An invalid payload; the message names the place and never quotes the payload."""


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, hide_input_in_errors=True)


class _Identified(_Part):
    id: Id


class _User(_Identified):
    team_id: Id | None = None


class _Team(_Identified):
    enterprise_id: Id | None = None


class _Text(_Part):
    text: str


class _Option(_Part):
    value: str
    text: _Text | None = None


class _Entered(_Part):
    """An element's current or initial value."""

    value: str | None = None
    selected_option: _Option | None = None
    selected_options: list[_Option] | None = None
    selected_conversation: str | None = None
    selected_date: str | None = None
    selected_user: str | None = None
    files: Parts | None = None


class _Action(_Entered):
    action_id: str
    action_ts: Moment | None = None


class _Container(_Part):
    channel_id: Id | None = None
    message_ts: Moment | None = None
    thread_ts: Moment | None = None


class _Shown(_Part):
    type: str
    elements: Parts | None = None


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
    def _check_complete(self) -> "_Block":
        if self.type == "input" and not (self.label and self.element):
            raise ValueError("an input has a label and an element")
        return self


class _State(_Part):
    values: dict[str, dict[str, _Entered]] = {}


class _View(_Identified):
    type: str
    team_id: Id | None = None
    hash: str
    callback_id: str = ""
    private_metadata: str = ""
    title: _Text | None = None
    blocks: list[_Block]
    state: _State = _State()

    @model_validator(mode="after")
    def _check_complete(self) -> "_View":
        if self.type == "modal" and not self.title:
            raise ValueError("a modal has a title")
        return self


class _Link(_Part):
    url: str


class _Reference(_Part):
    type: str | None = None
    id: str | None = None


class _EventBody(_Part):
    type: str
    user: Id | None = None
    channel: Id | None = None
    tab: str | None = None
    source: str | None = None
    links: list[_Link] | None = None
    message_ts: str | None = None
    trigger_id: str | None = None
    external_ref: _Reference | None = None
    view: _View | None = None
    team_ids: list[Id] | None = None

    @model_validator(mode="after")
    def _check_complete(self) -> "_EventBody":
        if any(getattr(self, name) is None for name in NEEDED.get(self.type, ())):
            raise ValueError("the event lacks a field")
        return self


class _Authorization(_Part):
    """The installation that an event is for; Bolt reads it from any payload."""

    team_id: Id | None = None
    enterprise_id: Id | None = None


class _Payload(_Part):
    """The fields read from any payload; subclasses add required ones."""

    type: str | None = None
    team_id: Id | None = None
    enterprise_id: Id | None = None
    user_id: Id | None = None
    channel_id: Id | None = None
    authorizations: list[_Authorization] | None = None
    user: _User | None = None
    team: _Team | None = None
    enterprise: _Identified | None = None
    channel: _Identified | None = None
    container: _Container | None = None
    message: _Message | None = None
    view: _View | None = None
    actions: list[_Action] | None = None
    event: _EventBody | None = None
    text: str | None = None
    value: str | None = None
    action_ts: Moment | None = None
    trigger_id: str | None = None
    response_url: str | None = None


class _Command(_Payload):
    command: str
    user_id: Id
    trigger_id: str


class _Event(_Payload):
    type: Literal["event_callback"]
    event: _EventBody


class _Pressed(_Payload):
    type: Literal["block_actions"]
    user: _User
    actions: list[_Action] = Field(min_length=1)
    trigger_id: str


class _Form(_Payload):
    type: Literal["view_submission", "view_closed"]
    user: _User
    view: _View


class _Shortcut(_Payload):
    type: Literal["shortcut"]
    user: _User
    callback_id: str
    trigger_id: str


class _MessageShortcut(_Payload):
    type: Literal["message_action"]
    user: _User
    callback_id: str
    trigger_id: str
    channel: _Identified
    message: _Message


class _Suggestion(_Payload):
    type: Literal["block_suggestion"]
    user: _User
    action_id: str
    block_id: str


_COMMAND, _EVENT = TypeAdapter(_Command), TypeAdapter(_Event)
_INTERACTION: TypeAdapter[_Payload] = TypeAdapter(
    Annotated[_Pressed | _Form | _Shortcut | _MessageShortcut | _Suggestion, Field(discriminator="type")]
)


def check(body: object) -> None:
    """Raise Malformed for a payload that matches none of the shapes that the bot handles.

    Accepts Slack's own checks (`url_verification`, `ssl_check`).
    """
    if not isinstance(body, dict):
        raise Malformed("not an object")
    try:
        json.dumps(body, ensure_ascii=False).encode()
        if "command" in body:
            _COMMAND.validate_python(body)
        elif "event" in body:
            _EVENT.validate_python(body)
        elif body.get("type") != "url_verification" and "ssl_check" not in body:
            _INTERACTION.validate_python(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        # No deeper: those names may come from the payload.
        raise Malformed(" ".join([first["type"], *map(str, first["loc"][:2])])) from None
    except (UnicodeEncodeError, RecursionError) as error:
        raise Malformed(type(error).__name__) from None


def log_malformed(error: Exception) -> None:
    """Log a malformed payload on one line, without its contents."""
    why = str(error) if isinstance(error, Malformed) else type(error).__name__
    log.warning("malformed payload", action="slack.malformed", why=why)
