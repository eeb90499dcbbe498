"""The `/issues` command, its page buttons and the search form."""

from functools import partial, reduce

from bot.access.name_matching import UnclearName, meant
from bot.errors import BotError, KeyInRequest, UserError
from bot.features.help import views as help_views
from bot.features.issues.handlers import IssueHandlers
from bot.features.parts import Parts
from bot.features.reading import read_with, vocabulary_for
from bot.features.search import views
from bot.features.search.commands import OPTIONS, issues_command
from bot.features.search.query import Query, changed, correction
from bot.features.search.search import CategoryWithoutProject, Search, SeveralProjects
from bot.slack.incoming.feature import Feature, Form
from bot.slack.language.keys import types_key
from bot.slack.language.options import understand
from bot.slack.language.values import Help, OneIssue
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import Element, Message
from bot.slack.surfaces.buttons import ActionExpired
from bot.slack.surfaces.forms import FormResult, loading
from bot.slack.surfaces.interaction import ButtonPress, FormSubmission, Shortcut

MY_OPEN_ISSUES = "project:any to:me sort:priority:desc,updated:desc"


class SearchHandlers:
    def __init__(self, parts: Parts) -> None:
        self.parts, self.search, self.issues = parts, parts.shared(Search), parts.shared(IssueHandlers)

    def feature(self) -> Feature:
        return Feature(
            commands={"issues": lambda command, reply: self.search_for(reply, command.text)},
            shortcuts={"search_issues": self.open_form},
            buttons={
                views.ResultsPage: self.page_pressed,
                views.OpenSearchForm: self.open_form,
                views.ShowMyIssues: self.mine_pressed,
            },
            forms={"search": Form(self.submit, "Searching…", repeatable=True)},
        )

    async def search_for(self, reply: Reply, text: str) -> None:
        page = views.ResultsPage(query=text)
        request = await self._request(reply, page)
        match request:
            case OneIssue(number):
                await self.issues.show(reply, number)
            case Help():
                await reply.privately(help_views.of("issues", reply.wording.command))
            case Query():
                await reply.privately(await self._find(reply, request, page))

    async def page_pressed(self, press: ButtonPress[views.ResultsPage], reply: Reply) -> None:
        """Replace the results with another page, or with those of a changed search."""
        await reply.answer("Search results", await self._page(reply, press.button), replace=True)

    async def open_form(self, asked: Shortcut | ButtonPress[views.OpenSearchForm], reply: Reply) -> None:
        """Open the search form from the global shortcut or the Home tab, or with the filters of a search."""
        filters = asked.button if isinstance(asked, ButtonPress) else views.OpenSearchForm()
        await reply.show(views.search_form(filters))

    async def submit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Replace the search form with its results."""
        results = await self._page(reply, views.ResultsPage(query=views.query_text(form.view.json)))
        return FormResult(view=forms.result("Search results", results.blocks))

    async def mine_pressed(self, _: ButtonPress[views.ShowMyIssues], reply: Reply) -> None:
        await reply.open(loading("My open issues"))
        results = await self._page(reply, views.ResultsPage(query=MY_OPEN_ISSUES))
        await reply.show(forms.result("My open issues", results.blocks))

    async def _page(self, reply: Reply, page: views.ResultsPage) -> Message:
        """The results for what a button or the form carries."""
        request = await self._request(reply, page)
        if not isinstance(request, Query):
            raise ActionExpired
        return await self._find(reply, request, page)

    async def _request(self, reply: Reply, page: views.ResultsPage) -> Query | OneIssue | Help:
        views.require_pageable(page)
        as_phrases = "words" not in page.changes
        reply.fallback = partial(self._fallback, reply, page)
        parsed, typist = understand(page.query, OPTIONS), await reply.typist()
        known = await vocabulary_for(self.parts, reply, parsed, "search" if as_phrases else None)
        return await read_with(known, partial(issues_command, parsed, typist, known, phrases=as_phrases))

    async def _fallback(self, reply: Reply, page: views.ResultsPage, error: BotError) -> list[Element]:
        """*Search for “…”* below what can't be a search, and the projects of which one can be searched."""
        projects = error.projects if isinstance(error, SeveralProjects | CategoryWithoutProject) else ()
        phrases = error.phrases if isinstance(error, SeveralProjects) else ()
        words = _words(page) if isinstance(error, UserError) and not isinstance(error, KeyInRequest) else []
        ways = [*views.project_choice(projects, page, phrases), *words]
        return [*ways, *await reply.offered(*error.offers, style=None if ways else "primary")]

    async def _names(
        self, reply: Reply, query: Query, page: views.ResultsPage, error: BotError
    ) -> list[Element]:
        """The names that an unknown or ambiguous one may mean, and the words if phrases were read."""
        if not isinstance(error, UnclearName):
            return await self._fallback(reply, page, error)
        corrections = [(ref.name, correction(query, error, ref)) for ref in meant(error)[: views.MAX_NAMES]]
        offers = [(name, change) for name, change in corrections if change]
        names = views.name_choice(error.kind, offers, page)
        return [*names, *(_words(page) if query.phrases else ())]

    async def _find(self, reply: Reply, query: Query, page: views.ResultsPage) -> Message:
        query = reduce(changed, page.changes, query)
        reply.fallback = partial(self._names, reply, query, page)
        results = await self.search.find(reply.owner, query, reply.channel, page.offset)
        shareable = reply.place.channel_id is not None
        return views.results(results, reply.wording, page, await reply.today(), shareable=shareable)


def _words(page: views.ResultsPage) -> list[Element]:
    """*Search for “…”*, unless the words were searched for or may be a key."""
    searched = "words" in page.changes or types_key(page.query)
    return [] if searched else views.offered(["words"], page, page.query)
