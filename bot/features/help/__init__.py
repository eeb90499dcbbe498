"""Help: every command, with examples that work as typed."""

from bot.features.help import views
from bot.slack.incoming.feature import Feature
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces import forms
from bot.slack.surfaces.interaction import ButtonPress


async def pressed(_: ButtonPress[views.ShowHelp], reply: Reply) -> None:
    message = views.overview(reply.wording.command)
    await reply.open(forms.said("Help", message.blocks), for_anyone=True)


FEATURE = Feature(buttons={views.ShowHelp: pressed})
