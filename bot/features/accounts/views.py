"""Views of a user's account: the link form, the offer to link, and the linked user."""

import json

from bot.features.accounts.accounts import full_name
from bot.features.accounts.buttons import LinkAccount
from bot.features.help import views as help_views
from bot.service.conventions import account_url
from bot.service.models import User
from bot.slack import forms
from bot.slack.blocks import JSON, Block, Message, button_row, context, section, sentence
from bot.slack.interaction import Place
from bot.slack.redaction import typed
from bot.slack.text import bold, escape, line, link, prose
from bot.slack.wording import Wording

KEY = "key"
NOT_A_KEY = "That isn't an API key: copy it as it stands."


def link_form(
    wording: Wording,
    place: Place,
    saved: str | None = None,
    *,
    said: str | None = None,
    waiting: str | None = None,
    offered: bool = False,
) -> JSON:
    """The form for an API key. `said` is why it opened.

    `saved` is the ID of the request that resumes after linking, `waiting` what the user typed for it, and
    `offered` whether the form was opened from a *Link* button.
    """
    where = link(account_url(wording.base_url), f"your account page in {wording.service}")
    steps = f"Open {where}, show your *API access key* there and paste it here; it is stored encrypted."
    blocks: list[Block] = [section(prose(said))] if said else []
    blocks += [
        section(steps),
        context("Everything that you do here is then done in your own name and within your own rights."),
        forms.field(
            KEY,
            "API key",
            forms.text("key", placeholder="As it stands on your account page", most=200),
            optional=False,
            hint="Only type it into this form: never into a command or a message.",
        ),
    ]
    if waiting:
        blocks.append(typed(waiting, "Then this is carried out: "))
    metadata = json.dumps({"continue": saved, "place": place.as_json(), "offered": offered})
    view = forms.form("link", f"Link {wording.service}", blocks, submit="Link", metadata=metadata)
    return view | {"notify_on_close": True}


def unknown_key(service: str) -> str:
    return f"{service} doesn't know this key: copy it from your account page again."


def link_offer(service: str, said: str, waiting: str | None, saved: str) -> Message:
    """A message with a *Link* button, for when the form can't be opened or was closed."""
    blocks: list[Block] = [section(prose(said))]
    if waiting:
        blocks.append(typed(waiting, "Once you are linked, this is carried out: "))
    blocks.append(button_row(f"Link {service}", LinkAccount(saved=saved)))
    return Message(prose(said), tuple(blocks))


def linked(wording: Wording, user: User, *, resuming: bool) -> JSON:
    """The form after linking succeeded."""
    text = f"You are linked as {bold(full_name(user))}{_login(user)}."
    issue, issues = wording.command("issue"), wording.command("issues")
    text += (
        "\nWhat you asked for is being carried out; the answer is in the conversation."
        if resuming
        else f"\nTry `{issue} new The first one`, or `{issues} to:me`."
    )
    return forms.notice(f"Linked to {wording.service}", text)


def unlinked(wording: Wording, stopped: int) -> Message:
    """The answer to `/tracker unlink`; `stopped` is how many digests it paused."""
    said = f"Your {wording.service} key is forgotten. `{wording.command('tracker')} link` links you again."
    if stopped:
        yours = "Your digest stops" if stopped == 1 else f"Your {stopped} digests stop"
        digest = wording.command("digest")
        said += f" {yours}: link again and resume, or somebody else can take over, with `{digest}`."
    return sentence(said)


def not_linked(wording: Wording) -> Message:
    """The answer to `/tracker unlink` without a linked account."""
    return sentence(f"You weren't linked to {wording.service}; there is nothing to forget.")


def account(wording: Wording, name: str | None) -> Message:
    """Whether the caller is linked, followed by help."""
    said = f"You are linked as {name}." if name else "You haven't linked your account yet."
    blocks = state(wording.service, wording.command("tracker"), name)
    overview = help_views.overview(wording.command, wording.service)
    return Message(prose(said), (*blocks, *overview.blocks))


def state(service: str, command: str, name: str | None) -> list[Block]:
    """Whether the caller is linked, with a *Link* button if not."""
    if name is None:
        said = f"You haven't linked your {escape(service)} account yet."
        return [section(said), button_row(f"Link {service}", LinkAccount())]
    return [section(f"You are linked to {escape(service)} as {bold(name)}; `{command} unlink` undoes that.")]


def whoami(wording: Wording, user: User) -> Message:
    role = ", an administrator" if user.admin else ""
    text = f"In {escape(wording.service)} you are {bold(full_name(user))}{_login(user)}{role}."
    details = f"User {user.id}" + (f" · {line(user.mail)}" if user.mail else "")
    return Message(text, (section(text), context(details)))


def _login(user: User) -> str:
    return f" ({line(user.login)})" if user.login else ""
