"""Creates an issue from a message that someone reacts to with the channel's emoji, once."""

import re
from datetime import datetime, timedelta

import structlog

from bot.errors import BotError, NotLinked, OutcomeUnknown, UserError
from bot.features.emoji import views
from bot.features.files.attach import Batch, Files
from bot.features.files.selections import SavedSelections, new_batch
from bot.features.issues.creating import Created, IssueCreator, Source
from bot.features.issues.fields import Draft
from bot.features.issues.issues import Issues
from bot.features.issues.publicity import exposure_of
from bot.features.new_issue.handlers import announce
from bot.features.new_issue.opening import draft_from_message
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature, On
from bot.slack.outgoing.conversations import conversation
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.blocks import JSON
from bot.slack.surfaces.interaction import Destination, Event
from bot.slack.workspaces.slack_errors import SLACK_FAILED, why
from bot.slack.workspaces.web_client import header
from bot.store.channels import Channel
from bot.store.claims import Claim

SCOPE = "reactions:read"
NAME = re.compile(r":?([^\s:<>]{1,100}):?(?::skin-tone-\d:)?")
CALLED = {"thumbsup": "+1", "thumbsdown": "-1"}
"""What Slack calls emoji in events that people type by other names."""
REMIND = timedelta(days=1)

log = structlog.get_logger(__name__)


class IssueUnconfirmed(UserError):
    """Another person's attempt may have created the issue, and their key can't look for it."""

    says = (
        "{who} may have created an issue from this message, and I can't check that now. If there isn't "
        "one, choose “More actions › Create an issue” on the message."
    )
    who: str


class EmojiHandlers:
    def __init__(self, parts: Parts) -> None:
        self.parts, self.selections, self.files = parts, parts.shared(SavedSelections), parts.shared(Files)
        self.issues, self.creator = parts.shared(Issues), parts.shared(IssueCreator)

    def feature(self) -> Feature:
        return Feature(events={"reaction_added": On(self.reacted, resumed=True, retries=True)})

    async def turn_on(self, reply: Reply, typed: str) -> None:
        """`/tracker emoji :ticket:`. Raises UserError without the scope for reactions."""
        channel = reply.own_channel
        match = NAME.fullmatch(typed.lower())
        if match is None or not match[1].isascii():
            raise UserError("Type one emoji by its name: `{/tracker} emoji :ticket:`.")
        await self._check_scope(reply)
        emoji = CALLED.get(match[1], match[1])
        await self.parts.accounts.whoami(reply.owner)
        await self.parts.store.channels.set_emoji(reply.owner, channel, emoji)
        await self.show(reply)

    async def turn_off(self, reply: Reply) -> None:
        channel = reply.own_channel
        await self.parts.accounts.whoami(reply.owner)
        await self.parts.store.channels.set_emoji(reply.owner, channel, None)
        await reply.privately(views.turned_off(reply.wording))

    async def show(self, reply: Reply) -> None:
        """`/tracker emoji`: whether it is on, and what it needs."""
        channel = reply.own_channel
        emoji = await self.parts.store.channels.emoji(channel)
        if emoji is None:
            await reply.privately(views.turned_off(reply.wording))
            return
        async with self.parts.accounts.reading(reply.owner) as session:
            project = await self.parts.projects.default_in(session, channel)
        member = await self._is_member(reply)
        await reply.privately(views.turned_on(emoji, project, reply.wording, bot_is_member=member))

    async def _check_scope(self, reply: Reply) -> None:
        try:
            answer = await reply.slack.auth_test()
        except SLACK_FAILED as error:
            log.warning("scopes not read", action="emoji.no_scopes", error=why(error))
            raise UserError("I couldn't check my permissions in Slack. Try again in a minute.") from None
        if SCOPE not in re.split(r"[\s,]+", header(answer, "x-oauth-scopes", SCOPE)):
            raise UserError(
                "I can't see reactions. Ask a workspace admin to grant me the `{scope}` scope.",
                scope=SCOPE,
            )

    async def _is_member(self, reply: Reply) -> bool:
        """Whether the bot is in the channel; only where Slack says that it isn't, it can't see reactions."""
        try:
            return (await conversation(reply.slack, reply.place.channel_id or "")).has_bot
        except SLACK_FAILED:
            return False

    async def reacted(self, event: Event, reply: Reply) -> None:
        """Create an issue if this is the channel's emoji; the person gets any error privately."""
        item = event.event["item"]
        if item.get("type") != "message" or not (item.get("channel") and item.get("ts")):
            return
        channel, emoji = Channel(reply.owner.team_id, item["channel"]), event.event["reaction"]
        if emoji.partition("::")[0] != await self.parts.store.channels.emoji(channel):
            return

        reply = reply.at(Destination(channel.channel_id))
        try:
            await self.parts.store.links.required(reply.owner)
            await self._create_once(reply, Source(channel.channel_id, item["ts"]))
        except NotLinked:
            await self._remind(reply, emoji)

    async def _remind(self, reply: Reply, emoji: str) -> None:
        """Offer a person of this company to link their account, once a day."""
        profile, owner = await reply.profile(), reply.owner
        once = f"emoji.link:{owner.team_id}:{owner.user_id}"
        if profile.works_with(owner) and await self.parts.store.claims.claim_once(once, REMIND):
            saved = await reply.save_request()
            await reply.privately(views.link_first(emoji, reply.wording, saved.id))

    async def _create_once(self, reply: Reply, source: Source) -> None:
        """Create the issue for the first person who reacts; later reactions do nothing."""
        team, store = reply.owner.team_id, self.parts.store
        key = f"emoji:{team}:{source.channel_id}:{source.ts}"
        async with store.claims.hold(key, by=reply.owner) as claim:
            if not claim.won:
                return
            recorded = await store.created_issues.from_message(team, *source)
            if recorded and not claim.tried_at:
                return

            number = recorded[-1].issue_id if recorded else None
            message: JSON | None = None
            try:
                message = await _message(reply, source)
                author, made, batch = await self._earlier_or_new(reply, source, message, claim, number)
            except NotLinked:
                raise
            except BotError as error:
                await self._report(reply, error, message, number)
                raise

            try:  # the issue exists: nobody may create it again, whatever fails from here on
                await self.files.attached(author.owner, made.issue.id, batch)
                thread = author.at(reply.place.in_thread(str(message.get("thread_ts") or source.ts)))
                await announce(self.parts, thread, made, batch, followed=True, tried_at=claim.tried_at)
            except Exception:
                log.exception("issue not announced", action="emoji.not_announced", issue=made.issue.id)

    async def _earlier_or_new(
        self, reply: Reply, source: Source, message: JSON, claim: Claim, number: int | None
    ) -> tuple[Reply, Created, Batch]:
        """The issue of an earlier attempt, by `number` if it was recorded, or else a new one; whose attempt
        created it, and its files. `IssueCreator` looks up the person's own attempt. Raises BotError.
        """
        tried_by, tried_at = claim.tried_by, claim.tried_at
        if tried_by and tried_at and tried_by != reply.owner:
            author = reply.of(tried_by)
            if theirs := await self._others(author, source, message, tried_at, number):
                return author, theirs, new_batch(None)
            await self.parts.store.claims.attempt_as(claim, reply.owner)
            return reply, *await self._created(reply, source, message, None)

        if number:
            return reply, await self._recorded(reply, number), new_batch(None)
        return reply, *await self._created(reply, source, message, tried_at)

    async def _report(self, reply: Reply, error: BotError, message: JSON | None, number: int | None) -> None:
        """Say why there is no issue, with the form for the message, or else what couldn't be checked."""
        why, saved = reply.wording.sentence(error), None
        if number is None and not isinstance(error, OutcomeUnknown | IssueUnconfirmed):
            why = f"I didn't create an issue. {why}"
            saved = await self.selections.save_message(reply, message) if message else None
        await reply.privately_or_later(views.not_created(why, saved))

    async def _others(
        self, author: Reply, source: Source, message: JSON, since: datetime, number: int | None
    ) -> Created | None:
        """Look up, with their key, the issue of another person's interrupted attempt: `number`, if it was
        recorded. Raises IssueUnconfirmed if that fails.
        """
        try:
            if number:
                return await self._recorded(author, number)
            draft = await self._draft(author, message)
            return await self.creator.find(author.owner, draft, author.own_channel, since, source)
        except BotError as error:
            log.warning("attempt not looked up", action="emoji.not_looked_up", error=type(error).__name__)
            raise IssueUnconfirmed((await author.profile()).name) from error

    async def _recorded(self, reply: Reply, number: int) -> Created:
        """The issue that an interrupted attempt created, as it is now. Raises BotError."""
        async with self.parts.accounts.reading(reply.owner) as session:
            issue = await self.issues.one(session, number)
            named = f"#{issue.project.id}" if issue.project else None
            project = await self.parts.projects.chosen(session, named, reply.channel)
        mention = await self.issues.assignee_to_mention(reply.owner, issue)
        return Created(issue, project, mention=mention, exposure=exposure_of(issue))

    async def _created(
        self, reply: Reply, source: Source, message: JSON, tried_at: datetime | None
    ) -> tuple[Created, Batch]:
        """Create an issue like the message shortcut. Raises BotError if there is no issue."""
        draft = await self._draft(reply, message)
        batch = new_batch(tried_at)
        if message.get("files"):
            selection = await self.selections.from_message(reply, message)
            await self.selections.fill(reply, batch, selection.files)
        made = await self.creator.create(
            reply.owner,
            draft,
            reply.own_channel,
            tried_at,
            source=source,
            upload=lambda session: self.files.upload(session, batch),
            announced=True,
        )
        return made, batch

    async def _draft(self, reply: Reply, message: JSON) -> Draft:
        project = await self.parts.store.channels.default_project(reply.own_channel)
        if project is None:
            raise UserError("This channel has no project. Choose one in the form.")
        draft = await draft_from_message(reply, message)
        return draft.model_copy(update={"project": f"#{project}"})


async def _message(reply: Reply, source: Source) -> JSON:
    try:
        answer = await reply.slack.reactions_get(channel=source.channel_id, timestamp=source.ts, full=True)
    except SLACK_FAILED as error:
        log.warning("message not read", action="emoji.no_message", error=why(error))
        raise UserError(
            "I couldn't read that message. Choose “More actions › Create an issue” on it."
        ) from None
    message: JSON = answer.get("message") or {}
    return message | {"ts": source.ts}
