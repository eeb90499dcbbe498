"""Views of the service's users: a user, the account forms, and their results."""

from bot.access.accounts import full_name
from bot.features.accounts.views import LinkAccount
from bot.features.users.users import UserProfile, details_of
from bot.service.conventions import FIRST_NAME_LENGTH, LOGIN_LENGTH, UserStatus, user_url
from bot.service.models import User
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import (
    JSON,
    Block,
    Message,
    actions,
    button,
    context,
    fields,
    link_button,
    section,
    shortened,
)
from bot.slack.text.mrkdwn import code, cut, day, escape, line, link
from bot.slack.text.wording import Wording

MAX_MEMBERSHIPS = 15
NAME_LENGTH = 60
STATUSES: dict[int, str] = {UserStatus.REGISTERED: "Not activated", UserStatus.LOCKED: ":lock: Locked"}


def user(user: User, wording: Wording) -> Message:
    text = f"*{_name(user, wording)}*"
    facts = [
        f"User {user.id}",
        line(user.login or ""),
        line(user.mail or ""),
        "Administrator" if user.admin else "",
        STATUSES.get(user.status or 0, ""),
        f"Joined {day(user.created_on.date())}" if user.created_on else "",
    ]
    blocks: list[Block] = [section(text), context(" · ".join(fact for fact in facts if fact))]
    if user.memberships:
        lines = [
            f"{line(member.project.name)} ({', '.join(line(role.name) for role in member.roles)})"
            for member in user.memberships[:MAX_MEMBERSHIPS]
            if member.project
        ]
        more = len(user.memberships) - MAX_MEMBERSHIPS
        blocks.append(section("*Projects* " + " · ".join(lines) + (f" and {more} more" if more > 0 else "")))

    blocks += fields(_facts(user))
    url = user_url(wording.base_url, user.id)
    blocks.append(actions([link_button(f"Open in {wording.service}", url)]))
    return Message(text, tuple(blocks))


def new_form(details: UserProfile, slack_user: str | None, metadata: str, service: str) -> JSON:
    introduction = (
        f"I'll link this account to <@{slack_user}> and send them a direct message."
        if slack_user
        else "This account isn't linked to anyone in Slack. Its owner can link it with their API key."
    )
    invitation = forms.checkbox("by_mail", "Email the login and password", checked=slack_user is None)
    hint = f"{service} generates a temporary password. They'll change it when they first log in."
    blocks: list[Block] = [
        section(introduction),
        *_inputs(details),
        forms.field("by_mail", "Invitation", invitation, hint=hint),
    ]
    return forms.form("user.new", "New account", blocks, submit="Create account", metadata=metadata)


def edit_form(user: User, wording: Wording) -> JSON:
    blocks: list[Block] = [section(f"*{_name(user, wording)}* · User {user.id}"), *_inputs(details_of(user))]
    return forms.form("user.edit", "Edit account", blocks, submit="Save")


def submitted(view: JSON) -> UserProfile:
    values = forms.Values(view)
    texts = {name: (values.text(name) or "").strip() for name in ("firstname", "lastname", "login", "mail")}
    return UserProfile(**texts)


def by_mail(view: JSON) -> bool:
    return bool(forms.Values(view).all_chosen("by_mail"))


def created(made: User, wording: Wording, slack_user: str | None, *, linked: bool, notified: bool) -> Message:
    """The administrator's confirmation of a new account. `notified` is whether its owner got a message."""
    text = f"Created an account for *{_name(made, wording)}*{_login(made)}."
    who, command = f"<@{slack_user}>", wording.command("tracker")
    then = f"Its owner can link it with `{command} link`."
    if slack_user:
        then = f"It's linked to {who}."
        if not linked:
            then = f"I couldn't link it. Ask {who} to type `{command} link`."
        then += (
            " I sent them a message." if notified else " I couldn't message them, so please let them know."
        )
    return Message(f"{text} {then}", (section(f"{text}\n{then}"),))


def welcome(made: User, wording: Wording, by: str, *, linked: bool, mailed: bool) -> Message:
    """The message to the owner of a new account."""
    service, command = escape(wording.service), wording.command("tracker")
    text = f"<@{by}> created an account for you in {link(wording.base_url, wording.service)}{_login(made)}."
    then = (
        f"You're linked, so you can use {service} from Slack. To see your projects, type "
        f"`{command} projects`."
        if linked
        else f"Link it to use {service} from Slack."
    )
    login = (
        f"Your {service} password was emailed to {line(made.mail or 'you')}."
        if mailed
        else f"You don't need a password here. To log in to {service}, reset your password on its login page."
    )
    buttons = [link_button(f"Open {wording.service}", wording.base_url)]
    if not linked:
        buttons.insert(0, button("Link account", LinkAccount(), style="primary"))
    return Message(f"{text} {then}", (section(f"{text}\n{then}"), context(login), actions(buttons)))


def changed(user_id: int, details: UserProfile, wording: Wording) -> Message:
    name = f"{details.firstname} {details.lastname}"
    text = f"Updated *{link(user_url(wording.base_url, user_id), name)}* ({line(details.login)})."
    return Message(text, (section(text), context(f"User {user_id} · {line(details.mail)}")))


def _inputs(details: UserProfile) -> list[Block]:
    inputs = (
        ("firstname", "First name", details.firstname, FIRST_NAME_LENGTH),
        ("lastname", "Last name", details.lastname, None),
        ("login", "Login", details.login, LOGIN_LENGTH),
        ("mail", "Email", details.mail, None),
    )
    return [
        forms.field(name, label, forms.text(name, value, most=most), optional=False)
        for name, label, value, most in inputs
    ]


def _facts(user: User) -> list[tuple[str, str]]:
    facts = [("Groups", cut(", ".join(line(group.name) for group in user.groups), 1000))]
    facts += [(shortened(custom.name, NAME_LENGTH), line(custom.text, 200)) for custom in user.custom_fields]
    return [(label, value) for label, value in facts if value][:10]


def _name(user: User, wording: Wording) -> str:
    return link(user_url(wording.base_url, user.id), full_name(user))


def _login(user: User) -> str:
    return f" ({code(user.login)})" if user.login else ""
