"""Messages about several issues at once."""

from collections.abc import Mapping, Sequence

from bot.features.issues.views import title
from bot.features.new_issue.opening import OpenDraft
from bot.features.search.views import search_button
from bot.service.models import Issue
from bot.slack.surfaces.blocks import Element, Message, actions, button, rows, section
from bot.slack.surfaces.buttons import Number
from bot.slack.surfaces.drafts import SavedDraft
from bot.slack.text.mrkdwn import line, prose
from bot.slack.text.wording import Wording
from bot.spelling import counted, series


class ChangeSeveral(SavedDraft):
    """Changes these issues as the text says."""

    action = "issue.change_several"
    issues: tuple[Number, ...]
    text: str


def asked(issues: Sequence[Issue], saved: ChangeSeveral, wording: Wording) -> Message:
    """Asks before several issues are changed."""
    named = series([title(issue, wording) for issue in issues], "and")
    both = "both" if len(issues) == 2 else counted(len(issues), "issue")  # noqa: PLR2004 - both
    question = f"Change {named}? “{line(saved.text)}”"
    change = button(f"Change {both}", saved, style="primary")
    return Message(question, (section(question), actions([change, search_for(saved.issues)])))


def asked_for(subjects: Sequence[str], each: Sequence[Element], one: OpenDraft) -> Message:
    """Asks which of several issues to create; `each` are the buttons for them."""
    question = f"Are these {len(subjects)} separate issues?"
    listed = "\n".join(f"• {line(subject)}" for subject in subjects)
    buttons = rows([*each, button("Create one issue", one)])
    return Message(question, (section(f"{question}\n{listed}"), *buttons))


def changed(results: Mapping[int, str], saved: ChangeSeveral, again: ChangeSeveral | None) -> Message:
    """What became of each issue; `again` changes those that failed."""
    text = "\n".join(f"• {result}" for result in results.values())
    if again is None:
        return Message(text, (section(text), actions([search_for(saved.issues)])))
    text = f"{text}\nThe change: “{line(saved.text)}”"
    retry = button("Try again", again, style="primary")
    return Message(text, (section(text), actions([retry, search_for(saved.issues)])))


def failed(number: int, sentence: str) -> str:
    return f"#{number}: {prose(sentence)}"


def search_for(issues: Sequence[int]) -> Element:
    return search_button(f"id:{','.join(map(str, issues))} status:any")
