"""`/tracker projects`, `project` and `default`."""

from bot.errors import UserError
from bot.slack.turn import Turn
from bot.slack.views import projects as views
from bot.slack.views.blocks import sentence


async def list_projects(turn: Turn, text: str) -> None:
    """The projects that the person sees."""
    found = await turn.parts.projects.search(turn.owner, text)
    await turn.answer(views.projects(found, text, turn.style, turn.parts.command("tracker")))


async def show(turn: Turn, wanted: str) -> None:
    """One project."""
    await turn.answer(views.project(await turn.parts.projects.show(turn.owner, wanted), turn.style))


async def set_default(turn: Turn, wanted: str) -> None:
    """Make a project this channel's own."""
    if turn.channel is None:
        raise UserError("Only a channel can have a project of its own: use this command in one.")
    project = await turn.parts.projects.set_default(turn.owner, turn.channel, wanted)
    await turn.answer(sentence(f"New issues and searches here are in {project.name} from now on."))


async def clear_default(turn: Turn) -> None:
    """Leave the channel without a project of its own."""
    if turn.channel is not None:
        await turn.parts.projects.clear_default(turn.owner, turn.channel)
    await turn.answer(sentence("This channel has no project of its own any more."))
