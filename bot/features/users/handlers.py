"""`/tracker user`: show, create and change accounts of the service."""

import json

from bot.errors import OutcomeUnknown
from bot.features.accounts.commands import EditUser, NewUser, ShowUser, UserRequest
from bot.features.users import views
from bot.features.users.users import Details, Users, Whose, details_of
from bot.service.conventions import FIRST_NAME_LENGTH, LOGIN_LENGTH
from bot.slack import forms, posting
from bot.slack.directory import Contact, contact
from bot.slack.feature import Feature, Form
from bot.slack.forms import FormResult, loading, number_in
from bot.slack.grammar.requests import Me, SlackUser
from bot.slack.interaction import (
    FormSubmission,
)
from bot.slack.replies import Reply
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
    """What administrators do with accounts, and what people see of each other."""

    def __init__(self, users: Users) -> None:
        self._users = users

    def feature(self) -> Feature:
        """What this answers to."""
        return Feature(
            forms={
                "user.new": Form(self.submit_new, "Creating the account in {service}…"),
                "user.edit": Form(self.submit_edit, "Saving it in {service}…"),
            }
        )

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
        """Create the account and link it, tell its owner, then say so."""
        view, slack_user = form.view.json, form.view.text("for")
        whom = Owner(reply.owner.enterprise_id, reply.owner.team_id, slack_user) if slack_user else None
        details, by_mail = views.submitted(view), views.by_mail(view)
        try:
            made = await self._users.create(reply.owner, details, whom, by_mail=by_mail)
        except OutcomeUnknown:
            said = reply.wording.prefixed(UNKNOWN.replace("{service}", reply.wording.service))
            return FormResult(view=forms.refilled(view, said), said=said)
        tracker = reply.wording.command("tracker")

        async def tell() -> None:
            told = False
            if slack_user:
                hello = views.welcome(made, reply.wording, tracker, reply.owner.user_id, mailed=by_mail)
                told = await posting.to_person(reply.slack, slack_user, hello)
            await reply.privately(views.created(made, reply.wording, tracker, slack_user, told=told))

        return FormResult(then=tell)

    async def open_edit(self, reply: Reply, wanted: Whose) -> None:
        """The form for changing an account, with what it holds now."""
        await reply.open(loading("Change account"))
        shown = await self._users.editable(reply.owner, wanted)
        metadata = json.dumps({"user": shown.id, "place": reply.place.as_json()})
        await reply.show(views.edit_form(shown, details_of(shown), reply.wording, metadata))

    async def submit_edit(self, form: FormSubmission, reply: Reply) -> FormResult:
        """Change the account."""
        user_id, details = number_in(form.view.metadata.get("user")), views.submitted(form.view.json)
        await self._users.change(reply.owner, user_id, details)

        async def tell() -> None:
            await reply.privately(views.changed(user_id, details, reply.wording))

        return FormResult(then=tell)
