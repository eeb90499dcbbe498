"""Scenarios with digests, of channels and personal ones."""

from bot.store.channels import Channel
from bot.store.digests import Digest
from bot.store.plans import FILTER_KINDS
from tests.faults.scenario import (
    BY_CHRIS,
    About,
    Steps,
    answer,
    command,
    form,
    form_behind,
    press,
    press_in_form,
    scenario,
    submit,
    suggest,
)
from tests.faults.scene import CHANNEL, Scene, owner
from tests.support.digesting import AT, WEB
from tests.support.office import TEAM
from tests.support.reading import JSON

CHANGED = AT.replace(":00", ":30")
HIDDEN = "can't see Web Shop"


async def in_channel(s: Scene) -> tuple[Digest, ...]:
    return await s.office.bot.store.digests.in_channel(Channel(TEAM, CHANNEL))


async def digests_set(s: Scene) -> int:
    return len(await in_channel(s))


async def digests_gone(s: Scene) -> int:
    return 1 - await digests_set(s)


async def digests_paused(s: Scene) -> int:
    return sum(digest.paused is not None for digest in await in_channel(s))


async def digests_going(s: Scene) -> int:
    return 1 - await digests_paused(s)


async def digests_changed(s: Scene) -> int:
    return sum(digest.plan.schedule == f"daily {CHANGED}" for digest in await in_channel(s))


async def digests_taken(s: Scene) -> int:
    return sum(digest.owner == owner("chris") for digest in await in_channel(s))


async def digests_posted(s: Scene) -> int:
    return sum(s.word in str(m["blocks"]) and not m["ephemeral"] for m in await s.person("ben").messages())


async def personal(s: Scene) -> list[Digest]:
    return [digest for digest in await s.office.bot.store.digests.of_owner(owner("ana")) if digest.personal]


async def personal_set(s: Scene) -> int:
    return len(await personal(s))


async def personal_changed(s: Scene) -> int:
    return sum(digest.plan.schedule == f"daily {CHANGED}" for digest in await personal(s))


async def only_digest(s: Scene) -> None:
    """Leaves the channel with exactly one digest, owned by Ana."""
    for digest in await in_channel(s):
        await s.office.bot.store.digests.remove(digest)
    await s.after(s.ana.command(WEB))


async def only_digest_with_issue(s: Scene) -> None:
    await only_digest(s)
    s.issue()


async def only_digest_paused(s: Scene) -> None:
    await only_digest(s)
    await s.after(s.ana.command("/digest pause"))


async def listing(s: Scene, who: str) -> JSON:
    """Returns the list of the channel's digests, which holds one of Ana's."""
    await s.after(s.ana.command(WEB))
    return await answer("/digest")(s, who)


async def listing_with_issue(s: Scene, who: str) -> JSON:
    await s.after(s.ana.command(WEB))
    s.issue()
    return await answer("/digest")(s, who)


async def paused(s: Scene, who: str) -> JSON:
    listed = await listing(s, who)
    return await s.after(s.person(who).press(listed, "Pause"), who)


async def removed(s: Scene, _who: str) -> JSON:
    await only_digest(s)
    return await s.after(s.ana.command("/digest remove"))


async def replacing(s: Scene, _who: str) -> JSON:
    await s.after(s.ana.command(f"/digest me daily {AT}"))
    return await s.after(s.ana.command(f"/digest me daily {CHANGED}"))


SET: About = {"effect": digests_set, "confirmation": "is set up"}
PAUSED: About = {"effect": digests_paused, "confirmation": "is paused", "refused": HIDDEN}
RESUMED: About = {"effect": digests_going, "confirmation": "is active again", "refused": HIDDEN}
GONE: About = {"effect": digests_gone, "confirmation": "is removed", "refused": HIDDEN}
POSTED: About = {"effect": digests_posted, "confirmation": "I posted", "refused": HIDDEN}
NEW = form("New digest", "/digest add mobile category:sign")

command("digest list", "/digest")
command("digest add", f"{WEB} tracker:bug", **SET)
command("digest form", "/digest add mobile category:sign")
command("digest now", "/digest now", only_digest_with_issue, **POSTED)
command("digest pause", "/digest pause", only_digest, **PAUSED)
command("digest resume", "/digest resume", only_digest_paused, **RESUMED)
command("digest remove", "/digest remove", only_digest, **GONE)
press("add digest button", "digest.add", listing, "Add digest")
press("digest form after an error", "digest.open_form", answer("/digest add mobile daily 25:00"), "Open form")
press_in_form("preview in the form", "digest.preview_form", NEW, "Preview")
press("preview a digest", "digest.preview", listing, "Preview", who="chris", refused=HIDDEN)
submit("submit digest", "digest.add", NEW, {"Time": AT}, **SET)
press("change digest button", "digest.change", listing, "Edit", who="chris", refused=HIDDEN)
submit(
    "submit changed digest",
    "digest.change",
    form_behind("Edit digest", listing, "Edit"),
    {"Time": CHANGED},
    effect=digests_changed,
    confirmation="is updated",
)
press("post digest now", "digest.now", listing_with_issue, "Send now", **POSTED)
press("pause digest", "digest.pause", listing, "Pause", **PAUSED | BY_CHRIS)
press("resume digest", "digest.resume", paused, "Resume", **RESUMED | BY_CHRIS)
press(
    "take digest over",
    "digest.take_over",
    listing,
    "Take ownership",
    effect=digests_taken,
    confirmation="is yours",
    who="chris",
    refused=HIDDEN,
)
press("remove digest", "digest.remove", listing, "Remove", **GONE | BY_CHRIS)
press(
    "undo removal",
    "digest.undo",
    removed,
    "Undo",
    effect=digests_set,
    confirmation="is restored",
    refused=HIDDEN,
)
suggest("offer zones", "digest.zone", NEW, "Time zone", "tok")
suggest(
    "offer a digest's choices",
    tuple(f"digest.{kind}" for kind in (*FILTER_KINDS, "excluded")),
    form("New digest", "/digest add mobile"),
    "Category",
    "sign",
)


@scenario("digest without a project", "action:digest.project", **SET)
async def choose_project(s: Scene) -> Steps:
    asked = await s.after(s.ana.command(f"/digest daily {AT}"))
    yield
    await s.ana.choose_in_message(asked, "Mobile App")


@scenario("choose a schedule", "action:digest.schedule")
async def choose_schedule(s: Scene) -> Steps:
    view = await NEW(s, "ana")
    yield
    await s.ana.choose(view, "Schedule", "Weekly")


PERSONAL: About = {"effect": personal_set, "confirmation": "digest is set up"}
command("personal digest", f"/digest me daily {AT}", **PERSONAL)
press("set up a personal digest", "digest.set_up", answer("/digest me"), "Set up digest")
submit(
    "submit a personal digest",
    "digest.me",
    form_behind("My digest", answer("/digest me"), "Set up digest"),
    {"Time": AT},
    **PERSONAL,
)
press(
    "replace a personal digest",
    "digest.replace",
    replacing,
    "Replace",
    effect=personal_changed,
    confirmation="digest is set up",
)
submit(
    "change a personal digest",
    "digest.me",
    form_behind("My digest", answer(f"/digest me daily {AT}"), "Change"),
    {"Time": CHANGED},
    effect=personal_changed,
    confirmation="digest is set up",
)
