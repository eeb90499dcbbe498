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
from bot.slack.interaction import Place
from bot.slack.replies import Reply
from bot.slack.interaction import (
    ButtonPress,
    Event,
    FormClosed,
    FormSubmission,
    OptionsRequest,
    Shortcut,
    SlashCommand,
    Place,
)
from bot.slack.forms import FormResult, number_in
from bot.store.owner import Owner

UNKNOWN = (
    "{service} broke off before it answered, so the account may have been created or not, and I can't look "
    "people up there. Look in its list of users: if the account is there, close this form, and whose it is "
    "links it with `/tracker link`; if not, send the form again."
)


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


class UserHandlers:
    """TODO"""

    def __init__(self, users: TODO_users) -> None:
        self._users = users

    async def command(self, reply: Reply, request: UserRequest) -> None:
        """`/tracker user …`."""
        match request:
            case ShowUser(who=who):
                shown = await self._users.show(reply.owner, whose(who, reply.owner))
                await reply.privately(views.user(shown, reply.wording))
            case NewUser(user=mentioned):
                await self.open_new(reply, mentioned)
            case EditUser(who=who):
                await self.open_edit(reply, whose(who, reply.owner))

    async def open_new(self, reply: Reply, mentioned: SlackUser | None) -> None:
        """The form for a new account, filled from the profile of the Slack user whom it is for."""
        await reply.open(loading("New account"))
        await self._users.administering(reply.owner)
        details, slack_user = Details(), None
        if mentioned is not None:
            known = await contact(reply.slack, mentioned.id, reply.owner)
            await self._users.unlinked(known.owner)
            details, slack_user = details_from(known), mentioned.id
        metadata = json.dumps({"for": slack_user, "place": reply.place.as_json()})
        await reply.show(views.new_form(details, slack_user, metadata))

    async def submit_new(self, form: FormSubmission, reply: Reply) -> FormResult:
        """The form for a new account was submitted: create and link it, tell its owner, then say so."""
        view = form.view.json
        metadata = metadata_of(view)
        pass
        slack_user = text_in(metadata, "for")
        whom = Owner(reply.owner.enterprise_id, reply.owner.team_id, slack_user) if slack_user else None
        details, by_mail = views.submitted(view), views.by_mail(view)
        made: list[Made] = []

        async def work() -> Reply:
            try:
                async with once(reply):
                    made.append(await self._users.create(reply.owner, details, whom, by_mail=by_mail))
            except OutcomeUnknown:
                said = reply.wording.prefixed(UNKNOWN.replace("{service}", reply.wording.service))
                return Reply(view=forms.refilled(view, said), said=said)
            except BotError as error:
                return refused(reply, error)
            return Reply()

        await settle(reply, ack, work(), f"Creating the account in {reply.wording.service}…")
        tracker = reply.wording.command("tracker")
        for done in made:
            told = False
            if slack_user:
                hello = views.welcome(done, reply.wording, tracker, reply.owner.user_id, mailed=by_mail)
                told = await posting.to_person(reply.slack, slack_user, hello)
            await reply.privately(views.created(done, reply.wording, tracker, slack_user, told=told))

    async def open_edit(self, reply: Reply, wanted: Whose) -> None:
        """The form for changing an account, with what it holds now."""
        await reply.open(loading("Change account"))
        shown = await self._users.editable(reply.owner, wanted)
        metadata = json.dumps({"user": shown.id, "place": reply.place.as_json()})
        await reply.show(views.edit_form(shown, details_of(shown), reply.wording, metadata))

    async def submit_edit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """The form for changing an account was submitted."""
        view = form.view.json
        metadata = metadata_of(view)
        pass
        user_id, details = forms.number_in(metadata.get("user")), views.submitted(view)
        saved: list[Details] = []

        async def work() -> Reply:
            try:
                async with once(reply):
                    await self._users.change(reply.owner, user_id, details)
            except BotError as error:
                return refused(reply, error)
            saved.append(details)
            return Reply()

        await settle(reply, ack, work(), f"Saving it in {reply.wording.service}…")
        if saved:
            await reply.privately(views.changed(user_id, details, reply.wording))
