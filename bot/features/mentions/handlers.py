"""Replies to messages to the bot: runs the command that a message means, as if the user had typed it."""

import re
from contextlib import suppress
from functools import partial

from bot.errors import NotLinked
from bot.features.files.selections import SavedSelections, name_of
from bot.features.help import views as help_views
from bot.features.issues.fields import Draft
from bot.features.issues.handlers import IssueHandlers
from bot.features.mentions import views
from bot.features.mentions.commands import (
    CommentOfThread,
    IssueOfThread,
    Meant,
    Nothing,
    OfThread,
    RoutedCommand,
    Talk,
    Unclear,
    Wordless,
    is_reminder,
    is_reply,
    leading,
    meant,
)
from bot.features.mentions.views import OpenDraftThere, RunCommand
from bot.features.new_issue.form import TITLE
from bot.features.new_issue.opening import FormOpening, draft_from_message
from bot.features.parts import Parts
from bot.features.reading import is_search_phrase
from bot.features.related.views import CreateFromMessage
from bot.slack.incoming.feature import Feature
from bot.slack.language.doubts import asks
from bot.slack.language.keys import reject_key
from bot.slack.language.objects import opened
from bot.slack.language.phrases import SELF
from bot.slack.language.tokens import UnclosedQuote, words
from bot.slack.outgoing.messages import names_of
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.blocks import JSON, sentence
from bot.slack.surfaces.forms import loading
from bot.slack.surfaces.interaction import MESSAGES, ButtonPress, Destination, UserMessage

_UNNAMED = re.compile(r"<([@#])([A-Z0-9]{2,30})\|?>")
_KINDS = {"@": "user", "#": "channel"}


class MentionHandlers:
    def __init__(self, parts: Parts) -> None:
        self.parts, self.issues = parts, parts.shared(IssueHandlers)
        self.selections = parts.shared(SavedSelections)
        self.form = parts.shared(FormOpening)

    def feature(self) -> Feature:
        return Feature(
            messages=dict.fromkeys(MESSAGES, self.answer),
            buttons={RunCommand: self.run_pressed, OpenDraftThere: self.create_pressed},
        )

    async def answer(self, message: UserMessage, reply: Reply) -> JSON | None:
        """Returns the command that the message means, which runs next; replies to any other message."""
        reject_key(message.text)
        text = await _with_names(reply, message.text)
        files = message.event.get("files") or ()
        meaning = await self._meant(message, reply, text)

        match meaning:
            case RoutedCommand(command, rest):
                if files:
                    await reply.privately(sentence(views.FILES_LEFT))
                return _payload(reply, command, rest)
            case Unclear() as unclear:
                if not files and await is_search_phrase(self.parts, reply, text):
                    return _payload(reply, "issues", text)
                if not files and _asks_for_issue(unclear):
                    return _payload(reply, "issue", text)
                await self._ask(reply, message, unclear)
            case IssueOfThread():
                await self._ask_of_thread(reply, message, meaning)
            case Nothing() | Wordless() if files:
                await self._ask(reply, message, Unclear(name_of(files[0])))
            case Nothing() | CommentOfThread() if reply.place.thread_ts:
                await self._offer_thread(reply, message, meaning)
            case Nothing():
                await reply.privately(help_views.overview(reply.wording.command))
            case Wordless():
                await reply.privately(help_views.beside_help(views.WORDLESS))
            case Talk(text):
                await reply.privately(help_views.beside_help(text))
        return None

    async def _meant(self, message: UserMessage, reply: Reply, text: str) -> Meant:
        """What a message means, in a thread about an issue also without its number."""
        read = partial(
            meant, text, reply.wording.base_url, (await reply.typist()).today, reply.wording.prefix
        )
        meaning = read(in_thread=bool(reply.place.thread_ts))
        if not isinstance(meaning, OfThread):
            return meaning
        with suppress(NotLinked):
            if about := await self.issues.about(reply, message.event):
                return RoutedCommand(meaning.command, f"{about.id} {meaning.text}")
        return read()

    async def _ask_of_thread(self, reply: Reply, message: UserMessage, request: IssueOfThread) -> None:
        """*Create issue “…”* from a thread's first message, with the type and the person that were named."""
        read = await self.issues.thread(reply, str(reply.place.thread_ts))
        first = next((each for each in read if each["ts"] != message.event["ts"]), None)
        if first is None:
            await self._offer_thread(reply, message, Nothing())
            return
        draft = await draft_from_message(reply, first)
        named = {"tracker": request.tracker, "to": "me" if request.person in SELF else request.person}
        draft = draft.model_copy(update={"values": {**draft.values, **{k: v for k, v in named.items() if v}}})
        create = await reply.save(OpenDraftThere(draft=draft, place=reply.place.as_json()))
        await reply.privately(views.unclear(views.OF_THREAD, draft.subject, create, None))

    async def _ask(self, reply: Reply, message: UserMessage, unclear: Unclear) -> None:
        """Ask what a message means; saves its text with the buttons, and its files."""
        create: CreateFromMessage | OpenDraftThere
        if message.event.get("files"):
            cleaned = message.event | {"text": message.text}
            create = CreateFromMessage(saved=await self.selections.save_message(reply, cleaned))
        else:
            draft = Draft(subject=unclear.subject, values={"desc": unclear.description})
            create = await reply.save(OpenDraftThere(draft=draft, place=reply.place.as_json()))

        search, answer = None, views.REMINDER if is_reminder(message.text) else views.UNCLEAR
        if unclear.long:
            answer = views.LONG
        if not message.text:
            answer = views.FILES
        elif not unclear.long:
            quoted = unclear.subject.replace('"', " ").removesuffix("…")
            search = await reply.save(RunCommand(payload=_payload(reply, "issues", quoted)))

        leads = [
            (label, await reply.save(RunCommand(payload=_payload(reply, run.command, run.text))))
            for label, run in leading(message.text, reply.wording.base_url)
        ]
        if reply.place.thread_ts:
            with suppress(NotLinked):
                if about := await self.issues.about(reply, message.event):
                    asked, number = is_reply(message.text), about.id
                    text = str(number) if asked else f"{number} comment {message.text}"
                    run = RunCommand(payload=_payload(reply, "issue", text))
                    label = f"Show #{number}" if asked else f"Comment on #{number}"
                    leads.insert(0, (label, await reply.save(run)))

        certain = not (leads or is_reply(message.text))
        await reply.privately(views.unclear(answer, unclear.subject, create, search, leads, certain=certain))

    async def _offer_thread(self, reply: Reply, message: UserMessage, meaning: Meant) -> None:
        """Offer actions on the thread, or a comment; saves its first message, if the bot can read it."""
        thread = str(reply.place.thread_ts)
        read = await self.issues.thread(reply, thread)
        about = await self.issues.about(reply, message.event, read)
        others = (each for each in read if each["ts"] != message.event["ts"])
        first = next(others, message.event | {"text": message.text})
        saved = await self.selections.save_message(reply, first | {"thread_ts": thread})
        menu = views.thread_menu(saved, thread, about, reply.wording)
        if isinstance(meaning, CommentOfThread) and (number := meaning.number or (about and about.id)):
            menu = views.as_comment(saved, number)
        await reply.privately(menu)

    async def run_pressed(self, press: ButtonPress[RunCommand], _reply: Reply) -> JSON:
        return press.button.payload

    async def create_pressed(self, press: ButtonPress[OpenDraftThere], reply: Reply) -> None:
        """*Create issue “…”*: the form with the message's text."""
        reply.place = Destination.from_json(press.button.place)
        await reply.open(loading(TITLE))
        await self.form.open_form(reply, press.button.draft)


def _payload(reply: Reply, command: str, text: str) -> JSON:
    """Return a command's payload, as if Slack had sent it from the message's place."""
    place = reply.place
    return {
        "command": reply.wording.command(command),
        "text": text,
        "channel_id": place.channel_id,
        "container": {"thread_ts": place.thread_ts},
        "said_there": place.said_there,
    }


async def _with_names(reply: Reply, text: str) -> str:
    """Return the text with the names of mentioned people beside their IDs, as in a command."""
    mentioned = dict.fromkeys((_KINDS[kind], identifier) for kind, identifier in _UNNAMED.findall(text))
    names = await names_of(reply, mentioned) if mentioned else {}

    def named(names: dict[str, str], match: re.Match[str]) -> str:
        name = re.sub(r"[<>&|]", " ", names.get(match[2], ""))
        return f"<{match[1]}{match[2]}|{name}>"

    return _UNNAMED.sub(partial(named, names), text)


def _asks_for_issue(unclear: Unclear) -> bool:
    """Whether a text asks for a new issue without the words that create one."""
    with suppress(UnclosedQuote):
        return not (unclear.long or asks(unclear.subject)) and opened(words(unclear.subject)) is not None
    return False
