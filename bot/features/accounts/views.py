"""Views of a user's account: the link form, the offer to link, and the linked user."""

import json
from collections.abc import Sequence

from bot.access.accounts import full_name
from bot.features.help.views import help_button
from bot.service.conventions import account_url
from bot.service.models import User
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import (
    JSON,
    Block,
    Element,
    Message,
    actions,
    button,
    button_row,
    context,
    section,
    typed,
)
from bot.slack.surfaces.buttons import Button
from bot.slack.surfaces.interaction import Destination
from bot.slack.text.mrkdwn import bold, escape, line, link, prose
from bot.slack.text.wording import Wording

KEY = "key"
LINK = "Link account"
NOT_A_KEY = "That isn't an API key. Copy it exactly as your account page shows it."
NOT_LINKED = "Your account isn't linked, so there's nothing to unlink."
NEXT = "After you link, I'll run: "


class LinkAccount(Button):
    """Opens the form for an API key; `saved` is the ID of the request to resume after linking."""

    action = "link.open"
    saved: str = ""


def link_form(
    wording: Wording,
    place: Destination,
    saved: str | None = None,
    *,
    reason: str | None = None,
    waiting: str | None = None,
    offered: bool = False,
) -> JSON:
    """The form for an API key. `reason` is why it opened.

    `saved` is the ID of the request that resumes after linking, `waiting` what the user typed for it, and
    `offered` whether the form was opened from a *Link account* button.
    """
    page = link(account_url(wording.base_url), f"{wording.service} account page")
    key = forms.text("key", placeholder="Paste your API key", most=200)
    hint = "Your key is stored encrypted. Only enter it here, never in a command or a message."
    blocks: list[Block] = [section(prose(reason))] if reason else []
    blocks += [
        section(f"Open your {page}, show your *API access key*, and paste it here."),
        forms.field(KEY, "API key", key, optional=False, hint=hint),
        context("You'll work under your own name, with your own permissions."),
    ]
    if waiting:
        blocks.append(typed(waiting, NEXT))
    metadata = json.dumps({"continue": saved, "place": place.as_json(), "offered": offered})
    return forms.form("link", LINK, blocks, submit=LINK, metadata=metadata) | {"notify_on_close": True}


def other_email_form(user: User, own_mail: str, metadata: JSON) -> JSON:
    emails = f"Key's email: {line(user.mail or '')} · Your Slack email: {line(own_mail)}"
    blocks = [section(prose(other_account(user))), context(emails)]
    view = forms.form("link.anyway", LINK, blocks, submit=LINK, metadata=json.dumps(metadata))
    return view | {"notify_on_close": True}


def other_account(user: User) -> str:
    return f"This key belongs to {full_name(user)}. Link it anyway?"


def unknown_key(service: str) -> str:
    return f"{service} doesn't recognize this key. Copy it again from your account page."


def link_offer(text: str, waiting: str | None = None, saved: str = "") -> Message:
    """A message with a *Link account* button, for when the form can't be opened or was closed."""
    blocks = [section(prose(text)), button_row(LINK, LinkAccount(saved=saved))]
    if waiting:
        blocks.append(typed(waiting, NEXT))
    return Message(prose(text), tuple(blocks))


def key_refused(wording: Wording) -> Message:
    """Tells a user that their key has been refused for an hour, and what waits for it."""
    return link_offer(
        f"{wording.service} has refused your API key for an hour. Your digests, the issues you follow, and "
        "direct messages wait until it works again. I'll keep trying for seven days. If you changed your "
        "key, link your account again."
    )


def linked(wording: Wording, user: User, *, resuming: bool) -> JSON:
    next_step = (
        "I'm working on your request. The reply will appear in the conversation."
        if resuming
        else f"Try `{wording.command('issues')} to:me`, or `{wording.command('issue')}` to create an issue."
    )
    return forms.notice("Account linked", f"{_linked_as(user)}\n{next_step}")


def unlink_question(wording: Wording, buttons: Sequence[Element]) -> Message:
    """Asks before the account is unlinked, and says what stops."""
    text = (
        f"Unlink your {line(wording.service)} account? I'll delete my copy of your API key, pause your "
        "digests, and stop following your issues. Direct messages stop until you link it again."
    )
    return Message(text, (section(text), actions(buttons)))


def unlinked(wording: Wording, stopped: int) -> Message:
    """The reply to `/tracker unlink`; `stopped` is how many digests it paused."""
    text = "Your account is unlinked. I deleted my copy of your API key."
    if stopped:
        paused = "Your digest is paused." if stopped == 1 else f"Your {stopped} digests are paused."
        digest = wording.command("digest")
        text += f" {paused} Link again to resume, or ask a teammate to take ownership with `{digest}`."
    return link_offer(text)


def account(wording: Wording, name: str | None) -> Message:
    if name is None:
        blocks = invitation(wording)
        return Message(blocks[0]["text"]["text"], tuple(blocks))
    text = linked_to(wording, name)
    commands = (
        ("issue", "Create, show, or change an issue"),
        ("issues", "Search issues"),
        ("timelog", "Log time"),
        ("digest", "Post issues on a schedule"),
        ("tracker default", "Set this channel's project"),
        ("tracker unlink", "Unlink your account"),
    )
    lines = "\n".join(f"`{wording.command(name)}` {does}" for name, does in commands)
    return Message(text, (section(text), section(lines), actions([help_button()])))


def invitation(wording: Wording) -> list[Block]:
    """What an unlinked user sees first."""
    text = f"Link your {escape(wording.service)} account to create, find, and track issues in Slack."
    return [section(text), actions([button(LINK, LinkAccount(), style="primary"), help_button()])]


def linked_to(wording: Wording, name: str) -> str:
    return f"You're linked to {escape(wording.service)} as {bold(name)}."


def whoami(user: User) -> Message:
    text = _linked_as(user)
    facts = (f"User {user.id}", line(user.mail or ""), "Administrator" if user.admin else "")
    return Message(text, (section(text), context(" · ".join(filter(None, facts)))))


def _linked_as(user: User) -> str:
    login = f" ({line(user.login)})" if user.login else ""
    return f"You're linked as {bold(full_name(user))}{login}."


def greeting(wording: Wording, channel_id: str, *, linked: bool, named: bool) -> Message:
    """What the person who invited the bot to a channel does first, unless it's done."""
    tracker, issue = wording.command("tracker"), wording.command("issue")
    link = f"Link your {escape(wording.service)} account. Everyone here links their own."
    first = [] if linked else [link]
    first += [] if named else [escape(f"Set this channel's project: `{tracker} default <project>`")]
    first.append(f"Create an issue: `{issue} new The login page is blank`")
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(first, start=1))
    text = f"Thanks for inviting me to <#{channel_id}>. To get started:\n{steps}"
    buttons = [] if linked else [button(LINK, LinkAccount(), style="primary")]
    return Message(text, (section(text), actions([*buttons, help_button()])))
