"""Scenarios with time entries and digests."""

from collections.abc import AsyncGenerator

from bot.store.digest_plans import FILTER_KINDS
from tests.faults.scene import CHANNEL, NUMBER, Scene, owner, scenario
from tests.support.digesting import AT, WEB
from tests.support.office import TEAM
from tests.support.reading import JSON

Steps = AsyncGenerator[None, None]
CHANGED = AT.replace(":00", ":30")


async def entries_logged(s: Scene) -> int:
    return sum(entry.comments == s.word for entry in s.data.time_entries.values())


async def digests_set(s: Scene) -> int:
    return len(await s.office.bot.store.digests.in_channel(TEAM, CHANNEL))


async def digests_gone(s: Scene) -> int:
    return 1 - await digests_set(s)


async def digests_paused(s: Scene) -> int:
    return sum(
        digest.paused is not None for digest in await s.office.bot.store.digests.in_channel(TEAM, CHANNEL)
    )


async def digests_going(s: Scene) -> int:
    return 1 - await digests_paused(s)


async def digests_changed(s: Scene) -> int:
    found = await s.office.bot.store.digests.in_channel(TEAM, CHANNEL)
    return sum(digest.plan.schedule == f"daily {CHANGED}" for digest in found)


async def digests_taken(s: Scene) -> int:
    found = await s.office.bot.store.digests.in_channel(TEAM, CHANNEL)
    return sum(digest.owner == owner("chris") for digest in found)


async def digests_posted(s: Scene) -> int:
    return sum(s.word in str(m["blocks"]) and not m["ephemeral"] for m in await s.person("ben").messages())


# Time


@scenario("timelog", "command:timelog", effect=entries_logged, said="Logged ", typed=True)
async def log(s: Scene) -> Steps:
    yield
    await s.ana.command(f"/timelog {NUMBER} 1m activity:design {s.word}")


@scenario("timelog on a project", "command:timelog", effect=entries_logged, said="Logged ", typed=True)
async def log_on_project(s: Scene) -> Steps:
    yield
    await s.ana.command(f"/timelog project:webshop 1m activity:design {s.word}")


@scenario("timelog without activity", "command:timelog", typed=True)
async def log_without_activity(s: Scene) -> Steps:
    yield
    await s.ana.command(f"/timelog {NUMBER} 1m {s.word}")


@scenario("timelog form", "command:timelog")
async def time_form(s: Scene) -> Steps:
    yield
    await s.ana.command(f"/timelog {NUMBER}")


@scenario("time shortcut", "shortcut:log_time")
async def time_shortcut(s: Scene) -> Steps:
    yield
    await s.ana.shortcut("log_time")


@scenario("time from message", "shortcut:time_from_message")
async def time_from_message(s: Scene) -> Steps:
    said = await s.ana.say(f"I worked on #{NUMBER}")
    yield
    await s.ana.shortcut("time_from_message", said)


@scenario("time button", "action:time.open")
async def time_pressed(s: Scene) -> Steps:
    card = await s.after(s.ana.command(f"/issue {NUMBER}"))
    yield
    await s.ana.press(card, "Log time")


@scenario("submit time", "form:time.log", effect=entries_logged, said="Logged ", typed=True)
async def submit_time(s: Scene) -> Steps:
    await s.ana.command(f"/timelog {NUMBER}")
    form = await s.form("Log time")
    yield
    await s.ana.submit(form, {"Hours": "1h30", "Activity": "Design", "Comment": s.word})


@scenario("choose issue for time", "action:time.issue")
async def choose_issue(s: Scene) -> Steps:
    await s.ana.shortcut("log_time")
    choose = await s.choosing(await s.form("Log time"), "Issue", f"#{NUMBER}")
    yield
    await choose()


@scenario("fill in time", "action:time.fill")
async def fill_time(s: Scene) -> Steps:
    kept = {"issue": NUMBER, "hours": "1.5", "spent_on": "2026-01-05", "comment": s.word}
    offer = await s.offer({"time": kept}, "Open form", "time.fill")
    yield
    await s.ana.press(offer, "Open form")


@scenario("log a long day", "action:time.log_anyway", effect=entries_logged, said="Logged ")
async def log_anyway(s: Scene) -> Steps:
    asked = await s.after(s.ana.command(f"/timelog {NUMBER} 30h activity:design on:2026-01-05 {s.word}"))
    yield
    await s.ana.press(asked, "Log anyway")


async def logged(s: Scene) -> JSON:
    """Logs time and returns the confirmation, with its button."""
    await s.ana.command(f"/timelog {NUMBER} 1m activity:design")  # a day has room for all cells
    await s.settled()
    return next(m for m in reversed(await s.ana.messages()) if m["text"].startswith("Logged "))


@scenario("timelog edit", "command:timelog")
async def time_edit(s: Scene) -> Steps:
    await logged(s)
    yield
    await s.ana.command("/timelog edit")


@scenario("edit button", "action:time.edit")
async def edit_pressed(s: Scene) -> Steps:
    told = await logged(s)
    yield
    await s.ana.press(told, "Edit")


async def entries_shared(s: Scene) -> int:
    return sum("logged 1m on" in m["text"] for m in await s.person("ben").messages())


@scenario("share time", "action:time.share", effect=entries_shared, said="logged 1m on")
async def share_time(s: Scene) -> Steps:
    told = await logged(s)
    yield
    await s.ana.press(told, "Share here")


@scenario("delete time", "action:time.delete", said="Deleted ")
async def delete_time(s: Scene) -> Steps:
    told = await logged(s)
    yield
    await s.ana.press(told, "Delete entry")


@scenario("submit changed time", "form:time.change", effect=entries_logged, said="Changed to", typed=True)
async def submit_change(s: Scene) -> Steps:
    await s.ana.press(await logged(s), "Edit")
    form = await s.form("Edit time")
    yield
    await s.ana.submit(form, {"Hours": "2h", "Comment": s.word})


@scenario("offer issues for time", "options:time.issue", expects_answer=False)
async def offer_issues(s: Scene) -> Steps:
    await s.ana.shortcut("log_time")
    form = await s.form("Log time")
    yield
    s.offered = await s.ana.suggest(form, "Issue", "")


# Digests


HIDDEN = "can't see Web Shop"


async def only_digest(s: Scene) -> None:
    """Leaves the channel with exactly one digest, owned by Ana."""
    for found in await s.office.bot.store.digests.in_channel(TEAM, CHANNEL):
        await s.office.bot.store.digests.remove(found)
    await s.after(s.ana.command(WEB))


async def listing(s: Scene, login: str = "ana") -> JSON:
    """Returns the list of the channel's digests, which holds one of Ana's."""
    await s.after(s.ana.command(WEB))
    return await s.after(s.person(login).command("/digest"), login)


@scenario("digest list", "command:digest")
async def list_digests(s: Scene) -> Steps:
    yield
    await s.ana.command("/digest")


@scenario("digest add", "command:digest", effect=digests_set, said="is set up")
async def add_digest(s: Scene) -> Steps:
    yield
    await s.ana.command(f"{WEB} tracker:bug")


@scenario("digest form", "command:digest")
async def digest_form(s: Scene) -> Steps:
    yield
    await s.ana.command("/digest add mobile category:sign")


@scenario("add digest button", "action:digest.add")
async def add_pressed(s: Scene) -> Steps:
    listed = await listing(s)
    yield
    await s.ana.press(listed, "Add digest")


@scenario("digest without a project", "action:digest.project", effect=digests_set, said="is set up")
async def project_chosen(s: Scene) -> Steps:
    asked = await s.after(s.ana.command(f"/digest daily {AT}"))
    yield
    await s.ana.choose_in_message(asked, "Mobile App")


@scenario("digest form after an error", "action:digest.open_form")
async def open_form_pressed(s: Scene) -> Steps:
    refused = await s.after(s.ana.command("/digest add mobile daily 25:00"))
    yield
    await s.ana.press(refused, "Open form")


@scenario("choose a schedule", "action:digest.schedule")
async def schedule_chosen(s: Scene) -> Steps:
    await s.ana.command("/digest add mobile category:sign")
    form = await s.form("New digest")
    yield
    await s.ana.choose(form, "Schedule", "Weekly")


@scenario("preview in the form", "action:digest.preview_form")
async def preview_form(s: Scene) -> Steps:
    await s.ana.command("/digest add mobile category:sign")
    form = await s.form("New digest")
    yield
    await s.ana.press_in_form(form, "Preview")


@scenario("preview a digest", "action:digest.preview", who="chris", refused=HIDDEN)
async def preview(s: Scene) -> Steps:
    listed = await listing(s, "chris")
    yield
    await s.chris.press(listed, "Preview")


@scenario("submit digest", "form:digest.add", effect=digests_set, said="is set up")
async def submit_digest(s: Scene) -> Steps:
    await s.ana.command("/digest add mobile category:sign")
    form = await s.form("New digest")
    yield
    await s.ana.submit(form, {"Time": AT})


@scenario("change digest button", "action:digest.change", who="chris", refused=HIDDEN)
async def change_pressed(s: Scene) -> Steps:
    listed = await listing(s, "chris")
    yield
    await s.chris.press(listed, "Edit")


@scenario("submit changed digest", "form:digest.change", effect=digests_changed, said="is saved")
async def submit_changed(s: Scene) -> Steps:
    await s.ana.press(await listing(s), "Edit")
    form = await s.form("Edit digest")
    yield
    await s.ana.submit(form, {"Time": CHANGED})


@scenario("post digest now", "action:digest.now", effect=digests_posted, said="I posted", refused=HIDDEN)
async def post_now(s: Scene) -> Steps:
    await s.after(s.ana.command(WEB))
    s.issue()
    listed = await s.after(s.ana.command("/digest"))
    yield
    await s.ana.press(listed, "Send now")


@scenario("digest now", "command:digest", effect=digests_posted, said="I posted", refused=HIDDEN)
async def now_typed(s: Scene) -> Steps:
    await only_digest(s)
    s.issue()
    yield
    await s.ana.command("/digest now")


@scenario("digest pause", "command:digest", effect=digests_paused, said="is paused", refused=HIDDEN)
async def pause_typed(s: Scene) -> Steps:
    await only_digest(s)
    yield
    await s.ana.command("/digest pause")


@scenario("digest resume", "command:digest", effect=digests_going, said="is active again", refused=HIDDEN)
async def resume_typed(s: Scene) -> Steps:
    await only_digest(s)
    await s.after(s.ana.command("/digest pause"))
    yield
    await s.ana.command("/digest resume")


@scenario("digest remove", "command:digest", effect=digests_gone, said="is removed", refused=HIDDEN)
async def remove_typed(s: Scene) -> Steps:
    await only_digest(s)
    yield
    await s.ana.command("/digest remove")


@scenario(
    "pause digest",
    "action:digest.pause",
    effect=digests_paused,
    said="is paused",
    who="chris",
    refused=HIDDEN,
)
async def pause(s: Scene) -> Steps:
    listed = await listing(s, "chris")
    yield
    await s.chris.press(listed, "Pause")


@scenario(
    "resume digest",
    "action:digest.resume",
    effect=digests_going,
    said="is active again",
    who="chris",
    refused=HIDDEN,
)
async def resume(s: Scene) -> Steps:
    listed = await listing(s, "chris")
    paused = await s.after(s.chris.press(listed, "Pause"), "chris")
    yield
    await s.chris.press(paused, "Resume")


@scenario(
    "take digest over",
    "action:digest.take_over",
    effect=digests_taken,
    said="is yours",
    who="chris",
    refused=HIDDEN,
)
async def take_over(s: Scene) -> Steps:
    listed = await listing(s, "chris")
    yield
    await s.chris.press(listed, "Take ownership")


@scenario(
    "remove digest",
    "action:digest.remove",
    effect=digests_gone,
    said="is removed",
    who="chris",
    refused=HIDDEN,
)
async def remove(s: Scene) -> Steps:
    listed = await listing(s, "chris")
    yield
    await s.chris.press(listed, "Remove")


@scenario("undo removal", "action:digest.undo", effect=digests_set, said="is restored", refused=HIDDEN)
async def undo(s: Scene) -> Steps:
    await only_digest(s)
    gone = await s.after(s.ana.command("/digest remove"))
    yield
    await s.ana.press(gone, "Undo")


@scenario("offer zones", "options:digest.zone", expects_answer=False)
async def offer_zones(s: Scene) -> Steps:
    await s.ana.command("/digest add mobile")
    form = await s.form("New digest")
    yield
    s.offered = await s.ana.suggest(form, "Time zone", "tok")


@scenario(
    "offer a digest's choices",
    *(f"options:digest.{n}" for n in (*FILTER_KINDS, "excluded")),
    expects_answer=False,
)
async def offer_choices(s: Scene) -> Steps:
    await s.ana.command("/digest add mobile")
    form = await s.form("New digest")
    yield
    s.offered = await s.ana.suggest(form, "Category", "sign")
