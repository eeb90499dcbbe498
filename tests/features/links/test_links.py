"""Links to issues in conversations."""

import asyncio

import pytest

from bot.sandbox.people import PEOPLE
from bot.sandbox.tracker.data import Issue
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until

BEN_KEY = next(p.api_key for p in PEOPLE if p.login == "ben")


def public(office: Office, nth: int = 0) -> Issue:
    issues = [i for i in office.tracker.data.issues.values() if i.project_id == 1 and not i.is_private]
    return issues[nth]


def link(office: Office, number: int, more: str = "") -> str:
    return f"{office.tracker.url.rstrip('/')}/issues/{number}{more}"


async def unfurled(person: Person, message: JSON) -> JSON:
    async def look() -> JSON | None:
        found = next(m for m in await person.messages() if m["ts"] == message["ts"])
        return found if found["unfurls"] else None

    return await until(look)


async def stays_a_link(office: Office, person: Person, message: JSON) -> None:
    """Nothing unfurls, once the bot is through with it."""
    await asyncio.sleep(0.3)
    await until(lambda: _idle(office))
    found = next(m for m in await person.messages() if m["ts"] == message["ts"])
    assert not found["unfurls"]


async def _idle(office: Office) -> bool:
    return not len(office.bot.in_flight)


async def test_an_issues_link_unfurls_to_a_card_for_all(office: Office, ana: Person, ben: Person) -> None:
    issue = public(office)
    issue.subject = "Vouchers <!channel> & co"

    message = await ana.say(f"Look at {link(office, issue.id, '#note-2')} please")

    card = (await unfurled(ben, message))["unfurls"][0]
    assert card["url"] == link(office, issue.id, "#note-2")
    assert f"|#{issue.id} Vouchers &lt;!channel&gt; &amp; co>" in text_of(card)
    assert "Web Shop" in text_of(card)


async def test_a_link_is_not_unfurled_again_within_half_an_hour(office: Office, ana: Person) -> None:
    number = public(office).id
    await unfurled(ana, await ana.say(link(office, number)))

    await stays_a_link(office, ana, await ana.say(f"again: {link(office, number)}"))

    ana.channel = "webshop"
    await unfurled(ana, await ana.say(link(office, number)))


async def test_only_the_first_few_links_of_a_message_unfurl(office: Office, ana: Person) -> None:
    numbers = [public(office, nth).id for nth in range(5)]

    message = await ana.say(" ".join(link(office, number) for number in numbers))

    assert len((await unfurled(ana, message))["unfurls"]) == 3


@pytest.mark.parametrize("what", ["private issue", "private project", "unlinked", "shared channel", "unseen"])
async def test_what_others_might_not_see_stays_a_link(
    office: Office, ana: Person, ben: Person, what: str
) -> None:
    issue, poster = public(office), ana
    if what == "private issue":
        issue.is_private = True
    elif what == "private project":
        issue = next(i for i in office.tracker.data.issues.values() if i.project_id == 4)
    elif what == "shared channel":
        ana.channel = "partners"
    elif what == "unlinked":
        poster = ben
    else:
        poster = ben
        await office.link(ben.user_id, BEN_KEY)
        issue = next(i for i in office.tracker.data.issues.values() if i.project_id == 4)

    await stays_a_link(office, poster, await poster.say(link(office, issue.id)))


async def test_what_one_could_not_show_another_still_can(office: Office, ana: Person, ben: Person) -> None:
    number = public(office).id
    await stays_a_link(office, ben, await ben.say(link(office, number)))

    await unfurled(ana, await ana.say(link(office, number)))


async def details(person: Person, message: JSON) -> JSON:
    """What the person sees when they open the details of the message's first card."""
    preview = message["unfurls"][0]
    assert preview["has_details"]
    await person._post("details", channel=message["channel"], ts=message["ts"], url=preview["url"])

    async def look() -> JSON | None:
        found: JSON = (await person.state())["details"]
        return None if found["waiting"] else found

    return await until(look)


async def test_a_cards_details_are_what_the_viewers_own_key_shows(
    office: Office, ana: Person, ben: Person
) -> None:
    issue = public(office)
    message = await unfurled(ana, await ana.say(link(office, issue.id)))

    seen = (await details(ana, message))["entity"]
    assert seen["external_ref"] == {"id": str(issue.id), "type": "issue"}
    assert seen["entity_payload"]["fields"]["created_by"]["value"]
    assert "Link your Tracker account" in str((await details(ben, message))["error"])
    await office.link(ben.user_id, BEN_KEY)
    issue.is_private, issue.author_id, issue.assigned_to_id = True, 1, 1
    refused = (await details(ben, message))["error"]
    assert "you can't see it" in refused["custom_message"]
    seen = (await details(ana, message))["entity"]
    assert seen["entity_payload"]["custom_fields"][-1]["label"] == "Private"


async def test_a_cards_details_show_the_description_as_plain_text(office: Office, ana: Person) -> None:
    issue = public(office)
    issue.description = "## Steps\n\n**Pay** with `x*y*z` at [the till](https://x.y/?a=1&b=2), 2 * 3 <b>"
    message = await unfurled(ana, await ana.say(link(office, issue.id)))

    seen = (await details(ana, message))["entity"]["entity_payload"]["fields"]["description"]["value"]

    assert seen == "Steps\n\nPay with x*y*z at the till (https://x.y/?a=1&b=2), 2 * 3 <b>"


async def test_cards_come_in_the_order_of_the_links(office: Office, ana: Person) -> None:
    numbers = [public(office, nth).id for nth in (1, 0, 2)]

    message = await ana.say(" ".join(link(office, number) for number in numbers))

    cards = (await unfurled(ana, message))["unfurls"]
    assert [card["url"] for card in cards] == [link(office, number) for number in numbers]


async def test_a_workspace_without_work_objects_has_the_card_alone(office: Office, ana: Person) -> None:
    office.workspace.state.work_objects = False

    message = await unfurled(ana, await ana.say(link(office, public(office).id)))

    assert not message["unfurls"][0]["has_details"]
    assert text_of(message["unfurls"][0])


async def test_a_key_that_died_is_said_once_and_privately(office: Office, ana: Person, ben: Person) -> None:
    office.tracker.data.users[1].status = 3
    number = public(office).id

    said = await ana.after(ana.say(link(office, number)))
    while not said["ephemeral"]:
        said = await ana.after(asyncio.sleep(0))

    assert "no longer accepts your API key" in text_of(said)
    await stays_a_link(office, ana, await ana.say(link(office, number)))
    assert len([m for m in await ana.messages() if m["ephemeral"]]) == 1
    assert not [m for m in await ben.messages() if m["ephemeral"]]
