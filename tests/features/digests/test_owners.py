"""Removing, taking over and restoring other users' digests, with confirmation."""

import asyncio
from datetime import timedelta
from pathlib import Path

from bot.store.digests import Pause
from bot.timings import Timings
from tests.support.digesting import ANA, HIDDEN, WEB, stored
from tests.support.office import TEAM, Office
from tests.support.people import IDS
from tests.support.person import DM, Person
from tests.support.reading import button_saying, text_of, until, until_so
from tests.support.wire import Wire
from tests.support.work import run_due_after


async def test_command_on_anothers_digest_asks_for_confirmation(ana: Person, linked_ben: Person) -> None:
    await ana.ask(WEB)
    for number, (typed, question, button) in enumerate(
        (
            ("pause", "Pause it?", "Pause"),
            ("resume", "Resume it?", "Resume"),
            ("take over", "Take ownership of it?", "Take ownership"),
        )
    ):
        asked = await linked_ben.ask(f"/digest {typed} 1")
        assert f"Digest 1 (Web Shop) belongs to Ana Ruiz. {question}" in text_of(asked)
        assert "by Ana Ruiz" in text_of(await linked_ben.ask("/digest"))
        assert len(await ana.direct()) == number

        await linked_ben.after(linked_ben.press(asked, button))
        await linked_ben.office.idle()

        assert len(told := await ana.direct()) == number + 1
        assert "your *Web Shop* digest in <#C0GENERAL01>" in text_of(told[-1])


async def test_button_asks_again_for_a_new_owner(office: Office, ana: Person, linked_ben: Person) -> None:
    await ana.ask(WEB)
    listed = await ana.ask("/digest")
    await linked_ben.press(await linked_ben.ask("/digest"), "Take ownership")
    await until(ana.direct)

    asked = await ana.after(ana.press(listed, "Remove"))

    assert "belongs to Ben Okafor. Remove it?" in text_of(asked)
    assert (await stored(office)).owner_name == "Ben Okafor"


async def test_a_former_owners_key_stops_no_transferred_digest(tmp_path: Path, wire: Wire) -> None:
    timings = Timings(interval=3600, notice_every=10**8)
    async with Office(tmp_path, wire=wire, timings=timings).opened("ana", "ben") as office:
        ana, ben = (Person(office, IDS[login]) for login in ("ana", "ben"))
        await ana.ask(WEB)
        for _ in range(2):  # reads once what is assigned to each
            await run_due_after(office, timedelta(hours=1))

        wire.seconds = 60
        wire.fail("slow")
        running = asyncio.create_task(run_due_after(office, timedelta(days=1)))
        await until_so(lambda: wire.slowed)
        await ben.after(ben.press(await ben.ask("/digest take over 1"), "Take ownership"))
        await office.bot.store.links.delete(ANA)
        wire.released.set()
        await running

        digest = await stored(office)
        assert (digest.owner.user_id, digest.paused) == (ben.user_id, None)
        assert not any("Stopped" in text_of(message) for message in await ben.messages())
    assert office.violations() == []


async def test_edit_form_names_the_owner_who_is_notified(ana: Person, linked_ben: Person) -> None:
    await ana.ask(WEB)
    await linked_ben.command("/digest edit 1")
    form = await linked_ben.form("Edit digest")
    assert "It belongs to Ana Ruiz, who will be notified of your changes." in text_of(form)
    assert not await ana.direct()

    answer = await linked_ben.after(linked_ben.submit(form, {"Time": "07:45"}))

    assert "is updated: every day at 7:45 AM" in text_of(answer)
    told = text_of((await until(ana.direct))[-1])
    assert f"<@{linked_ben.user_id}> edited your *Web Shop* digest" in told


async def test_edit_asks_again_for_a_new_owner(office: Office, ana: Person, linked_ben: Person) -> None:
    await ana.ask(WEB)
    before = await stored(office)
    await ana.command("/digest edit 1")
    form = await ana.form("Edit digest")
    await linked_ben.press(await linked_ben.ask("/digest"), "Take ownership")
    await until(ana.direct)

    await ana.submit(form, {"Time": "07:45"})
    again = await ana.form_saying("Edit digest", "Ben Okafor owns this digest now")
    assert (await stored(office)).plan == before.plan

    await ana.after(ana.submit(again, {}))
    assert (await stored(office)).plan.schedule == "daily 07:45"


async def test_undo_restores_a_removed_digest(office: Office, ana: Person, linked_ben: Person) -> None:
    await ana.ask(f"{WEB} group:priority empty:yes")
    await ana.ask("/issue new The cart forgets project:webshop")
    await ana.command("/digest now")
    await ana.sees(lambda message: "Web Shop: 1 new issue" in text_of(message))
    await office.idle()
    before = await stored(office)
    gone = await linked_ben.after(linked_ben.press(await linked_ben.ask("/digest remove 1"), "Remove"))
    assert "No digests in this channel yet" in text_of(gone)
    assert await office.bot.store.digests.get(TEAM, 1) is None
    assert await office.bot.store.digests.of_owner(ANA) == ()

    told = (await until(ana.direct))[-1]
    back = await ana.after(ana.press(told, "Undo"), DM)

    assert "Digest 1 (Web Shop) is restored" in text_of(back)
    assert await stored(office) == before
    assert "restored" not in text_of(await linked_ben.ask("/digest"))
    again = await linked_ben.after(linked_ben.press(gone, "Undo"))
    assert "Digest 1 can't be restored anymore" in text_of(again)


async def test_undo_keeps_the_pause_and_permissions(office: Office, ana: Person, linked_ben: Person) -> None:
    await ana.ask(HIDDEN)
    await ana.ask("/digest pause")
    gone = await ana.after(ana.press(await ana.ask("/digest"), "Remove"))
    block, button = button_saying(gone["blocks"], "Undo")
    listed = await linked_ben.ask("/digest")
    source = {"message": {"channel": listed["channel"], "ts": listed["ts"]}}
    shown = office.workspace.state.find(listed["channel"], listed["ts"])
    assert shown is not None
    shown.blocks = [*shown.blocks, block]
    refused = await linked_ben.after(linked_ben._act(source, block, button, value="1"))
    assert "You can't see Security" in text_of(refused)
    assert await office.bot.store.digests.get(TEAM, 1) is None

    await ana.after(ana.press(gone, "Undo"))

    digest = await stored(office)
    assert digest.paused is Pause.PERSON
    assert "Next: " not in text_of(await ana.ask("/digest"))
