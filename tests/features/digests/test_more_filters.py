"""Digests of custom fields and saved queries: set up with what their owner can see, paused without it."""

from datetime import UTC, datetime, timedelta

import pytest

from bot import telemetry
from bot.sandbox.tracker.data import Issue, SavedQuery, free_id, put
from bot.sandbox.tracker.defaults import BUG, CLOSED, FEEDBACK, HIGH, NEW
from bot.service.conventions import PAGE_SIZE
from bot.store.digests import Pause
from bot.store.plans import FieldValue
from tests.features.digests.newsroom import Digests
from tests.support.digesting import AT, WEB, stored
from tests.support.office import Office
from tests.support.person import DM, Person
from tests.support.reading import JSON, text_of, values_of
from tests.support.wire import Wire
from tests.support.work import run_due_after

REFERENCE, WAITING = 2, 2
FILTERED = f"{WEB} customer-reference:K-9 query:{WAITING}"
SEES_NO_QUERY = "can't see saved query 2 in Web Shop. Use another one or remove it."


def user_id(office: Office, login: str) -> int:
    return next(user.id for user in office.tracker.data.users.values() if user.login == login)


def report(office: Office, subject: str, status: int = FEEDBACK, reference: str = "K-9") -> Issue:
    data, now = office.tracker.data, datetime.now(UTC).replace(microsecond=0)
    issue = Issue(free_id(data.issues), 1, BUG, status, HIGH, 2, subject, created_on=now, updated_on=now)
    issue.custom = {REFERENCE: reference}
    return put(data.issues, issue)


async def posts(office: Office, ana: Person, days: int = 1) -> list[str]:
    """Posts the digests that are due after some days; returns those in the channel."""
    await run_due_after(office, timedelta(days=days))
    public = [text_of(message) for message in await ana.messages() if not message["ephemeral"]]
    return [text for text in public if "Shows what" in text]


async def test_a_digest_lists_what_has_the_field_and_is_in_the_query(office: Office, ana: Person) -> None:
    added = text_of(await ana.ask(FILTERED))
    assert "Digest 1 is set up" in added
    assert "Customer reference: K-9 · saved query 2" in added
    report(office, "Waits for the customer")
    report(office, "Nobody has looked", status=NEW)
    report(office, "Another customer waits", reference="K-99")

    (post,) = await posts(office, ana)

    assert "Since this digest was set up" in post
    assert "· Customer reference: K-9 · saved query 2" in post
    assert "Web Shop: 1 new issue" in post
    assert "Waits for the customer" in post
    assert "by Ana Ruiz · Customer reference: K-9 · saved query 2" in text_of(await ana.ask("/digest"))
    removed = await ana.ask("/digest remove 1")
    assert "cf_2:K-9 query:2" in text_of(removed)


async def test_a_live_feed_has_the_same_filters(office: Office, ana: Person) -> None:
    await ana.ask(f"/digest add webshop live customer-reference:K-9 query:{WAITING}")
    report(office, "Waits for the customer")
    report(office, "Nobody has looked", status=NEW)
    report(office, "Another customer waits", reference="K-99")

    await run_due_after(office, timedelta(minutes=2))

    public = [text_of(message) for message in await ana.messages() if not message["ephemeral"]]
    (post,) = [text for text in public if "created" in text]
    assert "Waits for the customer" in post


@pytest.mark.parametrize("kind", ["due", "stale", "closed"])
async def test_other_kinds_have_the_same_filters(office: Office, ana: Person, kind: str) -> None:
    put(office.tracker.data.queries, SavedQuery(7, "High", {"priority_id": str(HIGH), "status_id": "*"}))
    await ana.ask(f"{WEB} kind:{kind} cf_2:K-9 query:7")
    for subject, reference in (("Listed", "K-9"), ("Another customer's", "K-8")):
        issue = report(office, subject, CLOSED if kind == "closed" else NEW, reference)
        issue.due_date = issue.created_on.date()
        issue.closed_on = issue.created_on if kind == "closed" else None
        issue.updated_on -= timedelta(days=30 if kind == "stale" else 0)
    report(office, "Not high", CLOSED if kind == "closed" else NEW).priority_id = HIGH - 1

    (post,) = await posts(office, ana)

    assert "Listed" in post
    assert "Another customer's" not in post
    assert "Not high" not in post


@pytest.mark.parametrize("lost", ["deleted", "private"])
async def test_a_lost_query_pauses_the_digest(
    office: Office, ana: Person, linked_ben: Person, lost: str
) -> None:
    await ana.ask(FILTERED)
    report(office, "Waits for the customer")
    queries = office.tracker.data.queries
    before = queries[WAITING]
    if lost == "deleted":
        del queries[WAITING]
    else:
        before.owner_id = user_id(office, "ben")

    assert await posts(office, ana) == []

    assert (await stored(office)).paused is Pause.QUERY
    told = (await ana.messages(DM))[-1]
    assert "Stopped because you can't see saved query 2 anymore. Edit the digest, then" in text_of(told)
    here = (await ana.messages())[-1]
    assert "Stopped because Ana Ruiz can't see saved query 2 anymore. Anyone who can" in text_of(here)
    assert f"You {SEES_NO_QUERY}" in text_of(await ana.after(ana.press(told, "Resume"), DM))
    asked = await linked_ben.ask("/digest resume 1")
    assert f"Ana Ruiz {SEES_NO_QUERY}" in text_of(await linked_ben.after(linked_ben.press(asked, "Resume")))

    if lost == "private":  # Ben sees it
        await linked_ben.after(linked_ben.press(here, "Take ownership"))
    else:
        await ana.command("/digest change 1")
        form = await ana.form("Edit digest")
        assert values_of(form)["More filters"] == "cf_2:K-9 query:2"
        await ana.after(ana.submit(form, {"More filters": "customer-reference:K-9"}))
        await ana.ask("/digest resume 1")
    (post,) = await posts(office, ana, days=2)
    assert "Waits for the customer" in post


async def test_a_digest_goes_on_after_servers_refused_its_query(wired: Person, wire: Wire) -> None:
    await wired.ask("/tracker notify assigned off")  # for which issues are read, too
    await wired.ask(f"{WEB} query:{WAITING}")
    wire.heal()
    await posts(wired.office, wired)
    _, of_query = (n for n, asked in enumerate(wire.heal()) if asked.startswith("GET /issues"))
    report(wired.office, "Waits for the customer")

    wire.fail("forbid", of_query, lasting=True)
    assert await posts(wired.office, wired, days=2) == []
    assert (await stored(wired.office)).paused is None
    wire.fail("forbid", of_query)

    (post,) = await posts(wired.office, wired, days=3)
    assert "Waits for the customer" in post


async def test_a_field_that_is_no_longer_a_filter_pauses_the_digest(office: Office, ana: Person) -> None:
    await ana.ask(FILTERED)
    report(office, "Another customer waits", reference="K-8")
    office.tracker.data.custom_fields[REFERENCE].is_filter = False

    answer = text_of(await ana.ask("/digest now"))

    assert "can't filter by Customer reference anymore. Edit the digest, then resume it." in answer
    assert (await stored(office)).paused is Pause.FILTER
    assert await posts(office, ana) == []


async def test_filters_that_do_not_work_are_refused_and_kept_in_the_form(ana: Person) -> None:
    for typed, said in (
        ("query:99", "You can't see saved query 99 in Web Shop"),
        ("query:late", "takes a saved query's number"),
        ("browsers:Safari", "can't filter by Browsers. Remove that filter."),
        ('cf_2:"a|b"', "can't be empty or contain |"),
        ("-customer-reference:K-9", "no `-customer-reference:` option"),
        ("cf_2:K-9 cf_2:K-8", "You used `cf_2:` 2 times"),
    ):
        answer = await ana.ask(f"/digest add webshop daily {AT} tracker:bug {typed}")
        assert said in text_of(answer), typed
        await ana.press(answer, "Open form")
        form = await ana.form("New digest")
        assert values_of(form)["Issue type"] == ["Bug"]
        await ana.close(form)


async def test_the_form_reads_fields_and_a_query_as_the_command_does(office: Office, ana: Person) -> None:
    await ana.command('/digest add webshop customer-reference:"K 9" query:2')
    form = await ana.form("New digest")
    assert values_of(form)["More filters"] == 'cf_2:"K 9" query:2'

    await ana.press_in_form(form, "Preview")
    assert "Customer reference: K 9 · saved query 2" in text_of(await ana.form("Preview"))
    await ana.close(await ana.form("Preview"))
    values: JSON = {"Time": AT}
    for typed, said in (
        ("flavor:sweet", "no `flavor:` option"),
        ("just words", "such as `cf_7:Acme query:3`"),
        ("query:1 query:2", "You used `query:` 2 times"),
        ("query:99", "You can't see saved query 99"),
    ):
        await ana.submit(form, values | {"More filters": typed})
        assert said.replace("`", "") in (await ana.errors())["more"].replace("`", "")
    await ana.after(ana.submit(form, values | {"More filters": "Customer-Reference:K-7"}))

    plan = (await stored(office)).plan
    assert (plan.custom_fields, plan.query) == ((FieldValue(REFERENCE, "K-7", "Customer reference"),), None)


async def test_an_unseen_query_survives_an_edit(office: Office, ana: Person, linked_ben: Person) -> None:
    office.tracker.data.queries[WAITING].owner_id = user_id(office, "ana")
    await ana.ask(FILTERED)
    before = (await stored(office)).plan

    for values, said in (({"Group by": "Priority"}, "is updated"), ({"More filters": "query:2"}, "")):
        await linked_ben.command("/digest change 1")
        form = await linked_ben.form("Edit digest")
        if said:
            assert said in text_of(await linked_ben.after(linked_ben.submit(form, values)))
        else:
            await linked_ben.submit(form, values)
            assert SEES_NO_QUERY in (await linked_ben.errors())["more"]

    plan = (await stored(office)).plan
    assert (plan.group, plan.query, plan.custom_fields) == ("priority", before.query, before.custom_fields)


async def test_a_command_without_a_project_knows_the_chosen_projects_fields(ana: Person) -> None:
    asked = await ana.ask(f"/digest daily {AT} severity:major")
    answer = await ana.after(ana.choose_in_message(asked, "Mobile App"))

    assert "Severity: Major" in text_of(answer)
    assert "nosuch" in text_of(await ana.ask(f"/digest add nosuch daily {AT} severity:major"))


async def test_a_query_of_many_issues_is_read_until_all_new_ones_are_found(digests: Digests) -> None:
    put(digests.office.tracker.data.queries, SavedQuery(1, "All", {"status_id": "*"}))
    for _ in range(1200):
        digests.report()
    digests.pass_time(timedelta(days=2))
    digests.report()
    digest = await digests.add(query=1)
    new = [digests.report().id for _ in range(3)]
    digests.service.heal()

    for _ in range(2):
        await digests.tick()

    assert digests.listed(digest) == [tuple(new)]
    assert "3 new issues" in digests.posted(digest)[0].text
    assert "at least" not in digests.posted(digest)[0].text
    assert digests.service.heal().count("GET /issues.json") < 10


async def test_issues_of_the_same_second_in_a_query_are_listed(office: Office, ana: Person) -> None:
    await ana.ask(f"{WEB} query:{WAITING}")
    issues = [report(office, f"One of many {n}") for n in range(2 * PAGE_SIZE + 50)]
    for issue in issues:
        issue.created_on = issues[0].created_on

    (post,) = await posts(office, ana)

    assert f"Web Shop: {len(issues)} new issues" in post


async def test_the_chart_of_an_edited_query_digest_starts_empty(office: Office, ana: Person) -> None:
    await ana.ask(f"{WEB} query:{WAITING}")
    report(office, "Not in the query", NEW).created_on -= timedelta(days=2)
    await ana.command("/digest change 1")
    form = await ana.form("Edit digest")
    assert "is updated" in text_of(await ana.after(ana.submit(form, {"Group by": "Priority"})))
    report(office, "Waits for the customer")

    (post,) = await posts(office, ana)

    assert "Web Shop: 1 new issue" in post
    assert "new per day" not in post


ALL, MANY = 7, 1_100


def crowd(office: Office, day: datetime, status: int, **fields: object) -> None:
    """Adds more issues than a digest reads of a query."""
    for n in range(MANY):
        issue = report(office, f"One of many {n}", status)
        issue.due_date, issue.updated_on = day.date(), day
        for name, value in fields.items():
            setattr(issue, name, value)


async def asked_of_all(office: Office, ana: Person, kind: str) -> Issue:
    """Sets up a digest of a query of all issues with high priority; returns one that it would list."""
    put(office.tracker.data.queries, SavedQuery(ALL, "All", {"priority_id": str(HIGH), "status_id": "*"}))
    await ana.ask(f"{WEB} kind:{kind} query:{ALL}")
    issue = report(office, "Has waited for long", NEW)
    issue.due_date = issue.created_on.date()
    issue.updated_on -= timedelta(days=30)
    return issue


@pytest.mark.parametrize("kind", ["due", "stale"])
async def test_old_issues_of_a_query_hide_no_due_ones(office: Office, ana: Person, kind: str) -> None:
    issue = await asked_of_all(office, ana, kind)
    crowd(office, issue.updated_on - timedelta(days=900), CLOSED)
    crowd(office, issue.created_on, CLOSED, due_date=None)

    (post,) = await posts(office, ana)

    assert "Has waited for long" in post
    assert "at least" not in post


@pytest.mark.parametrize("kind", ["due", "stale"])
async def test_a_query_that_is_too_large_is_reported(office: Office, ana: Person, kind: str) -> None:
    issue = await asked_of_all(office, ana, kind)
    long_ago = issue.updated_on - timedelta(days=900)
    other = report(office, "In no query", NEW)
    other.priority_id, other.due_date, other.updated_on = HIGH - 1, long_ago.date(), long_ago
    crowd(office, long_ago + timedelta(days=1), CLOSED)
    counted = telemetry.DIGEST_RUNS.labels("too_large")._value
    before = counted.get()

    (post,) = await posts(office, ana)

    assert "Web Shop: too many issues to check" in post
    assert f"Narrow saved query {ALL} in Tracker" in post
    assert counted.get() == before + 1
    await ana.command(f"/digest add webshop kind:{kind} query:{ALL}")
    await ana.press_in_form(await ana.form("New digest"), "Preview")
    assert "There are more issues than I can check" in text_of(await ana.form("Preview"))
