"""Creates an issue with files that a user chose before."""

from dataclasses import dataclass

from bot.features.accounts.accounts import Accounts
from bot.features.files.jobs import FileJobs
from bot.features.issues.buttons import NewIssueWithFiles
from bot.features.issues.creating import Source
from bot.features.issues.fields import Draft
from bot.features.issues.issues import Issues
from bot.features.new_issue.form import TITLE
from bot.features.new_issue.from_message import draft_from_message
from bot.features.new_issue.handlers import CreateFormHandlers
from bot.slack.feature import Feature
from bot.slack.forms import loading
from bot.slack.interaction import ButtonPress, Place
from bot.slack.replies import Reply


@dataclass(frozen=True)
class CreateWithFiles:
    """Opens the create form with files that were chosen before."""

    accounts: Accounts
    issues: Issues
    jobs: FileJobs
    form: CreateFormHandlers

    def feature(self) -> Feature:
        return Feature(buttons={NewIssueWithFiles: self.open_pressed})

    async def open_pressed(self, press: ButtonPress[NewIssueWithFiles], reply: Reply) -> None:
        """The button *Create a new issue with them*: the create form, with the files in it."""
        job = await self.jobs.load(reply, press.button.job)
        place = Place.from_json(job.place)
        if reply.in_form:  # this button was the form's answer: the new form replaces it
            await reply.show(loading(TITLE))
        draft, source = Draft(), None
        if job.message and place.channel_id:
            draft = await draft_from_message(reply.at(place), job.message)
            source = Source(place.channel_id, job.message["ts"])
        elif job.issue:
            async with self.accounts.reading(reply.owner) as session:
                issue = await self.issues.one(session, job.issue)
            draft = Draft(
                subject=f"Files for #{issue.id} {issue.subject}",
                project=f"#{issue.project.id}" if issue.project else None,
                values={"desc": f"Files for #{issue.id}."},
            )
        fresh = await self.jobs.save(reply, job.model_copy(update={"issue": None}))
        await self.form.open_form(reply.at(place), draft, source, files_job=fresh)
