"""`/tracker notify`, *Tell me about* on the Home tab, and *Mute this issue*."""

from collections.abc import Collection
from contextlib import suppress

from bot.access.accounts import changes_end
from bot.errors import ServiceError, UserError
from bot.features.issues.issues import IssueNotFound, Issues
from bot.features.notices import views
from bot.features.notices.commands import notify_command
from bot.features.notices.messenger import NoticeMessages
from bot.features.notices.reads import AssigneeReads
from bot.features.notices.views import ChooseTopics, MuteIssue
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature
from bot.slack.outgoing import posting
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.blocks import sentence
from bot.slack.surfaces.interaction import ButtonPress
from bot.slack.workspaces.slack_errors import SLACK_FAILED
from bot.store.notices import ASSIGNEE, PERSONAL_NOTICE, Topic

MESSAGES_READ = 100  # how many direct messages the bot looks through for those about an unmuted issue


class NoticeHandlers:
    def __init__(self, parts: Parts) -> None:
        self.parts, self.notices = parts, parts.store.notices

    def feature(self) -> Feature:
        return Feature(
            buttons={ChooseTopics: self.chosen, MuteIssue: self.mute_pressed},
            jobs={PERSONAL_NOTICE: NoticeMessages(self.parts), ASSIGNEE: AssigneeReads(self.parts)},
        )

    async def command(self, reply: Reply, text: str) -> None:
        """`/tracker notify comments on`; without a text, show the user's topics. Raises UserError, NotLinked,
        ServiceError.
        """
        chosen = notify_command(text)
        await self.parts.store.links.required(reply.owner)
        if chosen:
            now = {**dict.fromkeys(await self.notices.topics(reply.owner), True), **chosen}
            await self._choose(reply, {topic for topic, on in now.items() if on})
        await self._answer(reply)

    async def chosen(self, press: ButtonPress[ChooseTopics], reply: Reply) -> None:
        """The checkboxes."""
        ticked = press.button.topics.split(",")
        try:
            await self._choose(reply, {topic for topic in Topic if topic in ticked})
        finally:  # they show what is stored, also after an error
            if reply.place.home:
                await reply.refresh_home()
        if not reply.place.home:
            await self._answer(reply, replace=True)

    async def mute(self, reply: Reply, number: int, *, on: bool) -> None:
        """`/issue 42 mute` and `unmute`. Raises IssueNotFound, UserError, NotLinked, ServiceError."""
        if on:
            async with self.parts.accounts.reading(reply.owner) as session:
                await self.parts.shared(Issues).one(session, number)
        await self.notices.mute(reply.owner, number, on=on)
        await reply.privately(views.mute_changed(number, on=on))
        if not on:
            await self._unmuted(reply, number)

    async def mute_pressed(self, press: ButtonPress[MuteIssue], reply: Reply) -> None:
        """*Mute this issue* and *Unmute*. Raises UserError if an unmuted issue is gone, and NotLinked."""
        pressed = press.button
        await self.notices.mute(reply.owner, pressed.issue, on=pressed.on)
        if pressed.listed:
            await self._answer(reply, replace=True)
        else:
            channel, ts = reply.place.channel_id or "", str(press.message.get("ts"))
            message = views.muted(press.message, pressed)
            if not await posting.update(reply.slack, channel, ts, message):
                did = "muted" if pressed.on else "unmuted"
                await reply.privately(sentence(f"I {did} #{pressed.issue}."))
        if not pressed.on:
            await self._unmuted(reply, pressed.issue)

    async def _unmuted(self, reply: Reply, number: int) -> None:
        """Show *Mute this issue* in the latest messages that show *Unmute*. Raises UserError if the issue is
        gone.
        """
        unmuted = MuteIssue(issue=number, on=False)
        with suppress(UserError, *SLACK_FAILED):  # it is unmuted anyway
            channel = await posting.direct_channel(reply.slack, reply.owner.user_id)
            latest, _ = await posting.page_of(reply.slack, channel, None, limit=MESSAGES_READ)
            for message in latest:
                if views.unmutes(message, number):
                    await posting.update(reply.slack, channel, message["ts"], views.muted(message, unmuted))
        try:
            with suppress(ServiceError):  # it is unmuted anyway
                async with self.parts.accounts.reading(reply.owner) as session:
                    await self.parts.shared(Issues).one(session, number)
        except IssueNotFound:
            raise UserError(
                "I unmuted #{number}, but it's no longer in {service}, or you can't see it. "
                "Ask a project manager if you need access.",
                number=number,
            ) from None

    async def _choose(self, reply: Reply, topics: Collection[Topic]) -> None:
        """Notify the user of these topics from now on, but not of what happened while one was off."""
        owner, now = reply.owner, await self.notices.topics(reply.owner)
        if new := set(topics) - now.keys():
            async with self.parts.accounts.reading(owner) as session:
                at = await self.parts.store.processes.now()
                since = await changes_end(self.parts.client, session.key, at, reported=True)
            await self.notices.switch(owner, new, since)
        await self.notices.switch(owner, now.keys() - set(topics), None)

    async def _answer(self, reply: Reply, *, replace: bool = False) -> None:
        on, muted = await self.notices.topics(reply.owner), await self.notices.muted(reply.owner)
        message = views.settings(on, muted, reply.wording, reply.wording.command)
        await reply.privately(message, replace=replace)
