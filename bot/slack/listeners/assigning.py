"""Taking an issue, from a digest's `…` menu or after being asked."""

from bot.slack.turn import Turn
from bot.slack.views import assigning as views
from bot.slack.views.forms import number_in


async def take(turn: Turn, number: int) -> None:
    """Make an issue the person's own; told to them alone, who are asked first if it is somebody else's."""
    result = await turn.parts.assigning.take(turn.owner, number, agreed=None)
    await turn.answer(views.taken(result, turn.style))


async def take_pressed(turn: Turn) -> None:
    """The button *Take it from …*; its value names whom the person was asked about."""
    number, _, holder = turn.value.partition(":")
    result = await turn.parts.assigning.take(turn.owner, number_in(number), agreed=number_in(holder))
    await turn.answer(views.taken(result, turn.style), replace=True)
