"""`/digest`: managing digests, and who may."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from bot.store.channels import Channel
from bot.store.digests import Pause, Start
from bot.store.owner import Owner
from tests.support.digesting import ANA, AT, EVERY_DAY, HIDDEN, WEB, buttons, stored
from tests.support.office import TEAM, Office
from tests.support.people import KEYS
from tests.support.person import DM, Person
from tests.support.reading import button_saying, text_of, until, values_of


async def test_add_confirms_the_new_digests_settings(office: Office, ana: Person) -> None:
    answer = await ana.ask(f"{WEB} tracker:bug,feature priority:high group:priority empty:yes")

    said = text_of(answer)
    assert answer["ephemeral"]
    assert f"I'll post new issues from *Web Shop* in <#C0GENERAL01> {EVERY_DAY} (Europe/Madrid)." in said
    assert "Issue type Bug or Feature · priority High · grouped by priority · posts even when there's" in said
    assert said.count("<!date^") == 3
    assert "It shows what you can see in Tracker, except private issues." in said
    assert "isn't public" not in said
    assert (await stored(office)).owner == Owner(None, TEAM, ana.user_id)
    first = datetime.fromtimestamp(int(re.findall(r"<!date\^(\d+)", said)[0]), ZoneInfo("Europe/Madrid"))
    assert f"{first:%H:%M}" == AT


async def test_a_number_beyond_all_digests_names_none(tmp_path: Path, url: str) -> None:
    async with Office(tmp_path, database_url=url).opened("ana") as office:
        ana = Person(office, ANA.user_id)
        for act in ("remove", "now"):
            assert "There's no digest 3000000000 here" in text_of(await ana.ask(f"/digest {act} 3000000000"))


async def test_channel_members_see_its_digests_even_unlinked(ana: Person, ben: Person) -> None:
    await ana.ask(f"{WEB} tz:UTC category:search")
    await ana.ask("/digest add mobile hourly")

    shown = await ben.ask("/digest")

    assert shown["ephemeral"]
    said = text_of(shown)
    assert "*2 digests in this channel*" in said
    assert f"*1 · Web Shop* · {EVERY_DAY} (UTC)\nby Ana Ruiz · category Search\nNext: <!date^" in said
    assert "*2 · Mobile App* · every hour (Europe/Madrid)\nby Ana Ruiz\nNext: <!date^" in said
    row = ["Send now", "Pause", "Edit", "Preview", "Take ownership", "Remove"]
    assert buttons(shown) == [*row, *row, "Add digest"]
    assert "Take ownership" not in buttons(await ana.ask("/digest"))
    ben.channel = "mobile"
    assert "No digests in this channel yet" in text_of(await ben.ask("/digest"))


async def test_long_list_names_the_digests_left_out(office: Office, ana: Person) -> None:
    await ana.ask(WEB)
    first = await stored(office)
    for _ in range(17):
        await office.bot.store.digests.add(
            first.owner,
            "Ana Ruiz",
            first.channel_id,
            first.plan,
            next_due=datetime.now(UTC) + timedelta(days=1),
            start=Start(),
            now=datetime.now(UTC),
        )

    shown = await ana.ask("/digest")

    assert buttons(shown).count("Pause") == 10
    assert "8 more: 11, 12, 13, 14, 15, 16, 17, 18" in text_of(shown)


async def test_private_project_gets_a_warning_and_a_remove_button(office: Office, ana: Person) -> None:
    typed = (
        f"{HIDDEN} tracker:bug,task priority:high category:findings group:category empty:yes tz:Asia/Tokyo"
    )
    answer = await ana.ask(typed)
    assert "Security isn't public. Everyone in <#C0GENERAL01> will see its new issues." in text_of(answer)
    before = (await stored(office)).plan

    gone = await ana.after(ana.press(answer, "Remove"))

    assert gone["ts"] == answer["ts"]
    assert "No digests in this channel yet" in text_of(gone)
    add_again = text_of(gone).split("To add it again later: `")[1].split("`")[0]
    await ana.ask(add_again)
    assert (await stored(office, 2)).plan == before


async def test_unusable_command_error_shows_what_to_type(ana: Person) -> None:
    for text, said in (
        ("add webshop daily 25:00", "I can only read a time after `daily`"),
        ("add nope daily 9", "No project called “nope”"),
        ("add webshop daily 9 tracker:nope", "No issue type called “nope”"),
        ("add webshop daily 9 tz:Europe/Nowhere", "I don't know that time zone"),
        ("add old-shop daily 9", "Old Shop is closed"),
        ("pause", "This channel has no digests"),
        ("pause 7", "There's no digest 7 here"),
        ("snooze", "`/digest help`"),
    ):
        answer = await ana.ask(f"/digest {text}")

        assert said in text_of(answer)
        assert answer["ephemeral"]
    assert "snooze" not in text_of(answer)
    assert "No digests in this channel yet" in text_of(answer)


async def test_command_without_a_number_has_a_button_for_each_digest(office: Office, ana: Person) -> None:
    await ana.ask(WEB)
    assert "already has that digest. It's number 1" in text_of(await ana.ask(WEB))
    await ana.ask("/digest add mobile hourly")
    known = [f"Web Shop · {EVERY_DAY} (Europe/Madrid)", "Mobile App · every hour (Europe/Madrid)"]

    for typed in ("now", "resume", "remove", "take over", "pause"):
        assert buttons(asked := await ana.ask(f"/digest {typed}")) == known
    assert "is paused" in text_of(await ana.after(ana.press(asked, known[0])))
    assert [(await stored(office, number)).paused is None for number in (1, 2)] == [False, True]
    form = await ana.form_after(ana.press(await ana.ask("/digest change"), known[1]), "Edit digest")
    assert values_of(form)["Schedule"] == "Hourly"


async def test_channel_that_rejects_digests_gets_none(chris: Person) -> None:
    for channel, said in (
        ("leadership", "Type `/invite @Issue Bot`"),
        ("partners", "shared with people outside your company"),
    ):
        chris.channel = channel

        assert said in text_of(await chris.ask(WEB))
        assert "No digests in this channel yet" in text_of(await chris.ask("/digest"))


async def test_direct_message_with_the_bot_may_have_a_digest(office: Office, ana: Person) -> None:
    own = office.workspace.state.im(ana.user_id).id

    answer = await ana.after(ana._post("command", channel=own, text=HIDDEN), DM)

    assert "in a direct message" in text_of(answer)
    assert "isn't public" not in text_of(answer)
    assert (await stored(office)).channel_id == own


# Pausing, resuming, running now


async def test_pause_and_resume_buttons_update_the_list(ana: Person) -> None:
    await ana.ask(WEB)
    listed = await ana.ask("/digest")

    paused = await ana.after(ana.press(listed, "Pause"))
    assert paused["ts"] == listed["ts"]
    assert "Digest 1 (Web Shop) is paused. To resume it: `/digest resume 1`" in text_of(paused)
    assert "\nPaused" in text_of(paused)
    assert "Send now" not in buttons(paused)
    assert "Next: " not in text_of(paused)

    resumed = await ana.after(ana.press(paused, "Resume"))
    assert "Its next post includes issues opened while it was paused." in text_of(resumed)
    assert "Pause" in buttons(resumed)


async def test_commands_answer_with_one_sentence(ana: Person) -> None:
    await ana.ask(WEB)

    assert "is paused" in text_of(await ana.ask("/digest pause 1"))
    assert "To resume it: `/digest resume 1`" in text_of(await ana.ask("/digest now"))
    assert "is active again" in text_of(await ana.ask("/digest resume #1"))
    assert "is already active. Next:" in text_of(await ana.ask("/digest resume 1"))
    assert "To add it again later" in text_of(await ana.ask("/digest remove 1"))


async def test_list_shows_why_a_digest_is_paused(office: Office, ana: Person, ben: Person) -> None:
    await ana.ask(WEB)
    for why, said in {
        Pause.KEY: "Ana Ruiz's Tracker API key no longer works",
        Pause.PROJECT: "Ana Ruiz can't see Web Shop anymore",
        Pause.NOT_PUBLIC: "Web Shop isn't public",
        Pause.CLOSED: "Web Shop is closed",
        Pause.CHANNEL: "the channel is archived or I'm not in it anymore. Type `/invite",
        Pause.OUTSIDERS: "the channel is shared with people outside your company",
        Pause.REFUSED: "Slack didn't accept the post",
    }.items():
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        await office.bot.store.digests.resume(await stored(office), tomorrow, None)
        await office.bot.store.digests.stop(ANA, [1], why)

        assert f"\nStopped because {said}" in text_of(await ben.ask("/digest"))


async def test_now_reports_when_nothing_is_new(ana: Person) -> None:
    await ana.ask(WEB)

    assert "Nothing new in *Web Shop* since this digest was set up, so I didn't post." in text_of(
        await ana.ask("/digest now")
    )


async def test_resume_in_blocked_channel_explains_how_to_fix_it(office: Office, ana: Person) -> None:
    await ana.ask(WEB)
    office.workspace.state.kick("C0GENERAL01", office.workspace.state.app.bot_user_id)
    await office.bot.store.digests.stop(ANA, [1], Pause.CHANNEL)
    listed = await ana.ask("/digest")

    assert "Type `/invite @Issue Bot`" in text_of(await ana.after(ana.press(listed, "Resume")))
    assert (await stored(office)).paused is Pause.CHANNEL


# Permissions


async def test_unlinked_user_links_and_the_command_goes_on(office: Office, ana: Person, ben: Person) -> None:
    await ana.ask(WEB)
    listed = await ben.ask("/digest")

    await ben.press(listed, "Pause")
    form = await ben.form("Link account")
    assert (await stored(office)).paused is None
    now = await ben.after(ben.submit(form, {"API key": KEYS["ben"]}))

    assert "is paused" in text_of(now)
    assert (await stored(office)).paused is Pause.PERSON


async def test_users_without_access_are_refused(office: Office, ana: Person, linked_ben: Person) -> None:
    await ana.ask(HIDDEN)
    before = await stored(office)

    for button in ("Send now", "Pause", "Take ownership", "Remove"):
        answer = await linked_ben.after(linked_ben.press(await linked_ben.ask("/digest"), button))
        assert "You can't see Security in Tracker. Ask Ana Ruiz, who owns digest 1." in text_of(answer)
    await linked_ben.command("/digest change 1")
    assert "Ask Ana Ruiz" in text_of(await linked_ben.form("That didn't work"))

    assert await stored(office) == before


async def test_users_with_access_can_take_over(office: Office, ana: Person, linked_ben: Person) -> None:
    await ana.ask(WEB)
    listed = await linked_ben.ask("/digest")
    paused = await linked_ben.after(linked_ben.press(listed, "Pause"))
    assert (await stored(office)).paused is Pause.PERSON
    assert f"<@{linked_ben.user_id}> paused your *Web Shop* digest" in text_of((await until(ana.direct))[-1])

    listed = paused
    _, button = button_saying(listed["blocks"], "Take ownership")
    assert "Ana Ruiz" in button["confirm"]["text"]["text"]
    taken = await linked_ben.after(linked_ben.press(listed, "Take ownership"))

    await office.idle()
    told = (await ana.direct())[-1]
    assert f"<@{linked_ben.user_id}> took ownership of your *Web Shop* digest" in text_of(told)
    assert "Digest 1 (Web Shop) is yours now." in text_of(taken)
    assert "by Ben Okafor" in text_of(taken)
    digest = await stored(office)
    assert digest.owner == Owner(None, TEAM, linked_ben.user_id)
    assert digest.paused is None


async def test_only_owners_act_in_other_channels(office: Office, ana: Person, linked_ben: Person) -> None:
    await ana.ask(WEB)
    linked_ben.channel = ana.channel = "mobile"

    assert "There's no digest 1 here" in text_of(await linked_ben.ask("/digest remove 1"))
    assert (await stored(office)).paused is None
    assert "is paused" in text_of(await ana.ask("/digest pause 1"))


async def test_owner_with_an_invalid_key_is_named(office: Office, ana: Person, linked_ben: Person) -> None:
    await ana.ask(WEB)
    office.tracker.data.users[1].api_key = "f" * 40

    answer = await linked_ben.after(linked_ben.press(await linked_ben.ask("/digest now 1"), "Send now"))

    assert (
        "Ana Ruiz, who owns this digest, can't see Web Shop anymore. To take ownership: `/digest take over 1`"
        in text_of(answer)
    )


# Other places


async def test_home_tab_lists_own_digests_with_buttons(office: Office, ana: Person) -> None:
    await ana.ask(WEB)
    await ana.open_home()
    home = await ana.home_saying("My digests")
    assert f"*1 · Web Shop* in <#C0GENERAL01> · {EVERY_DAY} (Europe/Madrid)\nNext: <!date^" in text_of(home)
    await ana.press_at_home("Pause")
    await ana.home_saying("Paused")
    assert (await stored(office)).paused is Pause.PERSON
    await ana.press_at_home("Resume")
    await ana.home_saying("Next: <!date^")


async def test_unlinking_reports_stopped_digests(ana: Person) -> None:
    await ana.ask(WEB)
    await ana.ask("/digest add mobile hourly")

    await ana.command("/tracker unlink")
    await ana.sees(lambda m: "Your 2 digests are paused. Link again to resume" in text_of(m))


async def test_help_examples_work_as_typed(office: Office, ana: Person) -> None:
    said = text_of(await ana.ask("/digest help"))

    typed = next(line for line in said.split("`") if line.startswith("/digest add webshop weekly"))
    await ana.ask(typed)
    assert (await stored(office)).plan.schedule == "weekly mon,thu 09:30"


async def test_user_cannot_add_digest_to_a_channel_they_arent_in(office: Office, linked_ben: Person) -> None:
    office.workspace.state.kick("C0MOBILE001", linked_ben.user_id)
    await linked_ben.command("/digest add")
    form = await linked_ben.form("New digest")
    block = next(b for b in form["blocks"] if b.get("block_id") == "channel")
    block["element"]["initial_conversation"] = "C0MOBILE001"  # a value that the page didn't offer
    await linked_ben.submit(form, {"Project": "Web Shop"})

    assert "You're not in that channel" in (await linked_ben.errors())["channel"]
    assert await office.bot.store.digests.in_channel(Channel(TEAM, "C0MOBILE001")) == ()


async def test_a_pause_with_an_end_asks_first(ana: Person) -> None:
    await ana.ask(WEB)
    asked = await ana.ask("/digest pause until monday")
    assert "A pause lasts until someone resumes the digest, so I didn't pause it." in text_of(asked)
    assert "Paused" not in text_of(await ana.ask("/digest"))

    assert "is paused" in text_of(await ana.after(ana.press(asked, "Pause digest")))
