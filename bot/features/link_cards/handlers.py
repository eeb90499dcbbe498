"""Unfurls links to issues in conversations, and shows each viewer the details and comments they can see.

Edits of the details change the issue.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import structlog
from slack_sdk.errors import SlackApiError

from bot.errors import BotError, NotLinked, UserError
from bot.features.comments import views as comment_views
from bot.features.comments.handlers import CommentHandlers
from bot.features.editing.editing import EditConflict, Edited, Editing
from bot.features.editing.handlers import EditHandlers
from bot.features.editing.views import edited
from bot.features.issues.buttons import AssignInDetails, AssignToMe
from bot.features.issues.fields import fields_of
from bot.features.issues.publicity import Publicity
from bot.features.link_cards import views
from bot.features.link_cards.details import EDITABLE, EntityDetails, LinkDetails
from bot.features.link_cards.views import edit_of
from bot.features.parts import Parts
from bot.service.conventions import issue_number
from bot.service.models import Journal, Ref
from bot.slack.incoming.feature import Feature, On
from bot.slack.outgoing.messages import writer
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.blocks import JSON, sentence
from bot.slack.surfaces.buttons import ActionExpired
from bot.slack.surfaces.forms import number_in
from bot.slack.surfaces.interaction import ButtonPress, DetailsEdit, Event, Interaction
from bot.slack.text.mrkdwn import spoken, stripped
from bot.slack.workspaces.slack_errors import SLACK_FAILED, reason, why
from bot.store.claims import State

log = structlog.get_logger(__name__)

MAX_LINKS, COMMENTS_ON_PAGE = (
    3,
    20,
)  # how many links of a message are unfurled, and how many comments are on a page
REPEATS_AFTER = timedelta(minutes=30)
WITHOUT_ENTITIES = frozenset({"feature_not_enabled", "invalid_arguments", "invalid_arg_name"})


class LinkHandlers:
    def __init__(self, parts: Parts) -> None:
        self.parts, self.conversations = parts, parts.platform.conversations
        self.details, self.editing = parts.shared(LinkDetails), parts.shared(Editing)
        self.edits, self.comments = parts.shared(EditHandlers), parts.shared(CommentHandlers)
        self.publicity = parts.shared(Publicity)

    def feature(self) -> Feature:
        return Feature(
            events={
                "link_shared": On(self.unfurl),
                "entity_details_requested": On(self.details_requested),
                "entity_comments_requested": On(self.comments_requested),
            },
            edits={"work-object-edit": self.edited, "work-object-post-comment": self.commented},
            buttons={AssignInDetails: self.assign_pressed},
        )

    async def unfurl(self, event: Event, reply: Reply) -> None:
        """Unfurl posted links, except in drafts and in channels shared with other organizations.

        Does nothing if the poster isn't linked, because they didn't ask for an unfurl.
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
        if not urls or await self.parts.store.links.get(reply.owner) is None:
            return

        if await self.conversations.why_not_share(reply.slack, reply.owner.team_id, channel) is not None:
            return
        prefix, ts, store = f"unfurl:{reply.owner.team_id}:{channel}", about["message_ts"], self.parts.store
        claims = {n: await store.claims.claim(f"{prefix}:{n}", REPEATS_AFTER) for n in list(urls)[:MAX_LINKS]}
        # Slack asks again for a message's card when it may be outdated.
        fresh = {
            n: urls[n]
            for n, claim in claims.items()
            if claim.won or await store.claims.is_done(f"{claim.key}:{ts}")
        }
        unfurled: frozenset[int] = frozenset()

        try:
            with suppress(NotLinked):  # they didn't ask for anything
                if fresh:
                    unfurled = await self._unfurl(reply, channel, ts, fresh)
        finally:
            for number, claim in claims.items():
                await store.claims.settle(claim, State.DONE if number in unfurled else None)
                if claim.won and number in unfurled:
                    await store.claims.pass_on(claim.key, f"{claim.key}:{ts}")

    async def _unfurl(self, reply: Reply, channel: str, ts: str, urls: dict[int, str]) -> frozenset[int]:
        exposures = await self.publicity.public(reply.owner, tuple(urls))
        numbers = [each.issue.id for each in exposures if each.issue]
        counted = await asyncio.gather(*(self.details.comments(reply.owner, number) for number in numbers))
        comments = dict(zip(numbers, counted, strict=True))
        for with_entities in (True, False):
            exposures = [one for one in exposures if not await self.publicity.why_not_show(reply.owner, one)]
            issues = [each.issue for each in exposures if each.issue]
            if not issues:
                break

            unfurls = {urls[issue.id]: views.card(issue, reply.wording) for issue in issues}
            entities = [
                views.entity(issue, reply.wording, comments[issue.id], urls[issue.id]) for issue in issues
            ]
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
        answer: JSON = {"error": {"status": "not_found"}}
        with suppress(UserError):
            answer = await self._details(reply, _number(about))
        await reply.slack.entity_presentDetails(trigger_id=about["trigger_id"], **answer)

    async def _details(self, reply: Reply, number: int, done: Edited | None = None) -> JSON:
        """Return the details, or why they can't be shown; after an edit, at least the saved issue."""
        try:
            details = await self.details.read(reply.owner, number)
        except BotError as error:
            if done is None:
                return {"error": views.refused(*_refusal(reply, error))}
            details = EntityDetails(done.issue, {})
        description = await reply.wording.mrkdwn(details.issue.description)
        return {"metadata": views.details(details, reply.wording, description)}

    async def assign_pressed(self, press: ButtonPress[AssignInDetails], reply: Reply) -> None:
        """*Assign to me* in the details, which are then shown again."""
        number = press.button.issue
        await self.edits.assign(reply, AssignToMe(issue=number))
        answer = await self._details(reply, number)
        if "error" not in answer:
            await self._present(reply, press, answer)

    async def _present(self, reply: Reply, pressed: Interaction, answer: JSON) -> bool:
        """Show the details again after what a user did there; False if Slack didn't take that."""
        try:
            await reply.slack.entity_presentDetails(trigger_id=pressed.trigger_id or "", **answer)
        except SLACK_FAILED as error:
            log.warning("details not shown", action="details.not_shown", error=why(error))
            return False
        return True

    async def comments_requested(self, event: Event, reply: Reply) -> None:
        """The issue's public comments, the latest first; the cursor is the last one shown."""
        about = event.event
        answer: JSON = {"comments": [], "can_post_comment": False}
        try:
            answer |= await self._comments(reply, about)
        except BotError as error:
            answer["error"] = spoken(". ".join(_refusal(reply, error)))
        given = {"trigger_id": about["trigger_id"], **answer}
        await reply.slack.api_call("entity.presentComments", json=given)

    async def _comments(self, reply: Reply, about: JSON) -> JSON:
        number, cursor, limit = _number(about), about.get("cursor"), about.get("limit")
        if about.get("thread_root_id"):
            return {}  # comments have no replies

        public, may_add = await self.details.commentable(reply.owner, number)
        last = number_in(cursor) if cursor else None
        left = [comment for comment in reversed(public or ()) if last is None or comment.id < last]
        page = left[: COMMENTS_ON_PAGE if limit is None else max(0, min(COMMENTS_ON_PAGE, limit))]
        texts = [await reply.wording.mrkdwn(comment.notes) for comment in page]
        more = {"cursor": str(page[-1].id)} if page and len(left) > len(page) else {}
        blocks = views.comments(list(zip(page, texts, strict=True)))
        return {"comments": blocks, "can_post_comment": may_add, **more}

    async def commented(self, form: DetailsEdit, reply: Reply) -> None:
        """Add a comment that was written in the details, and show it there, or why it wasn't added."""
        reply.acknowledge()
        reply.answered.set()  # the details themselves show that it is being added
        rich = form.comment
        text = (await writer(reply, rich))(rich).strip()

        try:
            if not text:
                raise UserError("Write a comment.")
            done = await self.comments.add(reply, _number(form.view.json), text)
        except BotError as error:
            await self._acknowledge(form, reply, {"error": spoken(reply.wording.sentence(error))})
            # That took its only trigger, so no form can open.
            reply.interaction = replace(form, trigger_id=None, place=replace(form.place, said_there=True))
            raise

        confirmation = comment_views.commented(done, reply.wording, text)
        answer: JSON = {"error": stripped(confirmation.text)}
        if done.certain:
            author = Ref(id=0, name=(await reply.profile()).name)
            note = done.note or Journal(id=0, user=author, notes=text, created_on=done.issue.updated_on)
            (card,) = views.comments([(note, await reply.wording.mrkdwn(note.notes))])
            answer = {"comment": card}
        if not await self._acknowledge(form, reply, answer):
            await reply.privately(confirmation)

    async def _acknowledge(self, form: DetailsEdit, reply: Reply, answer: JSON) -> bool:
        """Tell Slack what became of a comment; False if it doesn't wait for that, or didn't take it."""
        if reply.acknowledgement is None:  # it was resumed after linking
            return False
        given = {"trigger_id": form.trigger_id or "", **answer}
        try:
            await reply.slack.api_call("entity.acknowledgeCommentAction", json=given)
        except SLACK_FAILED as error:
            log.warning("comment not acknowledged", action="comment.not_acknowledged", error=why(error))
            return False
        return True

    async def edited(self, form: DetailsEdit, reply: Reply) -> None:
        """Save an edit of the details, and show them again, or the error, at its field if it has one."""
        reply.answered.set()  # the details themselves show that they are being saved
        done: Edited | None = None
        title, text, status = "Not saved", "", "edit_error"

        try:
            number, view = _number(form.view.json), form.view.json
            edit, opened = edit_of(view)
            done = await self.editing.apply(reply.owner, number, edit, opened)
            text = views.not_saved(done, reply.wording) if done.not_taken else ""
        except NotLinked as error:
            (title, text), status = _refusal(reply, error), "custom"
        except BotError as error:
            text = reply.wording.sentence(error)
            if isinstance(error, EditConflict):
                text = views.conflicting(error, visible=any(opened.values()))

            fields = {key for key, field in EDITABLE.items() if field.name in fields_of(error)}
            wrong = fields & view["state"]["values"].keys() if fields else ()
            if wrong and reply.acknowledge(response_action="errors", errors=dict.fromkeys(wrong, text)):
                return
        reply.acknowledge()
        await asyncio.sleep(self.parts.delays.acknowledged)
        answer: JSON = {"error": views.refused(title, text, status)}

        if not text:
            answer = await self._details(reply, number, done)
        if not await self._present(reply, form, answer):
            await reply.privately(edited(done, reply.wording, shareable=False) if done else sentence(text))
        if done:
            await self.edits.notify(reply, done)


def _number(about: JSON) -> int:
    """The issue that a Work Object stands for. Raises ActionExpired."""
    reference = about.get("external_ref") or {}
    if reference.get("type") != views.REFERENCE:
        raise ActionExpired
    return number_in(reference.get("id"))


def _refusal(reply: Reply, error: BotError) -> tuple[str, str]:
    """A title and a sentence for who can't see an issue."""
    if isinstance(error, NotLinked):
        link = f"Type {reply.wording.command('tracker')} link in any channel. "
        then = "Then you'll see this issue's details here."
        why = "" if type(error) is NotLinked else f"{reply.wording.sentence(error)} "
        return f"Link your {reply.wording.service} account", why + link + then
    return "Can't show this issue", reply.wording.sentence(error)
