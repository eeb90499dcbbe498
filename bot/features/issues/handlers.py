"""Issues: `/issue`, the card, and sharing it."""

from datetime import timedelta
from functools import partial

from bot.errors import UserError
from bot.features.files import handlers as files
from bot.features.help import views as help_views
from bot.features.issues import assign_handlers as assigning
from bot.features.issues import views
from bot.features.issues.announce import tell
from bot.features.issues.commands import AttachFiles, NewIssue, OpenForm, ShowIssue, issue_command
from bot.features.issues.create_form import loading
from bot.features.issues.create_form_handlers import open_form
from bot.features.issues.drafts import draft_of
from bot.features.issues.issues import Draft
from bot.features.projects.custom_fields import understood
from bot.features.timelog import handlers as timelog
from bot.features.timelog.commands import LogTime
from bot.slack import forms
from bot.slack.forms import number_in
from bot.slack.grammar.requests import Help
from bot.slack.posting import Announced
from bot.slack.turn import Turn

DOUBLE_CLICK = timedelta(seconds=5)


async def command(turn: Turn) -> None:
    """`/issue …`."""
    text, today = turn.own_text(), await turn.today()
    request = await understood(turn, partial(issue_command, text, today))
    match request:
        case OpenForm():
            await open_form(turn, draft_of(request.prefilled, turn.owner))
        case ShowIssue():
            await show(turn, request.number)
        case AttachFiles():
            await files.open_form(turn, request.number)
        case NewIssue():
            await create(turn, draft_of(request, turn.owner))
        case Help():
            await turn.answer(help_views.of("issue", turn.parts.command))


async def create(turn: Turn, draft: Draft) -> None:
    """Create at once, announce it where it was asked for, and tell the person what nobody else need know."""
    await tell(turn, await turn.parts.issues.create(turn.owner, draft, turn.channel))


async def show(turn: Turn, number: int) -> None:
    """The card of an issue, for the person alone."""
    if not (turn.in_form or turn.at_home):
        shown = await turn.parts.issues.show(turn.owner, number)
        await turn.answer(views.card(shown, turn.style, await turn.style.mrkdwn(shown.issue.description)))
        return
    await turn.open(loading(f"#{number}"))
    shown = await turn.parts.issues.show(turn.owner, number)
    description = await turn.style.mrkdwn(shown.issue.description)
    card = views.card(shown, turn.style, description, shareable=False)
    await turn.show(forms.said(f"#{number}", card.blocks))


async def show_pressed(turn: Turn) -> None:
    """The button *Show*."""
    await show(turn, turn.number)


async def share_pressed(turn: Turn) -> None:
    """The button *Share here*."""
    await share(turn, turn.number)


async def menu_chosen(turn: Turn) -> None:
    """The `…` menu of an issue's line."""
    what, _, number = turn.value.partition(":")
    match what:
        case "show":
            await show(turn, number_in(number))
        case "share":
            await share(turn, number_in(number), sure=False)
        case "take":
            await assigning.take(turn, number_in(number))
        case "time":
            await timelog.open_form(turn, LogTime(issue=number_in(number)))


async def share(turn: Turn, number: int, *, sure: bool = True) -> None:
    """Post an issue where its card stands, as seen with the key of whoever pressed.

    A menu can't ask before it acts: unless the person is `sure`, an issue of a project that isn't public is
    shown to them instead, and the button on its card asks.
    """
    shown = await turn.parts.issues.show(turn.owner, number)
    if not sure and not shown.public and not shown.issue.is_private:
        why = f"{shown.project.name} is not public" if shown.project else "I can't tell whether it is public"
        description = await turn.style.mrkdwn(shown.issue.description)
        await turn.answer(views.card(shown, turn.style, description, said=f"{why}, so this asks first."))
        return
    if shown.issue.is_private:
        raise UserError(
            f"Issue #{number} is private and stays with those who may see it: it can't be shared."
        )
    twice = f"share:{turn.owner.team_id}:{turn.owner.user_id}:{turn.place.channel_id}:{number}"
    if not await turn.parts.store.deliveries.claim_for(twice, DOUBLE_CLICK):
        return
    announced = await turn.announce(views.shared(shown, turn.style, turn.owner.user_id))
    if announced is Announced.UNSURE:
        raise UserError(
            f"Issue #{number} may have been shared: Slack broke off, so look before you try again."
        )
    if announced is not Announced.YES:
        await turn.parts.store.deliveries.release(twice)
        raise UserError(f"Issue #{number} was not shared: {announced.value}.")
