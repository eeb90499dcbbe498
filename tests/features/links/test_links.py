"""Links to issues in conversations."""

import pytest

from bot.sandbox.tracker.data import Issue
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import JSON, text_of, until


def public_issue(office: Office, nth: int = 0) -> Issue:
    issues = [i for i in office.tracker.data.issues.values() if i.project_id == 1 and not i.is_private]
    return issues[nth]


def link(office: Office, number: int, more: str = "") -> str:
    return f"{office.tracker.url.rstrip('/')}/issues/{number}{more}"


async def wait_for_unfurl(person: Person, message: JSON) -> JSON:
    async def poll() -> JSON | None:
        found = next(m for m in await person.messages() if m["ts"] == message["ts"])
        return found if found["unfurls"] else None

    return await until(poll)


async def unfurled(office: Office, person: Person, text: str) -> list[str]:
    """Posts a message; returns the links that have unfurled below it once the bot is idle."""
    message = await person.say(text)
    await office.idle()
    found = next(m for m in await person.messages() if m["ts"] == message["ts"])
    return [card["url"] for card in found["unfurls"]]


async def test_unfurls_an_issue_link_for_everyone(office: Office, ana: Person, ben: Person) -> None:
    issue = public_issue(office)
    issue.subject = "Vouchers <!channel> & co"

    message = await ana.say(f"Look at {link(office, issue.id, '#note-2')} please")

    card = (await wait_for_unfurl(ben, message))["unfurls"][0]
    assert card["url"] == link(office, issue.id, "#note-2")
    assert f"|#{issue.id} Vouchers &lt;!channel&gt; &amp; co>" in text_of(card)
    assert "Web Shop" in text_of(card)


async def test_unfurls_a_link_once_per_half_hour_and_channel(office: Office, ana: Person) -> None:
    number = public_issue(office).id
    await wait_for_unfurl(ana, await ana.say(link(office, number)))

    assert await unfurled(office, ana, f"again: {link(office, number)}") == []

    ana.channel = "webshop"
    await wait_for_unfurl(ana, await ana.say(link(office, number)))


async def test_unfurls_the_first_three_links_in_their_order(office: Office, ana: Person) -> None:
    numbers = [public_issue(office, nth).id for nth in (1, 0, 2, 3, 4)]

    message = await ana.say(" ".join(link(office, number) for number in numbers))

    cards = (await wait_for_unfurl(ana, message))["unfurls"]
    assert [card["url"] for card in cards] == [link(office, number) for number in numbers[:3]]


@pytest.mark.parametrize("what", ["private issue", "private project", "unseen"])
async def test_never_unfurls_issues_the_channel_may_not_see(
    office: Office, ana: Person, linked_ben: Person, what: str
) -> None:
    issue, public = public_issue(office), link(office, public_issue(office, 1).id)
    if what == "private issue":
        issue.is_private = True
    else:
        issue = next(i for i in office.tracker.data.issues.values() if i.project_id == 4)
    poster = linked_ben if what == "unseen" else ana

    assert await unfurled(office, poster, f"{link(office, issue.id)} {public}") == [public]


async def test_never_unfurls_where_outsiders_read(office: Office, ana: Person) -> None:
    url = link(office, public_issue(office).id)
    ana.channel = "partners"
    assert await unfurled(office, ana, url) == []

    ana.channel = "general"
    assert await unfurled(office, ana, url) == [url]


async def test_only_the_link_of_a_linked_user_unfurls(office: Office, ana: Person, ben: Person) -> None:
    number = public_issue(office).id
    assert await unfurled(office, ben, link(office, number)) == []

    await wait_for_unfurl(ana, await ana.say(link(office, number)))


async def details(person: Person, message: JSON) -> JSON:
    """Open the details of the message's first card and return what the user sees."""
    preview = message["unfurls"][0]
    assert preview["has_details"]
    await person._post("details", channel=message["channel"], ts=message["ts"], url=preview["url"])

    async def poll() -> JSON | None:
        found: JSON = (await person.state())["details"]
        return None if found["waiting"] else found

    return await until(poll)


async def test_shows_card_details_with_the_viewers_own_key(office: Office, ana: Person, ben: Person) -> None:
    issue = public_issue(office)
    message = await wait_for_unfurl(ana, await ana.say(link(office, issue.id)))

    seen = (await details(ana, message))["entity"]
    assert seen["external_ref"] == {"id": str(issue.id), "type": "issue"}
    assert seen["entity_payload"]["fields"]["created_by"]["value"]
    assert "Link your Tracker account" in str((await details(ben, message))["error"])
    await office.link(ben.user_id, KEYS["ben"])
    issue.is_private, issue.author_id, issue.assigned_to_id = True, 1, 1
    refused = (await details(ben, message))["error"]
    assert "you can't see it" in refused["custom_message"]
    seen = (await details(ana, message))["entity"]
    assert seen["entity_payload"]["custom_fields"][-1]["label"] == "Private"


async def test_card_details_show_the_description_as_plain_text(office: Office, ana: Person) -> None:
    issue = public_issue(office)
    issue.description = "## Steps\n\n**Pay** with `x*y*z` at [the till](https://x.y/?a=1&b=2), 2 * 3 <b>"
    message = await wait_for_unfurl(ana, await ana.say(link(office, issue.id)))

    seen = (await details(ana, message))["entity"]["entity_payload"]["fields"]["description"]["value"]

    assert seen == "Steps\n\nPay with x*y*z at the till (https://x.y/?a=1&b=2), 2 * 3 <b>"


async def test_unfurls_a_plain_card_without_work_objects(office: Office, ana: Person) -> None:
    office.workspace.state.work_objects = False

    message = await wait_for_unfurl(ana, await ana.say(link(office, public_issue(office).id)))

    assert not message["unfurls"][0]["has_details"]
    assert text_of(message["unfurls"][0])


async def test_a_refused_key_shows_no_card_and_tells_nobody(office: Office, ana: Person) -> None:
    office.tracker.data.users[1].status = 3

    assert await unfurled(office, ana, link(office, public_issue(office).id)) == []

    assert not [m for m in await ana.messages() if m["ephemeral"]]
