"""Text from others stays text: no name in the service, in Slack or of a file makes a message or form of the
bot mention, link, show or hide anything that the bot didn't intend.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from structlog.testing import capture_logs

from bot.sandbox.tracker.data import Attachment, CustomField, Data, Relation
from bot.sandbox.workspace.http import HttpDelivery
from bot.sandbox.workspace.response_urls import ResponseUrls
from bot.sandbox.workspace.state import State
from bot.slack.waits import Waits
from tests.hostile.driving import Driver
from tests.hostile.recording import name_of, registered
from tests.support.digesting import AT
from tests.support.office import Office
from tests.support.people import IDS
from tests.support.person import Person
from tests.support.reading import JSON

MARKUP = (
    "<!channel> <!here|x> <@U0EVIL0001> <#C0EVIL0001> <http://evil.example|Tracker> &lt;!everyone&gt; *fett* "
    '_kursiv_ ~durch~ `kode` :skull: {service} {0} javascript:alert(1) "q" </pre> [evil](http://evil.example)'
)
UNSEEN = (
    "> &gt; zitat\r\n> zitat\u2028```zaun\n```\x00\x1b[31m\x9b\u202eevil\u2066\u2067 \u200b\ufeff\t@channel "
    '*fett*_kursiv_ {"blocks": []}\x85*fett\n*'
)
LONG = "&<*`_" * 2000
ISSUE, PARENT, CHILD = 12, 13, 14
TOTAL = 13_200
"""The most text that all parts of a message may have together; around here Slack rejects it."""
CODE = re.compile(r"```.*?```|(?<![\w\u2060])`[^`\n]+`(?![\w\u2060])", re.DOTALL)
DATE = re.compile(r"!date\^[0-9]+\^\{date_short_pretty\}( at \{time\})?")
TOKEN = re.compile(r"<([^<>]*)>")
FORMATTED = re.compile(r"\*+fett\*+|_kursiv_|~durch~|`kode`|:skull:|```zaun")
DECEIVING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff]")


@dataclass
class Heard:
    """Everything that the bot sends to Slack: calls, posts to response URLs, acknowledgments."""

    said: list[tuple[str, Any]] = field(default_factory=list)
    met: set[str] = field(default_factory=set)
    """The handlers that were triggered, as registered."""

    def names(self) -> set[str]:
        return {where for where, _ in self.said}


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Heard:
    heard = Heard()
    called, responded, delivered = State.called, ResponseUrls._respond, HttpDelivery.deliver

    def calling(state: State, method: str, arguments: JSON) -> None:
        heard.said.append((method, {name: _decoded(value) for name, value in arguments.items()}))
        called(state, method, arguments)

    def responding(urls: ResponseUrls, key: str, body: JSON) -> None:
        heard.said.append(("response_url", body))
        responded(urls, key, body)

    async def delivering(delivery: HttpDelivery, kind: Any, payload: JSON, **more: Any) -> Any:
        heard.met.add(name_of(payload))
        answer = await delivered(delivery, kind, payload, **more)
        heard.said.append(("acknowledgement", answer.payload))
        return answer

    monkeypatch.setattr(State, "called", calling)
    monkeypatch.setattr(ResponseUrls, "_respond", responding)
    monkeypatch.setattr(HttpDelivery, "deliver", delivering)
    return heard


def _decoded(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in "[{":
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


# Poisoned data


def poison(data: Data, evil: str) -> None:
    """Puts the text into everything in the service that has a name or text."""
    for table in (
        *(data.projects, data.trackers, data.statuses, data.priorities, data.categories, data.versions),
        *(data.activities, data.roles, data.groups, data.queries),
    ):
        for row in table.values():
            row.name = f"{evil} {row.id}"
    for project in data.projects.values():
        project.description = None
    for user in data.users.values():
        user.firstname, user.lastname, user.mail = evil, f"{evil}{user.id}", f"{evil}@harbor.example"
        user.login = f"{evil}{user.login}"
    data.custom_fields[1] = CustomField(1, evil)
    for issue in data.issues.values():
        issue.subject, issue.custom = evil, {1: evil}
        issue.description = re.sub("kursiv|kode|zaun", "x", evil)  # Markdown has the same markup
    for file in data.attachments.values():
        file.filename = file.description = evil
    for entry in data.time_entries.values():
        entry.comments = evil
    issue = data.issues[ISSUE]
    data.issues[CHILD].subject += " quay"
    data.issues[CHILD].project_id = 1
    issue.parent_id, issue.assigned_to_id, issue.author_id = PARENT, 2, 1
    issue.description = (issue.description or "") * 3  # long enough to be shortened
    issue.category_id = next(c.id for c in data.categories.values() if c.project_id == issue.project_id)
    issue.version_id = next(v.id for v in data.versions.values() if v.project_id == issue.project_id)
    data.issues[CHILD].parent_id = ISSUE
    data.relations[900] = Relation(900, ISSUE, PARENT, evil)
    mine = data.issues[ISSUE].created_on
    data.attachments[900] = Attachment(900, evil, b"1", "text/plain", 1, mine, evil, ISSUE)


# Reads what the bot sent, without using any of the bot's own code


RICH_TARGETS = {"user": ("@", "user_id"), "channel": ("#", "channel_id"), "broadcast": ("!", "range")}
RICH_TARGETS |= {"link": ("", "url"), "usergroup": ("!", "usergroup_id")}
SHOWN_PLAIN = ("value", "title", "label", "display_type", "custom_title", "custom_message")


def texts(part: Any, inside: str = "") -> Iterator[tuple[str, str]]:
    """Yields every text the bot sent, with its type: mrkdwn or plain text."""
    if isinstance(part, list):
        for item in part:
            yield from texts(item)
    elif isinstance(part, dict):
        kind, text = part.get("type"), part.get("text")
        if isinstance(text, str):
            yield (kind or ("plain_text" if inside == "title" else "mrkdwn")), text
        if kind in RICH_TARGETS:
            yield "target", f"{RICH_TARGETS[kind][0]}{part[RICH_TARGETS[kind][1]]}"
        for name, value in part.items():
            if name in SHOWN_PLAIN and isinstance(value, str):
                yield ("value" if "text" in part else "plain_text"), value
            elif name not in ("text", "private_metadata", "state") or isinstance(value, dict):
                yield from texts(value, name)


def wrong_in(text: str, kind: str, office: Office) -> Iterator[str]:
    """Yields everything that a text does but must not."""
    if kind == "value":
        return
    if kind == "target" and not meant(text, "", office):
        yield f"leads to {text}"
    if found := DECEIVING.search(text):
        yield f"holds {found[0]!r}"
    if kind in ("plain_text", "text", "link", "target"):
        return
    for inside in TOKEN.findall(text):  # Slack parses them inside of code, too
        target, _, label = inside.partition("|")
        if not meant(target, label, office):
            yield f"holds <{inside}>"
    bare = TOKEN.sub(lambda m: m[1].partition("|")[2], CODE.sub("", text))
    if re.search(r"<|^&gt;|^>(?! )|(?<!^)>", bare, re.MULTILINE):
        yield "holds half a tag, or a quote"
    if re.search(r"&(?!amp;|lt;|gt;)", text):
        yield "holds a bare &"
    quoted = text.startswith("> ")  # a description or comment in which the user typed Markdown
    if not quoted and (found := FORMATTED.search(bare)):
        yield f"formats {found[0]}"


def meant(target: str, label: str, office: Office) -> bool:
    """Returns whether the bot intended this mention or link."""
    state = office.workspace.state
    if target.startswith("@"):
        return target[1:] in state.users
    if target.startswith("#"):
        return target[1:] in state.channels
    if DATE.fullmatch(target):
        return True
    shown = "evil" not in target or not label or "evil" in label
    return target.startswith((office.tracker.url, office.workspace.url, "http://evil.example")) and shown


def check(heard: Heard, office: Office) -> None:
    """Asserts that the bot sent only what it intended, and nothing larger than Slack accepts."""
    wrong = []
    for where, body in heard.said:
        for kind, text in texts(body):
            wrong += [f"{where}: {what}: {text[:300]!r}" for what in wrong_in(text, kind, office)]
        if isinstance(body, dict) and "blocks" in body:
            total = sum(len(text) for _, text in texts(body["blocks"]))
            wrong += [f"{where}: {total} characters in all"] if total > TOTAL else []
    assert wrong == []
    assert office.violations() == []


# Drives everything


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    office = Office(tmp_path, "http", waits=Waits(typing=0), rate_limits=False)
    async with office.opened("ana", "chris"):
        yield office


COMMANDS = (
    """
/issue {n}|/issue|/issue new {e}|/issue new x project:"{e}"|/issue new x project:#1|/issue 99999
/issue new project:#1 tracker:"{e}" priority:"{e}" to:"{e}" {e}|/issue attach {n}|/issues project:#1 sort:id
/issues project:#1 created:2001-01-01|/issues quay project:#1|/issues quay project:#2 status:any
/issues "{e}" project:#1|/issues project:any author:"{e}"|/issues query:"{e}"|/issues nosuch:"{e}"
/issue {n} comment {e}|/issue {n} edit|/issue template project:#1|/issue template project:#1
/digest me|/digest me daily {at}
/timelog {n} 1h {e}|/timelog {n} 1h activity:"{e}"|/timelog|/timelog edit|/timelog project:#1 30m {e}
/timelog {n} 30h activity:#3 on:2026-01-05 {e}
/digest add #1 daily {at} empty:yes|/digest add "{e}" daily {at}|/digest now|/digest|/digest add #1
/digest add #1 "{e}"|/digest change 1|/digest add #1 daily {at} tz:"{e}"
/digest add daily {at}|/digest pause 1|/digest|/digest resume 1
/tracker|/tracker projects|/tracker projects {e}|/tracker project #1|/tracker project "{e}"|/tracker whoami
/tracker default #1|/tracker user me|/tracker user 2|/tracker user edit 2|/tracker user new <@U0GWEN001>
/tracker project new {e}|/tracker user "{e}"|/tracker {e}|/digest remove 1
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


LISTING = (
    *("/issue {n}", "/issue new project:#1", "/issues project:any", "/timelog {n}", "/timelog", "/digest"),
    *("/digest add #1 daily {at} empty:yes", "/digest now", "/tracker projects", "/tracker project #1"),
)
"""Commands that show lists, where many texts appear together."""


UNMET = {
    *("event:app_uninstalled", "event:tokens_revoked", "event:team_access_revoked", "event:user_change"),
    *("action:announcement.take_back", "action:digest.remove", "action:open"),
    *("action:link.open", "closed:link", "form:link", "action:form.reopen", "action:form.resume"),
    *("form:link.anyway", "closed:link.anyway"),
    *("action:files.new", "action:files.open_describe", "action:files.retry", "form:files.describe"),
    *(
        "action:digest.add",
        "action:digest.take_over",
        "action:home.mine",
        "action:issue.take",
        "form:user.new",
    ),
    *(
        "action:project.default",
        "action:search.page.previous",
        "action:search.filter",
        "action:time.edit",
        "action:time.fill",
    ),
    *("action:time.log_anyway", "action:time.log_today", "action:issue.tracker", "options:issue.custom"),
    *(f"options:issue.{name}" for name in ("assignee", "category", "priority", "status", "tracker")),
    *("options:issue.version", "options:issue.watchers"),
    *("action:comment.open_saved", "action:comment.with_message", "action:files.from_message"),
    *("action:home.tell_when_assigned", "action:issue.follow", "action:issue.open_edit"),
    *("action:issue.unfollow", "action:related.create", "action:related.everywhere"),
    *("action:related.share", "action:issue.template"),
}
"""Handlers that this test doesn't drive; it must drive every other one, including new ones."""
EVILS = {"short": f"{UNSEEN} {MARKUP}", "long": LONG}


@pytest.mark.parametrize("what", EVILS)
async def test_hostile_names_never_change_what_the_bot_says(office: Office, heard: Heard, what: str) -> None:
    evil = EVILS[what]
    poison(office.tracker.data, evil)
    for user in office.workspace.state.users.values():
        user.real_name = f"{evil[:200]} {user.id}"
    typed = " ".join(evil.split()).replace('"', "'")[:400]
    commands = COMMANDS if what == "short" else LISTING

    with capture_logs() as logged:
        driver = Driver(Person(office, IDS["chris"]))
        await driver.run(
            c.replace("{n}", str(ISSUE)).replace("{at}", AT).replace("{e}", typed) for c in commands
        )
        await driver.use_home()
        url = f"{office.tracker.url.rstrip('/')}/issues/{CHILD}"
        await driver.use_shortcuts(f"{evil[:2000]} {url}", evil[:200])

    check(heard, office)
    assert [entry for entry in logged if entry["log_level"] == "error"] == []
    assert {"views.open", "views.update", "views.publish", "chat.unfurl", "response_url"} <= heard.names()
    if what == "short":
        missed = sorted(registered() - heard.met - UNMET)
        assert not missed, "\n".join(missed)


TYPED = ("*a* _b_ ~c~ `d` <b>&amp; {service} :e: <!channel> \"q\" 'r'", "  \u05d0\u202e x \U0001f600", "=1+1")


async def test_form_input_reads_in_the_service_as_typed(office: Office) -> None:
    ana = Person(office, IDS["ana"])
    for typed in TYPED:
        await ana.command("/issue new project:webshop")
        announced = ana.submit(await ana.form("New issue"), {"Subject": typed, "Description": typed})
        await ana.after(announced)
        await ana.command(f"/timelog {ISSUE}")
        await ana.after(
            ana.submit(await ana.form("Log time"), {"Hours": "1", "Comment": typed}),
        )

    made = list(office.tracker.data.issues.values())[-len(TYPED) :]
    logged = list(office.tracker.data.time_entries.values())[-len(TYPED) :]
    assert [issue.subject for issue in made] == [typed.strip() for typed in TYPED]
    rendered = [MarkdownIt("commonmark").render(issue.description or "") for issue in made]
    assert rendered == [f"<p>{escapeHtml(typed.strip())}</p>\n" for typed in TYPED]
    assert [entry.comments for entry in logged] == [*TYPED]
