"""The forms that add and change digests keep the input on errors."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tests.support.digesting import AT, EVERY_DAY, WEB, stored
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until, values_of

AT_TIME = EVERY_DAY.removeprefix("every day ")


async def test_form_is_prefilled_and_adds_to_the_chosen_channel(office: Office, ana: Person) -> None:
    await ana.command("/digest add mobile tracker:bug,nope category:sign group:assignee tz:UTC")
    form = await ana.form("New digest")
    assert "No issue type called “nope”" in text_of(form)
    held = values_of(form)
    assert held["Project"] == "Mobile App"
    assert (held["Schedule"], held["Time"]) == ("Weekdays", "09:00")
    assert held["Time zone"] == "UTC"
    assert held["Channel"] == "C0GENERAL01"
    assert held["Issue type"] == ["Bug"]
    assert held["Category"] == ["Sign-in"]
    assert held["Group by"] == "Assignee"

    await ana.choose(form, "Schedule", "Weekly")
    form = await ana.form_saying("New digest", "Days")
    values = {"Days": ["Tuesday", "Thursday"], "Time": AT, "Time zone": "Tokyo", "Channel": "mobile"}
    answer = await ana.after(ana.submit(form, values | {"Priority": ["High", "Urgent"]}))

    assert answer["ephemeral"]
    assert (
        f"from *Mobile App* in <#C0MOBILE001> every Tuesday and Thursday {AT_TIME} (Asia/Tokyo)"
        in text_of(answer)
    )
    digest = await stored(office)
    assert digest.channel_id == "C0MOBILE001"
    assert [one.name for one in digest.plan.filters["priority"]] == ["High", "Urgent"]
    assert [one.name for one in digest.plan.filters["category"]] == ["Sign-in"]
    await ana.no_form()


async def test_form_errors_appear_at_their_field_and_keep_input(office: Office, ana: Person) -> None:
    await ana.press(await ana.ask("/digest"), "Add digest")
    form = await ana.form("New digest")
    assert values_of(form)["Time zone"] == "Europe/Madrid"
    assert (await ana.suggest(form, "Issue type", ""))["options"] == []

    async def refused(values: JSON, field: str) -> str:
        async def said() -> str | None:
            return (await ana.errors()).get(field)

        await ana.submit(form, values)
        return await until(said)

    await ana.choose(form, "Schedule", "Custom")
    form = await ana.form_saying("New digest", "Cron expression")
    values: JSON = {"Project": "Web Shop", "Cron expression": "now and then"}
    assert "five fields" in await refused(values, "cron")
    await ana.choose(form, "Schedule", "Every day")
    form = await ana.form_saying("New digest", "Time Time zone")
    values = {"Project": "Web Shop", "Time": AT}
    assert "outside your company" in await refused(values | {"Channel": "partners"}, "channel")
    office.workspace.state.archive("C0MOBILE001")
    assert "is archived" in await refused(values | {"Channel": "mobile"}, "channel")
    await ana.ask(WEB)
    assert "already has that digest. It's number 1" in await refused(values, "project")

    await ana.after(ana.submit(form, values | {"Project": "Infrastructure"}))
    assert (await stored(office, 2)).plan.project == "Infrastructure"


async def test_choices_of_another_project_are_field_errors(ana: Person) -> None:
    await ana.command("/digest add webshop category:search")
    form = await ana.form("New digest")

    await ana.submit(form, {"Project": "Mobile App"})

    assert "has no category “Search”" in (await ana.errors())["category"]


async def test_form_rejects_a_channel_that_cannot_have_digests(chris: Person) -> None:
    chris.channel = "leadership"
    await chris.command("/digest add webshop")

    form = await chris.form("New digest")

    assert "I'm not in this channel" in text_of(form)
    assert values_of(form)["Channel"] is None


async def test_change_form_is_prefilled_with_all_settings(office: Office, ana: Person) -> None:
    await ana.ask(f"{WEB} tracker:bug priority:high")
    listed = await ana.ask("/digest")
    await ana.press(listed, "Edit")
    form = await ana.form("Edit digest")
    held = values_of(form)
    assert "Digest 1: *Web Shop* in <#C0GENERAL01>" in text_of(form)
    assert (held["Schedule"], held["Time"], held["Issue type"]) == ("Every day", AT, ["Bug"])
    assert "belongs to" not in text_of(form)
    assert not {"Project", "Channel"} & held.keys()

    await ana.choose(form, "Schedule", "Custom")
    form = await ana.form_saying("Edit digest", "Cron expression")
    await ana.submit(form, {"Cron expression": "* * * * *"})
    assert "at most once every 15 minutes" in (await ana.errors())["cron"]
    changed = {
        "Cron expression": "30 * * * *",
        "Category": ["Search"],
        "Issue type": [],
        "Empty digests": True,
    }
    now = await ana.after(ana.submit(form, changed))

    assert now["ts"] == listed["ts"]
    said = "priority High · category Search · posts even when there's nothing to show. Next: "
    assert f"Digest 1 (Web Shop) is updated: every hour at :30 (Europe/Madrid) · {said}" in text_of(now)
    assert "*1 digest in this channel*" in text_of(now)
    plan = (await stored(office)).plan
    assert (plan.schedule, [*plan.filters], plan.empty) == ("cron 30 * * * *", ["priority", "category"], True)
    assert [one.name for one in plan.filters["priority"]] == ["High"]


async def test_form_has_the_kind_and_what_to_leave_out(office: Office, ana: Person) -> None:
    refused = await ana.ask("/digest add webshop daily 25:00 stale:10d -tracker:support -to:me")
    await ana.press(refused, "Open form")
    form = await ana.form("New digest")
    held = values_of(form)
    assert (held["Issues"], held["Exclude"]) == (
        "Not updated for 10 days",
        ["Issue type: Support", "Assignee: Ana Ruiz"],
    )
    found = (await ana.suggest(form, "Assignee", "me"))["options"]
    assert found[0]["text"]["text"] == "Ana Ruiz (me)"

    await ana.press_in_form(form, "Preview")
    assert "Right now, this digest would show you" in text_of(await ana.form("Preview"))
    await ana.close(await ana.form("Preview"))
    left_out = {"Exclude": ["Issue type: Bug"], "Issues": "Overdue or due within 7 days", "Time": AT}
    answer = await ana.after(ana.submit(form, left_out))

    assert "I'll post overdue and upcoming issues from *Web Shop*" in text_of(answer)
    assert "Overdue or due within 7 days · excluding issue type Bug" in text_of(answer)
    plan = (await stored(office)).plan
    assert (plan.kind, [one.name for one in plan.excluded["tracker"]]) == ("due", ["Bug"])


async def test_changing_a_paused_digest_keeps_it_paused(ana: Person) -> None:
    await ana.ask(WEB)
    await ana.ask("/digest pause")
    await ana.command("/digest change")

    answer = await ana.after(ana.submit(await ana.form("Edit digest"), {"Group by": "Priority"}))

    assert "grouped by priority. It's still paused." in text_of(answer)
    assert "Next: " not in text_of(await ana.ask("/digest"))


async def test_form_keeps_an_untouched_filter_that_is_gone(office: Office, ana: Person) -> None:
    await ana.ask(f"{WEB} category:search -category:checkout tracker:bug")
    for category in office.tracker.data.categories.values():
        if category.name in ("Search", "Checkout"):
            category.project_id = 2
    await office.stop_bot()
    await office.start_bot()
    await ana.command("/digest change 1")
    form = await ana.form("Edit digest")
    held = values_of(form)
    assert (held["Category"], held["Exclude"]) == (["Search"], ["Category: Checkout"])

    await ana.press_in_form(form, "Preview")
    assert "this digest would" in text_of(await ana.form("Preview"))
    await ana.close(await ana.form("Preview"))
    digest = await stored(office)
    meanwhile = replace(digest.plan, empty=True)
    await office.bot.store.digests.change(digest, meanwhile, datetime.now(UTC) + timedelta(days=1), ())
    answer = await ana.after(ana.submit(form, {"Group by": "Priority", "Issue type": ["Feature"]}))

    assert "Digest 1 (Web Shop) is updated" in text_of(answer)
    plan = (await stored(office)).plan
    kept = {kind: [one.name for one in chosen] for kind, chosen in plan.filters.items()}
    assert kept == {"category": ["Search"], "tracker": ["Feature"]}
    assert [one.name for one in plan.excluded["category"]] == ["Checkout"]
    assert (plan.group, plan.empty) == ("priority", True)


async def test_a_new_time_stays_with_the_choice_of_a_digest(ana: Person) -> None:
    await ana.ask(WEB)
    await ana.ask("/digest add mobile weekly mon 9")

    await ana.press(
        await ana.ask("/digest change to 10 am"), "Mobile App · every Monday at 9:00 AM (Europe/Madrid)"
    )

    assert values_of(await ana.form("Edit digest"))["Time"] == "10:00"


async def test_a_channel_in_the_command_is_asked_for_in_the_form(ana: Person) -> None:
    refused = await ana.ask("/digest add mobile to #general every day at 5pm")

    assert "Type it in #general, or choose the channel in the form." in text_of(refused)
    await ana.press(refused, "Open form")
    form = await ana.form("New digest")
    assert (values_of(form)["Project"], values_of(form)["Time"]) == ("Mobile App", "17:00")
