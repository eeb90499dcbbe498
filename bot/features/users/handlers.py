"""`/tracker user`: show, create and change accounts of the service."""

import json

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.errors import BotError, OutcomeUnknown
from bot.features.accounts.commands import EditUser, NewUser, ShowUser, UserRequest
from bot.features.issues.create_form import loading
from bot.features.users import views
from bot.features.users.users import Details, Made, Whose, details_of
from bot.service.conventions import FIRST_NAME_LENGTH, LOGIN_LENGTH
from bot.slack import forms, posting
from bot.slack.directory import Contact, contact
from bot.slack.grammar.requests import Me, SlackUser
from bot.slack.posting import Place
from bot.slack.submissions import Reply, metadata_of, once, refused, settle, text_in
from bot.slack.turn import Turn
from bot.store.owner import Owner

UNKNOWN = (
    "{service} broke off before it answered, so the account may have been created or not, and I can't look "
    "people up there. Look in its list of users: if the account is there, close this form, and whose it is "
    "links it with `/tracker link`; if not, send the form again."
)


async def command(turn: Turn, request: UserRequest) -> None:
    """`/tracker user …`."""
    match request:
        case ShowUser(who=who):
            shown = await turn.parts.users.show(turn.owner, whose(who, turn.owner))
            await turn.answer(views.user(shown, turn.style))
        case NewUser(user=mentioned):
            await open_new(turn, mentioned)
        case EditUser(who=who):
            await open_edit(turn, whose(who, turn.owner))


async def open_new(turn: Turn, mentioned: SlackUser | None) -> None:
    """The form for a new account, filled from the profile of the Slack user whom it is for."""
    await turn.open(loading("New account"))
    await turn.parts.users.administering(turn.owner)
    details, slack_user = Details(), None
    if mentioned is not None:
        known = await contact(turn.slack, mentioned.id, turn.owner)
        await turn.parts.users.unlinked(known.owner)
        details, slack_user = details_from(known), mentioned.id
    metadata = json.dumps({"for": slack_user, "place": turn.place.as_json()})
    await turn.show(views.new_form(details, slack_user, metadata))


async def submit_new(turn: Turn, ack: AsyncAck) -> None:
    """The form for a new account was submitted: create and link it, tell its owner, then say so."""
    view = turn.view
    metadata = metadata_of(view)
    turn = turn.at(Place.from_json(metadata.get("place")))
    slack_user = text_in(metadata, "for")
    whom = Owner(turn.owner.enterprise_id, turn.owner.team_id, slack_user) if slack_user else None
    details, by_mail = views.submitted(view), views.by_mail(view)
    made: list[Made] = []

    async def work() -> Reply:
        try:
            async with once(turn):
                made.append(await turn.parts.users.create(turn.owner, details, whom, by_mail=by_mail))
        except OutcomeUnknown:
            said = turn.worded(UNKNOWN.replace("{service}", turn.service))
            return Reply(view=forms.refilled(view, said), said=said)
        except BotError as error:
            return refused(turn, error)
        return Reply()

    await settle(turn, ack, work(), f"Creating the account in {turn.service}…")
    tracker = turn.parts.command("tracker")
    for done in made:
        told = False
        if slack_user:
            hello = views.welcome(done, turn.style, tracker, turn.owner.user_id, mailed=by_mail)
            told = await posting.to_person(turn.slack, slack_user, hello)
        await turn.answer(views.created(done, turn.style, tracker, slack_user, told=told))


async def open_edit(turn: Turn, wanted: Whose) -> None:
    """The form for changing an account, with what it holds now."""
    await turn.open(loading("Change account"))
    shown = await turn.parts.users.editable(turn.owner, wanted)
    metadata = json.dumps({"user": shown.id, "place": turn.place.as_json()})
    await turn.show(views.edit_form(shown, details_of(shown), turn.style, metadata))


async def submit_edit(turn: Turn, ack: AsyncAck) -> None:
    """The form for changing an account was submitted."""
    view = turn.view
    metadata = metadata_of(view)
    turn = turn.at(Place.from_json(metadata.get("place")))
    user_id, details = forms.number_in(metadata.get("user")), views.submitted(view)
    saved: list[Details] = []

    async def work() -> Reply:
        try:
            async with once(turn):
                await turn.parts.users.change(turn.owner, user_id, details)
        except BotError as error:
            return refused(turn, error)
        saved.append(details)
        return Reply()

    await settle(turn, ack, work(), f"Saving it in {turn.service}…")
    if saved:
        await turn.answer(views.changed(user_id, details, turn.style))


def whose(who: Me | SlackUser | int, asker: Owner) -> Whose:
    """A user as use cases take them."""
    match who:
        case Me():
            return "me"
        case SlackUser():
            return Owner(asker.enterprise_id, asker.team_id, who.id)
        case _:
            return who


def details_from(known: Contact) -> Details:
    """An account as a Slack user's profile suggests it; the login is the mail's name, or Slack's."""
    name = known.mail.partition("@")[0] or known.handle
    login = "".join(letter for letter in name if letter.isascii() and (letter.isalnum() or letter in "_.-"))
    return Details(
        known.firstname[:FIRST_NAME_LENGTH],
        known.lastname,
        login[:LOGIN_LENGTH].lower(),
        known.mail,
    )
