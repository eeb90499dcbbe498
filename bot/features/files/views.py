"""The forms and messages about attaching files."""

from collections.abc import Sequence

from bot.errors import BotError, Refused, TooLarge
from bot.features.files.batch import Batch, BatchFile, State
from bot.features.files.buttons import DescribeFile, RetryFiles
from bot.features.files.errors import Loss, LostFile, MissingFile
from bot.features.issues.buttons import NewIssueWithFiles
from bot.features.issues.views import format_size
from bot.service.conventions import FILE_TEXT_LENGTH
from bot.service.models import Attachment
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
    known: Sequence[forms.Choice], files: Sequence[Block], issue: JSON | None, job_id: str, metadata: str
) -> JSON:
    """The form for a message's files: which ones, the issue, and their names."""
    searched = forms.searched("files.issue", issue, "A number or part of a subject")
    blocks: list[Block] = [
        *files,
        forms.field("issue", "Issue", searched, optional=False),
        actions([button("Create a new issue with them", NewIssueWithFiles(job=job_id))]),
    ]
    for index, (_, name) in enumerate(known[:MAX_NAMED]):
        if len(known) > 1:
            blocks.append(section(bold(name)))
        blocks += _name_and_description(f"_{index}", name, "")
    return forms.form("files.attach", "Attach files", blocks, submit="Attach", metadata=metadata)


def files_field(
    known: Sequence[forms.Choice], missing: Sequence[MissingFile], wording: Wording, *, optional: bool = True
) -> list[Block]:
    """Checkboxes for a message's files, all checked, and why some files are left out."""
    blocks: list[Block] = []
    if known:
        boxes = forms.boxes("files", known, "Files to attach")
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
    text = f":white_check_mark: {bold(name)} at {_issue(number, wording)}"
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


def new_instead(number: int, error: BotError, job_id: str, wording: Wording) -> Message:
    """The service can't attach to an existing issue; offers to create one."""
    text = f":warning: {prose(wording.sentence(error))}"
    buttons = [
        button("Create a new issue with them", NewIssueWithFiles(job=job_id), style="primary"),
        link_button(f"Open #{number}", wording.url(number)),
    ]
    return Message(text, (section(text), actions(buttons)))


def _line(number: int, file: BatchFile, wording: Wording) -> str:
    name = bold(shortened(file.wanted.name, 200))
    match file.state, file.error:
        case State.ATTACHED, _:
            description = file.attachment.description if file.attachment else file.wanted.description
            about = f": {line(description)}" if description else ""
            return f":white_check_mark: {name} attached{about}"
        case State.UNSURE, _:
            return (
                f":grey_question: {name}: I couldn't learn whether it was attached: "
                "“Retry” looks before it sends anything"
            )
        case State.CLAIMED, _:
            already = f"it was attached to #{number} already, or is on its way there: look at the issue"
            why = f"not attached: {already}"
        case _, None:
            why = "not attached"
        case _, LostFile() as lost:
            why = f"lost on the way: {prose(why_lost(lost, wording))}"
        case _, Refused(errors=errors) if errors:
            why = f"refused: {prose('; '.join(errors))}"
        case _, TooLarge() as error:
            why = f"too large: {prose(wording.sentence(error))}"
        case _, error:
            why = f"not attached: {prose(wording.sentence(error))}"
    return f":x: {name} {why}"


def why_missing(file: MissingFile, wording: Wording) -> str:
    """A message's file, and why it can't be downloaded, in plain text."""
    return f"{file.name}: {why_lost(LostFile(file.why, file.place), wording)}"


def why_lost(lost: LostFile, wording: Wording) -> str:
    """Why a file was lost, in plain text, without a period."""
    hidden = "Slack doesn't show it to me: invite me to the conversation and try again"
    sizes = f"{lost.received} bytes, not {lost.expected}"
    return {
        Loss.DELETED: "it was deleted in Slack",
        Loss.ELSEWHERE: f"it lies with another service ({lost.place}), not with Slack, so I can't fetch it",
        Loss.HIDDEN: hidden,
        Loss.NOT_OFFERED: "Slack doesn't hand it out: it may be older than your plan keeps files",
        Loss.NOT_OWN: "somebody else put it into Slack: take it from their message",
        Loss.FOREIGN_HOST: "its address isn't Slack's, so I don't show my token there",
        Loss.REDIRECTED: "Slack sent me to another address, which I don't follow",
        Loss.RATE_LIMITED: "Slack is asking me to slow down: try again in a minute",
        Loss.UNREACHED: "Slack can't be reached: try again",
        Loss.FAILED: "Slack failed to hand it out: try again",
        Loss.PAGE: f"Slack handed out a page in its place; {hidden}",
        Loss.WRONG_SIZE: f"what Slack handed out has another size ({sizes}); {hidden}",
        Loss.CUT_OFF: "it was lost on the way from Slack: try again",
        Loss.INCOMPLETE: "it didn't arrive whole from Slack: try again",
        Loss.NOT_UPLOADED: f"it was lost on the way to {wording.service}: try again",
        Loss.NOT_ATTACHED: "it is not among the issue's files: try again",
    }[lost.why]


def _issue(number: int, wording: Wording) -> str:
    return link(wording.url(number), f"#{number}")


def _how_far(file: BatchFile) -> str:
    size = file.source.size
    if not size:
        return format_size(file.sent)
    return f"{min(100, file.sent * 100 // size)} % of {format_size(size)}"
