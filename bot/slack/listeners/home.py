"""The Home tab: who the person is in the service, and the ways to begin."""

from bot.slack.turn import Turn
from bot.slack.views import home as views


async def opened(turn: Turn) -> None:
    """The person opened one of the app's tabs."""
    if turn.body["event"].get("tab") != "home":
        return
    link = await turn.parts.accounts.linked_as(turn.owner)
    view = views.home(turn.parts.command, turn.service, link.name if link else None)
    await turn.slack.views_publish(user_id=turn.owner.user_id, view=view)
