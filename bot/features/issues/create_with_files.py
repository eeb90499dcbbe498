"""A new issue with files that were meant for one that exists, or for whatever the person chooses."""

from bot.features.files.jobs import keep, kept
from bot.features.issues.create_form import loading
from bot.features.issues.create_form_handlers import open_form
from bot.features.issues.drafts import draft_from
from bot.features.issues.issues import Draft, Source
from bot.slack.posting import Place
from bot.slack.turn import Turn


async def open_pressed(turn: Turn) -> None:
    """The button *Create a new issue with them*: the form, with the files among it."""
    job_id = turn.value
    job = await kept(turn, job_id)
    place = Place.from_json(job.place)
    if turn.in_form:  # it has been answered with this button: the new form takes its place
        await turn.show(loading())
    draft, source = Draft(), None
    if job.message and place.channel_id:
        draft = await draft_from(turn.at(place), job.message)
        source = Source(place.channel_id, job.message["ts"])
    elif job.issue:
        async with turn.parts.accounts.reading(turn.owner) as session:
            issue = await turn.parts.issues.one(session, job.issue)
        draft = Draft(
            subject=f"Files for #{issue.id} {issue.subject}",
            description=f"Files for #{issue.id}.",
            project=f"#{issue.project.id}" if issue.project else None,
        )
    fresh = await keep(turn, job.model_copy(update={"issue": None}))
    await open_form(turn.at(place), draft, source, files_job=fresh)
