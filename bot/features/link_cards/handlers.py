"""Unfurls links to issues in conversations and shows each viewer the details they can see."""

from contextlib import suppress
from datetime import timedelta

import structlog
from slack_sdk.errors import SlackApiError

from bot.errors import BotError, NotLinked, UserError
from bot.features.issues.issues import Issues
from bot.features.issues.publicity import Publicity
from bot.features.link_cards import views
from bot.features.parts import Parts
from bot.service.conventions import issue_number
from bot.slack.incoming.feature import Feature
from bot.slack.incoming.interaction import Event
from bot.slack.outgoing.posting import reason
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.blocks import JSON
from bot.slack.surfaces.forms import number_in
from bot.store.claims import State

log = structlog.get_logger(__name__)

LINKS = 3
REPEAT = timedelta(minutes=30)
WITHOUT_ENTITIES = frozenset({"feature_not_enabled", "invalid_arguments", "invalid_arg_name"})


class LinkHandlers:
    def __init__(self, parts: Parts) -> None:
        self.accounts, self.store, self.audiences = parts.accounts, parts.store, parts.platform.audiences
        self.issues = Issues(parts)
        self.publicity = Publicity(parts)

    def feature(self) -> Feature:
        return Feature(
            events={"link_shared": self.shared, "entity_details_requested": self.details_requested}
        )

    async def shared(self, event: Event, reply: Reply) -> None:
        """Unfurl posted links, except in drafts and in channels shared with other organizations.

        Does nothing if the poster isn't linked, since they didn't ask for an unfurl.
        """
        about = event.event
        channel = about.get("channel")
        if not channel or channel == "COMPOSER" or about.get("source") == "composer":
            return
        if event.payload.get("is_ext_shared_channel") or not about.get("user"):
            return
        urls: dict[int, str] = {}
        for link in about.get("links") or ():
            if number := issue_number(reply.wording.base_url, str(link.get("url"))):
                urls.setdefault(number, link["url"])
        if not urls or await self.accounts.linked_as(reply.owner) is None:
            return
        if await self.audiences.why_not_share(reply.slack, reply.owner.team_id, channel) is not None:
            return
        prefix = f"unfurl:{reply.owner.team_id}:{channel}"
        claims = {n: await self.store.claims.take(f"{prefix}:{n}", REPEAT) for n in list(urls)[:LINKS]}
        fresh = {n: urls[n] for n, claim in claims.items() if claim.won}
        unfurled: frozenset[int] = frozenset()
        try:
            with suppress(NotLinked):  # they didn't ask for anything
                if fresh:
                    unfurled = await self._unfurl(reply, channel, about["message_ts"], fresh)
        finally:
            for number, claim in claims.items():
                await self.store.claims.settle(claim, State.DONE if number in unfurled else None)

    async def _unfurl(self, reply: Reply, channel: str, ts: str, urls: dict[int, str]) -> frozenset[int]:
        seen = await self.publicity.public(reply.owner, tuple(urls))
        for with_entities in (True, False):
            seen = [each for each in seen if await self.publicity.may_post(reply.owner, each)]
            issues = [each.issue for each in seen if each.issue]
            if not issues:
                break
            unfurls = {urls[issue.id]: views.card(issue, reply.wording) for issue in issues}
            entities = [views.entity(issue, reply.wording, urls[issue.id]) for issue in issues]
            metadata: JSON = {"metadata": {"entities": entities}} if with_entities else {}
            try:
                await reply.slack.chat_unfurl(channel=channel, ts=ts, unfurls=unfurls, **metadata)
            except SlackApiError as error:
                why = reason(error) or ""
                if not with_entities or (why not in WITHOUT_ENTITIES and "metadata" not in why):
                    raise
                log.info("work objects unavailable", action="unfurl.no_work_objects", error=why)
            else:
                return frozenset(issue.id for issue in issues)
        return frozenset()

    async def details_requested(self, event: Event, reply: Reply) -> None:
        about = event.event
        reference = about.get("external_ref") or {}
        answer: JSON = {"error": {"status": "not_found"}}
        if reference.get("type") == views.REFERENCE:
            with suppress(UserError):
                answer = await self._details(reply, number_in(reference.get("id")))
        await reply.slack.entity_presentDetails(trigger_id=about["trigger_id"], **answer)

    async def _details(self, reply: Reply, number: int) -> JSON:
        try:
            shown = await self.issues.show(reply.owner, number)
        except NotLinked:
            link = f"Type {reply.wording.command('tracker')} link in any channel. "
            then = "Then you'll see this issue's details here."
            return {"error": views.refused(f"Link your {reply.wording.service} account", link + then)}
        except BotError as error:
            return {"error": views.refused("Can't show this issue", reply.wording.sentence(error))}
        description = await reply.wording.mrkdwn(shown.issue.description)
        return {"metadata": views.details(shown, reply.wording, description)}
