"""`/digest`: managing digests, and who may."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.store.digests import Pause
from bot.store.owner import Owner
from tests.support.digesting import ANA, AT, HIDDEN, WEB, buttons, stored
from tests.support.office import TEAM, Office
from tests.support.people import KEYS
from tests.support.person import DM, Person
from tests.support.reading import JSON, button_saying, text_of, until


async def test_add_confirms_the_new_digests_settings(office: Office, ana: Person) -> None:
    answer = await ana.ask(f"{WEB} tracker:bug,feature priority:high group:priority empty:yes")

    said = text_of(answer)
    assert answer["ephemeral"]
    assert f"Digest 1 is set: *Web Shop*, daily {AT}, Europe/Madrid, in <#C0GENERAL01>" in said
    assert "tracker Bug or Feature · priority High · grouped by priority · also when nothing is new" in said
    assert said.count(f" {AT}, ") == 3
    assert f" {AT} (Europe/Madrid)" in said
    assert "It runs with your key, so it holds what you may see; private issues are left out." in said
    assert "not public" not in said
    digest = await stored(office)
    assert digest.owner == Owner(None, TEAM, ana.user_id)
    assert digest.next_due is not None
    assert f"{digest.next_due.astimezone(ZoneInfo('Europe/Madrid')):%H:%M}" == AT


async def test_channel_members_see_its_digests_even_unlinked(ana: Person, ben: Person) -> None:
    await ana.ask(f"{WEB} tz:UTC category:search")
    await ana.ask("/digest add mobile hourly")

    shown = await ben.ask("/digest")

    assert shown["ephemeral"]
    said = text_of(shown)
    assert "*2 digests here*" in said
    assert f"*1 · Web Shop* · daily {AT}, UTC\nby Ana Ruiz · category Search\nNext <!date^" in said
    assert "*2 · Mobile App* · hourly, Europe/Madrid\nby Ana Ruiz\nNext <!date^" in said
    row = ["Post now", "Pause", "Change", "Take over", "Remove"]
    assert buttons(shown) == [*row, *row, "Add a digest"]
    assert "Take over" not in buttons(await ana.ask("/digest"))
    ben.channel = "mobile"
    assert "There is no digest here yet" in text_of(await ben.ask("/digest"))


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
            covered_to=None,
            covered=(),
            history=(),
            now=datetime.now(UTC),
        )

    shown = await ana.ask("/digest")

    assert buttons(shown).count("Pause") == 10
    assert "8 more, by their numbers: 11, 12, 13, 14, 15, 16, 17, 18" in text_of(shown)


async def test_private_project_gets_a_warning_and_a_remove_button(office: Office, ana: Person) -> None:
    typed = (
        f"{HIDDEN} tracker:bug,task priority:high category:findings group:category empty:yes tz:Asia/Tokyo"
    )
    answer = await ana.ask(typed)
    assert "Security is not public: everybody in <#C0GENERAL01> will read its new issues" in text_of(answer)
    before = (await stored(office)).plan

    gone = await ana.after(ana.press(answer, "Remove"))

    assert gone["ts"] == answer["ts"]
    assert "There is no digest here yet" in text_of(gone)
    add_again = text_of(gone).split("To add it again later: `")[1].split("`")[0]
    await ana.ask(add_again)
    assert (await stored(office, 2)).plan == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("add webshop daily 25:00", "After `daily` comes a time"),
        ("add nope daily 9", "I know of no project “nope” here"),
        ("add webshop daily 9 tracker:nope", "I know of no tracker “nope” here"),
        ("add webshop daily 9 tz:Europe/Nowhere", "There is no time zone of that name"),
        ("add old-shop daily 9", "Old Shop is closed"),
        ("pause", "This channel has no digest"),
        ("pause 7", "There is no digest 7 here"),
        ("snooze", "`/digest help`"),
    ],
)
async def test_invalid_add_error_shows_what_to_type(ana: Person, text: str, said: str) -> None:
    answer = await ana.ask(f"/digest {text}")

    assert said in text_of(answer)
    assert answer["ephemeral"]


async def test_duplicate_is_refused_and_ambiguous_command_asks_which(ana: Person) -> None:
    await ana.ask(WEB)
    assert "has that digest already: it is number 1" in text_of(await ana.ask(WEB))
    await ana.ask("/digest add mobile hourly")

    assert "Add its number: 1 (Web Shop), 2 (Mobile App)" in text_of(await ana.ask("/digest pause"))


@pytest.mark.parametrize(
    ("channel", "said"),
    [
        ("leadership", "invite me there first with `/invite`"),
        ("partners", "shared with people outside your company"),
    ],
)
async def test_channel_that_rejects_digests_gets_none(chris: Person, channel: str, said: str) -> None:
    chris.channel = channel

    assert said in text_of(await chris.ask(WEB))
    assert "There is no digest here yet" in text_of(await chris.ask("/digest"))


async def test_direct_message_with_the_bot_may_have_a_digest(office: Office, ana: Person) -> None:
    own = office.workspace.state.im(ana.user_id).id

    answer = await ana.after(ana._post("command", channel=own, text=HIDDEN), DM)

    assert "in our conversation" in text_of(answer)
    assert "not public" not in text_of(answer)
    assert (await stored(office)).channel_id == own


# Pausing, resuming, running now


async def test_pause_and_resume_buttons_update_the_list(office: Office, ana: Person) -> None:
    await ana.ask(WEB)
    listed = await ana.ask("/digest")

    paused = await ana.after(ana.press(listed, "Pause"))
    assert paused["ts"] == listed["ts"]
    assert "Digest 1 (Web Shop) is paused: `/digest resume 1` makes it go on." in text_of(paused)
    assert "\nPaused; *Resume* makes it go on." in text_of(paused)
    assert "Post now" not in buttons(paused)
    assert (await stored(office)).next_due is None

    resumed = await ana.after(ana.press(paused, "Resume"))
    assert "What was opened meanwhile is in the next one." in text_of(resumed)
    assert "Pause" in buttons(resumed)


async def test_commands_answer_with_one_sentence(ana: Person) -> None:
    await ana.ask(WEB)

    assert "is paused" in text_of(await ana.ask("/digest pause 1"))
    assert "`/digest resume 1` first" in text_of(await ana.ask("/digest now"))
    assert "goes on: next " in text_of(await ana.ask("/digest resume #1"))
    assert "To add it again later" in text_of(await ana.ask("/digest remove 1"))


@pytest.mark.parametrize(
    ("why", "said"),
    [
        (Pause.KEY, "Ana Ruiz's key no longer works"),
        (Pause.PROJECT, "Ana Ruiz doesn't see Web Shop any more"),
        (Pause.CLOSED, "Web Shop is closed"),
        (Pause.CHANNEL, "its channel is archived or I'm not in it any more: invite me with `/invite`"),
        (Pause.OUTSIDERS, "its channel is shared with people outside your company"),
        (Pause.REFUSED, "Slack didn't take its message"),
    ],
)
async def test_list_shows_why_a_digest_is_paused(
    office: Office, ana: Person, ben: Person, why: Pause, said: str
) -> None:
    await ana.ask(WEB)
    await office.bot.store.digests.stop(ANA, [1], why)

    assert f"\nStopped, as {said}" in text_of(await ben.ask("/digest"))


async def test_now_reports_when_nothing_is_new(ana: Person) -> None:
    await ana.ask(WEB)

    assert "Nothing new in *Web Shop* since <!date^" in text_of(await ana.ask("/digest now"))


async def test_now_posts_new_issues_once(ana: Person, ben: Person) -> None:
    await ana.ask(WEB)
    await ana.ask("/issue new The newest one project:webshop")
    listed = await ana.ask("/digest")

    await ana.press(listed, "Post now")

    async def told() -> JSON | None:
        now = next(m for m in await ana.messages() if m["ts"] == listed["ts"])
        return now if "is posted in <#C0GENERAL01>" in text_of(now) else None

    again = await until(told)
    assert "was asked for a moment ago" in text_of(await ana.after(ana.press(again, "Post now")))
    assert len([m for m in await ben.messages() if "1 new issue" in text_of(m)]) == 1


async def test_resume_in_blocked_channel_explains_how_to_fix_it(office: Office, ana: Person) -> None:
    await ana.ask(WEB)
    office.workspace.state.kick("C0GENERAL01", office.workspace.state.app.bot_user_id)
    await office.bot.store.digests.stop(ANA, [1], Pause.CHANNEL)
    listed = await ana.ask("/digest")

    assert "invite me there first" in text_of(await ana.after(ana.press(listed, "Resume")))
    assert (await stored(office)).paused is Pause.CHANNEL


# Permissions


async def test_unlinked_user_links_first_and_the_command_continues(
    office: Office, ana: Person, ben: Person
) -> None:
    await ana.ask(WEB)
    listed = await ben.ask("/digest")

    await ben.press(listed, "Pause")
    form = await ben.form("Link Tracker")
    assert (await stored(office)).paused is None
    now = await ben.after(ben.submit(form, {"API key": KEYS["ben"]}))

    assert "is paused" in text_of(now)
    assert (await stored(office)).paused is Pause.PERSON


@pytest.mark.parametrize("button", ["Post now", "Pause", "Take over", "Remove"])
async def test_user_without_project_access_cannot_act_on_digest(
    office: Office, ana: Person, linked_ben: Person, button: str
) -> None:
    await ana.ask(HIDDEN)
    before = await stored(office)

    answer = await linked_ben.after(linked_ben.press(await linked_ben.ask("/digest"), button))

    assert "You don't see Security in Tracker: ask Ana Ruiz, whose digest 1 is." in text_of(answer)
    assert await stored(office) == before


async def test_user_without_project_access_cannot_change_digest(ana: Person, linked_ben: Person) -> None:
    await ana.ask(HIDDEN)
    await linked_ben.command("/digest change 1")

    assert "ask Ana Ruiz" in text_of(await linked_ben.form("That didn't work"))


async def test_user_with_project_access_can_pause_and_take_over(
    office: Office, ana: Person, linked_ben: Person
) -> None:
    await ana.ask(WEB)
    await linked_ben.ask("/digest pause 1")
    assert (await stored(office)).paused is Pause.PERSON

    listed = await linked_ben.ask("/digest")
    _, button = button_saying(listed["blocks"], "Take over")
    assert "Ana Ruiz" in button["confirm"]["text"]["text"]
    taken = await linked_ben.after(linked_ben.press(listed, "Take over"))

    told = (await until(ana.direct))[-1]
    assert f"<@{linked_ben.user_id}> took over your digest" in text_of(told)
    assert "Digest 1 (Web Shop) is yours and runs with your key" in text_of(taken)
    assert "by Ben Okafor" in text_of(taken)
    digest = await stored(office)
    assert digest.owner == Owner(None, TEAM, linked_ben.user_id)
    assert digest.paused is None


async def test_only_the_owner_can_act_from_another_channel(
    office: Office, ana: Person, linked_ben: Person
) -> None:
    await ana.ask(WEB)
    linked_ben.channel = ana.channel = "mobile"
    await linked_ben.ask("/digest add mobile hourly")
    listed = await linked_ben.ask("/digest")
    block, element = button_saying(listed["blocks"], "Pause")
    shown = office.workspace.state.find(listed["channel"], listed["ts"])
    assert shown is not None
    part = next(
        p for b in shown.blocks for p in b.get("elements", []) if p.get("action_id") == "digest.pause"
    )
    part["value"] = "1"

    source = {"message": {"channel": listed["channel"], "ts": listed["ts"]}}
    answer = await linked_ben.after(linked_ben._act(source, block, element, value="1"))

    assert "There is no digest 1 here" in text_of(answer)
    assert "There is no digest 1 here" in text_of(await linked_ben.ask("/digest remove 1"))
    assert (await stored(office)).paused is None
    assert "is paused" in text_of(await ana.ask("/digest pause 1"))


async def test_owner_with_an_invalid_key_is_named(office: Office, ana: Person, linked_ben: Person) -> None:
    await ana.ask(WEB)
    office.tracker.data.users[1].api_key = "f" * 40

    answer = await linked_ben.ask("/digest now 1")

    assert "the key of Ana Ruiz, which no longer works: `/digest take over 1`" in text_of(answer)


async def test_private_list_never_replaces_a_public_message(
    office: Office, ana: Person, linked_ben: Person
) -> None:
    await ana.ask(WEB)
    await ana.ask("/tracker unlink")
    await office.bot.store.digests.stop(ANA, [1], Pause.KEY)
    await office.bot.digests.run_due(datetime.now(UTC))
    await office.bot.digests.idle()
    public = next(m for m in await linked_ben.messages() if "Take it over" in str(m["blocks"]))

    answer = await linked_ben.after(linked_ben.press(public, "Take it over"))

    assert answer["ephemeral"]
    assert "is yours" in text_of(answer)
    assert public in await linked_ben.messages()


# Other places


async def test_home_tab_lists_own_digests_with_buttons(office: Office, ana: Person) -> None:
    await ana.ask(WEB)
    await ana.open_home()

    async def saying(text: str) -> JSON:
        async def look() -> JSON | None:
            home = await ana.home()
            return home if home and text in text_of(home) else None

        return await until(look)

    home = await saying("My digests")
    assert f"*1 · Web Shop* in <#C0GENERAL01> · daily {AT}, Europe/Madrid\nNext <!date^" in text_of(home)
    await ana.press_at_home("Pause")
    await saying("Paused; *Resume* makes it go on.")
    assert (await stored(office)).paused is Pause.PERSON
    await ana.press_at_home("Resume")
    await saying("Next <!date^")


async def test_unlinking_reports_stopped_digests(ana: Person) -> None:
    await ana.ask(WEB)
    await ana.ask("/digest add mobile hourly")

    assert "Your 2 digests stop: link again and resume" in text_of(await ana.ask("/tracker unlink"))


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
    await linked_ben.submit(form, {"Project": "Web Shop", "Schedule": 'cron "0 9 * * 1-5"'})

    assert "You aren't in that channel" in (await linked_ben.errors())["channel"]
    assert await office.bot.store.digests.in_channel(TEAM, "C0MOBILE001") == ()


@pytest.mark.parametrize("value", ["abc", "", "-1", "9" * 30, "1;drop"])
async def test_forged_button_value_is_refused_with_an_error(office: Office, ana: Person, value: str) -> None:
    await ana.ask(WEB)
    listed = await ana.ask("/digest")
    shown = office.workspace.state.messages[listed["channel"]][-1]
    _, element = button_saying(shown.blocks, "Pause")
    element["value"] = value
    answer = await ana.after(ana.press(listed | {"blocks": shown.blocks}, "Pause"))

    assert "I can't tell what that was about" in text_of(answer)
    assert (await stored(office)).paused is None
