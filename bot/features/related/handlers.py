"""*Find related issues* on a message: lists them for the user, with what can be done with each."""

import asyncio
from collections.abc import Sequence

from bot.features.files.selections import SavedSelections
from bot.features.issues.handlers import IssueHandlers
from bot.features.parts import Parts
from bot.features.related import views
from bot.features.related.related import RelatedIssues, RelatedMatches
from bot.features.related.views import FindRelated, SearchEverywhere, ShareInThread
from bot.slack.incoming.feature import Feature
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.blocks import JSON
from bot.slack.surfaces.forms import loading
from bot.slack.surfaces.interaction import ButtonPress, Destination, Shortcut
from bot.slack.text.message_text import issues_named, text_of
from bot.slack.text.to_service import to_plain


class RelatedHandlers:
    def __init__(self, parts: Parts) -> None:
        self.related, self.selections = parts.shared(RelatedIssues), parts.shared(SavedSelections)
        self.issues = parts.shared(IssueHandlers)

    def feature(self) -> Feature:
        return Feature(
            shortcuts={"find_from_message": self.find_from_message},
            buttons={
                FindRelated: self.find_pressed,
                SearchEverywhere: self.find_pressed,
                ShareInThread: self.share_pressed,
            },
        )

    async def find_from_message(self, shortcut: Shortcut, reply: Reply) -> None:
        reply, message = await reply.opened_for(shortcut, loading(views.TITLE)), shortcut.message
        matches, saved_id = await asyncio.gather(
            self._find(reply, message), self.selections.save_message(reply, message)
        )
        await self._show(reply, matches, saved_id, files=bool(message.get("files")))

    async def find_pressed(self, press: ButtonPress[FindRelated | SearchEverywhere], reply: Reply) -> None:
        """*Find related issues* below a reply: those that the saved message may be about. *Search all
        projects* replaces the list.
        """
        everywhere = isinstance(press.button, SearchEverywhere)
        if not everywhere:
            await reply.open(loading(views.TITLE))
        saved = await self.selections.message(reply, press.button.saved)
        matches = await self._find(reply, saved.message, everywhere=everywhere)
        await self._show(reply, matches, press.button.saved, files=bool(saved.files))

    async def share_pressed(self, press: ButtonPress[ShareInThread], reply: Reply) -> None:
        """*Share in thread*: post the issue there; ask first unless everyone can see it."""
        number, agreed_project, saved_id = press.button.issue, press.button.agreed_project, press.button.saved
        if agreed_project:
            await reply.show(loading(views.SHARING))
        else:
            await reply.open(loading(views.SHARING))
        saved = await self.selections.message(reply, saved_id)
        exposure = await self.issues.share(
            reply.at(Destination.from_json(saved.place)), number, agreed_project
        )
        if exposure and exposure.issue:
            await reply.show(views.question(exposure.issue, reply.wording, saved_id))
        else:
            await reply.show(views.in_thread(number, reply.wording))

    async def _find(self, reply: Reply, message: JSON, *, everywhere: bool = False) -> RelatedMatches:
        text = text_of(message)
        numbers: Sequence[int] = issues_named(text, reply.wording.base_url)
        plain = await asyncio.to_thread(to_plain, text, lambda _: "")
        return await self.related.find(reply.owner, plain, numbers, reply.channel, everywhere=everywhere)

    async def _show(self, reply: Reply, matches: RelatedMatches, saved_id: str, *, files: bool) -> None:
        await reply.show(views.related(matches, reply.wording, await reply.today(), saved_id, files=files))
