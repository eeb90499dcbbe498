"""Threads follow their issues."""

import asyncio
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete, select, update

from bot.app import Bot
from bot.errors import NotLinked
from bot.features.due_reads import OwnerTurn
from bot.features.following.runs import ALL_EVERY, FollowerProgress, FollowerReads
from bot.sandbox.tracker import defaults
from bot.sandbox.tracker.data import Issue
from bot.sandbox.workspace.model import Message
from bot.store.jobs import Job, JobOutcome, Later
from bot.store.tables import FollowedIssueRow, LinkRow
from bot.timings import Delays, Timings
from tests.features.following.threads import (
    change,
    create_from_message,
    hide_project,
    in_thread,
    make_private,
    public_issues,
    read_followed,
    read_twice,
)
from tests.support.digesting import ANA
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import DM, Person
from tests.support.prepared import demo_tracker
from tests.support.reading import JSON, text_of
from tests.support.wire import Altered
from tests.support.work import run_due

WEBSHOP = "webshop"


async def followed(office: Office) -> int:
    rows = await office.bot.database.rows(select(FollowedIssueRow.id))
    return len(rows)


async def test_a_thread_shows_how_its_issue_goes_on(office: Office, ana: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    issue = office.newest_issue()

    change(issue, assigned_to_id=2, due_date=date(2026, 12, 1), comment_by=2)
    await read_followed(office)
    (message,) = await in_thread(ana, post)
    assert message["ts"] == post["ts"]
    for text in ("Ana Ruiz created", "assigned to Ben Okafor", "due <!date^", "\nBen Okafor commented"):
        assert text in message["text"]

    for status, line in ((defaults.CLOSED, "Closed: "), (defaults.NEW, "Reopened: ")):
        change(issue, status_id=status)
        await read_followed(office)
        await read_followed(office)
        last = (await in_thread(ana, post))[-1]
        assert line in last["text"]
    assert len(await in_thread(ana, post)) == 3


async def test_a_post_that_shows_an_issue_already_is_not_updated(office: Office, ana: Person) -> None:
    await create_from_message(ana, "Cart loses items")
    wire, issue = office.faulty_slack, office.newest_issue()
    change(issue, subject="Cart forgets items")
    await read_followed(office)
    assert len(wire.called("chat.update")) == 1

    change(issue)
    await read_followed(office)

    assert len(wire.called("chat.update")) == 1


def hide_issue(office: Office, issue: Issue) -> None:
    del office.tracker.data.issues[issue.id]


def share_channel(office: Office, _: Issue) -> None:
    office.workspace.state.channels[office.channel_id(WEBSHOP)].is_ext_shared = True


def remove_bot(office: Office, _: Issue) -> None:
    state = office.workspace.state
    state.channels[office.channel_id(WEBSHOP)].members.discard(state.app.bot_user_id)


@pytest.mark.parametrize("happens", [make_private, hide_project, hide_issue, share_channel, remove_bot])
async def test_a_thread_is_silent_for_good_where_its_issue_may_not_be_shown(
    office: Office, ana: Person, happens: Callable[[Office, Issue], None]
) -> None:
    post = await create_from_message(ana, "Cart loses items")
    issue = office.newest_issue()
    change(issue, subject="Renamed", status_id=defaults.CLOSED)
    happens(office, issue)

    await read_followed(office)

    (message,) = await in_thread(ana, post)
    assert message["text"] == post["text"]
    assert await followed(office) == 0
    assert await ana.messages(DM) == []


async def test_following_starts_and_stops_in_the_menu_of_the_post(office: Office, ana: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    issue = office.newest_issue()

    stopped = await ana.after(ana.choose_from_menu(post, "Cart loses", "Stop following"))
    change(issue, status_id=defaults.CLOSED)
    await read_followed(office)
    assert [m["text"] for m in await in_thread(ana, post)] == [post["text"]]

    answer = await ana.after(ana.choose_from_menu(stopped, "Cart loses", "Follow in this thread"))
    assert answer["ts"] == post["ts"]
    assert ":white_check_mark: Closed" in answer["text"]
    change(issue, status_id=defaults.NEW)
    await read_followed(office)
    assert [m["text"].split(":")[1] for m in (await in_thread(ana, post))[1:]] == [
        "leftwards_arrow_with_hook"
    ]


async def test_others_stop_following_in_the_posts_menu(office: Office, ana: Person, ben: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    await office.link(ben.user_id, KEYS["ben"])
    ben.channel = ana.channel

    await ben.choose_from_menu(post, "Cart loses", "Stop following")
    await office.idle()

    assert await followed(office) == 0


async def test_a_double_click_follows_once(office: Office, ana: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    stopped = await ana.after(ana.choose_from_menu(post, "Cart loses", "Stop following"))
    office.faulty_slack.lasting = {"conversations.info": "slow:1"}

    for _ in range(2):
        await ana.choose_from_menu(stopped, "Cart loses", "Follow in this thread")
    await office.idle()

    assert await followed(office) == 1
    assert "This thread already follows" in text_of((await ana.messages())[-1])


@pytest.mark.parametrize(
    ("shortcut", "title", "values"),
    [("comment_from_message", "Comment", {}), ("time_from_message", "Log time", {"Hours": "2"})],
)
async def test_any_announcement_in_a_thread_offers_to_follow(
    office: Office, ana: Person, shortcut: str, title: str, values: JSON
) -> None:
    issue = public_issues(office.tracker)[0]
    await ana.shortcut(shortcut, await ana.say(f"Deployed #{issue.id}"))
    form = await ana.after(ana.submit(await ana.form(title), values))

    followed = await ana.after(ana.choose_from_menu(form, "Ana Ruiz", "Follow in this thread"))
    change(issue, status_id=defaults.CLOSED)
    await read_followed(office)

    thread = await in_thread(ana, form)
    assert thread[0]["text"] == form["text"]
    assert [m["ts"] for m in thread[:2]] == [form["ts"], followed["ts"]]
    assert ":white_check_mark: Closed" in thread[1]["text"]


@pytest.mark.parametrize("deleted", [True, False])
async def test_a_card_is_followed_once(office: Office, ana: Person, ben: Person, *, deleted: bool) -> None:
    post = await create_from_message(ana, "Cart loses items")
    issue = office.newest_issue()
    card = await ana.after(ana.choose_from_menu(post, "Cart loses", "More actions"))
    again = await ana.after(ana.press(card, "Follow in this thread"))
    assert f"This thread already follows #{issue.id}." in text_of(again)
    if deleted:
        await ana.delete_post(post)
    else:
        await ana.choose_from_menu(post, "Cart loses", "Stop following")
    await office.idle()

    shared = await ana.after(ana.press(card, "Follow in this thread"))

    assert shared["thread_ts"] == post["thread_ts"]
    ben.channel = ana.channel
    change(issue, assigned_to_id=2)
    await read_followed(office)
    *before, last = [m["text"] for m in await in_thread(ben, post)]
    assert [text.split(" <")[0] for text in before] == ["Ana Ruiz created"] * (not deleted)
    assert last.startswith("Ana Ruiz shared")
    assert ["Ben Okafor" in text for text in (*before, last)] == [False] * (not deleted) + [True]


@pytest.mark.parametrize("happens", ["moved", "made private"])
async def test_a_private_issue_is_followed_on_request(office: Office, ana: Person, happens: str) -> None:
    post = await create_from_message(ana, "Cart loses items")
    issue = office.newest_issue()
    stopped = await ana.after(ana.choose_from_menu(post, "Cart loses", "Stop following"))
    office.tracker.data.projects[issue.project_id].is_public = False

    asked = await ana.after(ana.choose_from_menu(stopped, "Cart loses", "Follow in this thread"))
    assert "Web Shop isn't public. Others here may not have permission to see" in text_of(asked)
    await ana.after(ana.press(asked, "Follow in this thread"))
    change(issue, status_id=defaults.CLOSED)
    await read_followed(office)
    assert ":white_check_mark: Closed" in (await in_thread(ana, post))[-1]["text"]

    projects = office.tracker.data.projects.values()
    others = next(p for p in projects if not p.is_public and p.id != issue.project_id)
    what = {"is_private": True} if happens == "made private" else {"project_id": others.id}
    change(issue, subject="Renamed", **what)
    await read_followed(office)
    assert not any("Renamed" in m["text"] for m in await in_thread(ana, post))
    assert await followed(office) == 0


async def test_agreement_to_follow_an_issue_ends_when_it_moves(office: Office, ana: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    issue, projects = office.newest_issue(), office.tracker.data.projects
    stopped = await ana.after(ana.choose_from_menu(post, "Cart loses", "Stop following"))
    home = projects[issue.project_id]
    home.is_public = False
    card = await ana.after(ana.choose_from_menu(stopped, "Cart loses", "More actions"))
    asked = await ana.after(ana.choose_from_menu(stopped, "Cart loses", "Follow in this thread"))
    other = next(p for p in projects.values() if not p.is_public and p is not home)
    change(issue, project_id=other.id)

    for question in (asked, card):
        again = await ana.after(ana.press(question, "Follow in this thread"))
        assert f"{other.name} isn't public" in text_of(again)

    assert [m["text"] for m in await in_thread(ana, post)] == [post["text"]]
    assert await followed(office) == 0


async def test_a_possibly_private_note_stays_unmentioned(tmp_path: Path) -> None:
    delays, timings = Delays(channels=0), Timings(interval=3600)
    left_out: set[str] = set()
    wire = Altered(lambda fields: {name: value for name, value in fields.items() if name not in left_out})
    tracker = demo_tracker(issue_reads=True)
    async with Office(tmp_path, tracker=tracker, wire=wire, timings=timings, delays=delays).opened(
        "ana"
    ) as office:
        ana = Person(office, "U0ANA0001")
        post = await create_from_message(ana, "Cart loses items")
        await ana.choose_from_menu(post, "#", "Include comments")
        await office.idle()
        assert "Leave out comments" in text_of((await in_thread(ana, post))[0])

        left_out.add("private_notes")
        change(office.newest_issue(), subject="Cart forgets", comment_by=2)
        await read_followed(office)

        (message,) = await in_thread(ana, post)
        assert "Cart forgets" in message["text"]
        assert "commented" not in message["text"]
        assert "Ben" not in message["text"]


@pytest.mark.parametrize("refused", [True, False])
async def test_follows_end_with_the_key(office: Office, ana: Person, *, refused: bool) -> None:
    await create_from_message(ana, "Cart loses items")
    if refused:
        office.tracker.data.users[1].api_key = "renewed"
    else:
        await office.bot.database.execute(delete(LinkRow))

    for _ in range(3):
        change(office.newest_issue(), subject="Renamed")
        await read_followed(office)

    texts = [text_of(m) for m in await ana.messages(DM)]
    assert ["has refused your API key" in text for text in texts] == [True] * refused
    assert await followed(office) == 0


async def test_unlinking_ends_follows_right_away(office: Office, ana: Person) -> None:
    await create_from_message(ana, "Cart loses items")

    await ana.ask("/tracker unlink")

    assert await followed(office) == 0


async def test_stops_after_thirty_days_without_a_change(office: Office, ana: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    for _ in range(2):
        await read_followed(office)
    before = await in_thread(ana, post)
    long_ago = update(FollowedIssueRow).values(
        changed_at=(await office.bot.store.processes.now()) - timedelta(days=31)
    )
    await office.bot.database.execute(long_ago)
    for _ in range(ALL_EVERY):
        await read_followed(office)

    change(office.newest_issue(), subject="Renamed")
    await read_followed(office)

    assert await in_thread(ana, post) == before
    assert await followed(office) == 0


@pytest.mark.parametrize(
    "fault", ["lose the answer", "lose the request", "refuse:ratelimited", "500 after it"]
)
async def test_a_line_is_added_once_on_any_answer_of_slack(office: Office, ana: Person, fault: str) -> None:
    post = await create_from_message(ana, "Cart loses items")
    wire = office.faulty_slack
    for status in (defaults.CLOSED, defaults.NEW):
        change(office.newest_issue(), status_id=status)
        wire.faults = [("chat.postMessage", fault), ("chat.update", fault)]
        for _ in range(4):
            await read_followed(office)
        assert wire.faults == []

    _, *lines = await in_thread(ana, post)
    assert [line["text"].split()[1] for line in lines] == ["Closed:", "Reopened:"]


async def test_an_unfinished_search_for_a_line_is_finished_first(office: Office, ana: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    wire = office.faulty_slack
    wire.faults = [("chat.postMessage", "lose the answer")]
    change(office.newest_issue(), status_id=defaults.CLOSED)
    await read_followed(office)
    _, line = await in_thread(ana, post)
    for n in range(20):
        chat(office, post, f"{float(line['ts']) - 1 + n / 100:.6f}")

    wire.faults = [("conversations.replies", "slow:0"), ("conversations.replies", "429:60")]
    for _ in range(3):
        await read_followed(office)
    wire.faults = [("chat.postMessage", "lose the answer")]
    change(office.newest_issue(), status_id=defaults.NEW)
    for _ in range(2):
        await read_followed(office)

    texts = [m["text"].split()[1] for m in await in_thread(ana, post) if m["is_bot"]]
    assert texts[1:] == ["Closed:", "Reopened:"]
    first, refused, resumed, later, *_ = (c.arguments["oldest"] for c in wire.called("conversations.replies"))
    assert first < refused == resumed != later


def chat(office: Office, post: JSON, ts: str) -> None:
    """Somebody says something in the post's thread."""
    channel = office.channel_id(WEBSHOP)
    messages = office.workspace.state.messages[channel]
    messages.append(Message(ts, channel, "U0BEN0001", "Lunch?", thread_ts=post["thread_ts"]))
    messages.sort(key=lambda message: float(message.ts))


async def test_a_hidden_issue_is_noticed_although_nothing_lists_it(office: Office, ana: Person) -> None:
    await create_from_message(ana, "Cart loses items")
    await read_twice(office)
    assert await followed(office) == 1

    hide_issue(office, office.newest_issue())
    for _ in range(ALL_EVERY):
        await read_followed(office)

    assert await followed(office) == 0


async def test_changes_within_the_same_second_are_all_shown(office: Office, ana: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    issue = office.newest_issue()
    moment = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=1)  # not over while the test runs

    for subject in ("Cart forgets items", "Cart remembers items"):
        change(issue, subject=subject)
        issue.updated_on = moment
        await read_followed(office)

        assert subject in (await in_thread(ana, post))[0]["text"]


async def test_an_issue_from_the_future_hides_no_change_of_another(office: Office, ana: Person) -> None:
    await create_from_message(ana, "Cart loses items")
    office.newest_issue().updated_on = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
    post = await create_from_message(ana, "Checkout is slow")
    await read_twice(office)
    change(office.newest_issue(), status_id=defaults.CLOSED)

    await read_followed(office)

    assert "Closed: " in (await in_thread(ana, post))[-1]["text"]


async def test_a_change_while_the_bot_was_down_is_shown(office: Office, ana: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    for _ in range(2):
        await read_followed(office)
    office.clock.ahead += timedelta(days=25)
    await read_followed(office)

    change(office.newest_issue(), subject="Renamed")
    office.clock.ahead += timedelta(days=7)
    for _ in range(2):
        await read_followed(office)

    assert "Renamed" in (await in_thread(ana, post))[0]["text"]
    assert await office.bot.store.followed.of(ANA)


async def test_a_paused_process_shows_nothing_older_than_another(office: Office, ana: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    await read_followed(office)
    wire = office.faulty_slack
    change(office.newest_issue(), subject="Older")
    wire.faults = [("chat.update", "slow 429:0")]
    before = len(wire.called("chat.update"))
    for _ in range(2):
        office.clock.ahead += timedelta(minutes=1)
        await office.bot.worker.run_due()
        await asyncio.sleep(0.3)
    assert len(wire.called("chat.update")) > before

    other = Bot(office.bot.settings, office.timings, office.delays, office.clock.query())
    await other.database.open()
    change(office.newest_issue(), subject="Newer")
    for _ in range(8):  # the first process sends no heartbeats
        office.clock.ahead += timedelta(seconds=8)
        await other.store.processes.beat()
        await run_due(other)
    assert "Newer" in (await in_thread(ana, post))[0]["text"]
    wire.released.set()
    await office.idle()
    await other._closing.aclose()

    assert "Newer" in (await in_thread(ana, post))[0]["text"]


async def test_a_late_read_ends_nothing_of_a_user_who_has_linked_again(office: Office, ana: Person) -> None:
    await create_from_message(ana, "Cart loses items")
    outcomes: list[JobOutcome] = []

    async def settle(_job: Job, outcome: JobOutcome) -> None:
        outcomes.append(outcome)

    turn = OwnerTurn(Job("follower"), ANA, FollowerProgress())
    await FollowerReads(office.bot.parts).failed([turn], NotLinked(), settle)

    assert [type(outcome) for outcome in outcomes] == [Later]
    assert await office.bot.store.followed.count(ANA) == 1
