"""An office with data that is only Ana's, and the payloads with which other users try to get at it."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from aiohttp import web

from bot.features.new_issue.unfinished import NAME, UnfinishedForm
from bot.sandbox.workspace import payloads
from bot.sandbox.workspace.delivery import Kind
from bot.sandbox.workspace.model import Call, View
from bot.slack.surfaces.buttons import MENU
from bot.store.activity import Entry
from bot.store.channels import Channel
from bot.store.digests import Digest
from bot.store.owner import Owner
from bot.store.plans import TemplateContent
from bot.store.templates import Template
from tests.features.following.threads import follow
from tests.hostile.recording import Recorded, recordings
from tests.hostile.sending import Answer, send
from tests.support.digesting import AT
from tests.support.office import TEAM, Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import JSON
from tests.support.registered import REGISTERED
from tests.support.wire import Wire
from tests.support.work import run_due

ANA, BEN = Owner(None, TEAM, "U0ANA0001"), Owner(None, TEAM, "U0BEN0001")
CHRIS = Owner(None, TEAM, "U0CHRIS01")
GWEN, LENA = "U0GWEN001", "U0LENA0001"
LINKED = {ANA.user_id: "ana", BEN.user_id: "ben", CHRIS.user_id: "chris"}
HERS = "anas-geheimnis"
"""What Ana typed and only she may see; administrators of the service may not."""
HIDDEN = "verborgen"
"""The name of everything that the service shows only to Ana and administrators."""
WORD = "kanarienvogel"
"""A word that finds the hidden things."""
WRONG_KEY = "dead" * 10
ISSUE = 12
"""A public issue on which administrators may edit anyone's time."""
ELSEWHERE = "leadership"
"""A channel that only Ana is in."""
SPEAKING = frozenset(
    {"chat.postEphemeral", "chat.postMessage", "views.open", "views.update", "views.push", "views.publish"}
    | {"chat.unfurl", "entity.presentDetails", "entity.presentComments", "entity.acknowledgeCommentAction"}
)
ALL_FORMS = sorted(REGISTERED["form"])
RECORDED: dict[str, Recorded] = {one.name: one for one in recordings()}


class Watched(Wire):
    """Records whose API key each request to the service uses, and each write."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: set[str | None] = set()
        self.written: list[str] = []

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        self.keys.add(request.headers.get("X-Service-API-Key"))
        answer = await super()._pass_on(request)
        if request.method != "GET" and answer.status < HTTPStatus.BAD_REQUEST:
            self.written.append(f"{request.method} {request.path}")
        return answer


@dataclass
class Stranger:
    """A server other than Slack's that records the requests it gets."""

    port: int = 0
    heard: list[str] = field(default_factory=list)

    async def hear(self, request: web.Request) -> web.Response:
        self.heard.append(request.path)
        return web.Response(text="ok")


@dataclass
class Target:
    """An office with data that is only Ana's."""

    office: Office
    watched: Watched
    stranger: Stranger
    entry: Entry
    digest: Digest
    template: Template
    """For a project that only Ana and administrators see."""
    announcement: JSON
    thread: str
    """Of a channel that only she is in, where she follows a public issue."""
    hidden: int
    kept: tuple[str, ...]
    """Input saved for Ana: a form, a command, a time entry, files."""
    attachment: str
    files: dict[str, str]
    """One uploaded file per user."""
    metadata: JSON

    @property
    def where(self) -> str:
        return self.office.channel_id("general")

    @property
    def elsewhere(self) -> str:
        return self.office.channel_id(ELSEWHERE)

    async def digests(self) -> object:
        """Returns the digests that run with Ana's key, and those in the channel that only she is in."""
        stored = self.office.bot.store.digests
        return await stored.of_owner(ANA), await stored.in_channel(Channel(TEAM, self.elsewhere))

    async def own_things(self) -> JSON:
        """Returns everything that must stay unchanged whatever other users press."""
        data, ours, store = self.office.tracker.data, self.office.workspace.state, self.office.bot.store
        hers = (file for file in data.attachments.values() if file.author_id == 1)
        return {
            "entry": repr(data.time_entries[self.entry.id]),
            "attachments": [(file.id, file.filename, file.description) for file in hers],
            "said": [len(ours.messages[channel]) for channel in (self.elsewhere, ours.im(ANA.user_id).id)],
            "announced": [
                (m.text, m.blocks) for m in ours.messages[self.where] if m.ts == self.announcement["ts"]
            ],
            "followed": await store.followed.of(ANA),
            "remembered": await store.time_entries.latest(ANA, 9),
            "digests": await self.digests(),
            "template": await store.templates.get(TEAM, self.template.id),
            "link": await store.links.get(ANA),
            "unfinished": await store.saved_input.kept(ANA, NAME),
        }

    def seen_by(self, user_id: str) -> Counter[str]:
        """Returns everything that the user sees: messages, forms and the Home tab."""
        state = self.office.workspace.state
        contents: list[object] = [
            [m.text, m.blocks]
            for channel in state.channels.values()
            for m in state.messages[channel.id]
            if user_id in channel.members and m.to in (None, user_id)
        ]
        views = [*state.stack(user_id), *(home for home in state.homes.values() if home.user == user_id)]
        return Counter(json.dumps(one, default=str) for one in [*contents, *(view.body for view in views)])

    def shown_to(self, user_id: str) -> str:
        return "".join(self.seen_by(user_id))


async def begun(office: Office, watched: Watched, stranger: Stranger) -> Target:
    """Creates Ana's time entry, digest, attachment, post and saved input."""
    state, data, store = office.workspace.state, office.tracker.data, office.bot.store
    ana, there = Person(office, ANA.user_id), Person(office, ANA.user_id, ELSEWHERE)
    state.channels[office.channel_id(ELSEWHERE)].members = {ANA.user_id, state.app.bot_user_id}
    hidden = next(issue for issue in data.issues.values() if issue.project_id == 4)
    hidden.subject = hidden.description = data.projects[4].name = f"{HIDDEN} {WORD}"
    await there.ask(f'/timelog {ISSUE} 1h activity:design "{HERS}"')
    await there.ask(f"/digest add security daily {AT}")
    await store.templates.put(ANA, Template(0, 4, "", f"{HIDDEN} {WORD}", TemplateContent()))
    [template] = await store.templates.of_project(TEAM, 4, None)
    announcement = await ana.after(ana.command("/issue new project:webshop For all to see"))
    await office.idle()
    post = await office.bot.slack.chat_postMessage(channel=office.channel_id(ELSEWHERE), text="Created")
    thread = str(post["ts"])
    await follow(store, data.issues[ISSUE], office.channel_id(ELSEWHERE), thread, thread)
    [entry] = await store.time_entries.latest(ANA, 1)
    [digest] = await store.digests.of_owner(ANA)
    form = {"type": "modal", "callback_id": "search", "title": plain(HERS), "blocks": []}
    kept: list[JSON] = [
        {"view": form},
        {"payload": {"command": "/issue", "text": f"{hidden.id} {HERS}"}},
        {"issue": hidden.id, "text": HERS, "warning": HERS, "edit": {}, "draft": {"subject": HERS}}
        | {"time": {"issue": hidden.id, "hours": "1", "spent_on": "2026-07-01", "comment": HERS}}
        | {"digest": f"add security daily {AT}", "back": {"subject": HERS}, "after": {}}
        | {"channel": office.channel_id("general"), "ts": announcement["ts"]},
        {"files": [{"id": "F1", "name": HERS}], "issue": hidden.id, "message": {"text": HERS, "ts": "1.1"}},
    ]
    ids = tuple([await store.saved_input.put(ANA, payload) for payload in kept])
    unfinished = UnfinishedForm(form="closed", at=time.time(), subject=HERS, view={"blocks": []})
    drafts = {"forms": [unfinished.model_dump()]}
    await store.saved_input.keep(ANA, NAME, datetime.now(UTC), lambda _: drafts)
    mine = next(a for a in data.attachments.values() if a.author_id == 1 and a.issue_id)
    mine.issue_id = hidden.id
    metadata = {
        "entry": entry.id, "digest": digest.id, "user": 1, "for": ANA.user_id, "issue": mine.issue_id,
        "attachment": mine.id, "project": "#4", "continue": ids[1], "files": ids[3], "replace": True,
        "offered": True, "project_id": 4, "template": template.id,
        "source": [office.channel_id(ELSEWHERE), "1.1"], "draft": {"project": "#4"},
    }  # fmt: skip # short pairs
    files = {
        user_id: await posted(Person(office, user_id), f"{name}.txt") for user_id, name in LINKED.items()
    }
    await run_due(office.bot)  # what people follow and are assigned is read with their own keys
    watched.keys.clear()
    watched.written.clear()
    return Target(
        office, watched, stranger, entry, digest, template, announcement, thread, hidden.id, ids,
        f"{mine.issue_id}:{mine.id}", files, metadata,
    )  # fmt: skip # short names


def plain(text: str) -> JSON:
    return {"type": "plain_text", "text": text}


async def posted(person: Person, name: str) -> str:
    """Posts a file in a message that the bot can read; returns the file's ID."""
    file: str = (await person.upload(name, b"what is in it"))["id"]
    channel = person.office.channel_id(person.channel)
    await person._post("message", channel=channel, text="Here", file_ids=[file])
    return file


# Payloads


def acting(target: Target, user_id: str, kind: str) -> JSON:
    """Returns the fields that every payload from a user has."""
    state = target.office.workspace.state
    return payloads.interaction(state, kind, state.users[user_id]) | {
        "trigger_id": target.office.workspace._triggers.issue(user_id, in_modal=True),
        "action_ts": state.new_ts(),
    }


def response_url(target: Target, user_id: str) -> str:
    return target.office.workspace._response_urls.issue("actions", user_id, target.where)


def form_of(target: Target, user_id: str, callback_id: str, metadata: str, project: Any = None) -> JSON:
    """Returns a form that the user has open, filled in normally, except that the metadata and the targets
    belong to someone else.
    """
    state = target.office.workspace.state
    recorded = (RECORDED.get(f"form:{callback_id}") or RECORDED[f"closed:{callback_id}"]).at(target.office)
    body = {key: recorded["view"][key] for key in ("callback_id", "title", "blocks")}
    values: JSON = recorded["view"]["state"]["values"]
    if "channel" in values:
        values["channel"]["channel"]["selected_conversation"] = target.elsewhere
    if "project" in values and project is not None:
        values["project"]["issue.project"]["selected_option"] = {"text": plain("x"), "value": project}
    if "key" in values:
        values["key"]["key"]["value"] = KEYS[LINKED[user_id]] if user_id in LINKED else WRONG_KEY
    if callback_id == "files.attach":
        own = target.files.get(user_id, target.files[BEN.user_id])
        values["files"]["files"]["files"] = [{"id": own, "name": "own"}]
    if callback_id == "search":
        values["text"]["text"]["value"] = WORD
    view_id = state.new_id("V")
    body["private_metadata"] = metadata
    view = View(view_id, user_id, "modal", body, "1.abc", view_id, values=values)
    state.close_all(user_id)
    state.push(view)
    return payloads.view(state, view)


def submission(
    target: Target, user_id: str, callback_id: str, metadata: str, kind: str = "view_submission"
) -> tuple[Kind, JSON]:
    """Returns the payload of a form that is submitted or closed."""
    view = form_of(target, user_id, callback_id, metadata)
    return "interactive", acting(target, user_id, kind) | {"view": view}


FORMS_OF = {"project.name": "project.new", "time.issue": "time.log", "comment.issue": "comment.add"}
FORMS_OF |= {"files.new": "files.attach", "template.issue": "template.save"}
"""The form that contains the element, if that isn't the one for a new issue."""


def pressed(
    target: Target, user_id: str, action_id: str, value: Any, *, in_form: bool, url: str = ""
) -> JSON:
    """Returns the payload of a press on an element of Ana's announcement or of a form."""
    body = acting(target, user_id, "block_actions")
    if action_id == "issue.share_listed":
        action_id, value = MENU, f"{action_id} {value}"
    action = {"type": "button", "action_id": action_id, "block_id": "b", "action_ts": body["action_ts"]}
    chosen = action_id in (MENU, "issue.project", "time.issue")
    option = {"text": plain("x"), "value": value}
    body["actions"] = [action | ({"selected_option": option} if chosen else {"value": value})]
    if in_form:
        metadata = json.dumps(target.metadata | {"place": {"channel_id": target.elsewhere}})
        view = form_of(target, user_id, FORMS_OF.get(action_id, "issue.create"), metadata)
        return body | {"view": view, "container": {"type": "view", "view_id": view["id"]}}
    message = {key: target.announcement[key] for key in ("ts", "text", "blocks")}
    at = {"type": "message", "message_ts": message["ts"], "channel_id": target.where}
    body["container"] = at | {"is_ephemeral": action_id.startswith("digest")}
    body["response_url"] = url or response_url(target, user_id)
    return body | {"message": message, "channel": {"id": target.where, "name": "general"}}


def metadatas(target: Target) -> Iterator[str]:
    """Yields another user's metadata, the same from other places, and junk."""
    hers = target.office.workspace.state.im(ANA.user_id).id
    evil, there = f"http://127.0.0.1:{target.stranger.port}/metadata", {"channel_id": target.elsewhere}
    for place in (there, {"channel_id": hers, "response_url": evil}, {"home": True}):
        yield json.dumps(target.metadata | {"place": place})
    yield json.dumps({"place": there})
    yield "[]"
    nonsense: Any
    for nonsense in (-1, {"a": 1}, "9" * 40):
        yield json.dumps(dict.fromkeys([*target.metadata, "place", "tried_at"], nonsense))


# Results


@dataclass(frozen=True)
class Sent:
    """A payload, the response, and what the bot sent to Slack: calls and posts to response URLs."""

    payload: JSON
    answer: Answer
    calls: list[Call]
    posts: int

    @property
    def output(self) -> str:
        """Returns the response and the arguments of the calls to Slack."""
        return self.answer.text + json.dumps([call.arguments for call in self.calls], default=str)

    @property
    def silent(self) -> bool:
        """Returns whether the payload was accepted without an answer to the user."""
        return self.answer.status == HTTPStatus.OK and not (self.posts or self.calls)


async def through(target: Target, sending: Iterable[tuple[Kind, JSON]]) -> list[Sent]:
    """Sends the payloads one after the other and waits until each is handled."""
    workspace, sent = target.office.workspace, []

    def posts() -> int:
        return sum(url.posts for url in workspace._response_urls._known.values())

    for kind, payload in sending:
        workspace.calls.clear()
        posted = posts()
        answer = await send(target.office, kind, payload)
        while target.office.busy:
            await asyncio.sleep(0.001)
        calls = [call for call in workspace.calls if call.method in SPEAKING]
        sent.append(Sent(payload, answer, calls, posts() - posted))
    return sent
