"""`/tracker …`: to the listeners of accounts, projects and users."""

from bot.features.accounts import commands as asked
from bot.features.accounts import handlers as accounts
from bot.features.accounts.commands import tracker_command
from bot.features.help import views as help_views
from bot.features.projects import handlers as projects
from bot.features.users import handlers as users
from bot.slack.turn import Turn


async def command(turn: Turn) -> None:
    """`/tracker …`."""
    text = turn.text
    turn.typed = turn.typed if text.split(" ", 1)[0].casefold() != "link" else None  # a key may follow
    match tracker_command(text):
        case asked.Account():
            await accounts.account(turn)
        case asked.Link():
            await accounts.open_link(turn)
        case asked.Unlink():
            await accounts.unlink(turn)
        case asked.Whoami():
            await accounts.whoami(turn)
        case asked.Projects(text=sought):
            await projects.list_projects(turn, sought)
        case asked.ShowProject(project=wanted):
            await projects.show(turn, wanted)
        case asked.NewProject(name=name):
            await projects.open_form(turn, name)
        case asked.ShowUser() | asked.NewUser() | asked.EditUser() as request:
            await users.command(turn, request)
        case asked.ShowDefault() | asked.SetDefault() | asked.ClearDefault() as request:
            await projects.default_command(turn, request)
        case asked.TrackerHelp():
            await turn.answer(help_views.overview(turn.parts.command, turn.service))
