"""What people see of attaching files."""

from collections.abc import Sequence

from bot.errors import BotError, Refused, TooLarge
from bot.features.files.attach import Carried, Load, LostFile, State
from bot.features.issues.views import amount
from bot.service.conventions import FILE_TEXT_LENGTH
from bot.service.models import Attachment
from bot.slack import forms
from bot.slack.blocks import JSON, Block, Message, actions, button, context, section, shortened
from bot.slack.text import bold, line, link, prose
from bot.slack.wording import Wording

MOST = 10
NAMED = 5
LOST = 5


def files_form(number: int, metadata: str) -> JSON:
    """The form that takes files from the person's computer."""
    element = {"type": "file_input", "action_id": "files", "max_files": MOST}
    note = context("Each can be given another name and a description once it is attached.")
    return forms.form(
        "files.attach",
        "Attach files",
        [section(f"To issue *#{number}*"), forms.field("files", "Files", element, optional=False), note],
        submit="Attach",
        metadata=metadata,
    )


def message_form(
    known: Sequence[forms.Choice], lost: Sequence[str], issue: JSON | None, job_id: str, metadata: str
) -> JSON:
    """The form for a message's files: which of them, to which issue, under which names."""
    searched = forms.searched("files.issue", issue, "A number or part of a subject")
    blocks: list[Block] = [
        *files_field(known, lost, optional=False),
        forms.field("issue", "Issue", searched, optional=False),
        actions([button("Create a new issue with them", "files.new", job_id)]),
    ]
    for index, (_, name) in enumerate(known[:NAMED]):
        if len(known) > 1:
            blocks.append(section(bold(name)))
        blocks += _name_and_description(f"_{index}", name, "")
    return forms.form("files.attach", "Attach files", blocks, submit="Attach", metadata=metadata)


def files_field(known: Sequence[forms.Choice], lost: Sequence[str], *, optional: bool = True) -> list[Block]:
    """Boxes for a message's files, all ticked, and why others aren't among them."""
    blocks: list[Block] = []
    if known:
        boxes = forms.boxes("files", known, "Files to attach")
        blocks.append(forms.field("files", "Files", boxes, optional=optional))
    if lost:
        blocks.append(context(*(f":warning: {prose(said)}" for said in lost[:LOST])))
    return blocks


def describe_form(attachment: Attachment, metadata: str) -> JSON:
    """The form for another name and description of an attached file."""
    fields = _name_and_description("", attachment.filename, attachment.description or "")
    return forms.form("files.describe", "Rename or describe", fields, submit="Save", metadata=metadata)


def _name_and_description(suffix: str, name: str, description: str) -> list[Block]:
    return [
        forms.field(
            f"name{suffix}",
            "File name",
            forms.text(f"name{suffix}", name, most=FILE_TEXT_LENGTH),
            optional=False,
        ),
        forms.field(
            f"description{suffix}",
            "Description",
            forms.text(f"description{suffix}", description, most=FILE_TEXT_LENGTH),
        ),
    ]


def described(number: int, name: str, description: str, style: Wording) -> Message:
    """What a file is called now."""
    text = f":white_check_mark: {bold(name)} at {_issue(number, style)}"
    text += f"\n{line(description)}" if description else ""
    return Message(text, (section(text),))


def progress(load: Load, doing: str) -> str:
    """What is being done, and how far each file is, in mrkdwn."""
    lines = [prose(doing)]
    for one in load.files:
        name = line(shortened(one.file.name, 100))
        match one.state:
            case State.WAITING:
                lines.append(f":white_circle: {name}")
            case State.COMING:
                lines.append(f":arrow_up: {name} {_how_far(one)}")
            case State.FAILED | State.REFUSED | State.TAKEN:
                lines.append(f":x: {name}")
            case State.UNSURE:
                lines.append(f":grey_question: {name}")
            case _:
                lines.append(f":white_check_mark: {name}")
    return "\n".join(lines)


def row(number: int, one: Carried, style: Wording) -> Block:
    """A file's line: attached, or why not."""
    change = None
    if one.attachment:
        change = button("Rename or describe", "files.open_describe", f"{number}:{one.attachment.id}")
    return section(_line(one, style), accessory=change)


def told(number: int, rows: Sequence[Block], style: Wording, retry: str | None) -> Message:
    """All files' rows. `retry` is the job of those that failed."""
    head = f"Files for {_issue(number, style)}"
    blocks: list[Block] = [section(f"*{head}*"), *rows]
    lines = [head, *(one["text"]["text"] for one in rows)]
    buttons = [button(f"Open in {style.service}", "open", url=style.url(number))]
    if retry:
        buttons.insert(0, button("Retry", "files.retry", retry, style="primary"))
    blocks.append(actions(buttons))
    return Message("\n".join(lines), tuple(blocks))


def new_instead(number: int, error: BotError, job_id: str, style: Wording) -> Message:
    """The service can't attach to this issue: a new one is offered."""
    text = f":warning: {prose(error.sentence(style.service))}"
    buttons = [
        button("Create a new issue with them", "files.new", job_id, style="primary"),
        button(f"Open #{number}", "open", url=style.url(number)),
    ]
    return Message(text, (section(text), actions(buttons)))


def _line(one: Carried, style: Wording) -> str:
    name = bold(shortened(one.file.name, 200))
    if one.state is State.ATTACHED:
        description = one.attachment.description if one.attachment else one.file.description
        about = f": {line(description)}" if description else ""
        return f":white_check_mark: {name} attached{about}"
    error = one.error
    if error is None:
        return f":x: {name} not attached"
    said = prose(error.sentence(style.service))
    if one.state is State.UNSURE:
        return f":grey_question: {name}: {said}"
    if isinstance(error, Refused) and error.errors:
        return f":x: {name} refused: {prose('; '.join(error.errors))}"
    if isinstance(error, TooLarge):
        return f":x: {name} too large: {said}"
    if isinstance(error, LostFile) and one.state is State.FAILED:
        return f":x: {name} lost on the way: {said}"
    return f":x: {name} not attached: {said}"


def _issue(number: int, style: Wording) -> str:
    return link(style.url(number), f"#{number}")


def _how_far(one: Carried) -> str:
    size = one.file.size
    if not size:
        return amount(one.sent)
    return f"{min(100, one.sent * 100 // size)} % of {amount(size)}"
