"""The `/issues` command, its page buttons and the search form."""

from functools import partial
from typing import Any

from bot.features.help import views as help_views
from bot.features.projects.custom_fields import CommandParser
from bot.features.search import views
from bot.features.search.buttons import NextPage, OpenSearchForm, Page, PreviousPage, ShowMyIssues
from bot.features.search.commands import issues_command
from bot.features.search.search import Search
from bot.slack import forms
from bot.slack.blocks import Message
from bot.slack.feature import Feature, Form
from bot.slack.forms import FormResult, loading
from bot.slack.grammar.requests import Help
from bot.slack.interaction import ButtonPress, FormSubmission, Shortcut, SlashCommand
from bot.slack.replies import Reply

MY_OPEN_ISSUES = "project:any to:me sort:priority:desc,updated:desc"


class SearchHandlers:
    def __init__(self, search: Search, parser: CommandParser) -> None:
        self._search = search
        self._parser = parser

    def feature(self) -> Feature:
        return Feature(
            commands={"issues": self.command},
            shortcuts={"search_issues": self.open_form},
            buttons={
                PreviousPage: self.page_pressed,
                NextPage: self.page_pressed,
                OpenSearchForm: self.open_form,
                ShowMyIssues: self.mine_pressed,
            },
            forms={"search": Form(self.submit, "Searching…", repeatable=True)},
        )

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        await reply.privately(await self._find(reply, command.text))

    async def page_pressed(self, press: ButtonPress[Page], reply: Reply) -> None:
        """Replace the results with the previous or next page."""
        page = press.button
        found = await self._find(reply, page.query, page.offset, page.before)
        if reply.in_form:
            await reply.show(forms.said("Search results", found.blocks))
        else:
            await reply.privately(found, replace=True)

    async def open_form(self, _: Shortcut | ButtonPress[Any], reply: Reply) -> None:
        """Open the search form from the global shortcut or the Home tab."""
        await reply.show(views.search_form())

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Replace the search form with its results."""
        found = await self._find(reply, views.query_text(form.view.json))
        return FormResult(view=forms.said("Search results", found.blocks))

    async def mine_pressed(self, _: ButtonPress[ShowMyIssues], reply: Reply) -> None:
        """Open the user's open issues, from the Home tab."""
        await reply.open(loading("My open issues"))
        found = await self._find(reply, MY_OPEN_ISSUES)
        await reply.show(forms.said("My open issues", found.blocks))

    async def _find(self, reply: Reply, text: str, offset: int = 0, before: tuple[int, ...] = ()) -> Message:
        """One page of results for the text of an `/issues` command."""
        views.require_pageable(text)
        today, zone = await reply.today(), (await reply.profile()).zone
        query = await self._parser.parse(reply, partial(issues_command, text, reply.owner, today, zone))
        if isinstance(query, Help):
            return help_views.of("issues", reply.wording.command)
        results = await self._search.find(reply.owner, query, reply.channel, offset)
        shareable = reply.place.channel_id is not None
        return views.results(results, reply.wording, text, shareable=shareable, before=before)
