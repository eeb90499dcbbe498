"""The replies to messages that mean no command."""

from collections.abc import Sequence
from typing import Any

from bot.features.comments.views import CommentWithMessage
from bot.features.help.views import help_button
from bot.features.issues.buttons import CommentOnIssue, FollowIssue, OpenTimeForm
from bot.features.issues.fields import Draft
from bot.features.issues.views import title
from bot.features.related.views import CreateFromMessage, FindRelated
from bot.service.models import Issue
from bot.slack.surfaces.blocks import Element, Message, actions, button, rows, section, shortened
from bot.slack.surfaces.buttons import Button
from bot.slack.surfaces.drafts import SavedDraft
from bot.slack.text.mrkdwn import prose
from bot.slack.text.wording import Wording

QUOTE_LENGTH = 50
WORDLESS = (
    "I couldn't find any words in that message. Type what you want, such as `new Login page is blank` "
    "or `42`."
)
UNCLEAR = "I don't recognize that command. Did you mean one of these?"
REMINDER = (
    "I can't set reminders. Use Slack's `/remind` for a date, or follow an issue to see its changes here."
)
LONG = "That's too long for a command. You can put it into an issue's description."
OF_THREAD = "I'll fill in the form from this thread's first message."
FILES = "What should I do with your files?"
FILES_LEFT = (
    "I can't attach files from here. To attach them, choose “More actions › Attach files to an issue” on "
    "your message."
)


class RunCommand(SavedDraft):
    """Runs a command where the message was; `payload` is as in `ResumeRequest`."""

    action = "mention.run"
    payload: dict[str, Any]


class OpenDraftThere(SavedDraft):
    """Opens the form for a new issue, which is then announced where the message was."""

    action = "mention.create"
    command = "issue"
    draft: Draft
    place: dict[str, Any]


def unclear(
    text: str,
    subject: str,
    create: Button,
    search: Button | None,
    leads: Sequence[tuple[str, Button]] = (),
    *,
    certain: bool = True,
) -> Message:
    """Says `text`, and offers what a message may mean; `search` is left out where it can't help.

    `leads` are the commands that answer a question. Only a text that is `certain` to tell something may
    become an issue by the green button.
    """
    quoted, message = shortened(subject, QUOTE_LENGTH), prose(text)
    buttons = [button(label, lead) for label, lead in leads]
    if search:
        buttons.append(button(f"Search for “{quoted}”", search))
    buttons.insert(
        0 if certain else len(buttons),
        button(f"Create issue “{quoted}”", create, style="primary" if certain else None),
    )
    return Message(message, (section(message), *rows([*buttons, help_button()])))


def as_comment(saved: str, number: int) -> Message:
    """Offers the `saved` message as a comment on an issue."""
    add = button(f"Comment on #{number}", CommentWithMessage(issue=number, saved=saved), style="primary")
    return Message(OF_THREAD, (section(OF_THREAD), actions([add])))


def thread_menu(saved: str, thread_ts: str, issue: Issue | None, wording: Wording) -> Message:
    """Offers actions on a `saved` thread, which may be about an issue."""
    about = f"This thread is about {title(issue, wording)}." if issue else ""
    text = f"{about} What should I do with it?".strip() if issue else "What should I do with this thread?"
    rows: list[Sequence[Element]] = [
        [
            button("Create an issue", CreateFromMessage(saved=saved, whole=True)),
            button("Find related issues", FindRelated(saved=saved)),
        ]
    ]
    if issue:
        rows.insert(
            0,
            [
                button(f"Comment on #{issue.id}", CommentOnIssue(issue=issue.id)),
                button("Follow in this thread", FollowIssue(issue=issue.id, thread=thread_ts)),
                button("Log time", OpenTimeForm(issue=issue.id)),
            ],
        )
    return Message(text, (section(text), *map(actions, rows)))
