"""The app's response to an options request.

Source: https://docs.slack.dev/reference/interaction-payloads/block_suggestion-payload
"""

from bot.sandbox.workspace.blocks.elements import OPTION, OPTION_GROUP
from bot.sandbox.workspace.blocks.schema import Problems, fields, items, problem
from bot.sandbox.workspace.shapes import JsonObject

ANSWER = fields({}, {"options": items(OPTION, 0, 100), "option_groups": items(OPTION_GROUP, 0, 100)})


def check_options(answer: JsonObject) -> Problems:
    """Return Slack's errors for a response; empty when it is valid."""
    problems: Problems = []
    ANSWER(answer, "", problems)
    if ("options" in answer) == ("option_groups" in answer):
        problem(problems, "must have either options or option_groups", "")
    return problems
