"""Builds drafts of issues from a command or a message."""

import re

from bot.features.issues.commands import NewIssue
from bot.features.issues.issues import Draft
from bot.slack import forms, message_text
from bot.slack.blocks import JSON, shortened
from bot.slack.grammar.requests import Me, Person, SlackUser
from bot.slack.posting import SLACK_FAILED
from bot.slack.replies import Reply
from bot.slack.text import to_markdown, to_textile
from bot.slack.text.outgoing import to_plain
from bot.store.owner import Owner

SUBJECT = 120
REST = " (where the rest of it is, too long for this form)"
MENTIONS = 10


async def draft_from_message(reply: Reply, message: JSON) -> Draft:
    """A message as a draft: its first line is the subject, its text with author and link the description."""
    text = message_text.text_of(message)
    names = {user: (await reply.profile_of(user)).name for user in mentioned(text)}
    author = message_text.author_of(message) or "someone"
    if message.get("user") and author == "someone":
        author = (await reply.profile_of(message["user"])).name
    try:
        answer = await reply.slack.chat_getPermalink(
            channel=reply.place.channel_id or "", message_ts=message["ts"]
        )
        permalink = answer.get("permalink")
    except SLACK_FAILED:
        permalink = None
    convert = to_textile if reply.wording.text_format == "textile" else to_markdown
    source = re.sub(r"[^\w .-]", "", author) + " in Slack"
    if permalink:
        source = (
            f'"{source}":{permalink}'
            if reply.wording.text_format == "textile"
            else f"[{source}]({permalink})"
        )
    whole = convert(text, lambda user: names.get(user, user))
    body = shortened(whole, forms.TEXT - len(source) - len(REST) - 4)
    if body != whole:
        source = f"{source}{REST}"
    first = next(
        (li.strip() for li in to_plain(text, lambda u: names.get(u, u)).splitlines() if li.strip()), ""
    )
    return Draft(subject=shortened(first.rstrip("."), SUBJECT), description=f"{body}\n\n– {source}".lstrip())


def mentioned(text: str) -> list[str]:
    """The ids of the people whom a message mentions, up to `MENTIONS`."""
    return list(dict.fromkeys(re.findall(r"<@([UW][A-Z0-9]+)", text)))[:MENTIONS]


def draft_from_command(request: NewIssue, user: Owner) -> Draft:
    """A command as a draft: mentions become users of this workspace."""
    return Draft(
        subject=request.subject,
        description=request.desc,
        project=request.project,
        tracker=request.tracker,
        status=request.status,
        priority=request.priority,
        category=request.category,
        version=request.version,
        to=who(request.to, user) if request.to else None,
        watch=tuple(who(person, user) for person in request.watch),
        parent=request.parent,
        start=request.start,
        due=request.due,
        estimate=request.estimate,
        private=request.private,
        custom_fields=dict(request.custom_fields),
    )


def who(person: Person, user: Owner) -> Owner | str:
    """A user as the use cases take them: a Slack user, `me`, or a name."""
    match person:
        case Me():
            return "me"
        case SlackUser():
            return Owner(user.enterprise_id, user.team_id, person.id)
        case _:
            return person.name
