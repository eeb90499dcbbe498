"""The *Help* button."""

from bot.features.help import views
from bot.features.help.buttons import ShowHelp
from bot.slack import forms
from bot.slack.feature import Feature
from bot.slack.interaction import ButtonPress
from bot.slack.replies import Reply


class HelpHandlers:
    def feature(self) -> Feature:
        return Feature(buttons={ShowHelp: self.pressed})

    async def pressed(self, _: ButtonPress[ShowHelp], reply: Reply) -> None:
        message = views.overview(reply.wording.command)
        await reply.open(forms.said("Help", message.blocks), for_anyone=True)
