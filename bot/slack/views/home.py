"""The Home tab."""

from collections.abc import Callable

from slack_sdk.models.blocks import Block

from bot.slack.views import accounts
from bot.slack.views import help as help_views
from bot.slack.views.blocks import JSON, actions, button, divider


def home(command: Callable[[str], str], service: str, name: str | None) -> JSON:
    """The account's state, buttons to begin with, and the help. `name` is None for who isn't linked."""
    blocks: list[Block] = accounts.state(service, command("tracker"), name)
    if name is not None:
        blocks.append(
            actions(
                [
                    button("Create an issue", "home.create", style="primary"),
                    button("Search issues", "home.search"),
                ]
            )
        )
    blocks += [divider(), *help_views.overview(command, service).blocks]
    return {"type": "home", "blocks": [block.to_dict() for block in blocks]}
