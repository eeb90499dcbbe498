"""Scenarios with searches."""

from bot.sandbox.tracker.defaults import CLOSED, NEW
from tests.faults.issue_scenarios import Steps
from tests.faults.scene import Scene, scenario
from tests.support.reading import JSON


async def found_nothing(s: Scene, filters: str, status: int = NEW) -> JSON:
    """Creates an issue with that status and searches for it with filters that leave it out."""
    s.issue().status_id = status
    return await s.after(s.ana.command(f'/issues "{s.word}" {filters}'))


@scenario("issues", "command:issues")
async def search(s: Scene) -> Steps:
    yield
    await s.ana.command("/issues project:webshop status:any sort:id")


@scenario("next page", "action:search.page.next")
async def next_page(s: Scene) -> Steps:
    found = await s.after(s.ana.command("/issues project:webshop status:any sort:id"))
    yield
    await s.ana.press(found, "Next ›")


@scenario("previous page", "action:search.page.previous")
async def previous_page(s: Scene) -> Steps:
    found = await s.after(s.ana.command("/issues project:webshop status:any sort:id"))
    second = await s.after(s.ana.press(found, "Next ›"))
    yield
    await s.ana.press(second, "‹ Previous")


@scenario("search all projects", "action:search.projects")
async def search_all_projects(s: Scene) -> Steps:
    found = await found_nothing(s, "project:mobile")
    yield
    await s.ana.press(found, "All projects")


@scenario("clear filters", "action:search.filters")
async def clear_filters(s: Scene) -> Steps:
    found = await found_nothing(s, "project:webshop priority:low")
    yield
    await s.ana.press(found, "Clear filters")


@scenario("include closed", "action:search.closed")
async def include_closed(s: Scene) -> Steps:
    found = await found_nothing(s, "project:webshop", CLOSED)
    yield
    await s.ana.press(found, "Include closed")


@scenario("filter by tracker", "action:search.filter")
async def changed_search(s: Scene) -> Steps:
    found = await s.after(s.ana.command("/issues bug project:webshop"))
    yield
    await s.ana.press(found, "Filter by tracker Bug")


@scenario("search shortcut", "shortcut:search_issues")
async def search_shortcut(s: Scene) -> Steps:
    yield
    await s.ana.shortcut("search_issues")


@scenario("submit search", "form:search", typed=True)
async def submit_search(s: Scene) -> Steps:
    s.issue()
    await s.ana.shortcut("search_issues")
    form = await s.form("Search issues")
    yield
    await s.ana.submit(form, {"Subject": s.word, "Status": "Any"})
