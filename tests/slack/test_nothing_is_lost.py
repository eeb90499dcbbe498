"""What a user typed or did survives slow services, closed forms, revoked keys and hasty clicks."""

from bot.sandbox.people import PEOPLE
from bot.store.owner import Owner
from tests.support.office import TEAM, Office
from tests.support.person import Person
from tests.support.reading import text_of, until, values_of

KEY = next(person.api_key for person in PEOPLE if person.login == "ben")

UNSEARCHABLE = ("²", "|", "0", "9" * 30)


def revoke_key(office: Office, login: str) -> None:
    user = next(user for user in office.tracker.data.users.values() if user.login == login)
    user.api_key = "f" * 40


async def test_a_wrong_key_keeps_the_link_offer(ben: Person) -> None:
    await ben.command("/issue new Very important project:webshop")
    offer = await ben.after(ben.close(await ben.form("Link account")))
    await ben.press(offer, "Link account")
    form = await ben.form("Link account")

    await ben.submit(form, {"API key": "0" * 40})
    await ben.errors()
    await ben.close(form)

    assert any("Very important" in text_of(m) for m in await ben.messages())


async def test_a_resumed_command_that_fails_is_quoted(ben: Person) -> None:
    await ben.command("/issue new Very important project:webshop priority:nonsense")

    await ben.submit(await ben.form("Link account"), {"API key": KEY})

    said = text_of(await ben.form("That didn't work"))
    assert "No priority called “nonsense”" in said
    assert "/issue new Very important project:webshop priority:nonsense" in said


async def test_a_form_submitted_before_linking_returns_after_linking(office: Office, ana: Person) -> None:
    await ana.command("/issue new project:webshop")
    form = await ana.with_more_fields(await ana.form("New issue"))
    await office.bot.store.links.delete(Owner(None, TEAM, ana.user_id))
    await ana.submit(form, {"Subject": "Typed with care", "Due date": "2030-01-02"})
    key = next(person.api_key for person in PEOPLE if person.login == "ana")

    await ana.submit(await ana.form("Link account"), {"API key": key})

    again = values_of(await ana.form("New issue"))
    assert (again["Subject"], again["Due date"]) == ("Typed with care", "2030-01-02")


async def test_a_revoked_key_is_reported_when_the_form_is_submitted(office: Office, ana: Person) -> None:
    await ana.command("/issue new project:webshop")
    form = await ana.form("New issue")
    revoke_key(office, "ana")

    assert (await ana.suggest(form, "Project", "web"))["options"] == []
    await ana.submit(form, {"Subject": "Typed with care"})

    assert "refused your API key" in text_of(await ana.form("Link account"))


async def test_choices_of_another_project_are_never_sent(office: Office, ana: Person) -> None:
    await ana.command("/issue new project:webshop")
    form = await ana.form("New issue")
    count = len(office.tracker.data.issues)

    await ana.submit(form, {"Subject": "Hasty", "Category": "Search", "Project": "Infrastructure"})

    async def warned() -> bool:
        return "changed with the project" in text_of(await ana.form("New issue"))

    await until(warned)
    assert len(office.tracker.data.issues) == count
    await ana.after(ana.submit(await ana.form("New issue"), {}))
    assert len(office.tracker.data.issues) == count + 1


async def test_an_issue_that_is_refused_privacy_is_not_announced(
    office: Office, ana: Person, ben: Person
) -> None:
    await office.link(ben.user_id, KEY)

    said = await ben.ask("/issue new Secret salaries project:webshop private:yes")

    assert said["ephemeral"]
    assert "Everyone can see" in text_of(said)
    await office.idle()
    assert not any("Secret salaries" in text_of(message) for message in await ana.messages())


async def test_unsearchable_fields_offer_no_options(ana: Person) -> None:
    await ana.command("/issue new project:webshop")
    form = await ana.with_more_fields(await ana.form("New issue"))

    offered = {typed: await ana.suggest(form, "Parent issue", typed) for typed in ("1", *UNSEARCHABLE)}

    assert {typed for typed, found in offered.items() if found["options"]} == {"1"}


async def test_a_saved_command_resumes_once(office: Office, ana: Person) -> None:
    state = office.workspace.state
    state.trigger_seconds, usual = 0, state.trigger_seconds
    offer = await ana.ask("/issue new project:webshop due:2030-01-02")
    state.trigger_seconds = usual
    state.violations.clear()

    for count in (1, 0):
        await ana.press(offer, "Open form")
        await office.idle()

        views = (await ana.state())["views"]
        assert len(views) == count
        for view in views:
            await ana.close(view)
