"""Scenarios with *Find related issues* on a message."""

from tests.faults.issue_scenarios import Steps, message, shared_here
from tests.faults.scene import NUMBER, Scene, scenario
from tests.support.reading import JSON

TITLE = "Related issues"


async def related(s: Scene, *files: str) -> JSON:
    """Returns the list of issues for a message that names one."""
    await s.ana.shortcut(
        "find_from_message", await message(s, *files, text=f"Delivery costs, as in #{NUMBER}")
    )
    return await s.form(TITLE)


async def choose(s: Scene, view: JSON, text: str) -> None:
    row = next(block for block in view["blocks"] if f"#{NUMBER} " in str(block.get("text")))
    await s.ana.choose_in_form(view, row, text)


@scenario("find related issues", "shortcut:find_from_message")
async def find(s: Scene) -> Steps:
    found = await message(s, text=f"Delivery as in #{NUMBER}")
    yield
    await s.ana.shortcut("find_from_message", found)


@scenario("find related issues everywhere", "action:related.everywhere")
async def find_everywhere(s: Scene) -> Steps:
    await s.ana.ask("/tracker default webshop")
    view = await related(s)
    yield
    await s.ana.press_in_form(view, "All projects")


@scenario("create from related issues", "action:related.create")
async def create(s: Scene) -> Steps:
    view = await related(s)
    yield
    await s.ana.press_in_form(view, "Create an issue")


@scenario("share a related issue", "action:related.share", effect=shared_here, said="in the thread.")
async def share(s: Scene) -> Steps:
    view = await related(s)
    yield
    await choose(s, view, "Share in thread")


@scenario("attach to a related issue", "action:files.from_message")
async def attach(s: Scene) -> Steps:
    view = await related(s, f"{s.slug}.log")
    yield
    await choose(s, view, "Attach files")
