"""The `/tracker user` command: show, create and change accounts in the service."""

import json
from dataclasses import asdict, replace
from functools import partial

from bot.access.people import Who
from bot.features.parts import Parts
from bot.features.users import views
from bot.features.users.users import UserProfile, Users
from bot.service.conventions import FIRST_NAME_LENGTH, LOGIN_LENGTH
from bot.slack.incoming.feature import Feature, Form
from bot.slack.language.tokens import SlackUser
from bot.slack.outgoing import posting
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.forms import FormResult, Values, loading, number_in, shown_in
from bot.slack.surfaces.interaction import FormSubmission
from bot.slack.workspaces.directory import Profile
from bot.store.owner import Owner


def details_from(known: Profile) -> UserProfile:
    """Account details from a Slack profile. The login is the email's local part, or else the Slack handle."""
    name = known.mail.partition("@")[0] or known.handle
    login = "".join(letter for letter in name if letter.isascii() and (letter.isalnum() or letter in "_.-"))
    return UserProfile(
        known.first_name[:FIRST_NAME_LENGTH], known.last_name, login[:LOGIN_LENGTH].lower(), known.mail
    )


class UserHandlers:
    def __init__(self, parts: Parts) -> None:
        self.users = parts.shared(Users)

    def feature(self) -> Feature:
        return Feature(
            forms={
                "user.new": Form(self.submit_new, "Creating the account in {service}…"),
                "user.edit": Form(self.submit_edit, "Saving the account in {service}…"),
            }
        )

    async def show(self, reply: Reply, user: Who) -> None:
        details = await self.users.show(reply.owner, user)
        await reply.privately(views.user(details, reply.wording))

    async def open_new(self, reply: Reply, mentioned: SlackUser | None = None) -> None:
        await reply.open(loading("New account"))
        await self.users.require_administrator(reply.owner)
        details, slack_user = UserProfile(), None
        if mentioned is not None:
            known = await reply.platform.profiles.colleague(reply.slack, reply.owner, mentioned.id)
            await self.users.require_unlinked(replace(reply.owner, user_id=mentioned.id))
            details, slack_user = details_from(known), mentioned.id
        metadata = json.dumps({"for": slack_user, "place": reply.place.as_json()})
        await reply.show(views.new_form(details, slack_user, metadata, reply.wording.service))

    async def submit_new(self, form: FormSubmission, reply: Reply) -> FormResult:
        view, slack_user = form.view.json, form.view.text("for")
        owner = Owner(reply.owner.enterprise_id, reply.owner.team_id, slack_user) if slack_user else None
        details, by_mail = views.submitted(view), views.by_mail(view)
        user, linked = await self.users.create(reply.owner, details, owner, by_mail=by_mail)

        async def confirm() -> None:
            notified = False
            if slack_user:
                by = reply.owner.user_id
                welcome = views.welcome(user, reply.wording, by, linked=linked, mailed=by_mail)
                notified = await posting.to_person(reply.slack, slack_user, welcome)
            created = views.created(user, reply.wording, slack_user, linked=linked, notified=notified)
            await reply.privately(created)

        return FormResult(then=confirm)

    async def open_edit(self, reply: Reply, user: Who) -> None:
        await reply.open(loading("Edit account"))
        details = await self.users.editable(reply.owner, user)
        view = views.edit_form(details, reply.wording)
        metadata = {"user": details.id, "place": reply.place.as_json(), "shown": shown_in(view)}
        await reply.show(view | {"private_metadata": json.dumps(metadata)})

    async def submit_edit(self, form: FormSubmission, reply: Reply) -> FormResult:
        metadata, details = form.view.metadata, views.submitted(form.view.json)
        user_id = number_in(metadata.get("user"))
        changed = {
            name: value
            for name, value in asdict(details).items()
            if Values(form.view.json).changed(name, metadata.get("shown"))
        }
        await self.users.change(reply.owner, user_id, changed)
        return FormResult(then=partial(reply.privately, views.changed(user_id, details, reply.wording)))
