"""Scenarios with searches."""

from bot.sandbox.tracker.defaults import CLOSED, NEW
from tests.faults.scenario import Setup, Steps, answer, command, press, scenario, shortcut, submit
from tests.faults.scene import Scene
from tests.support.reading import JSON

SEARCH = "/issues project:webshop status:any sort:id"


async def second_page(s: Scene, who: str) -> JSON:
    return await s.after(s.ana.press(await answer(SEARCH)(s, who), "Next ›"))


def without(filters: str, status: int = NEW) -> Setup:
    """A search whose filters leave out the issue with the scene's word."""

    async def setup(s: Scene, who: str) -> JSON:
        s.issue().status_id = status
        return await answer(f'/issues "{{word}}" {filters}')(s, who)

    return setup


async def opened(s: Scene, _who: str) -> JSON:
    s.issue()
    await s.ana.shortcut("search_issues")
    return await s.form("Search issues")


command("issues", SEARCH)
press("next page", "search.page", answer(SEARCH), "Next ›")
press("previous page", "search.page", second_page, "‹ Previous")
press("search all projects", "search.page", without("project:mobile"), "Search all projects")
press("clear filters", "search.page", without("project:webshop priority:low"), "Clear filters")
press("include closed", "search.page", without("project:webshop", CLOSED), "Include closed")
press("search words", "search.page", answer("/issues overdue project:webshop"), "Search for “overdue”")
press("drop a phrase", "search.page", without("due yesterday project:webshop"), "Without “due yesterday”")
press(
    "search instead",
    "search.page",
    answer("/issue open bugs"),
    "Search for “open bugs”",
    refused="leave out “bugs”",
)
shortcut("search shortcut", "search_issues")
submit("submit search", "search", opened, {"Subject": "{word}", "Status": "Any"}, typed=True)


@scenario("search with a name", "action:search.page")
async def search_with_a_name(s: Scene) -> Steps:
    ambiguous = await answer("/issues tracker:u project:webshop")(s, "ana")
    yield
    await s.ana.choose_in_message(ambiguous, "Bug")
