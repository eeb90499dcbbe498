"""The `/issues` command, its page buttons and the search form."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

from bot.errors import BotError
from bot.features.help import views as help_views
from bot.features.name_matching import AmbiguousName, UnknownName, meant
from bot.features.projects.custom_fields import CommandParser
from bot.features.search import views
from bot.features.search.buttons import (
    AllProjects,
    ClearFilters,
    FilterInstead,
    IncludeClosed,
    NextPage,
    OpenSearchForm,
    Page,
    PreviousPage,
    ShowMyIssues,
)
from bot.features.search.commands import ShowIssue, issues_command
from bot.features.search.query import Query, changed, correction
from bot.features.search.search import Search
from bot.slack import forms
from bot.slack.blocks import Block, Message
from bot.slack.buttons import ActionExpired
from bot.slack.feature import Feature, Form
from bot.slack.forms import FormResult, loading
from bot.slack.grammar.requests import Help
from bot.slack.interaction import ButtonPress, FormSubmission, Shortcut, SlashCommand
from bot.slack.replies import Reply

PAGES = (PreviousPage, NextPage, IncludeClosed, AllProjects, ClearFilters, FilterInstead)
MY_OPEN_ISSUES = "project:any to:me sort:priority:desc,updated:desc"


@dataclass(frozen=True)
class SearchHandlers:
    search: Search
    parser: CommandParser
    show_issue: Callable[[Reply, int], Awaitable[None]]

    def feature(self) -> Feature:
        return Feature(
            commands={"issues": self.command},
            shortcuts={"search_issues": self.open_form},
            buttons={
                **dict.fromkeys(PAGES, self.page_pressed),
                OpenSearchForm: self.open_form,
                ShowMyIssues: self.mine_pressed,
            },
            forms={"search": Form(self.submit, "Searching…", repeatable=True)},
        )

    async def command(self, command: SlashCommand, reply: Reply) -> None:
        page = Page(query=command.text)
        request = await self._request(reply, page)
        match request:
            case ShowIssue(number):
                await self.show_issue(reply, number)
            case Help():
                await reply.privately(help_views.of("issues", reply.wording.command))
            case Query():
                await reply.privately(await self._find(reply, request, page))

    async def page_pressed(self, press: ButtonPress[Page], reply: Reply) -> None:
        """Replace the results with another page, or with those of a changed search."""
        found = await self._page(reply, press.button)
        if reply.in_form:
            await reply.show(forms.said("Search results", found.blocks))
        else:
            await reply.privately(found, replace=True)

    async def open_form(self, _: Shortcut | ButtonPress[Any], reply: Reply) -> None:
        """Open the search form from the global shortcut or the Home tab."""
        await reply.show(views.search_form())

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Replace the search form with its results."""
        found = await self._page(reply, Page(query=views.query_text(form.view.json)))
        return FormResult(view=forms.said("Search results", found.blocks))

    async def mine_pressed(self, _: ButtonPress[ShowMyIssues], reply: Reply) -> None:
        """Open the user's open issues, from the Home tab."""
        await reply.open(loading("My open issues"))
        found = await self._page(reply, Page(query=MY_OPEN_ISSUES))
        await reply.show(forms.said("My open issues", found.blocks))

    async def _page(self, reply: Reply, page: Page) -> Message:
        """The results for what a button or the form carries."""
        request = await self._request(reply, page)
        if not isinstance(request, Query):
            raise ActionExpired
        return await self._find(reply, request, page)

    async def _request(self, reply: Reply, page: Page) -> Query | ShowIssue | Help:
        views.require_pageable(page)
        today, zone = await reply.today(), (await reply.profile()).zone
        return await self.parser.parse(reply, partial(issues_command, page.query, reply.owner, today, zone))

    async def _names(self, query: Query, page: Page, error: BotError) -> Block | None:
        """The names that an unknown or ambiguous one in the search may mean."""
        if not isinstance(error, AmbiguousName | UnknownName):
            return None
        found = [(ref.name, correction(query, error, ref)) for ref in meant(error)[: views.NAMES]]
        return views.name_choice(error.kind, [(name, change) for name, change in found if change], page)

    async def _find(self, reply: Reply, query: Query, page: Page) -> Message:
        query = reduce(changed, page.changes, query)
        reply.recovery = partial(self._names, query, page)
        results = await self.search.find(reply.owner, query, reply.channel, page.offset)
        shareable = reply.place.channel_id is not None
        return views.results(results, reply.wording, page, await reply.today(), shareable=shareable)
