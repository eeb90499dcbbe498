"""The lists of digests, previews, why digests are paused, and the results of actions on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.features.digests import buttons, plans
from bot.features.digests import message as digest_message
from bot.features.digests.buttons import ACTS, DigestAction
from bot.features.digests.commands import add_command
from bot.features.digests.digests import Planned, Preview
from bot.features.digests.runs import RunResult, next_due
from bot.features.digests.schedules import MAX_CRON_LENGTH, ScheduleError, parse
from bot.service.models import Ref
from bot.slack.surfaces import forms
from bot.slack.surfaces.blocks import (
    Block,
    Element,
    Message,
    actions,
    button,
    button_row,
    confirm,
    context,
    rows,
    section,
    shortened,
)
from bot.slack.text.mrkdwn import bold, code, cut, escape, line, moment
from bot.slack.text.wording import Wording
from bot.spelling import counted, prose_kind, series
from bot.store.digests import Digest, Pause
from bot.store.owner import Owner
from bot.store.plans import FilterKind, FilterValue, Plan

NAME_LENGTH = 80
PREVIEW_ROWS = 5  # the most rows in a preview
MAX_DIGESTS = 10  # more digests would exceed Slack's limits on blocks and text
FILTERS_LENGTH = 300
CHOOSE_PROJECT = "Choose a project first. Then I can show you a preview."
SET_UP = (
    "Your digest is set up. I'll send you a direct message with what's overdue, due today, newly assigned to "
    "you, or changed."
)
LIVE_FEED = "Each new issue gets a post within two minutes."
TAKE_OWNERSHIP = "Anyone who can see the project can take ownership."
EDIT = "Edit the digest, then resume it."
REASONS: Mapping[Pause, tuple[str, str]] = {
    Pause.KEY: ("{whose} {service} API key no longer works", TAKE_OWNERSHIP),
    Pause.LEFT: ("{whose} Slack account is deactivated", TAKE_OWNERSHIP),
    Pause.PROJECT: ("{who} can't see {project} anymore", TAKE_OWNERSHIP),
    Pause.QUERY: ("{who} can't see saved query {query} anymore", TAKE_OWNERSHIP),
    Pause.FILTER: ("{service} can't filter by {fields} anymore", EDIT),
    Pause.NOT_PUBLIC: ("{project} isn't public", TAKE_OWNERSHIP),
    Pause.CLOSED: ("{project} is closed", "Reopen the project, then resume the digest."),
    Pause.CHANNEL: (
        "the channel is archived or I'm not in it anymore",
        "Type `/invite @Issue Bot`, then resume the digest.",
    ),
    Pause.OUTSIDERS: (
        "the channel is shared with people outside your company",
        "Add the digest in another channel.",
    ),
    Pause.REFUSED: (
        "Slack didn't accept the post",
        "Ask your Issue Bot administrator to check the log, then resume the digest.",
    ),
}
"""Why a digest stopped, and the next step; in mrkdwn with the names of facts in braces."""


@dataclass(frozen=True)
class Action:
    """An action on a digest: its button's label, the confirmation's question and consequence (`{it}` is the
    digest), and the owner's notice.
    """

    label: str
    ask: str
    then: str
    done: str


ACTIONS = {
    DigestAction.NOW: Action("Send now", "Send {it} now?", "It posts in the channel right away.", "sent"),
    DigestAction.PAUSE: Action("Pause", "Pause {it}?", "It won't post until someone resumes it.", "paused"),
    DigestAction.RESUME: Action("Resume", "Resume {it}?", "It starts posting again.", "resumed"),
    DigestAction.CHANGE: Action("Edit", "", "", "edited"),
    DigestAction.TAKE_OWNERSHIP: Action(
        "Take ownership",
        "Take ownership of {it}?",
        "It will show everyone in the channel what you can see in the project.",
        "took ownership of",
    ),
    DigestAction.REMOVE: Action("Remove", "Remove {it}?", "It stops posting. Earlier posts stay.", "removed"),
    DigestAction.RESTORE: Action("Undo", "", "", "restored"),
    DigestAction.PREVIEW: Action("Preview", "", "", ""),
}


def text_message(mrkdwn: str) -> Message:
    return Message(mrkdwn, (section(mrkdwn),))


def listing(
    digests: Sequence[Digest], user: Owner, wording: Wording, result: Message | None = None
) -> Message:
    """A channel's digests with their buttons for `user`, below `result`, the result of the last action."""
    blocks: list[Block] = []
    if digests:
        text = f"*{counted(len(digests), 'digest')} in this channel*"
    else:
        text = "No digests in this channel yet."
    blocks.append(section(text))
    for digest in digests[:MAX_DIGESTS]:
        blocks += [section(_entry(digest, user, wording)), *_buttons(digest, user)]
    if more := [str(digest.id) for digest in digests[MAX_DIGESTS:]]:
        blocks.append(context(f"{len(more)} more: {', '.join(more)}"))
    if not digests:
        how = f"`{wording.command('digest')} add <project> daily 9` posts new issues here every morning."
        blocks.append(context(escape(how)))
    blocks.append(
        actions([button("Add digest", buttons.OpenAddForm(), style=None if digests or result else "primary")])
    )
    names = "; ".join(f"{d.id} {line(d.plan.project)}, {when_of(d.plan)}" for d in digests[:MAX_DIGESTS])
    return _below(result, f"{text}: {names}" if digests else text, blocks)


def _below(result: Message | None, text: str, blocks: Sequence[Block]) -> Message:
    """A list below the result of the last action."""
    return Message(f"{result.text} {text}" if result else text, (*(result.blocks if result else ()), *blocks))


def _entry(digest: Digest, user: Owner, wording: Wording) -> str:
    filters = cut(filters_in_words(digest.plan), FILTERS_LENGTH)
    about = f"by {line(digest.owner_name)}" + (f" · {filters}" if filters else "")
    return f"{_headed(digest)} · {when_of(digest.plan)}\n{about}\n{status_line(digest, user, wording)}"


def title(digest: Digest) -> str:
    place = " · direct message" if digest.direct else f" in {where(digest)}"
    return f"{_headed(digest)}{place} · {when_of(digest.plan)}"


def _headed(digest: Digest) -> str:
    return bold(f"{digest.id} · {digest.plan.project}")


def where(digest: Digest) -> str:
    """The conversation where a digest is posted."""
    return "a direct message" if digest.direct else f"<#{digest.channel_id}>"


def _buttons(digest: Digest, user: Owner) -> list[Block]:
    first = (
        [DigestAction.RESUME] if digest.paused else [DigestAction.NOW, DigestAction.PAUSE][digest.plan.live :]
    )
    last = (
        [DigestAction.REMOVE] if digest.owner == user else [DigestAction.TAKE_OWNERSHIP, DigestAction.REMOVE]
    )
    preview = [] if digest.personal else [DigestAction.PREVIEW]
    acts = (*first, DigestAction.CHANGE, *preview, *last)
    return rows([act_button(act, digest, user) for act in acts])


def act_button(act: DigestAction, digest: Digest, user: Owner | None) -> Element:
    """The button for `user`, or for everyone in the channel; it asks first for someone else's digest."""
    action, mine = ACTIONS[act], digest.owner == user
    owner = shortened(digest.owner_name, NAME_LENGTH)
    danger = "danger" if act is DigestAction.REMOVE else None
    question = None
    if action.ask and (not mine or act is DigestAction.REMOVE):
        it = f"digest {digest.id}" if mine else f"{owner}'s digest"
        notice = "" if mine else f" {owner} will be notified."
        question = confirm(action.ask.format(it=it), action.then + notice, action.label, style=danger)
    agrees = mine and act is DigestAction.RESUME and digest.paused is Pause.NOT_PUBLIC
    carried = ACTS[act](
        digest=digest.id,
        confirmed_owner=digest.owner.user_id,
        personal=digest.personal,
        agreed_project=digest.plan.project_id if agrees else None,
    )
    label = "Change" if act is DigestAction.CHANGE and digest.personal else action.label
    return button(label, carried, style=danger, confirm=question)


def confirmation(digest: Digest, act: DigestAction) -> Message:
    """The question before someone else's digest is acted on."""
    action, owner = ACTIONS[act], line(shortened(digest.owner_name, NAME_LENGTH))
    text = (
        f"{_named(digest)} belongs to {owner}. {action.ask.format(it='it')} {action.then} "
        f"{owner} will be notified."
    )
    carried = ACTS[act](digest=digest.id, confirmed_owner=digest.owner.user_id)
    style = "danger" if act is DigestAction.REMOVE else "primary"
    return Message(text, (section(text), actions([button(action.label, carried, style=style)])))


def which_digest(digests: Sequence[Digest], act: DigestAction, schedule: str = "") -> Message:
    """A button for each digest that a command without a number may mean, with the schedule that was typed."""
    each = [
        button(
            f"{digest.plan.project} · {when_of(digest.plan)}",
            ACTS[act](digest=digest.id, schedule=schedule[:MAX_CRON_LENGTH]),
        )
        for digest in digests
    ]
    ask = ACTIONS[act].ask or f"{ACTIONS[act].label} {{it}}?"
    text = ask.format(it="which digest")
    return Message(text, (section(text), *(actions([one]) for one in each)))


def replace_personal(digest: Digest, plan: Plan) -> Message:
    """The question before the schedule of the user's personal digest is replaced."""
    text = f"You get your digest {when_of(digest.plan)}. Send it {when_of(plan)} instead?"
    carried = buttons.ReplacePersonal(zone=plan.zone, schedule=plan.schedule)
    return Message(text, (section(text), button_row("Replace", carried)))


def agreement(digest: Digest, act: DigestAction) -> Message:
    """The question before a channel is shown a project that isn't public."""
    action = ACTIONS[act]
    text = f"{_not_public(digest)} {action.ask.format(it=f'digest {digest.id}')}"
    carried = ACTS[act](
        digest=digest.id,
        confirmed_owner=digest.owner.user_id,
        agreed_project=digest.plan.project_id,
        personal=digest.personal,
    )
    return Message(text, (section(text), button_row(action.label, carried)))


def _not_public(digest: Digest) -> str:
    readers = f"Everyone in {where(digest)} will see its {digest_message.noun(digest.plan)}."
    return f":warning: {line(digest.plan.project)} isn't public. {readers}"


def status_line(digest: Digest, user: Owner, wording: Wording) -> str:
    """When a digest is next posted, or why it is paused and what to do; in mrkdwn."""
    if digest.paused:
        return why_paused(digest, user, wording)
    return _upcoming(digest.plan, [next_due(digest, datetime.now(UTC))])


def _upcoming(plan: Plan, times: Sequence[datetime]) -> str:
    return LIVE_FEED if plan.live else f"Next: {', '.join(map(moment, times))}"


def when_of(plan: Plan) -> str:
    """`every day at 9:00 AM (Europe/Madrid)`."""
    if plan.live:
        return parse(plan.schedule).in_words()
    try:
        schedule = parse(plan.schedule).in_words()
    except ScheduleError:  # it stopped because of that, and is to be edited
        schedule = code(plan.schedule)
    return f"{schedule} ({line(plan.zone)})"


def filters_in_words(plan: Plan) -> str:
    """The kind, filters and options that differ from the defaults; in mrkdwn."""
    parts = (
        digest_message.explained(plan),
        *(_filter(kind, chosen) for kind, chosen in plan.filters.items()),
        *digest_message.narrowed(plan),
        *(f"excluding {_filter(kind, chosen)}" for kind, chosen in plan.excluded.items()),
        f"grouped by {plan.group}" if plan.group != "tracker" else "",
        "posts even when there's nothing to show" if plan.empty else "",
        "with subprojects" if plan.subprojects else "",
    )
    return " · ".join(filter(None, parts))


def _filter(kind: FilterKind, chosen: Sequence[FilterValue]) -> str:
    return f"{prose_kind(plans.FILTERS[kind].label.lower())} {line(series([one.name for one in chosen]))}"


# Results


def which_project(plan: Plan, projects: Sequence[Ref], form: buttons.OpenFilledForm) -> Message:
    """Asks for the project of a digest, the one thing that the command left out."""
    when = parse(plan.schedule).in_words()
    text = f"Which project's {digest_message.noun(plan)} should I post here {when}?"
    known = [
        (buttons.ChooseDigestProject(project=one.id, saved=form.id).pack(), one.name) for one in projects
    ]
    select = forms.choice(buttons.ChooseDigestProject.action, known, None, "Choose a project")
    return Message(text, (section(text), actions([select, button("Open form", form)])))


def added(planned: Planned, service: str) -> Message:
    digest, plan = planned.digest, planned.digest.plan
    text = (
        f"Digest {digest.id} is set up. I'll post {digest_message.noun(plan)} from {bold(plan.project)} in "
        f"{where(digest)} {when_of(plan)}."
    )
    blocks: list[Block] = [section(text)]
    if about := filters_in_words(plan):
        blocks.append(context(about[0].upper() + about[1:]))
    blocks.append(section(_upcoming(plan, planned.times)))
    blocks.append(context(f"It shows what you can see in {escape(service)}, except private issues."))
    if digest.agreed_project is not None and not digest.direct:
        blocks.append(section(_not_public(digest)))
        text += f" {_not_public(digest)}"
    blocks.append(
        actions([act_button(act, digest, digest.owner) for act in (DigestAction.CHANGE, DigestAction.REMOVE)])
    )
    return Message(text, tuple(blocks))


def changed(planned: Planned) -> str:
    digest = planned.digest
    about = f" · {filters}" if (filters := filters_in_words(digest.plan)) else ""
    upcoming = "It's still paused." if digest.paused else _upcoming(digest.plan, planned.times[:1])
    return f"{_named(digest)} is updated: {when_of(digest.plan)}{about}. {upcoming}"


def paused(digest: Digest, user: Owner, wording: Wording) -> str:
    """Confirms a pause, or says why the digest had already stopped."""
    if digest.paused is Pause.PERSON:
        return f"{_named(digest)} is paused. To resume it: `{wording.command('digest')} resume {digest.id}`"
    return f"{_named(digest)}: {why_paused(digest, user, wording)}"


def resumed(planned: Planned, before: Digest) -> str:
    digest = planned.digest
    upcoming = _upcoming(digest.plan, planned.times[:1])
    if not before.paused:
        return f"{_named(digest)} is already active. {upcoming}"
    later = digest_message.RESUMED.get(digest.plan.kind)
    parts = ("It posts issues created from now on." if digest.plan.live else later, upcoming)
    return " ".join((f"{_named(digest)} is active again.", *filter(None, parts)))


def ownership_taken(planned: Planned, before: Digest, service: str) -> str:
    named, upcoming = _named(planned.digest), _upcoming(planned.digest.plan, planned.times[:1])
    now = "is already yours" if before.owner == planned.digest.owner else "is yours now"
    return f"{named} {now}. It shows what you can see in {escape(service)}. {upcoming}"


def removed(digest: Digest, wording: Wording) -> Message:
    add_again = code(add_command(digest.plan, wording))
    return _undoable(f"{_named(digest)} is removed. To add it again later: {add_again}", digest)


def restored(digest: Digest, user: Owner, wording: Wording) -> str:
    status = "It's still paused." if digest.paused is Pause.PERSON else status_line(digest, user, wording)
    return f"{_named(digest)} is restored. {status}"


def owner_notice(digest: Digest, who: str, act: DigestAction) -> Message:
    text = (
        f"<@{who}> {ACTIONS[act].done} your {bold(digest.plan.project)} digest in {where(digest)}, "
        f"{when_of(digest.plan)}."
    )
    if act is DigestAction.REMOVE:
        return _undoable(text, digest)
    return text_message(
        f"{text} It now shows what they can see." if act is DigestAction.TAKE_OWNERSHIP else text
    )


def _undoable(text: str, digest: Digest) -> Message:
    return Message(text, (section(text, button("Undo", ACTS[DigestAction.RESTORE](digest=digest.id))),))


def run_result(digest: Digest, state: RunResult | None, stopped: str, service: str) -> str:
    """The result of *Send now*; `stopped` is why the digest has stopped, if it has."""
    if state is RunResult.SENT and digest.personal:
        return "I sent your digest as a direct message."
    if state is RunResult.SENT:
        return f"I posted digest {digest.id} ({line(digest.plan.project)}) in {where(digest)}."
    if state is RunResult.EMPTY:
        return digest_message.nothing(digest)
    if stopped:
        return f"{_named(digest)} wasn't posted. {stopped.replace('Stopped', 'It stopped', 1)}"
    return (
        f"{_named(digest)} is on its way. If Slack or {escape(service)} is slow, it will appear in "
        f"{where(digest)} as soon as they respond."
    )


def _named(digest: Digest) -> str:
    return f"Digest {digest.id} ({line(digest.plan.project)})"


def preview(preview: Preview, wording: Wording) -> list[Block]:
    """What a digest would show, or would have shown in a week: how many issues, and the first ones."""
    plan, content, count = preview.plan, preview.content, len(preview.content.issues)
    many = ("more than " if content.more and count > 1 else "") + digest_message.noun(plan, count)
    posts = f" in {counted(preview.posts, 'post')}" if preview.posts and not content.more else ""
    would = f"In the last 7 days, this digest would have shown you {many}{posts}."
    if plan.kind not in plans.HAPPENED:
        would = f"Right now, this digest would show you {many}."
    if content.too_large:
        would = digest_message.unread(plan, wording)

    about = " · ".join(filter(None, (when_of(plan), filters_in_words(plan))))
    day = plans.today(plan, preview.now)
    first = content.issues[:PREVIEW_ROWS]
    rows = [section(digest_message.row_text(plan, issue, wording, day)) for issue in first]
    rest = [context(f"and {count - PREVIEW_ROWS} more")] if count > PREVIEW_ROWS else []
    return [section(f"{bold(plan.project)} · {about}\n{would}"), *rows, *rest]


def personal_listing(digest: Digest | None, wording: Wording, result: Message | None = None) -> Message:
    """The user's own digest with its buttons, or an offer to set it up, below the result of an action."""
    blocks: list[Block]
    if digest is None:
        text = "You don't have a personal digest yet."
        about = (
            "It's a direct message with your issues that are overdue, due today, newly assigned to you, or "
            "changed since the last one. I send it only if there are any."
        )
        style = None if result else "primary"
        set_up = button("Set up digest", buttons.SetUpPersonal(), style=style)
        blocks = [section(text), context(about), actions([set_up])]
    else:
        text = f"{title(digest)}\n{status_line(digest, digest.owner, wording)}"
        blocks = [section(text), *_buttons(digest, digest.owner)]
    return _below(result, text, blocks)


def why_paused(digest: Digest, user: Owner | None, wording: Wording) -> str:
    """Why a digest is paused and what to do, as sentences for `user`, or for everyone in its channel."""
    if digest.paused is None or digest.paused is Pause.PERSON:
        return "Paused"
    why, then = REASONS[digest.paused]
    if digest.personal and digest.paused in {Pause.CHANNEL, Pause.OUTSIDERS}:
        why, then = "Slack doesn't let me send you direct messages", "Resume the digest to try again."
    owner, mine = line(digest.owner_name), user == digest.owner
    if mine and digest.paused in {Pause.KEY, Pause.LEFT}:
        then = f"Link your account with `{wording.command('tracker')} link`, then resume the digest."
    if mine and digest.paused is Pause.NOT_PUBLIC:
        then = f"If it's OK for everyone in <#{digest.channel_id}> to see its issues, resume the digest."
    if mine and digest.paused is Pause.QUERY:
        then = EDIT
    facts = {
        "query": digest.plan.query,
        "fields": line(series([one.name for one in digest.plan.custom_fields])),
        "who": "you" if mine else owner,
        "whose": "your" if mine else f"{owner}'s",
        "service": escape(wording.service),
        "project": line(digest.plan.project),
    }
    return f"Stopped because {why.format(**facts)}. {then}"
