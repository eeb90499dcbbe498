"""Form inputs, and reading back what a user entered.

A field's `block_id` is its name, or `name:tag` to make a refresh forget its value (trackers differ between
projects): Slack keeps the input as long as block and action IDs stay the same.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, TypeVar

from bot import slack_limits as limits
from bot.errors import BotError, Refused, WrongField
from bot.service.conventions import fields_named
from bot.slack.surfaces.blocks import JSON, Block, Element, Message, filled, option, plain, section, shortened
from bot.slack.surfaces.buttons import ActionExpired
from bot.slack.text.mrkdwn import prose, spoken
from bot.spelling import fingerprint

T = TypeVar("T")
SelectOption = tuple[str, str]  # a choice: its value and its text


@dataclass(frozen=True)
class FormResult:
    """The result of a submitted form: errors at its fields, another view, or neither, which closes the form.

    `warning` is the error text, if any; `view` is then the form as filled in. `message` says the same as
    `view` in case the user has closed the form. `then` runs once Slack has the result, for instance to
    announce an issue; `resume` is a saved payload to resume after that.
    """

    errors: dict[str, str] | None = None
    view: JSON | None = None
    message: Message | None = None
    warning: str | None = None
    then: Callable[[], Awaitable[None]] | None = None
    resume: JSON | None = None

    def acknowledgement(self) -> JSON:
        if self.errors:
            return {
                "response_action": "errors",
                "errors": {name: spoken(warning) for name, warning in self.errors.items()},
            }
        if self.view:
            return {"response_action": "update", "view": self.view}
        return {"response_action": "clear"}

    def in_form(self, view: JSON) -> "FormResult":
        """The same result for a form that shows something else by now: errors go above it."""
        if not self.errors:
            return self
        return FormResult.again(view, "\n".join(self.errors.values()))

    @classmethod
    def again(cls, view: JSON, warning: str, metadata: str | None = None) -> "FormResult":
        """The submitted view as it was filled in, with a warning (plain text)."""
        return cls(view=refilled(view, warning, metadata), warning=warning)

    @classmethod
    def notice(cls, title: str, message: Message) -> "FormResult":
        return cls(view=result(title, message.blocks), message=message)


def form(
    callback_id: str,
    title: str,
    blocks: Sequence[Block],
    *,
    submit: str | None = None,
    close: str = "Cancel",
    metadata: str = "",
) -> JSON:
    view: JSON = {"type": "modal", "callback_id": callback_id, "private_metadata": metadata}
    kept, most = list(blocks[: limits.MAX_VIEW_BLOCKS]), limits.VIEW_BUTTON_LENGTH
    view |= {"title": plain(title, limits.VIEW_TITLE_LENGTH), "close": plain(close, most), "blocks": kept}
    return filled(view, submit=plain(submit, most) if submit else None)


def notice(title: str, mrkdwn: str) -> JSON:
    return form("notice", title, [section(mrkdwn)], close="Close")


def loading(title: str) -> JSON:
    """Shown while the form's choices load, because it must open within 3 seconds."""
    return notice(title, ":hourglass_flowing_sand: One moment…")


def result(title: str, blocks: Sequence[Block]) -> JSON:
    return form("notice", title, blocks, close="Close")


def field(
    name: str,
    label: str,
    element: Element,
    *,
    optional: bool = True,
    hint: str | None = None,
    dispatch: bool = False,
) -> Block:
    named: JSON = {"type": "input", "block_id": name, "optional": optional, "dispatch_action": dispatch}
    named |= {"label": plain(label, limits.LABEL_LENGTH), "element": element}
    return filled(named, hint=plain(hint, limits.HINT_LENGTH) if hint else None)


def text(
    action_id: str,
    initial: str | None = None,
    *,
    placeholder: str | None = None,
    multiline: bool = False,
    most: int | None = None,
    on_keystroke: bool = False,
) -> Element:
    """A text input. With `on_keystroke`, in a field that dispatches, Slack reports every keystroke."""
    return filled(
        {"type": "plain_text_input", "action_id": action_id, "multiline": multiline},
        initial_value=shortened(initial, most or limits.INPUT_LENGTH) if initial else None,
        placeholder=_placeholder(placeholder) if placeholder else None,
        max_length=most,
        dispatch_action_config={"trigger_actions_on": ["on_character_entered"]} if on_keystroke else None,
    )


def formatted_text(action_id: str, initial: JSON | None = None, *, placeholder: str | None = None) -> Element:
    """A rich text input; `initial` is a rich text block."""
    return filled(
        {"type": "rich_text_input", "action_id": action_id},
        initial_value=initial,
        placeholder=_placeholder(placeholder) if placeholder else None,
    )


def day(action_id: str, initial: date | None) -> Element:
    picker = {"type": "datepicker", "action_id": action_id}
    return filled(picker, initial_date=initial.isoformat() if initial else None)


def time_of_day(action_id: str, initial: str) -> Element:
    """A time picker; times are `09:00`."""
    return {"type": "timepicker", "action_id": action_id, "initial_time": initial}


def checkbox(action_id: str, label: str, *, checked: bool) -> Element:
    box = option(label, "yes")
    boxes = {"type": "checkboxes", "action_id": action_id, "options": [box]}
    return filled(boxes, initial_options=[box] if checked else None)


def boxes(action_id: str, known: Sequence[SelectOption], placeholder: str) -> Element:
    """Checkboxes, all checked; a multi-select if there are too many."""
    if len(known) > limits.MAX_CHECKBOXES:
        return choices(action_id, known, [value for value, _ in known], placeholder)
    options = [option(name, value) for value, name in known]
    return {"type": "checkboxes", "action_id": action_id, "options": options, "initial_options": options}


def choice(action_id: str, known: Sequence[SelectOption], chosen: str | None, placeholder: str) -> Element:
    """A select with all choices, or searched as the user types if they don't fit."""
    options = [option(name, value) for value, name in known]
    initial = next((one for one in options if one["value"] == chosen), None)
    if 0 < len(options) <= limits.MAX_SELECT_OPTIONS:
        select = {"type": "static_select", "action_id": action_id, "options": options}
        return filled(select, initial_option=initial, placeholder=_placeholder(placeholder))
    return searched(action_id, initial, placeholder)


def choices(
    action_id: str, known: Sequence[SelectOption], chosen: Sequence[str], placeholder: str
) -> Element:
    options = [option(name, value) for value, name in known]
    initial = [one for one in options if one["value"] in chosen]
    if 0 < len(options) <= limits.MAX_SELECT_OPTIONS:
        select = {"type": "multi_static_select", "action_id": action_id, "options": options}
        return filled(select, initial_options=initial or None, placeholder=_placeholder(placeholder))
    return several_searched(action_id, initial, placeholder)


def _placeholder(text: str) -> JSON:
    return plain(text, limits.PLACEHOLDER_LENGTH)


def searched(action_id: str, initial: JSON | None, placeholder: str, least: int = 0) -> Element:
    """A select whose options load as the user types."""
    select = {"type": "external_select", "action_id": action_id, "min_query_length": least}
    return filled(select, initial_option=initial, placeholder=_placeholder(placeholder))


def several_searched(action_id: str, initial: Sequence[JSON], placeholder: str) -> Element:
    select = {"type": "multi_external_select", "action_id": action_id, "min_query_length": 0}
    return filled(select, initial_options=list(initial) or None, placeholder=_placeholder(placeholder))


def conversation(action_id: str, initial: str | None, placeholder: str) -> Element:
    """A select of the user's conversations, without externally shared ones."""
    filters = {"exclude_external_shared_channels": True}
    select = {"type": "conversations_select", "action_id": action_id, "filter": filters}
    return filled(select, initial_conversation=initial, placeholder=_placeholder(placeholder))


def number_in(value: object) -> int:
    """A number that the bot wrote into a button, option or form. Raises ActionExpired for anything else."""
    if not re.fullmatch("[0-9]{1,12}", str(value)):
        raise ActionExpired
    return int(str(value))


class Values:
    """Reads Slack's `view.state.values` by field name, ignoring tags.

    Methods raise ActionExpired for a value that the bot didn't offer.
    """

    def __init__(self, view: JSON) -> None:
        self._blocks: dict[str, JSON] = {}
        self.block_ids: dict[str, str] = {}
        for block_id, elements in (view.get("state", {}).get("values") or {}).items():
            name = block_id.split(":")[0]
            self._blocks[name] = next(iter(elements.values()), {})
            self.block_ids[name] = block_id

    def text(self, name: str) -> str | None:
        """The text that was entered; None if blank."""
        value = self._held(name, "value", str)
        return value if value and value.strip() else None

    def rich_text(self, name: str) -> JSON | None:
        return self._held(name, "rich_text_value", dict)

    def chosen(self, name: str, what: Literal["value", "text"] = "value") -> str | None:
        selected = self._blocks.get(name, {}).get("selected_option")
        return _of(selected, what) if selected else None

    def number(self, name: str) -> int | None:
        chosen = self.chosen(name)
        return None if chosen is None else number_in(chosen)

    def all_chosen(self, name: str, what: Literal["value", "text"] = "value") -> tuple[str, ...]:
        return tuple(_of(option, what) for option in self._blocks.get(name, {}).get("selected_options") or ())

    def conversation(self, name: str) -> str | None:
        return self._held(name, "selected_conversation", str)

    def day(self, name: str) -> date | None:
        picked = self._blocks.get(name, {}).get("selected_date")
        try:
            return date.fromisoformat(picked) if picked else None
        except (TypeError, ValueError):
            raise ActionExpired from None

    def time(self, name: str) -> str | None:
        return self._held(name, "selected_time", str)

    def files(self, name: str) -> list[JSON]:
        return [file for file in self._blocks.get(name, {}).get("files") or () if isinstance(file, dict)]

    def changed(self, name: str, known_marks: object) -> bool:
        """Whether a field's value differs from the one it showed first; `known_marks` is from `shown_in`."""
        state = self._blocks.get(name, {})
        known = known_marks if isinstance(known_marks, dict) else {}
        return _mark(next((state[key] for key in VALUE_KEYS if state.get(key)), None)) != known.get(name)

    def _held(self, name: str, key: str, kind: type[T]) -> T | None:
        value = self._blocks.get(name, {}).get(key)
        return value if isinstance(value, kind) else None

    def named(self, prefix: str) -> list[str]:
        return [name for name in self._blocks if name.startswith(prefix)]


def _of(selected: JSON, what: Literal["value", "text"]) -> str:
    try:
        return str(selected["value"] if what == "value" else selected["text"]["text"])
    except (KeyError, TypeError):
        raise ActionExpired from None


BANNER = "banner"
SECRET = frozenset({"key"})
"""Fields whose contents are never given back, not even to the user who entered them."""
INITIAL = {
    "value": "initial_value",
    "rich_text_value": "initial_value",
    "selected_option": "initial_option",
    "selected_options": "initial_options",
    "selected_date": "initial_date",
    "selected_time": "initial_time",
    "selected_conversation": "initial_conversation",
}


VALUE_KEYS = ("value", "selected_option", "selected_options", "selected_date", "selected_time")
"""What `shown_in` marks: texts, choices, days and times."""


def shown_in(view: JSON) -> dict[str, str]:
    """A short mark of what each field shows, by name, to keep in the form's metadata.

    Unchanged values are neither read nor sent: the form may show values that it doesn't accept.
    """
    inputs = [block for block in view["blocks"] if block["type"] == "input"]
    return {
        block["block_id"].partition(":")[0]: _mark(
            next((value for key in VALUE_KEYS if (value := block["element"].get(INITIAL[key]))), None)
        )
        for block in inputs
    }


def _mark(value: object) -> str:
    several = value if isinstance(value, list) else filter(None, [value])
    return fingerprint(*(str(one.get("value")) if isinstance(one, dict) else str(one) for one in several))


def warned(view: JSON, warning: str) -> JSON:
    """The view with a warning (plain text) at the top."""
    banner = section(f":warning: {prose(warning)}", block_id=BANNER)
    others = (b for b in view["blocks"] if b.get("block_id") != BANNER)
    return view | {"blocks": [banner, *others][: limits.MAX_VIEW_BLOCKS]}


def warns(view: JSON, warning: str) -> bool:
    return warned(view, warning)["blocks"][0]["text"]["text"] in (
        block["text"]["text"] for block in view["blocks"] if block.get("block_id") == BANNER
    )


def refilled(view: JSON, warning: str, metadata: str | None = None) -> JSON:
    """A submitted view with its values filled in and a warning (plain text) at the top."""
    values = view.get("state", {}).get("values") or {}
    blocks = [_refilled(block, values) for block in view["blocks"]]
    return warned(redefined(view, blocks, metadata), warning)


def without_secrets(view: JSON) -> JSON:
    state = view.get("state") or {}
    values = {block: entered for block, entered in (state.get("values") or {}).items() if block not in SECRET}
    return view | {"state": state | {"values": values}}


def redefined(view: JSON, blocks: Sequence[JSON], metadata: str | None = None) -> JSON:
    """A view to replace a payload's view, with other blocks."""
    kept = {
        k: view[k]
        for k in ("type", "callback_id", "title", "submit", "close", "notify_on_close")
        if view.get(k)
    }
    return kept | {
        "blocks": list(blocks[: limits.MAX_VIEW_BLOCKS]),
        "private_metadata": view.get("private_metadata", "") if metadata is None else metadata,
    }


def _refilled(block: JSON, values: JSON) -> JSON:
    if block.get("type") != "input" or block.get("block_id") in SECRET:
        return block
    element = {k: v for k, v in block["element"].items() if not k.startswith("initial_")}
    state = (values.get(str(block.get("block_id"))) or {}).get(element.get("action_id")) or {}
    for key, initial in INITIAL.items():
        if state.get(key):
            element[initial] = state[key]
    return block | {"element": element}


def placed(view: JSON, error: BotError, warning: str) -> dict[str, str] | None:
    """The error by block ID if it belongs to a field, or the service's sentences name fields; else None."""
    match error:
        case WrongField(field=name):
            block = Values(view).block_ids.get(name)
            return {block: warning} if block else None
        case Refused(errors=sentences):
            return at_fields(view, sentences)
    return None


def at_fields(view: JSON, sentences: Sequence[str]) -> dict[str, str] | None:
    """The service's sentences by block ID if one starts with a field's label; else None.

    Unmatched sentences go to the first field.
    """
    inputs = [block for block in reversed(view["blocks"]) if block.get("type") == "input"]
    at = fields_named(sentences, {block["label"]["text"]: block["block_id"] for block in inputs})
    first = next(filter(None, at), None)
    placed: dict[str, list[str]] = {}
    for block_id, sentence in zip(at, sentences, strict=True):
        placed.setdefault(block_id or first or "", []).append(sentence)
    return {block_id: " ".join(each) for block_id, each in placed.items()} if first else None
