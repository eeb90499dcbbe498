"""Scenarios with personal digests."""

from tests.faults.scene import Scene, owner, scenario
from tests.faults.time_scenarios import CHANGED, Steps
from tests.support.digesting import AT

SET_UP = "digest is set up"


async def set_up(s: Scene) -> int:
    return sum(digest.personal for digest in await s.office.bot.store.digests.of_owner(owner("ana")))


async def changed(s: Scene) -> int:
    found = await s.office.bot.store.digests.of_owner(owner("ana"))
    return sum(digest.plan.schedule == f"daily {CHANGED}" for digest in found)


@scenario("personal digest", "command:digest", effect=set_up, said=SET_UP)
async def typed(s: Scene) -> Steps:
    yield
    await s.ana.command(f"/digest me daily {AT}")


@scenario("set up a personal digest", "action:digest.set_up")
async def pressed(s: Scene) -> Steps:
    shown = await s.after(s.ana.command("/digest me"))
    yield
    await s.ana.press(shown, "Set up")


@scenario("submit a personal digest", "form:digest.me", effect=set_up, said=SET_UP)
async def submitted(s: Scene) -> Steps:
    await s.ana.press(await s.after(s.ana.command("/digest me")), "Set up")
    form = await s.form("My digest")
    yield
    await s.ana.submit(form, {"Time": AT})


@scenario("change a personal digest", "form:digest.me", effect=changed, said=SET_UP)
async def submitted_again(s: Scene) -> Steps:
    await s.ana.press(await s.after(s.ana.command(f"/digest me daily {AT}")), "Change")
    form = await s.form("My digest")
    yield
    await s.ana.submit(form, {"Time": CHANGED})
