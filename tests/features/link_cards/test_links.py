"""Links to issues in conversations."""

import pytest

from tests.features.mentions.talking import deliver
from tests.support.digesting import ANA as OWNER
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, text_of


async def wait_for_unfurl(person: Person, message: JSON) -> JSON:
    return await person.sees(lambda m: m["ts"] == message["ts"] and m["unfurls"])


async def unfurled(office: Office, person: Person, text: str) -> list[str]:
    """Posts a message; returns the links that have unfurled below it once the bot is idle."""
    message = await person.say(text)
    await office.idle()
    post = next(m for m in await person.messages() if m["ts"] == message["ts"])
    return [card["url"] for card in post["unfurls"]]


async def test_unfurls_an_issue_link_for_everyone(office: Office, ana: Person, ben: Person) -> None:
    issue = office.public_issue()
    issue.subject = "Vouchers <!channel> & co"

    message = await ana.say(f"Look at {office.link_to(issue)}#note-2 please")

    card = (await wait_for_unfurl(ben, message))["unfurls"][0]
    assert card["url"] == f"{office.link_to(issue)}#note-2"
    assert f"|#{issue.id} Vouchers &lt;!channel&gt; &amp; co>" in text_of(card)
    assert "Web Shop" in text_of(card)


async def test_unfurls_a_link_once_per_half_hour_and_channel(office: Office, ana: Person) -> None:
    url = office.link_to(office.public_issue())
    assert await unfurled(office, ana, url) == [url]
    assert await unfurled(office, ana, f"again: {url}") == []

    ana.channel = "webshop"
    assert await unfurled(office, ana, url) == [url]


async def test_a_card_is_refreshed_when_slack_asks_again(office: Office, ana: Person) -> None:
    issue = office.public_issue()
    about: JSON = {"user": ana.user_id, "links": [{"url": office.link_to(issue)}]}
    first = await wait_for_unfurl(ana, await ana.say(office.link_to(issue)))
    other = await ana.say(office.link_to(issue))
    issue.subject = "Renamed"

    for message in (first, other):
        about |= {"channel": message["channel"], "message_ts": message["ts"]}
        await deliver(office, "link_shared", **about)

    refreshed, repeated = (await ana.messages())[-2:]
    assert "Renamed" in text_of(refreshed["unfurls"][0])
    assert not repeated["unfurls"]


async def test_unfurls_the_first_three_links_in_their_order(office: Office, ana: Person) -> None:
    urls = [office.link_to(office.public_issue(nth)) for nth in (1, 0, 2, 3, 4)]

    assert await unfurled(office, ana, " ".join(urls)) == urls[:3]


@pytest.mark.parametrize("what", ["private issue", "meant to be private", "private project", "unseen"])
async def test_hidden_links_do_not_unfurl(office: Office, ana: Person, linked_ben: Person, what: str) -> None:
    issue, public = office.public_issue(), office.link_to(office.public_issue(1))
    if what == "private issue":
        issue.is_private = True
    elif what == "meant to be private":
        await office.bot.store.created_issues.put(OWNER, issue.id, issue.subject, privacy_refused=True)
    else:
        issue = next(i for i in office.tracker.data.issues.values() if i.project_id == 4)
    poster = linked_ben if what == "unseen" else ana

    assert await unfurled(office, poster, f"{office.link_to(issue)} {public}") == [public]


async def test_unfurls_for_users_where_no_outsiders_read(office: Office, ana: Person, ben: Person) -> None:
    url = office.link_to(office.public_issue())
    assert await unfurled(office, ben, url) == []
    ana.channel = "partners"
    assert await unfurled(office, ana, url) == []
    answer = await ana.say("The link is on its way")
    about: JSON = {"user": ana.user_id, "channel": answer["channel"], "message_ts": answer["ts"]}
    await deliver(office, "link_shared", links=[{"url": url}], **about)  # doesn't tell that outsiders read it
    assert not [m for m in await ana.messages() if m["unfurls"]]

    ana.channel = "general"
    assert await unfurled(office, ana, url) == [url]
    office.tracker.data.users[1].status = 3  # the key is refused, and nobody is told
    assert await unfurled(office, ana, office.link_to(office.public_issue(1))) == []
    assert not [m for m in await ana.messages() if m["ephemeral"]]


async def test_unfurls_a_plain_card_without_work_objects(office: Office, ana: Person) -> None:
    office.workspace.state.work_objects = False

    message = await wait_for_unfurl(ana, await ana.say(office.link_to(office.public_issue())))

    assert not message["unfurls"][0]["has_details"]
    assert text_of(message["unfurls"][0])
