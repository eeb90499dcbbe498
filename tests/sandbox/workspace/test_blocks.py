"""Block Kit's limits, through chat.postMessage and views.open."""

from collections.abc import Awaitable

import pytest
from slack_sdk.errors import SlackApiError

from bot.sandbox.workspace.server import Workspace
from tests.sandbox.workspace.harness import App, Json, button, field, modal, plain, text_input
from tests.support.reading import rich_section, rich_text

GENERAL = "C0GENERAL01"


def section(text: str = "x", **more: object) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


def options(count: int, text: str = "x") -> list[Json]:
    return [{"text": plain(text), "value": str(number)} for number in range(count)]


def accessory(kind: str, **more: object) -> Json:
    return section(accessory={"type": kind, "action_id": "a", **more})


IN_ACTIONS = button("a") | {"elements": [accessory("multi_static_select", options=options(1))["accessory"]]}
CONFIRM = {"title": plain("Sure?"), "text": plain("Really"), "confirm": plain("Yes"), "deny": plain("No")}
GOOD_IN_MESSAGES: list[Json] = [
    section("x" * 3000),
    section(fields=[plain("x" * 2000)] * 10),
    {"type": "divider"},
    {"type": "header", "text": plain("x" * 150)},
    {"type": "context", "elements": [{"type": "mrkdwn", "text": "x"}] * 10},
    rich_text(rich_section()),
    rich_text(
        rich_section(
            {"type": "user", "user_id": "U0ANA0001"},
            {"type": "text", "text": "<x> *y*", "style": {"code": True}},
            {"type": "link", "url": "https://x.y", "text": "a|b"},
        )
    ),
    {"type": "actions", "elements": [{"type": "button", "text": plain("B"), "confirm": CONFIRM}] * 25},
    accessory("overflow", options=[*options(5)], confirm=CONFIRM),
    accessory("static_select", options=options(100), initial_option=options(1)[0]),
    accessory("datepicker", initial_date="2024-02-29"),
    accessory("timepicker", initial_time="23:59"),
    accessory("checkboxes", options=options(2), initial_options=options(1)),
]
BAD_IN_MESSAGES: list[tuple[str, Json]] = [
    ("/blocks/0/text/text", section("x" * 3001)),
    ("/blocks/0/text/text", section("")),
    ("/blocks/0", {"type": "section"}),
    ("no more than 10 items", section(fields=[plain("x")] * 11)),
    ("/blocks/0/text", {"type": "header", "text": {"type": "mrkdwn", "text": "x"}}),
    ("/blocks/0/text/text", {"type": "header", "text": plain("x" * 151)}),
    ("unsupported type: video", {"type": "video"}),
    ("unsupported type: file_input", field("i", "file_input")),
    ("unsupported type: plain_text_input", accessory("plain_text_input")),
    ("missing required field: options", accessory("static_select")),
    ("no more than 25 items", {"type": "actions", "elements": [{"type": "button", "text": plain("B")}] * 26}),
    ("no more than 75 characters", button("a") | {"elements": [{"type": "button", "text": plain("x" * 76)}]}),
    ("no more than 100 items", accessory("static_select", options=options(101))),
    ("at least 1 items", accessory("static_select", options=[])),
    ("initial option", accessory("static_select", options=options(1), initial_option=options(2)[1])),
    ("no more than 5 items", accessory("overflow", options=options(6))),
    ("YYYY-MM-DD", accessory("datepicker", initial_date="2023-02-29")),
    ("HH:mm", accessory("timepicker", initial_time="24:00")),
    ("unique within a block", {"type": "actions", "elements": button("a")["elements"] * 2}),
    ("invalid additional property: colour", section(colour="red")),
    ("/elements/0/elements/0/text", rich_text(rich_section({"type": "text", "text": ""}))),
]


async def test_valid_blocks_are_posted(app: App, workspace: Workspace) -> None:
    answer = await app.web.chat_postMessage(channel=GENERAL, text="x", blocks=GOOD_IN_MESSAGES)
    assert all(block["block_id"] for block in answer["message"]["blocks"])
    assert workspace.violations == []


async def problems(call: Awaitable[object]) -> str:
    """Return the error and the messages of a call that Slack rejects."""
    with pytest.raises(SlackApiError) as raised:
        await call
    answer = raised.value.response
    return " ".join([answer["error"], *answer["response_metadata"]["messages"]])


async def test_invalid_blocks_are_rejected_with_their_paths(app: App, workspace: Workspace) -> None:
    workspace.state.rate_limits = False
    for sentence, block in BAD_IN_MESSAGES:
        error = await problems(app.web.chat_postMessage(channel=GENERAL, text="x", blocks=[block]))
        assert error.startswith("invalid_blocks")
        assert sentence in error
    assert {broken.rule for broken in workspace.violations} == {"invalid_blocks"}


async def test_unknown_angle_bracket_token_is_reported(app: App, workspace: Workspace) -> None:
    good = "<https://x.y|a> <@U0ANA0001> <#C0GENERAL01|g> <!here> <!date^1^{date}|May 1> &lt;project&gt;"
    await app.web.chat_postMessage(channel=GENERAL, text=good, blocks=[section(good)])
    assert workspace.violations == []

    await app.web.chat_postMessage(
        channel=GENERAL, text="x", blocks=[section("`/tracker default <project>`")]
    )
    assert [broken.rule for broken in workspace.violations] == ["unknown_token"]


BAD_VIEWS: list[tuple[str, Json]] = [
    ("/view/title/text", modal(section(), title=plain("x" * 25))),
    ("`submit` is required", modal(text_input("a"), submit=None)),
    ("/view/private_metadata", modal(section(), private_metadata="x" * 3001)),
    ("no more than 100 items", modal(*[{"type": "divider"}] * 101)),
    ("already exists", modal(text_input("a"), text_input("a"))),
    ("focus_on_load", modal(text_input("a", focus_on_load=True), text_input("b", focus_on_load=True))),
    ("missing required field: title", {"type": "modal", "blocks": []}),
    ("/view/type", {"type": "home", "blocks": []}),
    ("initial_value/type", modal(field("i", "rich_text_input", initial_value={"type": "section"}))),
    (
        "initial_value/elements",
        modal(field("i", "rich_text_input", initial_value={"type": "rich_text", "elements": ["x"]})),
    ),
    ("unsupported type: rich_text_input", modal(accessory("rich_text_input"))),
    ("unsupported type: multi_static_select", modal(IN_ACTIONS)),
]


async def test_invalid_views_are_rejected_with_their_paths(app: App) -> None:
    for sentence, view in BAD_VIEWS:
        error = await problems(app.web.views_open(trigger_id="any", view=view))
        assert error.startswith("invalid_arguments")
        assert sentence in error
