"""Every payload acts as the user who sent it and is answered in Slack; no crafted value, metadata, place or
address changes that.

The tests cover everything that is registered, including handlers added later.
"""

import json
import os
from collections.abc import Iterator
from itertools import cycle, islice, product
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.features.digests.buttons import DigestAction
from bot.sandbox.workspace import payloads
from bot.sandbox.workspace.delivery import Kind
from bot.slack.surfaces.interaction import MESSAGES
from tests.features.following.threads import create_from_message, in_thread
from tests.hostile.recording import GONE, name_of
from tests.hostile.target import (
    ALL_FORMS,
    ANA,
    BEN,
    CHRIS,
    GWEN,
    HERS,
    HIDDEN,
    ISSUE,
    LENA,
    RECORDED,
    WORD,
    WRONG_KEY,
    Sent,
    Target,
    acting,
    form_of,
    metadatas,
    pressed,
    response_url,
    submission,
    through,
)
from tests.support.office import TEAM
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import JSON
from tests.support.registered import REGISTERED, RESUMING

THOROUGH = "ISSUEBOT_HOSTILE_EXAMPLES" in os.environ
ANSWERED = (200, 400)
"""Handled, or rejected as malformed."""
JUNK: list[Any] = ["", "x", "-1", "9" * 30, "²", "1:", "{}", '{"q":"x","o":-1}', None, 7, {"a": 1}, ["1"]]
PRESSERS = {"another": BEN.user_id, "administrator": CHRIS.user_id, "unlinked": GWEN, "outside": LENA}
MAY_USE = {"another": {KEYS["ben"]}, "administrator": {KEYS["chris"]}}
SILENT = {"open", "issue.share", "issue.share_listed", "issue.subject", "issue.value"}
SILENT |= {"project.name", "template.issue", "notice.mute"}
"""Handlers that may say nothing: links, typing, cleared selects, changed buttons, and issues that
were just shared.
"""
IN_FORMS_ONLY = (
    *("issue.project", "issue.value", "issue.subject", "project.name", "time.issue", "comment.issue"),
    *("issue.template", "template.issue", "issue.continue_draft", "issue.discard_draft"),
)
TRYING_ALL = (BEN.user_id, CHRIS.user_id)
"""Another user, and the administrator, who sees hidden issues."""
CHANGES: tuple[Any, ...] = (
    *("closed", "projects", "filters", "words", "reported"),
    *(["due today"], ["bgu", "bug"], ["tracker", "bug", "#1"], [1, "Customer reference", "K-1"]),
)
"""Each kind of change to a search that a button offers."""


EXPIRED = "expired"
NO_ISSUE, NO_DIGEST, REMOVED = "There's no issue #", "There's no digest ", "That template was removed."
NOT_HERS, NO_ACCESS = "I can't change this entry.", "You don't have permission to do that in Tracker."
HERS_ONLY = "Only Ana can delete this post."
OWN = ""
"""Buttons that reach only the presser's own data, whatever value they carry."""


def aimed(target: Target) -> dict[str, dict[str, str]]:
    """Returns the values with which each button and select could reach Ana's data, and what refuses them."""
    hidden, digest, template = str(target.hidden), str(target.digest.id), str(target.template.id)
    assigned = target.office.tracker.data.issues[target.hidden].assigned_to_id or 1
    page = {"q": "project:any tracker:bug", "o": 0, "b": [0]}
    pages = [json.dumps(page | {"c": [change, "projects"]}) for change in CHANGES]
    posts = [f":{TEAM}:{user_id}" for user_id in (ANA.user_id, *PRESSERS.values())]
    followed = f"{ISSUE}:0:{target.elsewhere}:{target.thread}"
    resumed = ("link.open", "time.fill", "time.log_anyway", "time.log_today", "files.retry", "files.new")
    drafts = (
        "digest.open_form",
        "issue.open_draft",
        "issue.open_edit",
        "comment.open_saved",
        "issue.change_several",
    )
    related = ("related.everywhere", "related.create", "related.find", "mention.create", "mention.run")
    cards = ("issue.show", "issue.more", "issue.share", "issue.share_listed", "issue.edit", "files.open")
    about = ("time.open", "time.issue", "comment.open")
    own = ("open", "help", "digest.add", "digest.set_up")
    home = ("home.create", "home.search", "home.time", "home.mine")
    in_form = ("issue.more_fields", "issue.continue_draft", "issue.discard_draft", "digest.preview_form")
    acts = tuple(act for act in DigestAction if act is not DigestAction.RESTORE)
    aims: list[tuple[tuple[str, ...], tuple[str, ...], str]] = [
        ((*RESUMING, *resumed, *drafts, *related), target.kept, EXPIRED),
        (("issue.undo",), target.kept, "It's too late to undo this"),
        (("digest.project",), tuple(f"4:{saved}" for saved in target.kept), EXPIRED),
        (("digest.schedule",), ("weekly",), EXPIRED),
        (("digest.replace",), ("UTC:daily 09:30",), OWN),
        (acts, (digest, f"{digest}:{ANA.user_id}"), NO_DIGEST),
        ((DigestAction.RESTORE,), (digest, f"{digest}:{ANA.user_id}"), "can't be restored anymore"),
        (("time.edit", "time.share", "time.delete"), (str(target.entry.id),), NOT_HERS),
        ((*cards, *about), (hidden,), NO_ISSUE),
        (("comment.issue",), (hidden,), EXPIRED),
        (
            ("comment.with_message", "files.from_message"),
            tuple(f"{hidden}:{it}" for it in target.kept),
            EXPIRED,
        ),
        (("issue.template",), (template,), EXPIRED),
        (("template.edit", "template.remove"), (template,), REMOVED),
        (("template.use",), (f"4:{template}",), NO_ACCESS),
        (("issue.assign", "details.assign"), (f"{hidden}:", f"{hidden}:{assigned}"), NO_ISSUE),
        (("issue.set_status",), (f"{hidden}:5",), NO_ISSUE),
        (("issue.project", "issue.value"), ("4",), EXPIRED),
        (("project.default", "project.show", "template.new"), ("4",), NO_ACCESS),
        (("template.issue",), (hidden,), NO_ACCESS),
        (("issue.subject",), (WORD,), EXPIRED),
        (("project.name",), (WORD,), OWN),
        (("search.page",), tuple(pages), OWN),
        (("files.open_describe",), (target.attachment,), NO_ISSUE),
        (("post.delete",), tuple(posts), HERS_ONLY),
        (("related.share",), tuple(f"{hidden}:1:{saved}" for saved in target.kept), EXPIRED),
        (in_form, ("",), EXPIRED),
        ((*own, *home), ("",), OWN),
        (("notice.topics",), ("", "comments"), OWN),
        (("notice.mute",), (f"{hidden}:1:0", f"{hidden}:1:1"), OWN),
        (("notice.mute",), (f"{hidden}:0:1",), "it's no longer in"),
        (("issue.follow",), (f"{hidden}:0:0:", f"{hidden}:0:1:1.1"), NO_ISSUE),
        (("issue.follow",), (f"{ISSUE}:0::",), OWN),
        (("issue.unfollow",), (f"{ISSUE}:0::",), EXPIRED),
        (("issue.unfollow",), (f"{hidden}:0:C1:1.1",), NO_ISSUE),
        (("issue.unfollow",), (followed,), f"Only the person who follows #{ISSUE} there can stop that."),
        (("issue.comments",), (f"{hidden}:1", f"{hidden}:0"), NO_ISSUE),
    ]
    refused: dict[str, dict[str, str]] = {}
    for action_ids, values, reason in aims:
        for action_id in action_ids:
            refused.setdefault(action_id, {}).update(dict.fromkeys(values, reason))
    return refused


def presses(target: Target, user_id: str) -> Iterator[tuple[Kind, JSON]]:
    """Yields a press of every button and select, alternating between a message and a form.

    Ben and the administrator press with each value and some junk, the others with one value each, in turn.
    """
    junk, first = cycle(JUNK), [*PRESSERS.values()].index(user_id)
    for nth, (action_id, values) in enumerate(aimed(target).items()):
        tried = [*values, next(junk)]
        if user_id not in TRYING_ALL and not THOROUGH:
            tried = [tried[(nth + first) % len(tried)]]
        for turn, value in enumerate(tried, nth):
            in_form = action_id in IN_FORMS_ONLY or turn % 2 == 0
            yield "interactive", pressed(target, user_id, action_id, value, in_form=in_form)


def submissions(target: Target, user_id: str) -> Iterator[tuple[Kind, JSON]]:
    """Yields a submission and a closing of every form, with all metadata for Ben and the administrator."""
    for metadata in islice(metadatas(target), None if THOROUGH or user_id in TRYING_ALL else 1):
        for callback_id in ALL_FORMS:
            yield submission(target, user_id, callback_id, metadata)
        for callback_id in REGISTERED["closed"]:
            yield submission(target, user_id, callback_id, metadata, "view_closed")


def suggestions(target: Target, user_id: str) -> Iterator[tuple[Kind, JSON]]:
    """Yields a search in every select that searches as the user types."""
    for action_id in REGISTERED["options"]:
        for project in ("4", "x"):
            view = form_of(target, user_id, "issue.create", json.dumps(target.metadata), project)
            about = {"action_id": action_id, "block_id": f"{action_id}:4", "value": WORD, "view": view}
            yield "interactive", acting(target, user_id, "block_suggestion") | about


def shortcuts(target: Target, user_id: str) -> Iterator[tuple[Kind, JSON]]:
    """Yields every shortcut, on a message of Ana's in a channel that only she is in."""
    state = target.office.workspace.state
    url = f"{target.watched.url}/issues/{target.hidden}"
    message: JSON = {"type": "message", "user": ANA.user_id, "ts": state.new_ts(), "text": url}
    message |= {"files": [{"id": target.files[ANA.user_id], "file_access": "check_file_info"}]}
    at = {"channel": {"id": target.elsewhere, "name": "privategroup"}, "message": message}
    for callback_id in REGISTERED["shortcut"]:
        kind: str = RECORDED[f"shortcut:{callback_id}"].payload["type"]
        body = acting(target, user_id, kind) | {"callback_id": callback_id}
        if kind == "message_action":
            body |= at | {"message_ts": message["ts"], "response_url": response_url(target, user_id)}
        yield "interactive", body


async def test_each_button_says_why_it_refuses_another_users_object(target: Target) -> None:
    user_id, before, unexpected = BEN.user_id, await target.own_things(), []
    assert aimed(target).keys() == REGISTERED["action"]

    for action_id, values in aimed(target).items():
        for value, why in values.items():
            target.office.workspace.state.close_all(user_id)
            press = pressed(target, user_id, action_id, value, in_form=action_id in IN_FORMS_ONLY)
            earlier = target.seen_by(user_id)
            await through(target, [("interactive", press)])
            fresh = [*target.seen_by(user_id) - earlier]
            if why not in "".join(fresh):
                unexpected.append((action_id, value, why, fresh))

    assert unexpected == []
    assert await target.own_things() == before


@pytest.mark.parametrize("action_id", ["issue.follow", "issue.unfollow"])
async def test_a_forged_press_leaves_the_post_of_another_issue(target: Target, action_id: str) -> None:
    ana = Person(target.office, ANA.user_id)
    post = await create_from_message(ana, "Cart loses items")
    press = pressed(target, BEN.user_id, action_id, f"{ISSUE}:0::", in_form=False)
    press["message"] = {key: post[key] for key in ("ts", "thread_ts", "text", "blocks")}
    press["channel"]["id"] = press["container"]["channel_id"] = post["channel"]

    await through(target, [("interactive", press)])

    assert [m["text"] for m in await in_thread(ana, post)] == [post["text"]]
    assert [m["blocks"] for m in await in_thread(ana, post)] == [post["blocks"]]


async def left_alone(target: Target, who: str, before: JSON, sent: list[Sent], logged: list[Any]) -> None:
    """Asserts that none of Ana's data was changed or shown, and that nothing failed."""
    user_id, after = PRESSERS[who], await target.own_things()
    output = target.shown_to(user_id) + "".join(one.output for one in sent)
    secrets = [HERS, HIDDEN]
    if who == "administrator":  # administrators see every issue, and may change what belongs to a project
        secrets.remove(HIDDEN)
        for theirs in ("attachments", "template"):
            del before[theirs], after[theirs]
    assert [secret for secret in secrets if secret in output] == []
    assert after == before
    assert target.watched.keys <= MAY_USE.get(who, set())
    assert [one for one in sent if one.answer.status not in ANSWERED] == []
    assert [entry for entry in logged if entry["log_level"] == "error"] == []


@pytest.mark.parametrize("who", PRESSERS)
async def test_no_press_acts_as_another_user_or_on_their_data(target: Target, who: str) -> None:
    user_id, before = PRESSERS[who], await target.own_things()
    assert aimed(target).keys() == REGISTERED["action"]

    with capture_logs() as logged:
        sent = await through(target, presses(target, user_id))
        sent += await through(target, shortcuts(target, user_id))

    await left_alone(target, who, before, sent, logged)
    silent = {name_of(one.payload).partition(":")[2] for one in sent if one.silent}
    assert silent <= SILENT


@pytest.mark.parametrize("who", PRESSERS)
async def test_no_form_acts_as_another_user_or_on_their_data(target: Target, who: str) -> None:
    user_id, before = PRESSERS[who], await target.own_things()

    with capture_logs() as logged:
        sent = await through(target, submissions(target, user_id))
        searched = await through(target, suggestions(target, user_id))
        with_hidden = [one for one in searched if HIDDEN in one.answer.text]
        assert searched
        assert bool(with_hidden) is (who == "administrator")

    target.watched.keys.discard(WRONG_KEY)  # the link form verifies the key that was typed
    await left_alone(target, who, before, sent, logged)


ADMINISTRATORS = ("project.new", "user.new", "user.edit")


async def test_forms_denied_to_others_work_for_their_owner(target: Target) -> None:
    own = {"place": {"channel_id": target.where}, "issue": ISSUE, "user": 4, "for": GWEN, "project_id": 1}
    own |= {"template": 0} | dict.fromkeys(("files", "source", "project"))
    idle = []
    for callback_id in ALL_FORMS:
        user_id = (CHRIS if callback_id in ADMINISTRATORS else ANA).user_id
        key = await target.office.bot.store.saved_input.put(ANA, {"key": KEYS["ana"]})  # linking deletes it
        metadata = target.metadata | own | {"key": key}
        metadata.pop("draft", None)  # with one, the form is only shown again
        if callback_id == "files.describe":
            metadata["issue"] = target.metadata["issue"]
        before = len(target.watched.written), await target.digests()

        [sent] = await through(target, [submission(target, user_id, callback_id, json.dumps(metadata))])

        changed = before != (len(target.watched.written), await target.digests())
        changed = changed or "Account linked" in sent.output or "is added" in sent.output
        if "errors" in sent.answer.text or not (changed or HIDDEN in sent.output or HERS in sent.output):
            idle.append((callback_id, sent.answer.text))

    assert idle == []
    assert len((await target.own_things())["digests"][1]) == 2


async def test_a_form_rejects_files_that_someone_else_uploaded(target: Target) -> None:
    theirs, own = target.files[BEN.user_id], target.files[ANA.user_id]
    number = target.office.public_issue().id
    form = form_of(target, ANA.user_id, "files.attach", json.dumps({"issue": number}))
    given = [{"id": theirs, "name": "theirs"}, {"id": own, "name": "own"}]
    form["state"]["values"] = {"files": {"files": {"files": given}}}
    body = acting(target, ANA.user_id, "view_submission") | {"view": form}

    [sent] = await through(target, [("interactive", body)])

    assert "*own* attached" in sent.answer.text
    assert "*theirs* wasn't attached. Someone else uploaded it to Slack" in sent.answer.text
    names = {a.filename for a in target.office.tracker.data.attachments.values() if a.issue_id == number}
    assert "own" in names
    assert "theirs" not in names


async def test_no_edit_of_details_shows_or_changes_hidden_issues(target: Target) -> None:
    def edits() -> Iterator[tuple[Kind, JSON]]:
        recorded = RECORDED["edit:work-object-edit"].payload["view"]
        references = (str(target.hidden), "9" * 5000, "²", "x", "", None)
        chosen: tuple[JSON, ...] = (
            {"selected_date": "2036-01-02"},
            {"selected_option": {"value": "1:x.y"}},
            {},
        )
        for user_id, reference, value in product((BEN.user_id, GWEN, LENA), references, chosen):
            view = recorded | {"external_ref": {"id": reference, "type": "issue"}}
            view |= {"state": {"values": {name: {"x": value} for name in ("due_date", "status", "other")}}}
            yield "interactive", acting(target, user_id, "view_submission") | {"view": view}

    with capture_logs() as logged:
        sent = await through(target, edits())

    assert [one for one in sent if one.answer.status not in ANSWERED] == []
    assert [entry for entry in logged if entry["log_level"] == "error"] == []
    assert target.watched.written == []
    arguments = [call.arguments for one in sent for call in one.calls]
    assert arguments
    assert HIDDEN not in json.dumps(arguments, default=str)


LINKS = ("{url}", "http://[", "{url}99999999999999999999", "", None)


def step_event(target: Target, act_as: object) -> JSON:
    """A workflow's step that comments on an issue which its person can't see."""
    declared = [{"type": "slack#/types/user_context", "name": "act_as"}]
    execution = target.office.workspace.state.new_id("Fx")
    target.office.workspace.state.steps[execution] = None
    return {
        "type": "function_executed",
        "function": {"callback_id": "comment_on_issue", "input_parameters": declared},
        "inputs": {"issue": str(target.hidden), "text": "Seen", "act_as": act_as},
        "function_execution_id": execution,
    }


def events(target: Target) -> Iterator[tuple[Kind, JSON]]:
    """Yields links and requests for details from other users and places, and malformed ones."""
    state, triggers = target.office.workspace.state, target.office.workspace._triggers
    url = f"{target.watched.url}/issues/{target.hidden}"
    channels = (target.where, target.office.channel_id("partners"), "C0NOWHERE", "COMPOSER", None)
    inner: list[JSON] = [*GONE]
    for user_id in (BEN.user_id, GWEN, LENA, None):
        for channel, link in product(channels, LINKS):
            links = link and [{"url": link.format(url=url)}]
            posted = {"channel": channel, "links": links, "message_ts": state.new_ts()}
            inner.append({"type": "link_shared", "user": user_id, **posted})
        for reference in (str(target.hidden), "9" * 5000, "²", "x", "", None, {"a": 1}):
            for kind in ("entity_details_requested", "entity_comments_requested"):
                asked = {
                    "external_ref": {"id": reference, "type": "issue"},
                    "trigger_id": triggers.issue(user_id or LENA),
                }
                inner.append({"type": kind, "user": user_id, **asked})
        message = {"user": user_id, "channel_type": "im", "text": f"<@U0ISSUEBOT> {target.hidden}"}
        for kind, channel in product(MESSAGES, (target.where, target.office.channel_id("partners"), None)):
            inner.append({"type": kind, "channel": channel, "ts": state.new_ts(), **message})
        for channel in (target.where, target.office.channel_id("partners"), None):
            item = {"type": "message", "channel": channel, "ts": state.new_ts()}
            inner.append({"type": "reaction_added", "user": user_id, "reaction": "ticket", "item": item})
        acting = {"id": user_id, "secret": "x"}
        inner += [step_event(target, act_as) for act_as in (acting, user_id, [acting], None)]
        opened = {"type": "app_home_opened", "user": user_id, "channel": target.where}
        inner += [opened | {"tab": tab} for tab in ("home", "messages", "", None)]
        joined = {"type": "member_joined_channel", "channel": target.where, "inviter": user_id}
        inner += [joined | {"user": user} for user in ("U0ISSUEBOT", user_id)]
        on = {"type": "message", "channel": target.where, "ts": target.announcement["ts"]}
        inner.append({"type": "reaction_added", "user": user_id, "reaction": "ticket", "item": on})
    for event in inner:
        yield "events_api", payloads.event(state, {"event_ts": state.new_ts()} | event, shared=False)


async def test_no_event_shows_hidden_data(target: Target) -> None:
    with capture_logs() as logged:
        sent = await through(target, events(target))

    assert [one for one in sent if one.answer.status not in ANSWERED] == []
    assert [entry for entry in logged if entry["log_level"] == "error"] == []
    assert target.watched.keys <= {KEYS["ben"]}
    assert {one.payload["event"]["type"] for one in sent} == REGISTERED["event"]
    arguments = [call.arguments for one in sent for call in one.calls]
    assert arguments
    assert HIDDEN not in json.dumps(arguments, default=str)


ADDRESSES = [
    "http://127.0.0.1:{port}/x", "https://127.0.0.1:{port}/x", "//127.0.0.1:{port}/x",
    "http://hooks.slack.com@127.0.0.1:{port}/x", "https://hooks.slack.com@127.0.0.1:{port}/",
    "https://hooks.slack.com:x@127.0.0.1:{port}/", "http://hooks.slack.com:80@localhost:{port}/",
    "https://hooks.slack.com\\@127.0.0.1:{port}/", "https://127.0.0.1:{port}\\@hooks.slack.com/",
    "https://hooks.slack.com.127.0.0.1.nip.io:{port}/", "https://hooks.slack.com:{port}/", "http://[::1", "x",
    "https://hooks.slack.com:abc/", "http://localhost:{port}/", "http://127.1:{port}/", "http://①27.0.0.1:{port}/",
    "{api}@127.0.0.1:{port}/", "http://u:p@{host}/commands/x", "file:///etc/passwd", "javascript:x", "http://",
]  # fmt: skip # short addresses


async def test_answers_go_only_to_slacks_own_hosts(target: Target) -> None:
    api = target.office.workspace.url.rstrip("/")
    host = api.removeprefix("http://")
    answered = []
    with capture_logs() as logged:
        for address in ADDRESSES:
            url = address.format(port=target.stranger.port, api=api, host=host)
            asked = pressed(target, BEN.user_id, "issue.show", "1", in_form=False, url=url)
            [sent] = await through(target, [("interactive", asked)])
            answered.append(not sent.silent)

    assert target.stranger.heard == []
    assert all(answered)
    assert [entry for entry in logged if entry["log_level"] == "error"] == []
