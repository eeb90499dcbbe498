"""A new issue with files that were meant for one that exists, or for whatever the person chooses."""

from bot.features.files.jobs import keep, kept
from bot.features.issues.create_form import loading
from bot.features.issues.create_form_handlers import open_form
from bot.features.issues.drafts import draft_from
from bot.features.issues.issues import Draft, Source
from bot.slack.interaction import Place
from bot.slack.replies import Reply
from bot.slack.interaction import (
    ButtonPress,
    Event,
    FormClosed,
    FormSubmission,
    OptionsRequest,
    Shortcut,
    SlashCommand,
    Place,
)
from bot.slack.forms import FormResult, number_in


class CreateWithFiles:
    """TODO"""

    def __init__(self, accounts: TODO_accounts, issues: TODO_issues) -> None:
        self._accounts = accounts
        self._issues = issues

    async def open_pressed(self, press: ButtonPress, reply: Reply) -> None:
        """The button *Create a new issue with them*: the form, with the files among it."""
        job_id = press.value
        job = await kept(reply, job_id)
        place = Place.from_json(job.place)
        if reply.in_form:  # it has been answered with this button: the new form takes its place
            await reply.show(loading())
        draft, source = Draft(), None
        if job.message and place.channel_id:
            draft = await draft_from(reply.at(place), job.message)
            source = Source(place.channel_id, job.message["ts"])
        elif job.issue:
            async with self._accounts.reading(reply.owner) as session:
                issue = await self._issues.one(session, job.issue)
            draft = Draft(
                subject=f"Files for #{issue.id} {issue.subject}",
                description=f"Files for #{issue.id}.",
                project=f"#{issue.project.id}" if issue.project else None,
            )
        fresh = await keep(reply, job.model_copy(update={"issue": None}))
        await open_form(reply.at(place), draft, source, files_job=fresh)
