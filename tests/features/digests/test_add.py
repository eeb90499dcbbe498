"""Commands that add a digest: one that isn't complete or clear leads to a question or the filled form."""

from bot.store.digests import Digest
from tests.support.digesting import AT, EVERY_DAY, WEB, stored
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of, values_of


def plan_of(digest: Digest) -> tuple[str, str, list[str]]:
    return digest.plan.project, digest.plan.schedule, [one.name for one in digest.plan.filters["tracker"]]


async def test_schedule_alone_asks_for_the_project_only(office: Office, ana: Person) -> None:
    asked = await ana.ask(f"/digest daily {AT} tracker:bug")
    assert f"Which project's new issues should I post here {EVERY_DAY}?" in text_of(asked)

    answer = await ana.after(ana.choose_in_message(asked, "Web Shop"))

    assert answer["ts"] == asked["ts"]
    assert "Digest 1 is set up" in text_of(answer)
    assert plan_of(await stored(office)) == ("Web Shop", f"daily {AT}", ["Bug"])


async def test_schedule_alone_uses_the_channels_project(office: Office, ana: Person) -> None:
    await ana.ask("/tracker default mobile")

    assert "Digest 1 is set up" in text_of(await ana.ask("/digest every Monday at 9:00 AM"))
    assert (await stored(office)).plan.project == "Mobile App"


async def test_failed_add_opens_the_form_with_what_was_understood(ana: Person) -> None:
    cases: list[tuple[str, str, JSON]] = [
        ("add webshop daily 25:00 tracker:bug", "a time after `daily`", {"Schedule": "Every day"}),
        ("add webshop weekly mon,thu 9 tz:No tracker:bug", "time zone", {"Days": ["Monday", "Thursday"]}),
        ("add webshop hourly tracker:bug,nope", "nope", {"Schedule": "Hourly"}),
        ("add webshop hourly tracker:bug colour:red", "colour", {"Schedule": "Hourly"}),
        ('webshop hourly tracker:bug group:"priority', "quote", {"Group by": "Priority"}),
        ("add webshop daily 9:30 priority: tracker:bug", "priority", {"Time": "09:30"}),
        ("add webshop cron 7 * * * * tracker:bug group:no", "group", {"Cron expression": "7 * * * *"}),
        (
            "add webshop weekly closed issues on fridays tracker:bug",
            "a time after `weekly fri`",
            {"Schedule": "Weekly", "Days": ["Friday"], "Issues": "Closed issues"},
        ),
        (
            "add webshop weekly summary of closed issues tracker:bug",
            "Which day? I filled in the form with Monday.",
            {"Schedule": "Weekly", "Days": ["Monday"], "Time": "09:00", "Issues": "Closed issues"},
        ),
    ]
    for text, said, kept in cases:
        answer = await ana.ask(f"/digest {text}")
        assert said in text_of(answer)
        assert answer["ephemeral"]

        await ana.press(answer, "Open form")

        form = await ana.form("New digest")
        held = values_of(form)
        assert said in text_of(form)
        assert (held["Project"], held["Issue type"]) == ("Web Shop", ["Bug"])
        assert kept.items() <= held.items()
        await ana.close(form)


async def test_preview_shows_the_last_seven_days_privately(ana: Person, linked_ben: Person) -> None:
    await ana.ask("/issue new The newest one project:webshop")
    await ana.ask("/issue new A secret project:webshop private:yes")
    await ana.ask(WEB)
    await ana.press(await ana.ask("/digest"), "Preview")
    shown = text_of(await ana.form("Preview"))
    assert "In the last 7 days, this digest would have shown you" in shown
    assert "The newest one" in shown
    assert "A secret" not in shown

    await linked_ben.command("/digest add mobile category:sign")
    form = await linked_ben.form("New digest")
    await linked_ben.press_in_form(form, "Preview")
    shown = text_of(await linked_ben.form("Preview"))
    assert "*Mobile App* · every weekday at 9:00 AM (Europe/London)" in shown
    assert len((await linked_ben.state())["views"]) == 2


async def test_preview_without_a_project_keeps_the_form(ana: Person) -> None:
    await ana.command("/digest add")
    form = await ana.form("New digest")

    await ana.press_in_form(form, "Preview")

    assert text_of(await ana.form("Preview")) == "Choose a project first. Then I can show you a preview."
    assert (await ana.state())["views"][0]["title"]["text"] == "New digest"
