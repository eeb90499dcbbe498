"""The forms and messages about attaching files."""

from collections.abc import Sequence

from bot.errors import BotError, Refused
from bot.features.files.batch import Batch, BatchFile, State
from bot.features.files.buttons import DescribeFile, RetryFiles
from bot.features.files.errors import Loss, LostFile, MissingFile
from bot.features.issues.buttons import NewIssueWithFiles
from bot.features.issues.views import format_size, title, with_reason
from bot.service.conventions import FILE_TEXT_LENGTH
from bot.service.models import Attachment, Issue
from bot.slack import forms
from bot.slack.blocks import (
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
from bot.slack.posting import Announced
from bot.slack.text import bold, line, link, prose
from bot.slack.wording import Wording

MAX_FILES = 10
MAX_NAMED = 5
MAX_LOST = 5
CREATE = "Create issue with files"


def files_form(number: int | None, metadata: str) -> JSON:
    """The form for files from the user's computer; without a number, the issue is chosen in it."""
    element = {"type": "file_input", "action_id": "files", "max_files": MAX_FILES}
    blocks = [
        _issue_field(None) if number is None else section(f"Attach to *#{number}*"),
        forms.field("files", "Files", element, optional=False),
        context("You can rename and describe each file after it's attached."),
    ]
    return forms.form("files.attach", "Attach files", blocks, submit="Attach files", metadata=metadata)


def message_form(
    known: Sequence[forms.Choice], files: Sequence[Block], issue: JSON | None, job_id: str, metadata: str
) -> JSON:
    """The form for a message's files: which ones, the issue, and their names."""
    blocks: list[Block] = [
        *files,
        _issue_field(issue),
        actions([button(CREATE, NewIssueWithFiles(job=job_id))]),
    ]
    for index, (_, name) in enumerate(known[:MAX_NAMED]):
        if len(known) > 1:
            blocks.append(section(bold(name)))
        blocks += _name_and_description(f"_{index}", name, "")
    return forms.form("files.attach", "Attach files", blocks, submit="Attach files", metadata=metadata)


def _issue_field(chosen: JSON | None) -> Block:
    searched = forms.searched("files.issue", chosen, "Search by number or subject")
    return forms.field("issue", "Issue", searched, optional=False)


def files_field(
    known: Sequence[forms.Choice], missing: Sequence[MissingFile], wording: Wording, *, optional: bool = True
) -> list[Block]:
    """Checkboxes for a message's files, all checked, and why some files are left out."""
    blocks: list[Block] = []
    if known:
        boxes = forms.boxes("files", known, "Choose files")
        blocks.append(forms.field("files", "Files", boxes, optional=optional))
    if missing:
        lines = (why_missing(file, wording) for file in missing[:MAX_LOST])
        blocks.append(context(*(f":warning: {prose(said)}" for said in lines)))
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
    text = f":white_check_mark: Saved {bold(name)} on {_issue(number, wording)}"
    text += f"\n{line(description)}" if description else ""
    return Message(text, (section(text),))


def progress(batch: Batch, doing: str) -> str:
    """The sentence `doing` and each file's progress, in mrkdwn."""
    lines = [prose(doing)]
    for file in batch.files:
        name = line(shortened(file.wanted.name, 100))
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
        change = button("Rename or describe", DescribeFile(issue=number, attachment=file.attachment.id))
    return section(_line(number, file, wording), accessory=change)


def results(number: int, rows: Sequence[Block], wording: Wording, retry: str | None) -> Message:
    """The results of all files. `retry` is the id of the job with the failed ones."""
    head = f"Files for {_issue(number, wording)}"
    blocks: list[Block] = [section(f"*{head}*"), *rows]
    lines = [head, *(block["text"]["text"] for block in rows)]
    again = [button("Retry", RetryFiles(job=retry), style="primary")] if retry else []
    blocks.append(actions([*again, link_button(f"Open in {wording.service}", wording.url(number))]))
    return Message("\n".join(lines), tuple(blocks))


def announced(issue: Issue, count: int, wording: Wording, by: str, permalink: str | None) -> str:
    """What is said, as mrkdwn, about files of a message that `by` attached to an issue."""
    message = link(permalink, "this message") if permalink else "this message"
    return f"{line(by)} attached {_files(count)} from {message} to {title(issue, wording)}"


def attached(issue: Issue, count: int, wording: Wording, announced: Announced | None) -> Message | None:
    """The private answer to whoever attached files of a message, if that wasn't announced."""
    text = f"Attached {_files(count)} to {title(issue, wording)}."
    answer = Message(text, (section(text),))
    explained = with_reason(answer, issue, announced)
    return None if explained is answer else explained


def _files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"


def new_instead(number: int, error: BotError, job_id: str, wording: Wording) -> Message:
    """The service can't attach to an existing issue; offers to create one."""
    text = f":warning: {prose(wording.sentence(error))}"
    buttons = [
        button(CREATE, NewIssueWithFiles(job=job_id), style="primary"),
        link_button(f"Open #{number}", wording.url(number)),
    ]
    return Message(text, (section(text), actions(buttons)))


def _line(number: int, file: BatchFile, wording: Wording) -> str:
    name = bold(shortened(file.wanted.name, 200))
    why = ""
    match file.state, file.error:
        case State.ATTACHED, _:
            description = file.attachment.description if file.attachment else file.wanted.description
            about = f" · {line(description)}" if description else ""
            return f":white_check_mark: {name} attached{about}"
        case State.UNSURE, _:
            return f":grey_question: {name} may not be attached. “Retry” checks before it uploads again."
        case State.CLAIMED, None:
            return f":x: {name} was attached to #{number} before. Check the issue."
        case State.CLAIMED, _:
            return f":x: {name} is being attached to #{number} right now. Check the issue in a moment."
        case _, LostFile() as lost:
            why = why_lost(lost, wording)
        case _, Refused(errors=errors) if errors:
            why = f"{wording.service} rejected it: {'; '.join(errors)}"
        case _, BotError() as error:
            why = wording.sentence(error)
    return f":x: {name} wasn't attached. {prose(why)}".rstrip()


def why_missing(file: MissingFile, wording: Wording) -> str:
    """A message's file, and why it can't be downloaded, in plain text."""
    return f"{file.name}: {why_lost(LostFile(file.why, file.place), wording)}"


def why_lost(lost: LostFile, wording: Wording) -> str:
    """Why a file was lost and what to do, in plain text."""
    invite = "Invite me to the conversation with `/invite @Issue Bot`, then try again."
    upload = "Download it, then upload it to Slack."
    return {
        Loss.DELETED: "It was deleted in Slack.",
        Loss.ELSEWHERE: f"It's stored in {lost.place}, not in Slack. {upload}",
        Loss.HIDDEN: f"I can't see it in Slack. {invite}",
        Loss.NOT_OFFERED: "Slack no longer provides it. It may be too old for your Slack plan.",
        Loss.NOT_OWN: "Someone else uploaded it to Slack. Use “Attach files” on their message.",
        Loss.FOREIGN_HOST: f"It isn't stored on Slack's own servers. {upload}",
        Loss.REDIRECTED: f"Slack redirected the download, so I stopped. {upload}",
        Loss.RATE_LIMITED: "Slack is limiting my downloads. Try again in a minute.",
        Loss.UNREACHED: "I can't reach Slack. Try again in a minute.",
        Loss.FAILED: "Slack couldn't send it. Try again in a minute.",
        Loss.PAGE: f"Slack sent a web page instead of the file. {invite}",
        Loss.WRONG_SIZE: f"Slack sent {lost.received} bytes instead of {lost.expected}. {invite}",
        Loss.CUT_OFF: "The connection to Slack was lost. Try again.",
        Loss.INCOMPLETE: "The download from Slack was incomplete. Try again.",
        Loss.NOT_UPLOADED: f"The connection to {wording.service} was lost. Try again.",
        Loss.NOT_ATTACHED: "It isn't among the issue's files. Try again.",
    }[lost.why]


def _issue(number: int, wording: Wording) -> str:
    return link(wording.url(number), f"#{number}")


def _how_far(file: BatchFile) -> str:
    size = file.source.size
    if not size:
        return format_size(file.sent)
    return f"{min(100, file.sent * 100 // size)}% of {format_size(size)}"
