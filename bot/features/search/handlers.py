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
from bot.slack.replies import Reply
from bot.slack.interaction import (
    ButtonPress,
    Event,
    FormClosed,
    FormSubmission,
    OptionsRequest,
    Shortcut,
    SlashCommand,
    Place,
)
from bot.slack.forms import FormResult, number_in
from bot.store.owner import Owner


def query_of(request: Search, asker: Owner) -> Query:
    """A command as a query: mentions become the people of this workspace."""
    told = {field.name: getattr(request, field.name) for field in fields(request)}
    for name in ("to", "author"):
        if isinstance(told[name], tuple):
            told[name] = tuple(who(person, asker) for person in told[name])
    told["custom_fields"] = tuple(request.custom_fields.items())
    return Query(**told)


class SearchHandlers:
    """TODO"""

    def __init__(self, search: TODO_search) -> None:
        self._search = search

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        """`/issues …`."""
        text = reply.text
        found = await self.find(reply, text, 0)
        await reply.privately(found)

    async def page_pressed(self, press: ButtonPress, reply: Reply) -> None:
        """*Previous* and *Next*: the page in the place of the one shown."""
        text, offset, before = views.read_page_value(press.value)
        found = await self.find(reply, text, offset, before)
        if reply.in_form:
            await reply.show(forms.said("Search results", found.blocks))
        else:
            await reply.privately(found, replace=True)

    async def find(self, reply: Reply, text: str, offset: int, before: tuple[int, ...] = ()) -> Message:
        """A page of what a command's text searches for."""
        if len(views.page_value(text, 100_000, [100_000] * views.TRAIL)) > VALUE:
            raise UserError("That search is too long: leave out a filter or two.")
        profile = await reply.profile()
        request = await understood(reply, partial(issues_command, text, await reply.today(), profile.zone))
        if isinstance(request, Help):
            return help_views.of("issues", reply.wording.command)
        results = await self._search.find(reply.owner, query_of(request, reply.owner), reply.channel, offset)
        return views.results(
            results, reply.wording, text, shareable=reply.place.channel_id is not None, before=before
        )

    async def open_form(self, reply: Reply) -> None:
        """The global shortcut."""
        await reply.show(views.search_form())

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """The search form: its results take its place."""
        text = views.query_text(form.view.json)

        async def work() -> Reply:
            try:
                found = await self.find(reply, text, 0)
            except UserError as error:
                return refused(reply, error)
            return Reply(view=forms.said("Search results", found.blocks))

        await settle(reply, ack, work(), "Searching…")
