"""Issues: `/issue`, the create form however it is opened, the card, and sharing it."""

import asyncio
import json
import re
from datetime import UTC, datetime

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_sdk.errors import SlackApiError

from bot.errors import BotError, NotLinked, OutcomeUnknown, UserError
from bot.service.models import Project
from bot.slack import filejobs
from bot.slack.grammar import issue_command
from bot.slack.grammar.requests import AttachFiles, Help, Me, NewIssue, OpenForm, Person, ShowIssue, SlackUser
from bot.slack.listeners import duplicates, files
from bot.slack.mrkdwn import to_markdown, to_textile
from bot.slack.mrkdwn.outgoing import to_plain
from bot.slack.posting import SLACK_FAILED, Announced, Place
from bot.slack.submission import Reply, metadata_of, once, refused, settle
from bot.slack.turn import Turn
from bot.slack.views import forms, issue_form
from bot.slack.views import help as help_views
from bot.slack.views import issues as views
from bot.slack.views.blocks import JSON, option, shortened
from bot.slack.views.files import progress
from bot.store.owner import Owner
from bot.usecases.accounts import Session
from bot.usecases.issues import Created, Draft, Source

SUBJECT = 120
WAITING = 1500
MENTIONS = 10


async def command(turn: Turn) -> None:
    """`/issue …`."""
    request = issue_command(turn.body.get("text") or "", await turn.today())
    match request:
        case OpenForm():
            await open_form(turn, draft_of(request.prefilled, turn.owner))
        case ShowIssue():
            await show(turn, request.number)
        case AttachFiles():
            await files.open_form(turn, request.number)
        case NewIssue():
            await create(turn, draft_of(request, turn.owner))
        case Help():
            await turn.answer(help_views.of("issue", turn.parts.command))


async def create(turn: Turn, draft: Draft) -> None:
    """Create at once, announce it where it was asked for, and tell the person what nobody else need know."""
    made = await turn.parts.issues.create(turn.owner, draft, turn.channel)
    why_private = await announce(turn, made)
    if why_private or made.not_taken:
        await turn.answer(views.created(made, turn.style, why_private))


async def announce(turn: Turn, made: Created) -> str | None:
    """Announce a created issue; why only the person is to know, when that is so."""
    if made.issue.is_private:
        return "the issue is private"
    if made.meant_private:
        return f"you asked for a private issue, and {turn.service} didn't make it one"
    if not made.public:
        return "the project is private, and others here may not be allowed to see it"
    announced = await turn.announce(views.announced(made, turn.style, turn.owner.user_id))
    return None if announced is Announced.YES else announced.value


async def show(turn: Turn, number: int) -> None:
    """The card of an issue, for the person alone."""
    if not (turn.in_form or turn.at_home):
        await turn.answer(views.card(await turn.parts.issues.show(turn.owner, number), turn.style))
        return
    await turn.open(issue_form.loading(f"#{number}"))
    shown = await turn.parts.issues.show(turn.owner, number)
    await turn.show(forms.said(f"#{number}", views.card(shown, turn.style, shareable=False).blocks))


async def show_pressed(turn: Turn) -> None:
    """The button *Show*."""
    await show(turn, int(turn.action["value"]))


async def share_pressed(turn: Turn) -> None:
    """The button *Share here*."""
    await share(turn, int(turn.action["value"]))


async def menu_chosen(turn: Turn) -> None:
    """The `…` menu of a result."""
    what, _, number = turn.action["selected_option"]["value"].partition(":")
    if what == "show":
        await show(turn, int(number))
    elif what == "share":
        await share(turn, int(number), sure=False)


async def share(turn: Turn, number: int, *, sure: bool = True) -> None:
    """Post an issue where its card stands, as seen with the key of whoever pressed.

    A menu can't ask before it acts: unless the person is `sure`, an issue of a project that isn't public is
    shown to them instead, and the button on its card asks.
    """
    shown = await turn.parts.issues.show(turn.owner, number)
    if not sure and not shown.public and not shown.issue.is_private:
        project = shown.project.name if shown.project else "Its project"
        await turn.answer(views.card(shown, turn.style, said=f"{project} is not public, so this asks first."))
        return
    if shown.issue.is_private:
        raise UserError(
            f"Issue #{number} is private and stays with those who may see it: it can't be shared."
        )
    announced = await turn.announce(views.shared(shown, turn.style, turn.owner.user_id))
    if announced is not Announced.YES:
        raise UserError(f"Issue #{number} was not shared: {announced.value}.")


# The form


async def open_create(turn: Turn) -> None:
    """The global shortcut."""
    await open_form(turn, Draft())


async def open_from_message(turn: Turn) -> None:
    """The message shortcut: the form filled from the message, announced in its thread."""
    if not turn.view_id:
        await turn.show(issue_form.loading())
    message = turn.body["message"]
    channel, ts = turn.place.channel_id or "", message["ts"]
    thread = Place(channel, message.get("thread_ts") or ts, turn.place.response_url)
    job = (
        await filejobs.keep(turn, await filejobs.of_message(turn, message)) if message.get("files") else None
    )
    await open_form(turn.at(thread), await draft_from(turn, message), Source(channel, ts), files_job=job)


async def draft_from(turn: Turn, message: JSON) -> Draft:
    """A message as a draft: its first line is the subject, its text with author and link the description."""
    text = str(message.get("text") or "")
    names = {user: (await turn.parts.profiles.of(turn.slack, user)).name for user in mentioned(text)}
    author = message.get("username") or "someone"
    if message.get("user"):
        author = (await turn.parts.profiles.of(turn.slack, message["user"])).name
    try:
        answer = await turn.slack.chat_getPermalink(
            channel=turn.place.channel_id or "", message_ts=message["ts"]
        )
        permalink = answer.get("permalink")
    except SLACK_FAILED:
        permalink = None
    convert = to_textile if turn.parts.text_format == "textile" else to_markdown
    source = re.sub(r"[^\w .-]", "", author) + " in Slack"
    if permalink:
        source = (
            f'"{source}":{permalink}' if turn.parts.text_format == "textile" else f"[{source}]({permalink})"
        )
    body = shortened(convert(text, lambda user: names.get(user, user)), forms.TEXT - len(source) - 4)
    first = next(
        (li.strip() for li in to_plain(text, lambda u: names.get(u, u)).splitlines() if li.strip()), ""
    )
    return Draft(subject=shortened(first.rstrip("."), SUBJECT), description=f"{body}\n\n– {source}".lstrip())


def mentioned(text: str) -> list[str]:
    """The ids of the people that a message mentions, a handful at most."""
    return list(dict.fromkeys(re.findall(r"<@([UW][A-Z0-9]+)", text)))[:MENTIONS]


async def open_form(
    turn: Turn, draft: Draft, source: Source | None = None, *, files_job: str | None = None
) -> None:
    """Open the form at once, then fill it with what can be chosen.

    `source` is what it is made from, `files_job` the job of the files that can come along (see `filejobs`).
    """
    if not turn.view_id:
        await turn.show(issue_form.loading())
    async with turn.parts.accounts.reading(turn.owner) as session:
        project = await _project(turn, session, draft)
        metadata = {"place": turn.place.as_json(), "source": duplicates.written(source), "files": files_job}
        view = await filled(turn, session, draft, project, metadata)
    await turn.show(view)


async def filled(turn: Turn, session: Session, draft: Draft, project: Project | None, metadata: JSON) -> JSON:
    """The form with the choices of a project."""
    about = duplicates.notes(turn, session, draft.subject, project.id if project else None, metadata)
    files = await filejobs.field(turn, metadata)
    if project is None:
        # Its fields come with the project: until then, what was asked for waits here.
        told = draft.model_dump(mode="json", exclude_defaults=True, exclude={"subject", "description"})
        if len(json.dumps(told)) <= WAITING:
            metadata = metadata | {"draft": told}
        return issue_form.create_form(draft, None, None, json.dumps(metadata), notes=await about, files=files)
    catalog, notes = await asyncio.gather(turn.parts.catalogs.of(session, project.id), about)
    said = issue_form.unknown(draft, catalog)
    try:
        named = [one for one in (draft.to, *draft.watch) if one]
        found = [await turn.parts.people.find(session, one, catalog) for one in named]
        ids = [f"#{person.id}" for person in found]
        to, watch = (ids[0], ids[1:]) if draft.to else (None, ids)
        draft = draft.model_copy(update={"to": to, "watch": tuple(watch)})
    except UserError as error:
        said.append(turn.sentence(error))
    return issue_form.create_form(
        draft, project, catalog, json.dumps(metadata), " ".join(said) or None, notes=notes, files=files
    )


async def project_chosen(turn: Turn) -> None:
    """Another project was chosen in the form: offer its choices and keep what was typed."""
    view = turn.body["view"]
    chosen = (turn.action.get("selected_option") or {}).get("value")
    refreshed = await refreshed_form(turn, view, chosen)
    try:
        await turn.show(refreshed, over=view.get("hash"))
    except SlackApiError as error:
        # A choice made since then has its own refresh, and that one has to stay.
        if error.response.get("error") != "hash_conflict":
            raise


async def refreshed_form(turn: Turn, view: JSON, chosen: str | None) -> JSON:
    """The form with the choices of the project with the id `chosen`, and all that it holds."""
    metadata = metadata_of(view)
    draft = issue_form.carried_over(view)
    if waiting := metadata.pop("draft", None):
        typed = draft.model_dump(include={"subject", "description"})
        draft = Draft.model_validate(waiting).model_copy(update=typed)
    async with turn.parts.accounts.reading(turn.owner) as session:
        project = await turn.parts.projects.by_id(session, int(chosen)) if chosen else None
        return await filled(turn, session, draft, project, metadata)


async def submit(turn: Turn, ack: AsyncAck) -> None:
    """The form was submitted: create once, and keep everything in it when that fails."""
    view = turn.body["view"]
    metadata = metadata_of(view)
    turn = turn.at(Place.from_json(metadata.get("place")))
    try:
        draft = issue_form.submitted(view)
    except UserError as error:
        values = forms.Values(view)
        await ack(response_action="errors", errors={values.block_ids["estimate"]: turn.sentence(error)})
        return
    made: list[Created] = []
    attempted = datetime.fromisoformat(at) if (at := metadata.get("attempted_at")) else None
    load = filejobs.load_since(attempted)

    async def work() -> Reply:
        if issue_form.outdated(view):
            again = await refreshed_form(turn, view, forms.Values(view).chosen("project"))
            said = "The choices below are this project's now: look them over and send it again."
            return Reply(view=forms.warned(again, said), said=said)
        started = datetime.now(UTC)
        try:
            async with once(turn):
                await filejobs.choose(turn, metadata, load)
                made.append(
                    await turn.parts.issues.create(
                        turn.owner,
                        draft,
                        turn.channel,
                        attempted,
                        source=duplicates.source_of(metadata),
                        upload=lambda session: turn.parts.files.upload(session, load),
                    )
                )
        except NotLinked:
            raise
        except BotError as error:
            if isinstance(error, OutcomeUnknown):
                metadata.setdefault("attempted_at", started.isoformat())
            return refused(turn, error, json.dumps(metadata))
        await turn.parts.files.attached(turn.owner, made[0].issue.id, load)
        if turn.place.channel_id:
            return Reply()
        blocks = views.created(made[0], turn.style, None).blocks
        return Reply(view=forms.said("Created", [*blocks, *await filejobs.beside(turn, made[0], load)]))

    await settle(turn, ack, work(), lambda: progress(load, f"Creating it in {turn.service}…"))
    for done in made:
        if turn.place.channel_id:
            if load.files:
                await turn.answer(await filejobs.told(turn, done.issue.id, load))
            why_private = await announce(turn, done)
            if why_private or done.not_taken:
                await turn.answer(views.created(done, turn.style, why_private))


# Choices that are searched as one types


async def project_options(turn: Turn, text: str) -> list[JSON]:
    """Projects by name or identifier."""
    found = await turn.parts.projects.search(turn.owner, text)
    return [option(project.name, str(project.id)).to_dict() for project in found]


async def parent_options(turn: Turn, text: str) -> list[JSON]:
    """Issues by number or subject, in the form's project."""
    values = forms.Values(turn.body.get("view") or {})
    project = values.chosen("project")
    async with turn.parts.accounts.reading(turn.owner) as session:
        found = await turn.parts.issues.suggest(session, text, int(project) if project else None)
    return [option(f"#{issue.id} {issue.subject}", str(issue.id)).to_dict() for issue in found]


async def choice_options(turn: Turn, text: str) -> list[JSON]:
    """A select of the form whose choices are too many to be listed at once."""
    name = str(turn.body.get("action_id", "")).partition(".")[2]
    tag = str(turn.body.get("block_id", "")).partition(":")[2]
    async with turn.parts.accounts.reading(turn.owner) as session:
        catalog = await turn.parts.catalogs.of(session, int(tag) if tag.isdigit() else None)
    sought = text.strip().casefold()
    refs = issue_form.choices_of(catalog).get(name, ())
    return [option(ref.name, str(ref.id)).to_dict() for ref in refs if sought in ref.name.casefold()]


async def _project(turn: Turn, session: Session, draft: Draft) -> Project | None:
    if draft.project is not None:
        return await turn.parts.projects.find(session, draft.project)
    if (default := await turn.parts.projects.default_in(session, turn.channel)) is not None:
        return default
    projects = await turn.parts.projects.visible(session)
    return projects[0] if len(projects) == 1 else None


def draft_of(request: NewIssue, asker: Owner) -> Draft:
    """A command as a draft: mentions become the people of this workspace."""
    return Draft(
        subject=request.subject,
        description=request.desc,
        project=request.project,
        tracker=request.tracker,
        status=request.status,
        priority=request.priority,
        category=request.category,
        version=request.version,
        to=who(request.to, asker) if request.to else None,
        watch=tuple(who(person, asker) for person in request.watch),
        parent=request.parent,
        start=request.start,
        due=request.due,
        estimate=request.estimate,
        private=request.private,
        custom_fields=dict(request.custom_fields),
    )


def who(person: Person, asker: Owner) -> Owner | str:
    """A person as use cases take them."""
    match person:
        case Me():
            return "me"
        case SlackUser():
            return Owner(asker.enterprise_id, asker.team_id, person.id)
        case _:
            return person.name
