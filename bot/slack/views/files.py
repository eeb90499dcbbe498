"""What people see of attaching files."""

from collections.abc import Sequence

from slack_sdk.models.blocks.block_elements import FileInputElement

from bot.slack.mrkdwn import escape, line
from bot.slack.views import forms
from bot.slack.views.blocks import JSON, Message, section
from bot.slack.views.issues import Style
from bot.usecases.files import Outcome

MOST = 10


def files_form(number: int, metadata: str) -> JSON:
    """The form that takes files from the person's computer."""
    element = FileInputElement(action_id="files", max_files=MOST)
    return forms.form(
        "files.attach",
        "Attach files",
        [section(f"To issue *#{number}*"), forms.field("files", "Files", element, optional=False)],
        submit="Attach",
        metadata=metadata,
    )


def attached(number: int, outcomes: Sequence[Outcome], style: Style) -> Message:
    """A line for each file: attached, or why not."""
    lines = [f"*Files for <{style.url(number)}|#{number}>*"]
    for outcome in outcomes:
        if outcome.error is None:
            lines.append(f":white_check_mark: {line(outcome.name)}")
        else:
            lines.append(f":x: {line(outcome.name)}: {escape(outcome.error.sentence(style.service))}")
    text = "\n".join(lines)
    return Message(text, (section(text),))
