"""The `/issues` command, its page buttons and the search form."""

from dataclasses import fields
from functools import partial
from typing import Any

from bot.errors import UserError
from bot.features.help import views as help_views
from bot.features.issues.commands import who
from bot.features.projects.custom_fields import CommandParser
from bot.features.search import views
from bot.features.search.commands import Search as Request
from bot.features.search.commands import issues_command
from bot.features.search.search import Query, Search
from bot.slack import forms
from bot.slack.blocks import VALUE, Message
from bot.slack.feature import Feature, Form
from bot.slack.forms import FormResult
from bot.slack.grammar.requests import Help
from bot.slack.interaction import ButtonPress, FormSubmission, Shortcut, SlashCommand
from bot.slack.replies import Reply
from bot.store.owner import Owner


def query_of(request: Request, asker: Owner) -> Query:
    """Convert a parsed command to a query, with mentions as users of the caller's workspace."""
    values = {field.name: getattr(request, field.name) for field in fields(request)}
    for name in ("to", "author"):
        if isinstance(values[name], tuple):
            values[name] = tuple(who(person, asker) for person in values[name])
    values["custom_fields"] = tuple(request.custom_fields.items())
    return Query(**values)


class SearchHandlers:
    def __init__(self, search: Search, parser: CommandParser) -> None:
        self._search = search
        self._parser = parser

    def feature(self) -> Feature:
        return Feature(
            commands={"issues": self.command},
            shortcuts={"search_issues": self.open_form},
            buttons={
                "search.page.previous": self.page_pressed,
                "search.page.next": self.page_pressed,
                "home.search": self.open_form,
            },
            forms={"search": Form(self.submit, "Searching…", repeatable=True)},
        )

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        await reply.privately(await self.find(reply, command.text, 0))

    async def page_pressed(self, press: ButtonPress[Any], reply: Reply) -> None:
        """Replace the results with the previous or next page."""
        text, offset, before = views.read_page_value(press.value)
        found = await self.find(reply, text, offset, before)
        if reply.in_form:
            await reply.show(forms.said("Search results", found.blocks))
        else:
            await reply.privately(found, replace=True)

    async def find(self, reply: Reply, text: str, offset: int, before: tuple[int, ...] = ()) -> Message:
        """One page of results for the text of an `/issues` command."""
        if len(views.page_value(text, 100_000, [100_000] * views.TRAIL)) > VALUE:
            raise UserError("That search is too long: leave out a filter or two.")
        today, zone = await reply.today(), (await reply.profile()).zone
        request = await self._parser.parse(reply, partial(issues_command, text, today, zone))
        if isinstance(request, Help):
            return help_views.of("issues", reply.wording.command)
        results = await self._search.find(reply.owner, query_of(request, reply.owner), reply.channel, offset)
        return views.results(
            results, reply.wording, text, shareable=reply.place.channel_id is not None, before=before
        )

    async def open_form(self, _: Shortcut | ButtonPress[Any], reply: Reply) -> None:
        """Open the search form from the global shortcut or the Home tab."""
        await reply.show(views.search_form())

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Replace the search form with its results."""
        found = await self.find(reply, views.query_text(form.view.json), 0)
        return FormResult(view=forms.said("Search results", found.blocks))
