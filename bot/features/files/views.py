"""The forms and messages about attaching files."""

from collections.abc import Sequence

from bot.errors import BotError, Refused, TooLarge
from bot.features.files.batch import Batch, BatchFile, LostFile, State
from bot.features.issues.views import format_size
from bot.service.conventions import FILE_TEXT_LENGTH
from bot.service.models import Attachment
from bot.slack import forms
from bot.slack.blocks import JSON, Block, Message, actions, button, context, section, shortened
from bot.slack.text import bold, line, link, prose
from bot.slack.wording import Wording

MAX_FILES = 10
MAX_NAMED = 5
MAX_LOST = 5


def files_form(number: int, metadata: str) -> JSON:
    """The form for files from the user's computer."""
    element = {"type": "file_input", "action_id": "files", "max_files": MAX_FILES}
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
    """The form for a message's files: which ones, the issue, and their names."""
    searched = forms.searched("files.issue", issue, "A number or part of a subject")
    blocks: list[Block] = [
        *files_field(known, lost, optional=False),
        forms.field("issue", "Issue", searched, optional=False),
        actions([button("Create a new issue with them", "files.new", job_id)]),
    ]
    for index, (_, name) in enumerate(known[:MAX_NAMED]):
        if len(known) > 1:
            blocks.append(section(bold(name)))
        blocks += _name_and_description(f"_{index}", name, "")
    return forms.form("files.attach", "Attach files", blocks, submit="Attach", metadata=metadata)


def files_field(known: Sequence[forms.Choice], lost: Sequence[str], *, optional: bool = True) -> list[Block]:
    """Checkboxes for a message's files, all checked, and why some files are left out."""
    blocks: list[Block] = []
    if known:
        boxes = forms.boxes("files", known, "Files to attach")
        blocks.append(forms.field("files", "Files", boxes, optional=optional))
    if lost:
        blocks.append(context(*(f":warning: {prose(said)}" for said in lost[:MAX_LOST])))
    return blocks


def describe_form(attachment: Attachment, metadata: str) -> JSON:
    """The form for an attached file's name and description."""
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


def described(number: int, name: str, description: str, wording: Wording) -> Message:
    """A file's new name and description."""
    text = f":white_check_mark: {bold(name)} at {_issue(number, wording)}"
    text += f"\n{line(description)}" if description else ""
    return Message(text, (section(text),))


def progress(batch: Batch, doing: str) -> str:
    """The sentence `doing` and each file's progress, in mrkdwn."""
    lines = [prose(doing)]
    for file in batch.files:
        name = line(shortened(file.source.name, 100))
        match file.state:
            case State.WAITING:
                lines.append(f":white_circle: {name}")
            case State.UPLOADING:
                lines.append(f":arrow_up: {name} {_how_far(file)}")
            case State.FAILED | State.REFUSED | State.CLAIMED:
                lines.append(f":x: {name}")
            case State.UNSURE:
                lines.append(f":grey_question: {name}")
            case _:
                lines.append(f":white_check_mark: {name}")
    return "\n".join(lines)


def row(number: int, file: BatchFile, wording: Wording) -> Block:
    """A file's result: attached, or the reason it isn't."""
    change = None
    if file.attachment:
        change = button("Rename or describe", "files.open_describe", f"{number}:{file.attachment.id}")
    return section(_line(file, wording), accessory=change)


def results(number: int, rows: Sequence[Block], wording: Wording, retry: str | None) -> Message:
    """The results of all files. `retry` is the id of the job with the failed ones."""
    head = f"Files for {_issue(number, wording)}"
    blocks: list[Block] = [section(f"*{head}*"), *rows]
    lines = [head, *(block["text"]["text"] for block in rows)]
    buttons = [button(f"Open in {wording.service}", "open", url=wording.url(number))]
    if retry:
        buttons.insert(0, button("Retry", "files.retry", retry, style="primary"))
    blocks.append(actions(buttons))
    return Message("\n".join(lines), tuple(blocks))


def new_instead(number: int, error: BotError, job_id: str, wording: Wording) -> Message:
    """The service can't attach to an existing issue; offers to create one."""
    text = f":warning: {prose(wording.sentence(error))}"
    buttons = [
        button("Create a new issue with them", "files.new", job_id, style="primary"),
        button(f"Open #{number}", "open", url=wording.url(number)),
    ]
    return Message(text, (section(text), actions(buttons)))


def _line(file: BatchFile, wording: Wording) -> str:
    name = bold(shortened(file.source.name, 200))
    if file.state is State.ATTACHED:
        description = file.attachment.description if file.attachment else file.source.description
        about = f": {line(description)}" if description else ""
        return f":white_check_mark: {name} attached{about}"
    error = file.error
    if error is None:
        return f":x: {name} not attached"
    said = prose(wording.sentence(error))
    if file.state is State.UNSURE:
        return f":grey_question: {name}: {said}"
    if isinstance(error, Refused) and error.errors:
        return f":x: {name} refused: {prose('; '.join(error.errors))}"
    if isinstance(error, TooLarge):
        return f":x: {name} too large: {said}"
    if isinstance(error, LostFile) and file.state is State.FAILED:
        return f":x: {name} lost on the way: {said}"
    return f":x: {name} not attached: {said}"


def _issue(number: int, wording: Wording) -> str:
    return link(wording.url(number), f"#{number}")


def _how_far(file: BatchFile) -> str:
    size = file.source.size
    if not size:
        return format_size(file.sent)
    return f"{min(100, file.sent * 100 // size)} % of {format_size(size)}"
