"""Searching: `/issues`, its pages, and the search form."""

from dataclasses import fields
from functools import partial

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.errors import UserError
from bot.features.help import views as help_views
from bot.features.issues.drafts import who
from bot.features.projects.custom_fields import understood
from bot.features.search import views
from bot.features.search.commands import Search, issues_command
from bot.features.search.search import Query
from bot.slack import forms
from bot.slack.blocks import VALUE, Message
from bot.slack.grammar.requests import Help
from bot.slack.submissions import Reply, refused, settle
from bot.slack.turn import Turn
from bot.store.owner import Owner


async def command(turn: Turn) -> None:
    """`/issues …`."""
    text = turn.text
    found = await find(turn, text, 0)
    await turn.answer(found)


async def page_pressed(turn: Turn) -> None:
    """*Previous* and *Next*: the page in the place of the one shown."""
    text, offset, before = views.read_page_value(turn.value)
    found = await find(turn, text, offset, before)
    if turn.in_form:
        await turn.show(forms.said("Search results", found.blocks))
    else:
        await turn.answer(found, replace=True)


async def find(turn: Turn, text: str, offset: int, before: tuple[int, ...] = ()) -> Message:
    """A page of what a command's text searches for."""
    if len(views.page_value(text, 100_000, [100_000] * views.TRAIL)) > VALUE:
        raise UserError("That search is too long: leave out a filter or two.")
    profile = await turn.profile()
    request = await understood(turn, partial(issues_command, text, await turn.today(), profile.zone))
    if isinstance(request, Help):
        return help_views.of("issues", turn.parts.command)
    results = await turn.parts.search.find(turn.owner, query_of(request, turn.owner), turn.channel, offset)
    return views.results(
        results, turn.style, text, shareable=turn.place.channel_id is not None, before=before
    )


async def open_form(turn: Turn) -> None:
    """The global shortcut."""
    await turn.show(views.search_form())


async def submit(turn: Turn, ack: AsyncAck) -> None:
    """The search form: its results take its place."""
    text = views.query_text(turn.view)

    async def work() -> Reply:
        try:
            found = await find(turn, text, 0)
        except UserError as error:
            return refused(turn, error)
        return Reply(view=forms.said("Search results", found.blocks))

    await settle(turn, ack, work(), "Searching…")


def query_of(request: Search, asker: Owner) -> Query:
    """A command as a query: mentions become the people of this workspace."""
    told = {field.name: getattr(request, field.name) for field in fields(request)}
    for name in ("to", "author"):
        if isinstance(told[name], tuple):
            told[name] = tuple(who(person, asker) for person in told[name])
    told["custom_fields"] = tuple(request.custom_fields.items())
    return Query(**told)
