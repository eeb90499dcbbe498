"""Scenarios with time entries."""

from tests.faults.scenario import About, answer, choose, command, form, press, shortcut, submit, suggest
from tests.faults.scene import NUMBER, Scene
from tests.support.reading import JSON

LOG = f"/timelog {NUMBER}"


async def entries_logged(s: Scene) -> int:
    return sum(s.word in (entry.comments or "") for entry in s.data.time_entries.values())


async def entries_shared(s: Scene) -> int:
    return sum("logged 1m on" in m["text"] for m in await s.person("ben").messages())


async def logged(s: Scene, _who: str) -> JSON:
    """Logs time and returns the confirmation, with its button."""
    await s.ana.command(f"{LOG} 1m activity:design")  # a day has room for all cells
    await s.settled()
    return next(m for m in reversed(await s.ana.messages()) if m["text"].startswith("Logged "))


async def form_of_shortcut(s: Scene, _who: str) -> JSON:
    await s.ana.shortcut("log_time")
    return await s.form("Log time")


async def form_of_entry(s: Scene, who: str) -> JSON:
    await s.ana.press(await logged(s, who), "Edit")
    return await s.form("Edit time")


async def draft(s: Scene, _who: str) -> JSON:
    """Offers to go on with time that was typed before."""
    kept = {"issue": NUMBER, "hours": "1.5", "spent_on": "2026-01-05", "comment": s.word}
    return await s.offer({"time": kept}, "Open form", "time.fill")


async def naming_issue(s: Scene) -> JSON:
    return await s.ana.say(f"I worked on #{NUMBER}")


async def logged_before(s: Scene) -> None:
    await logged(s, "ana")


LOGGED: About = {"effect": entries_logged, "confirmation": "Logged ", "typed": True}

command("timelog", f"{LOG} 1m activity:design {{word}}", **LOGGED)
command("timelog on a project", "/timelog project:webshop 1m activity:design {word}", **LOGGED)
command("timelog without activity", f"{LOG} 1m {{word}}", typed=True)
command("timelog form", LOG)
command("timelog edit", "/timelog edit", logged_before)
shortcut("time shortcut", "log_time")
shortcut("time from message", "time_from_message", naming_issue)
press("time button", "time.open", answer(f"/issue {NUMBER}"), "Log time")
submit(
    "submit time",
    "time.log",
    form("Log time", LOG),
    {"Hours": "1m", "Activity": "Design", "Comment": "{word}"},
    **LOGGED,
)
choose("choose issue for time", "time.issue", form_of_shortcut, "Issue", f"#{NUMBER}")
press("fill in time", "time.fill", draft, "Open form")
press(
    "log a long day",
    "time.log_anyway",
    answer(f"{LOG} 30h activity:design on:2026-01-05 {{word}}"),
    "Log anyway",
    effect=entries_logged,
    confirmation="Logged ",
)
press(
    "log for today",
    "time.log_today",
    answer(f"{LOG} 1m activity:design {{word}} tomorrow"),
    "Log for today",
    effect=entries_logged,
    confirmation="Logged ",
)
press("edit button", "time.edit", logged, "Edit")
press("share time", "time.share", logged, "Share here", effect=entries_shared, confirmation="logged 1m on")
press("delete time", "time.delete", logged, "Delete entry", confirmation="Deleted ")
submit(
    "submit changed time",
    "time.change",
    form_of_entry,
    {"Hours": "2m", "Comment": "{word}"},
    effect=entries_logged,
    confirmation="Changed the entry on",
    typed=True,
)
suggest("offer issues for time", "time.issue", form_of_shortcut, "Issue", "")
