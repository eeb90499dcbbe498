"""What the forms that log and edit time have in common."""

from bot.errors import UserError, WrongField
from bot.features.timelog import views
from bot.features.timelog.own_entries import LongDay, TimeChange
from bot.service.models import Ref
from bot.slack import forms
from bot.slack.blocks import Message, plain
from bot.slack.buttons import Number
from bot.slack.forms import FormResult
from bot.slack.grammar.durations import hours
from bot.slack.interaction import FormSubmission
from bot.slack.metadata import Metadata
from bot.slack.replies import Reply


class TimeMetadata(Metadata):
    """Of both forms: how many minutes on a day the user has confirmed."""

    agreed: Number = 0


async def entered(form: FormSubmission, reply: Reply, metadata: TimeMetadata) -> TimeChange:
    """What is in the fields that both forms have. Raises WrongField for an unreadable duration."""
    values = forms.Values(form.view.json)
    try:
        amount = hours(values.text("hours") or "", (await reply.profile()).locale)
    except UserError as error:
        raise WrongField("hours", error) from error
    activity = values.number("activity")
    return TimeChange(
        hours=amount,
        spent_on=values.day("date") or await reply.today(),
        activity=Ref(id=activity, name=values.chosen("activity", "text") or "") if activity else None,
        comment=values.text("comment") or "",
        agreed=metadata.agreed,
    )


async def asked_again(
    form: FormSubmission, reply: Reply, metadata: TimeMetadata, long: LongDay
) -> FormResult:
    """The form again with a question; submitting it once more confirms the long day."""
    said = f"{views.adds_up(long, await reply.today())} Is that right?"
    agreed = metadata.model_copy(update={"agreed": long.minutes})
    view = forms.refilled(form.view.json, said, agreed.dump())
    return FormResult(view=view | {"submit": plain("Log anyway", 24)}, said=said)


def shown(title: str, message: Message) -> FormResult:
    return FormResult(view=forms.said(title, message.blocks), message=message)
