"""The forms and messages about attaching files."""

from collections.abc import Sequence

from bot.errors import BotError, Refused
from bot.features.files.attach import Batch, BatchFile, FileState, MissingFile
from bot.features.issues.buttons import NewIssueWithFiles
from bot.features.issues.views import format_size, issue_field, title, with_reason
from bot.service.conventions import FILE_TEXT_LENGTH
from bot.service.models import Attachment, Issue
from bot.slack.outgoing.outcomes import PostOutcome
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import (
    JSON,
    Block,
    Message,
    actions,
    button,
    context,
    link_button,
    section,
    shortened,
)
from bot.slack.surfaces.buttons import Button, Number
from bot.slack.text.mrkdwn import bold, line, link, prose
from bot.slack.text.wording import Wording
from bot.spelling import counted

MAX_FILES_IN_FORM = 10
MAX_NAMED = 5
MAX_LOST = 5
CREATE = "Create issue with files"
ICONS = {
    FileState.WAITING: "white_circle",
    FileState.UPLOADING: "arrow_up",
    FileState.UNCONFIRMED: "grey_question",
    **dict.fromkeys((FileState.FAILED, FileState.REFUSED, FileState.CLAIMED), "x"),
}
"""What stands beside a file's name; a check mark beside the others."""


class AttachFromMessage(Button):
    """Opens the form for a message's files, with the issue chosen; `saved` is the ID of the saved message."""

    action = "files.from_message"
    issue: Number
    saved: str


class DescribeFile(Button):
    action = "files.open_describe"
    issue: Number
    attachment: Number


class RetryFiles(Button):
    action = "files.retry"
    shows_progress = True
    saved: str


def files_form(issue: Issue | None, metadata: str) -> JSON:
    """The form for files from the user's computer; without an issue, that is chosen in it."""
    element = {"type": "file_input", "action_id": "files", "max_files": MAX_FILES_IN_FORM}
    blocks = [
        section(f"Attach to {bold(f'#{issue.id} {issue.subject}')}")
        if issue
        else issue_field("files.issue", None),
        forms.field("files", "Files", element, optional=False),
        context("You can rename and describe each file after it's attached."),
    ]
    return forms.form("files.attach", "Attach files", blocks, submit="Attach files", metadata=metadata)


def message_form(
    known: Sequence[forms.SelectOption],
    files: Sequence[Block],
    issue: Issue | None,
    saved_id: str,
    metadata: str,
) -> JSON:
    """The form for a message's files: which ones, the issue, and their names."""
    blocks: list[Block] = [
        *files,
        issue_field("files.issue", issue),
        actions([button(CREATE, NewIssueWithFiles(saved=saved_id))]),
    ]
    for index, (_, name) in enumerate(known[:MAX_NAMED]):
        if len(known) > 1:
            blocks.append(section(bold(name)))
        blocks += _name_and_description(f"_{index}", name, "")
    return forms.form("files.attach", "Attach files", blocks, submit="Attach files", metadata=metadata)


def files_field(
    known: Sequence[forms.SelectOption], missing: Sequence[MissingFile], *, optional: bool = True
) -> list[Block]:
    """Checkboxes for a message's files, all checked, and why some files are left out."""
    blocks: list[Block] = []
    if known:
        boxes = forms.boxes("files", known, "Choose files")
        blocks.append(forms.field("files", "Files", boxes, optional=optional))
    if missing:
        lines = (f":warning: {prose(f'{file.name}: {file.why}')}" for file in missing[:MAX_LOST])
        blocks.append(context(*lines))
    return blocks


def describe_form(attachment: Attachment, metadata: str) -> JSON:
    fields = _name_and_description("", attachment.filename, attachment.description or "")
    return forms.form("files.describe", "Rename or describe", fields, submit="Save", metadata=metadata)


def _name_and_description(suffix: str, name: str, description: str) -> list[Block]:
    named = forms.text(f"name{suffix}", name, most=FILE_TEXT_LENGTH)
    described = forms.text(f"description{suffix}", description, most=FILE_TEXT_LENGTH)
    return [
        forms.field(f"name{suffix}", "File name", named, optional=False),
        forms.field(f"description{suffix}", "Description", described),
    ]


def described(number: int, name: str, description: str, wording: Wording) -> Message:
    text = f":white_check_mark: Updated {bold(name)} on {_issue(number, wording)}"
    text += f"\n{line(description)}" if description else ""
    return Message(text, (section(text),))


def progress(batch: Batch, doing: str) -> str:
    """The sentence `doing` and each file's progress, in mrkdwn."""
    lines = [prose(doing)]
    for file in batch.files:
        icon, name = ICONS.get(file.state, "white_check_mark"), line(shortened(file.request.name, 100))
        how_far = f" {_how_far(file)}" if file.state is FileState.UPLOADING else ""
        lines.append(f":{icon}: {name}{how_far}")
    return "\n".join(lines)


def row(number: int, file: BatchFile, wording: Wording) -> Block:
    """A file's result: attached, or the reason it isn't."""
    change = None
    if file.attachment:
        change = button("Rename or describe", DescribeFile(issue=number, attachment=file.attachment.id))
    return section(_line(number, file, wording), accessory=change)


def results(number: int, rows: Sequence[Block], wording: Wording, retry: str | None) -> Message:
    """The results of all files. `retry` is the ID of the saved selection of the failed ones."""
    head = f"Files for {_issue(number, wording)}"
    blocks: list[Block] = [section(f"*{head}*"), *rows]
    lines = [head, *(block["text"]["text"] for block in rows)]
    again = [button("Retry", RetryFiles(saved=retry), style="primary")] if retry else []
    blocks.append(actions([*again, link_button(f"Open in {wording.service}", wording.url(number))]))
    return Message("\n".join(lines), tuple(blocks))


def attached(issue: Issue, count: int, wording: Wording, announced: PostOutcome | None) -> Message | None:
    """The private reply to the user who attached a message's files, if that wasn't announced."""
    text = f"Attached {counted(count, 'file')} to {title(issue, wording)}."
    answer = Message(text, (section(text),))
    explained = with_reason(answer, issue, announced)
    return None if explained is answer else explained


def new_instead(number: int, saved_id: str, wording: Wording) -> Message:
    """The service accepts files only while an issue is created; offers to create one."""
    reason = f"{wording.service} can't add files to an existing issue. Create a new issue with them."
    text = f":warning: {prose(reason)}"
    buttons = [
        button(CREATE, NewIssueWithFiles(saved=saved_id), style="primary"),
        link_button(f"Open #{number}", wording.url(number)),
    ]
    return Message(text, (section(text), actions(buttons)))


def _line(number: int, file: BatchFile, wording: Wording) -> str:
    name = bold(shortened(file.request.name, 200))
    why = ""
    match file.state, file.error:
        case FileState.ATTACHED, _:
            description = file.attachment.description if file.attachment else file.request.description
            about = f" · {line(description)}" if description else ""
            return f":white_check_mark: {name} attached{about}"
        case FileState.UNCONFIRMED, _:
            return f":grey_question: I couldn't confirm that {name} was attached. “Retry” checks first."
        case FileState.CLAIMED, None:
            return f":x: {name} was already attached to #{number}. Check the issue."
        case FileState.CLAIMED, _:
            return f":x: {name} is being attached to #{number} right now. Check the issue in a moment."
        case _, Refused(errors=errors) if errors:
            why = f"{wording.service} rejected it: {'; '.join(errors)}"
        case _, BotError() as error:
            why = wording.sentence(error)
    return f":x: {name} wasn't attached. {prose(why)}".rstrip()


def _issue(number: int, wording: Wording) -> str:
    return link(wording.url(number), f"#{number}")


def _how_far(file: BatchFile) -> str:
    size = file.source.size
    if not size:
        return format_size(file.sent)
    return f"{min(100, file.sent * 100 // size)}% of {format_size(size)}"
