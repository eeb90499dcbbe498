"""Whoever presses acts as themselves: no crafted value, metadata or address makes them somebody else.

Every button, select, form and event that the bot registers is tried, as its index has them: a new one too.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from bot.sandbox.demo import demo_data
from bot.sandbox.people import PEOPLE
from bot.sandbox.tracker.server import Tracker
from bot.sandbox.workspace import payloads
from bot.sandbox.workspace.api import rates
from bot.sandbox.workspace.delivery import Kind
from bot.sandbox.workspace.model import Call, View
from bot.sandbox.workspace.response_urls import ResponseUrls
from bot.slack import pauses
from bot.slack.register import ACTIONS, CLOSED, FORMS, OPTIONS
from bot.store.digests import Digest
from bot.store.owner import Owner
from bot.store.time_entries import Entry
from tests.hostile.sending import Answer, send
from tests.journeys.digesting import AT
from tests.journeys.office import TEAM, Office
from tests.journeys.person import Person
from tests.journeys.reading import JSON
from tests.journeys.wire import Wire

KEYS = {person.login: person.api_key for person in PEOPLE}
ANA, BEN = Owner(None, TEAM, "U0ANA0001"), Owner(None, TEAM, "U0BEN0001")
LENA = "U0LENA0001"
SECRET = "anas-geheimnis"
SPEAKING = frozenset(
    {"chat.postEphemeral", "chat.postMessage", "views.open", "views.update", "views.push", "views.publish"}
    | {"chat.unfurl", "entity.presentDetails"}
)
ANSWERED = (200, 400)
"""Acted on, or refused as what Slack never sends."""
ELSEWHERE = "leadership"
"""A channel that neither Ben nor Lena is in."""
ALL_ACTIONS = [*ACTIONS, "form.resume", "form.reopen"]
ALL_FORMS = [*FORMS, "link"]
JUNK: list[Any] = ["", "x", "-1", "9" * 30, "²", "1:", "{}", '{"q":"x","o":-1}', None, 7, {"a": 1}, ["1"]]


class Watched(Wire):
    """The way to the service, which notes with whose key everything is asked for and written."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.keys: set[str | None] = set()

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        self.keys.add(request.headers.get("X-Service-API-Key"))
        return await super()._pass_on(request)


@dataclass
class Stranger:
    """A listener that isn't Slack's; it counts what reaches it."""

    port: int = 0
    heard: list[str] = field(default_factory=list)

    async def hear(self, request: web.Request) -> web.Response:
        self.heard.append(request.path)
        return web.Response(text="ok")


@dataclass
class Scene:
    """An office, and what Ana has in it that is nobody else's."""

    office: Office
    tracker: Tracker
    watched: Watched
    stranger: Stranger
    entry: Entry
    digest: Digest
    announcement: JSON
    hidden: int
    values: list[Any]
    metadata: JSON

    @property
    def where(self) -> str:
        return self.office.channel_id("general")

    def own_things(self) -> object:
        """What must stay as it is, whatever others press."""
        data = self.tracker.data
        ours = self.office.workspace.state
        elsewhere = (self.office.channel_id(ELSEWHERE), ours.im(ANA.user_id).id)
        return (
            data.time_entries[self.entry.id].comments,
            [(a.id, a.filename, a.description) for a in data.attachments.values() if a.author_id == 1],
            [len(ours.messages[channel]) for channel in elsewhere],
            self.announcement["ts"] in [m.ts for m in ours.messages[self.where]],
        )


@pytest.fixture
async def stranger() -> AsyncIterator[Stranger]:
    stranger = Stranger()
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", stranger.hear)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    stranger.port = runner.addresses[0][1]
    yield stranger
    await runner.cleanup()


@pytest.fixture
async def office() -> None:
    """In its place stands the scene's own, whose service is watched."""


@pytest.fixture
async def scene(tmp_path: Path, stranger: Stranger, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    monkeypatch.setattr(pauses, "PAUSE", 0)
    monkeypatch.setattr(rates.Rates, "admit", lambda *_: None)  # nobody presses as fast as this
    tracker = Tracker(demo_data(datetime.now(UTC)), issue_updates=True)
    await tracker.start()
    watched = Watched(tracker.url)
    await watched.up()
    office = Office(tmp_path, transport="http", service_url=watched.url)
    await office.open()
    try:
        yield await _scene(office, tracker, watched, stranger)
    finally:
        await office.close()
        await watched.down()
        await tracker.stop()


async def _scene(office: Office, tracker: Tracker, watched: Watched, stranger: Stranger) -> Scene:
    ana, state = Person(office, ANA.user_id), office.workspace.state
    state.channels[office.channel_id(ELSEWHERE)].members = {ANA.user_id, state.app.bot_user_id}
    await office.link(ANA.user_id, KEYS["ana"])
    await office.link(BEN.user_id, KEYS["ben"])
    hidden = next(issue for issue in tracker.data.issues.values() if issue.project_id == 4)
    hidden.subject = hidden.description = SECRET
    await ana.ask(f'/timelog {hidden.id} 1h activity:design "{SECRET}"')
    await ana.ask(f"/digest add security daily {AT}")
    announcement = await ana.after(ana.command("/issue new project:webshop For all to see"))
    [entry] = await office.bot.store.time_entries.latest(ANA, 1)
    [digest] = await office.bot.store.digests.of_owner(ANA)
    form = {"type": "modal", "callback_id": "search", "title": _plain(SECRET), "blocks": []}
    kept: list[JSON] = [
        {"view": form},
        {"command": "/issue", "text": f"{hidden.id} {SECRET}"},
        {"issue": hidden.id, "project": None, "hours": "1", "on": "2026-07-01", "comment": SECRET},
        {
            "files": [{"id": "F1", "name": SECRET}],
            "issue": hidden.id,
            "message": {"text": SECRET, "ts": "1.1"},
        },
    ]
    ids = [await office.bot.store.continuations.put(ANA, payload) for payload in kept]
    mine = next(a for a in tracker.data.attachments.values() if a.author_id == 1 and a.issue_id)
    numbers = dict.fromkeys(str(row.id) for row in (entry, digest, hidden, mine))
    values = [
        *ids,
        *numbers,
        f"{hidden.id}:{tracker.data.issues[hidden.id].assigned_to_id or 1}",
        f"{mine.issue_id}:{mine.id}",
        f":{TEAM}:{ANA.user_id}",
        f":{TEAM}:{BEN.user_id}",
        json.dumps({"q": "status:any project:any", "o": 0, "b": [0]}),
    ]
    metadata = {
        "entry": entry.id, "digest": digest.id, "user": 1, "for": LENA, "issue": mine.issue_id,
        "attachment": mine.id, "project": "#4", "continue": ids[1], "files": ids[3], "replace": True,
        "offered": True, "source": [office.channel_id(ELSEWHERE), "1.1"], "draft": {"project": "#4"},
    }  # fmt: skip
    watched.keys.clear()
    return Scene(office, tracker, watched, stranger, entry, digest, announcement, hidden.id, values, metadata)


def _plain(text: str) -> JSON:
    return {"type": "plain_text", "text": text}


# Payloads


def acting(scene: Scene, user_id: str, kind: str) -> JSON:
    state = scene.office.workspace.state
    return payloads.interaction(state, kind, state.users[user_id]) | {
        "trigger_id": scene.office.workspace._triggers.issue(user_id, scene.where, in_modal=True),
        "action_ts": state.new_ts(),
    }


def response_url(scene: Scene, user_id: str) -> str:
    return scene.office.workspace._response_urls.issue("actions", user_id, scene.where)


def form_of(scene: Scene, user_id: str, callback_id: str, metadata: str, value: Any = "1") -> JSON:
    """A form that stands open before the person, with something in each of all fields that there are."""
    state = scene.office.workspace.state
    option = {"text": _plain(str(value)), "value": value}
    held = {
        "text": ("subject", "description", "hours", "estimate", "comment", "name", "identifier", "schedule"),
        "more": ("firstname", "lastname", "login", "mail", "key", "text", "cf_1", "cf_x"),
        "option": ("project", "issue", "activity", "tracker", "status", "zone", "parent:1", "group"),
        "options": ("watchers", "files", "priority", "category"),
    }
    typed = {"hours": "1h", "estimate": "1h", "schedule": "daily 09:00", "text": "x", "name": "New name"}
    values: JSON = {name: {name: {"value": typed.get(name, "new")}} for name in held["text"] + held["more"]}
    values |= {name: {"x": {"selected_option": option}} for name in held["option"]}
    values |= {name: {"x": {"selected_options": [option]}} for name in held["options"]}
    values["channel"] = {"channel": {"selected_conversation": scene.office.channel_id(ELSEWHERE)}}
    values["date"] = {"date": {"selected_date": "2026-07-01"}}
    body: JSON = {
        "callback_id": callback_id, "title": _plain("A form"), "blocks": [], "private_metadata": metadata,
    }  # fmt: skip
    view_id = state.new_id("V")
    view = View(view_id, user_id, "modal", body, "1.abc", view_id, values=values)
    state.close_all(user_id)
    state.push(view)
    return payloads.view(state, view)


def pressed(scene: Scene, user_id: str, action_id: str, value: Any, *, in_form: bool, url: str = "") -> JSON:
    """A press on an element of Ana's announcement, or of a form."""
    body = acting(scene, user_id, "block_actions")
    option = {"text": _plain("x"), "value": value}
    action = {"type": "button", "action_id": action_id, "block_id": "b", "action_ts": body["action_ts"]}
    body["actions"] = [action | ({"selected_option": option} if "menu" in action_id else {"value": value})]
    if action_id in ("issue.project", "time.issue"):
        body["actions"] = [action | {"selected_option": option}]
    if in_form:
        metadata = json.dumps(scene.metadata | {"place": {"channel_id": scene.office.channel_id(ELSEWHERE)}})
        view = form_of(scene, user_id, "issue.create", metadata, value)
        return body | {"view": view, "container": {"type": "view", "view_id": view["id"]}}
    message = {key: scene.announcement[key] for key in ("ts", "text", "blocks")}
    at = {
        "message_ts": message["ts"],
        "channel_id": scene.where,
        "is_ephemeral": action_id.startswith("digest"),
    }
    return body | {
        "message": message,
        "channel": {"id": scene.where, "name": "general"},
        "container": {"type": "message", **at},
        "response_url": url or response_url(scene, user_id),
    }


SILENT = {"open", "issue.share", "issue.menu", "issue.subject", "project.name"}
"""Where there may be nothing to say: links, what is typed at this moment, and what was shared just now."""
IN_FORMS_ONLY = ("issue.project", "issue.subject", "project.name", "time.issue")


def presses(scene: Scene, user_id: str, values: Sequence[Any]) -> Iterator[tuple[Kind, JSON]]:
    """Every button and select there is with each of the values and some junk, by turns in a message and in a
    form.
    """
    junk = cycle(JUNK)
    hidden = scene.hidden
    choices = [f"{what}:{hidden}" for what in ("show", "share", "take", "time")]
    for nth, action_id in enumerate(ALL_ACTIONS):
        mine = [*values, *choices] if action_id == "issue.menu" else values
        for turn, value in enumerate([*mine, *islice(junk, 4)], nth):
            in_form = action_id in IN_FORMS_ONLY or turn % 2 == 0
            yield "interactive", pressed(scene, user_id, action_id, value, in_form=in_form)


def metadatas(scene: Scene) -> Iterator[str]:
    """Another's, placed elsewhere, and nonsense."""
    elsewhere = scene.office.channel_id(ELSEWHERE)
    hers = scene.office.workspace.state.im(ANA.user_id).id
    evil = f"http://127.0.0.1:{scene.stranger.port}/metadata"
    for place in ({"channel_id": elsewhere}, {"channel_id": hers, "response_url": evil}, {"home": True}):
        yield json.dumps(scene.metadata | {"place": place})
        yield json.dumps({"place": place})
    yield from ("", "x", "[]", '"x"', "null")
    nonsense: Any
    for nonsense in ("x", -1, {"a": 1}, [], "9" * 40, True):
        yield json.dumps(dict.fromkeys([*scene.metadata, "place", "attempted_at"], nonsense))


def submissions(scene: Scene, user_id: str, most: int | None) -> Iterator[tuple[Kind, JSON]]:
    """Every form and select, with so many of the metadata, or all."""
    for metadata in islice(metadatas(scene), most):
        for callback_id in ALL_FORMS:
            body = acting(scene, user_id, "view_submission")
            yield "interactive", body | {"view": form_of(scene, user_id, callback_id, metadata)}
        for callback_id in CLOSED:
            body = acting(scene, user_id, "view_closed")
            yield "interactive", body | {"view": form_of(scene, user_id, callback_id, metadata)}
    for action_id in OPTIONS:
        for value in ("4", "x", None)[:most]:
            body = acting(scene, user_id, "block_suggestion")
            view = form_of(scene, user_id, "issue.create", json.dumps(scene.metadata), value)
            about = {"action_id": action_id, "block_id": f"{action_id}:4", "value": SECRET, "view": view}
            yield "interactive", body | about


@dataclass(frozen=True)
class Sent:
    """A payload, its answer, and what the bot then said: the calls of Slack that it made, and its posts to
    response URLs.
    """

    payload: JSON
    answer: Answer
    calls: list[Call]
    posts: int

    @property
    def silent(self) -> bool:
        """Whether it was taken, and the person heard nothing."""
        return self.answer.status == 200 and not (self.posts or self.calls)


async def through(scene: Scene, payloads: Iterable[tuple[Kind, JSON]]) -> list[Sent]:
    """Send them one after the other, until each is through."""
    workspace = scene.office.workspace
    sent = []
    for kind, payload in payloads:
        workspace.calls.clear()
        posted = sum(url.posts for url in workspace._response_urls._known.values())
        answer = await send(scene.office, kind, payload)
        while len(scene.office.bot.in_flight):
            await asyncio.sleep(0)
        posts = sum(url.posts for url in workspace._response_urls._known.values()) - posted
        calls = [call for call in workspace.calls if call.method in SPEAKING]
        sent.append(Sent(payload, answer, calls, posts))
    return sent


def shown_to(scene: Scene, user_id: str) -> str:
    """All that a person sees in messages, forms and on their Home tab."""
    state = scene.office.workspace.state
    seen = [
        [m.text, m.blocks]
        for channel in state.channels.values()
        for m in state.messages[channel.id]
        if user_id in channel.members and m.to in (None, user_id)
    ]
    return json.dumps([seen, [view.body for view in state.stack(user_id)]], default=str)


PRESSERS = {"another": BEN.user_id, "unlinked": "U0GWEN001", "outside": LENA}
MAY_USE = {"another": {KEYS["ben"]}, "unlinked": set[str](), "outside": set[str]()}


@pytest.mark.parametrize("who", PRESSERS)
async def test_no_press_acts_as_another_or_on_what_is_theirs(scene: Scene, who: str) -> None:
    user_id, before = PRESSERS[who], scene.own_things()
    values = scene.values if who == "another" else []

    with capture_logs() as logged:
        sent = await through(scene, presses(scene, user_id, values))

    assert [(one.payload["actions"], one.answer) for one in sent if one.answer.status not in ANSWERED] == []
    assert {one.payload["actions"][0]["action_id"] for one in sent if one.silent} <= SILENT
    assert [entry for entry in logged if entry["log_level"] == "error"] == []
    assert scene.watched.keys <= MAY_USE[who]
    assert scene.own_things() == before
    assert await scene.office.bot.store.digests.of_owner(ANA) == (scene.digest,)
    assert SECRET not in shown_to(scene, user_id)


@pytest.mark.parametrize("who", PRESSERS)
async def test_no_form_acts_as_another_or_on_what_is_theirs(scene: Scene, who: str) -> None:
    user_id, before = PRESSERS[who], scene.own_things()

    with capture_logs() as logged:
        sent = await through(scene, submissions(scene, user_id, None if who == "another" else 1))

    assert [one for one in sent if one.answer.status not in ANSWERED] == []
    assert [entry for entry in logged if entry["log_level"] == "error"] == []
    assert scene.watched.keys <= MAY_USE[who] | {"new"}  # the link form asks whose key was typed
    assert scene.own_things() == before
    assert await scene.office.bot.store.digests.of_owner(ANA) == (scene.digest,)
    assert SECRET not in shown_to(scene, user_id) + "".join(one.answer.text for one in sent)


ADDRESSES = [
    "http://127.0.0.1:{port}/x", "https://127.0.0.1:{port}/x", "//127.0.0.1:{port}/x",
    "http://hooks.slack.com@127.0.0.1:{port}/x", "https://hooks.slack.com@127.0.0.1:{port}/",
    "https://hooks.slack.com:x@127.0.0.1:{port}/", "http://hooks.slack.com:80@localhost:{port}/",
    "https://hooks.slack.com\\@127.0.0.1:{port}/", "https://127.0.0.1:{port}\\@hooks.slack.com/",
    "https://hooks.slack.com.127.0.0.1.nip.io:{port}/", "https://hooks.slack.com:{port}/", "http://[::1", "x",
    "https://hooks.slack.com:abc/", "http://localhost:{port}/", "http://127.1:{port}/", "http://①27.0.0.1:{port}/",
    "{api}@127.0.0.1:{port}/", "http://u:p@{host}/commands/x", "file:///etc/passwd", "javascript:x", "http://",
]  # fmt: skip


async def test_answers_go_to_slacks_own_addresses_only(scene: Scene) -> None:
    api = scene.office.workspace.url.rstrip("/")
    host = api.removeprefix("http://")
    answered = []
    with capture_logs() as logged:
        for address in ADDRESSES:
            url = address.format(port=scene.stranger.port, api=api, host=host)
            number = scene.tracker.data.issues[1].id
            asked = pressed(scene, BEN.user_id, "issue.show", str(number), in_form=False, url=url)
            [sent] = await through(scene, [("interactive", asked)])
            answered.append(not sent.silent)

    assert scene.stranger.heard == []
    assert all(answered)
    assert [entry for entry in logged if entry["log_level"] == "error"] == []


async def test_answers_go_nowhere_else_when_slacks_own_address_leads_there(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def elsewhere(*_: object) -> None:
        raise web.HTTPTemporaryRedirect(f"http://127.0.0.1:{scene.stranger.port}/redirected")

    monkeypatch.setattr(ResponseUrls, "_respond", elsewhere)
    number = next(i.id for i in scene.tracker.data.issues.values() if i.project_id == 1 and not i.is_private)
    asked = pressed(scene, BEN.user_id, "issue.show", str(number), in_form=False)

    [sent] = await through(scene, [("interactive", asked)])

    assert scene.stranger.heard == []
    assert [call.method for call in sent.calls] == ["chat.postEphemeral"]


async def posted(person: Person, name: str, content: bytes) -> str:
    """A file in a message that the bot can read; its id."""
    file: str = (await person.upload(name, content))["id"]
    channel = person.office.channel_id(person.channel)
    await person._post("message", channel=channel, text="Here", file_ids=[file])
    return file


async def test_a_form_never_takes_a_file_that_another_put_into_slack(scene: Scene) -> None:
    ana, ben = Person(scene.office, ANA.user_id), Person(scene.office, BEN.user_id)
    theirs, own = await posted(ben, "his.txt", b"not hers"), await posted(ana, "own.txt", b"hers")
    number = next(i.id for i in scene.tracker.data.issues.values() if i.project_id == 1 and not i.is_private)
    form = form_of(scene, ANA.user_id, "files.attach", json.dumps({"issue": number}))
    given = [{"id": theirs, "name": "theirs"}, {"id": own, "name": "own"}]
    form["state"]["values"] = {"files": {"files": {"files": given}}}
    body = acting(scene, ANA.user_id, "view_submission") | {"view": form}

    [sent] = await through(scene, [("interactive", body)])

    assert "*own* attached" in sent.answer.text
    assert "*theirs* lost on the way: somebody else put it into Slack" in sent.answer.text
    names = {a.filename for a in scene.tracker.data.attachments.values() if a.issue_id == number}
    assert "own" in names
    assert "theirs" not in names


LINKS = ("{url}", "http://[", "{url}99999999999999999999", "", None)


def events(scene: Scene) -> Iterator[tuple[Kind, JSON]]:
    """Links and details, asked for by others, from places that aren't theirs, and malformed."""
    state = scene.office.workspace.state
    hidden = next(issue for issue in scene.tracker.data.issues.values() if issue.subject == SECRET)
    url = f"{scene.watched.url}/issues/{hidden.id}"
    for user_id in (BEN.user_id, "U0GWEN001", LENA, None):
        for channel in (scene.where, scene.office.channel_id("partners"), "C0NOWHERE", "COMPOSER", None):
            for links in LINKS:
                about = {
                    "user": user_id,
                    "channel": channel,
                    "links": links and [{"url": links.format(url=url)}],
                    "message_ts": state.new_ts(),
                }
                inner: JSON = {"type": "link_shared", "event_ts": state.new_ts(), **about}
                yield "events_api", payloads.event(state, inner, shared=False)
        for reference in (str(hidden.id), "9" * 5000, "²", "x", "", None, {"a": 1}):
            inner = {
                "type": "entity_details_requested",
                "user": user_id,
                "external_ref": {"id": reference, "type": "issue"},
                "trigger_id": scene.office.workspace._triggers.issue(user_id or LENA, scene.where),
                "event_ts": state.new_ts(),
            }
            yield "events_api", payloads.event(state, inner, shared=False)


async def test_no_event_shows_others_what_they_may_not_see(scene: Scene) -> None:
    with capture_logs() as logged:
        sent = await through(scene, events(scene))

    assert [one for one in sent if one.answer.status not in ANSWERED] == []
    assert [entry for entry in logged if entry["log_level"] == "error"] == []
    assert scene.watched.keys <= {KEYS["ben"]}
    told = [call.arguments for one in sent for call in one.calls]
    assert told
    assert SECRET not in json.dumps(told, default=str)
