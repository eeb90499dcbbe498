"""Views of a user's account: the link form, the offer to link, and the linked user."""

from bot.service.models import User
from bot.slack import forms
from bot.slack.blocks import JSON, Block, Message, actions, button, context, section
from bot.slack.redaction import typed
from bot.slack.text import bold, escape, line, link, prose

KEY = "key"


def link_form(
    service: str, account_url: str, *, said: str | None = None, waiting: str | None = None, metadata: str = ""
) -> JSON:
    """The form for an API key. `said` is why it opened, `waiting` the command that runs after linking."""
    where = link(account_url, f"your account page in {service}")
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
    view = forms.form("link", f"Link {service}"[:24], blocks, submit="Link", metadata=metadata)
    view["notify_on_close"] = True
    return view


def link_offer(service: str, said: str, waiting: str | None, continuation: str) -> Message:
    """A message with a *Link* button, for when the form can't be opened or was closed."""
    blocks: list[Block] = [section(prose(said))]
    if waiting:
        blocks.append(typed(waiting, "Once you are linked, this is carried out: "))
    blocks.append(actions([button(f"Link {service}", "link.open", continuation, style="primary")]))
    return Message(prose(said), tuple(blocks))


def linked(service: str, user: User, name: str, *, resuming: bool) -> JSON:
    """The form after linking succeeded."""
    text = f"You are linked as {bold(name)}{_login(user)}."
    text += (
        "\nWhat you asked for is being carried out; the answer is in the conversation."
        if resuming
        else "\nTry `/issue new The first one`, or `/issues to:me`."
    )
    return forms.notice(f"Linked to {service}"[:24], text)


def state(service: str, command: str, name: str | None) -> list[Block]:
    """Whether the caller is linked, with a *Link* button if not."""
    if name is None:
        said = f"You haven't linked your {escape(service)} account yet."
        return [
            section(said),
            actions([button(f"Link {service}", "link.open", style="primary")]),
        ]
    return [section(f"You are linked to {escape(service)} as {bold(name)}; `{command} unlink` undoes that.")]


def whoami(service: str, user: User, name: str) -> Message:
    role = ", an administrator" if user.admin else ""
    text = f"In {escape(service)} you are {bold(name)}{_login(user)}{role}."
    details = f"User {user.id}" + (f" · {line(user.mail)}" if user.mail else "")
    return Message(text, (section(text), context(details)))


def _login(user: User) -> str:
    return f" ({line(user.login)})" if user.login else ""
