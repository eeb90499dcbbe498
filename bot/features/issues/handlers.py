"""Shows issues, shares them, announces those that users create, and finds the one that a message is about."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from bot.access.projects import KnownProject
from bot.errors import UserError
from bot.features.issues import views
from bot.features.issues.buttons import (
    FollowIssue,
    ShareIssue,
    ShareListedIssue,
    ShowIssue,
    ShowMore,
    StopFollowing,
)
from bot.features.issues.card import card
from bot.features.issues.creating import Created
from bot.features.issues.issues import IssueDetails, Issues
from bot.features.issues.publicity import Exposure, Publicity
from bot.features.parts import Parts
from bot.service.conventions import CLOCK_SKEW
from bot.service.models import Issue
from bot.slack.incoming.feature import Feature
from bot.slack.incoming.measurement import log_if_undelivered
from bot.slack.outgoing.messages import DELETED
from bot.slack.outgoing.outcomes import NOT_ANNOUNCED, PostOutcome, not_posted
from bot.slack.outgoing.posting import page_of
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import JSON, Message, sentence
from bot.slack.surfaces.interaction import ButtonPress, OptionsRequest
from bot.slack.text.message_text import issue_named, text_of
from bot.slack.text.mrkdwn import line
from bot.slack.workspaces.slack_errors import SLACK_FAILED

MESSAGES_READ = (
    15  # messages of a thread that are read: as many as Slack gives any app at once (docs/slack.md)
)
MAX_LIKELY = 5  # how many issues that a message may be about are read
Announcement = tuple[PostOutcome | None, str | None]
"""Whether an issue was announced, None if it is private, and the announcement's `ts`."""


class IssueHandlers:
    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.issues, self.publicity = parts.shared(Issues), parts.shared(Publicity)

    def feature(self) -> Feature:
        return Feature(
            buttons={
                ShowIssue: lambda press, reply: self.show(reply, press.button.issue),
                ShowMore: lambda press, reply: self.show(reply, press.button.issue, whole=True),
                ShareIssue: self.share_pressed,
                ShareListedIssue: self.share_pressed,
            }
        )

    async def show(self, reply: Reply, number: int, *, whole: bool = False, again: bool = False) -> None:
        """Show an issue's card, only to the user; a `whole` one, or one shown `again`, replaces the card."""
        in_form = reply.in_form or reply.place.home
        if in_form and not (whole or again):
            await reply.open(forms.loading(f"#{number}"))
        details = await self.issues.show(reply.owner, number)
        message = await self._card(reply, details, shareable=not in_form, whole=whole)
        await reply.answer(f"#{number}", message, replace=whole or again)

    async def options(self, request: OptionsRequest, reply: Reply, *, own_first: bool = False) -> list[JSON]:
        """Issues of all projects by number or subject; `own_first` as in `Issues.suggest`."""
        issues = await self.issues.suggest(reply.owner, request.text, own_first=own_first)
        return [views.issue_option(issue) for issue in issues]

    async def _card(self, reply: Reply, details: IssueDetails, **how: bool) -> Message:
        description = await reply.wording.mrkdwn(details.issue.description)
        today, thread = await reply.today(), reply.place.thread_ts
        return card(details, reply.wording, description, today, thread=thread, **how)

    async def share_pressed(self, press: ButtonPress[ShareIssue | ShareListedIssue], reply: Reply) -> None:
        """*Share here*. Show the card, which asks, unless everyone can see the issue or it has asked."""
        agreed_project = press.button.agreed_project if isinstance(press.button, ShareIssue) else None
        if exposure := await self.share(reply, press.button.issue, agreed_project):
            project = KnownProject.of(exposure.project) if exposure.project else None
            details = replace(await self.issues.show(reply.owner, press.button.issue), project=project)
            await reply.privately(await self._card(reply, details, asks_first=True))

    async def share(self, reply: Reply, number: int, agreed_project: int | None) -> Exposure | None:
        """Post an issue in the conversation, read with the user's key.

        Returns it instead if not everyone can see it, unless it is in the `agreed_project`, which the
        user agreed to show. Raises UserError.
        """
        exposure = await self.publicity.of(reply.owner, number, agreed_project)
        if (issue := exposure.issue) is None or issue.is_private:
            raise UserError("#{number} is private, so it can't be shared.", number=number)
        if exposure.asks:
            return exposure
        where = f"{reply.place.channel_id}:{reply.place.thread_ts or ''}"
        twice = f"share:{reply.owner.team_id}:{reply.owner.user_id}:{where}:{number}"

        async def announce() -> PostOutcome:
            mention = await self.issues.assignee_to_mention(reply.owner, issue)
            follow = FollowIssue(issue=number) if reply.place.thread_ts else None
            does = f"{(await reply.profile()).name} shared"
            post = views.posted(does, issue, reply.wording, mention, follow)
            return (await reply.post(post, partial(self.publicity.why_not_show, reply.owner, exposure)))[0]

        await reply.announce_once(twice, announce, partial(_not_shared, number))
        return None

    async def about(self, reply: Reply, message: JSON, thread: Sequence[JSON] | None = None) -> Issue | None:
        """The issue that a message is likeliest about, of those that the user can see; `thread` is its thread
        if that was read.

        That is one created from its thread or from itself, else one that its thread's first message or the
        bot's posts in it name, else the one that it names. Raises NotLinked and ServiceError if
        there is any to read.
        """
        root, base_url = str(message.get("thread_ts") or message["ts"]), reply.wording.base_url
        likely: list[int] = []
        for ts in dict.fromkeys((root, str(message["ts"]))):
            made = await self.parts.store.created_issues.from_message(
                reply.owner.team_id, reply.place.channel_id or "", ts
            )
            likely += (issue.issue_id for issue in made)
        if thread is None:
            thread = await self.thread(reply, root) if "thread_ts" in message else []

        posts = (post for post in thread[1:] if post.get("bot_id"))
        named = (issue_named(text_of(each), base_url) for each in (*thread[:1], *posts, message))
        likely = list(dict.fromkeys([*likely, *filter(None, named)]))[:MAX_LIKELY]
        if not likely:
            return None
        async with self.parts.accounts.reading(reply.owner) as session:
            visible = await self.issues.several(session, likely)
        return next((visible[number] for number in likely if number in visible), None)

    @staticmethod
    async def thread(reply: Reply, root: str) -> list[JSON]:
        """The start of a thread, without deleted messages; empty if the bot can't read it."""
        channel = reply.place.channel_id or ""
        try:
            messages, _ = await page_of(reply.slack, channel, root, limit=MESSAGES_READ)
        except SLACK_FAILED:
            return []
        return [each for each in messages if each.get("subtype") != DELETED]

    async def tell(
        self,
        reply: Reply,
        made: Created,
        notes: Sequence[str] = (),
        *,
        followed: bool = False,
        before: Announcement | None = None,
    ) -> str | None:
        """Tell the user privately what was understood, with `notes` in plain text, and then announce the
        issue in the conversation where it was requested, if everyone may see it.

        `followed` is whether the thread will follow the issue in that post, and `before` what an earlier
        attempt has announced. Returns the announcement's `ts`.
        """
        announced, ts = before or (await self._expected(reply, made), None)
        answer = views.created(made, reply.wording, announced, notes)
        await log_if_undelivered(reply.privately_or_later(answer))  # the announcement is for others
        if before or announced is not PostOutcome.YES:
            return ts
        announced, ts = await self._announce(reply, made, followed=followed)
        if announced is not PostOutcome.YES:
            await reply.privately_or_later(sentence(not_posted(announced)))
        return ts

    @staticmethod
    async def _expected(reply: Reply, made: Created) -> PostOutcome | None:
        """Whether a created issue will probably be announced; None for a private one."""
        if made.private:
            return None
        if reply.place.direct:
            return PostOutcome.NOWHERE
        return await reply.why_not_post() or made.exposure.hidden or PostOutcome.YES

    async def _announce(
        self, reply: Reply, made: Created, *, followed: bool
    ) -> tuple[PostOutcome, str | None]:
        issue, does = made.issue, f"{(await reply.profile()).name} created"
        why_not_show = partial(self.publicity.why_not_show, reply.owner, made.exposure)
        kept = views.posted(
            does, issue, reply.wording, made.mention, StopFollowing(issue=issue.id, created=True)
        )
        if live := await reply.platform.announce_live(reply, issue, kept, why_not_show):
            return live, None
        follow = FollowIssue(issue=issue.id, created=True) if reply.place.thread_ts else None
        post = kept if followed else views.posted(does, issue, reply.wording, made.mention, follow)
        return await reply.post(post, why_not_show)

    async def announce_action(self, reply: Reply, exposure: Exposure, did: str) -> PostOutcome | None:
        """Post where the user asked that they `did` something to an issue (mrkdwn), if everyone can see it.

        Returns None for one that is private, or was meant to be.
        """
        issue = exposure.issue
        if issue is None or issue.is_private or await self.publicity.privacy_refused(issue.id):
            return None
        did = f"{line((await reply.profile()).name)} {did}"
        post = views.action_post(did, issue, reply.wording, reply.place.thread_ts)
        return (await reply.post(post, partial(self.publicity.why_not_show, reply.owner, exposure)))[0]

    @staticmethod
    async def announced_since(reply: Reply, number: int, since: datetime) -> Announcement | None:
        """What a lost attempt announced in the thread, if anything; UNCONFIRMED if Slack can't tell."""
        channel, root = reply.place.channel_id or "", reply.place.thread_ts
        span = {"oldest": str((since - CLOCK_SKEW).timestamp()), "limit": MESSAGES_READ}
        try:
            messages, _ = await page_of(reply.slack, channel, root, **span)
        except SLACK_FAILED:
            return PostOutcome.UNCONFIRMED, None
        for message in messages:
            own = message.get("bot_id") and message["ts"] != root
            if own and issue_named(text_of(message), reply.wording.base_url) == number:
                return PostOutcome.YES, str(message["ts"])
        return None


def _not_shared(number: int, why: PostOutcome) -> UserError:
    if why is PostOutcome.UNCONFIRMED:
        return UserError(
            "Slack didn't confirm that #{number} was shared. Check the channel before you try again.",
            number=number,
        )
    return UserError("#{number} wasn't shared: {why}.", number=number, why=NOT_ANNOUNCED[why])
