"""The list of digests, and the results of actions on them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.features.digests import kind_words
from bot.features.digests.buttons import (
    Act,
    ChooseProject,
    DigestButton,
    OpenAddForm,
    OpenChangeForm,
    OpenFilledForm,
    PauseDigest,
    PostNow,
    PreviewDigest,
    RemoveDigest,
    RestoreDigest,
    ResumeDigest,
    TakeOverDigest,
)
from bot.features.digests.digests import Planned
from bot.features.digests.plans import DigestSettings
from bot.features.digests.reasons import why_paused
from bot.features.digests.schedules import KEYWORDS, ScheduleError, parse
from bot.features.series import series
from bot.service.models import Ref
from bot.slack import forms
from bot.slack.blocks import Block, Element, Message, actions, button, confirm, context, section, shortened
from bot.slack.text import bold, code, cut, escape, line, moment
from bot.slack.wording import Wording
from bot.store.choice import Choice
from bot.store.digest_plans import FilterKind, Plan
from bot.store.digest_runs import RunState
from bot.store.digests import Digest, Pause
from bot.store.owner import Owner

NAME = 80
SHOWN = 10
"""More digests would exceed Slack's limits on blocks and text."""
FILTERS = 300
CHOOSE_PROJECT = "Choose a project first. Then I can show you a preview."
_PLAIN = re.compile(r"[\w.-]+")
_UNQUOTABLE = re.compile('["“”„‟«»`\n]')


@dataclass(frozen=True)
class Action:
    """One thing to do with a digest: its button, what the confirmation asks (`{it}` is the digest) and says
    will happen, and what the owner's notice says was done.
    """

    label: str
    carries: type[DigestButton]
    ask: str
    then: str
    done: str


ACTIONS = {
    Act.NOW: Action("Send now", PostNow, "Send {it} now?", "It posts in the channel right away.", "sent"),
    Act.PAUSE: Action(
        "Pause", PauseDigest, "Pause {it}?", "It won't post until someone resumes it.", "paused"
    ),
    Act.RESUME: Action("Resume", ResumeDigest, "Resume {it}?", "It starts posting again.", "resumed"),
    Act.CHANGE: Action("Edit", OpenChangeForm, "", "", "edited"),
    Act.TAKE_OVER: Action(
        "Take ownership",
        TakeOverDigest,
        "Take ownership of {it}?",
        "It will show everyone in the channel what you can see in the project.",
        "took ownership of",
    ),
    Act.REMOVE: Action(
        "Remove", RemoveDigest, "Remove {it}?", "It stops posting. Earlier posts stay.", "removed"
    ),
    Act.RESTORE: Action("Undo", RestoreDigest, "", "", "restored"),
}


def text_message(mrkdwn: str) -> Message:
    """A message with one sentence, in mrkdwn."""
    return Message(mrkdwn, (section(mrkdwn),))


def listing(digests: Sequence[Digest], user: Owner, wording: Wording, said: Message | None = None) -> Message:
    """A channel's digests with their buttons for `user`, below `said`, the result of the last action."""
    blocks: list[Block] = list(said.blocks) if said else []
    if digests:
        text = f"*{len(digests)} digest{'' if len(digests) == 1 else 's'} in this channel*"
    else:
        text = "No digests in this channel yet."
    blocks.append(section(text))
    for digest in digests[:SHOWN]:
        blocks += [section(_entry(digest, user, wording)), _buttons(digest, user)]
    if more := [str(digest.id) for digest in digests[SHOWN:]]:
        blocks.append(context(f"{len(more)} more: {', '.join(more)}"))
    if not digests:
        how = f"`{wording.command('digest')} add <project> daily 9` posts new issues here every morning."
        blocks.append(context(escape(how)))
    blocks.append(actions([button("Add digest", OpenAddForm(), style=None if digests else "primary")]))
    names = "; ".join(f"{d.id} {line(d.plan.project)}, {when_of(d.plan)}" for d in digests[:SHOWN])
    parts = (said.text if said else "", f"{text}: {names}" if digests else text)
    return Message(" ".join(filter(None, parts)), tuple(blocks))


def _entry(digest: Digest, user: Owner, wording: Wording) -> str:
    about = " · ".join(
        filter(None, (f"by {line(digest.owner_name)}", cut(filters_in_words(digest.plan), FILTERS)))
    )
    return f"{_headed(digest)} · {when_of(digest.plan)}\n{about}\n{status_line(digest, user, wording)}"


def title(digest: Digest) -> str:
    """A digest's number, project, channel and schedule."""
    return f"{_headed(digest)} in {where(digest)} · {when_of(digest.plan)}"


def _headed(digest: Digest) -> str:
    return bold(f"{digest.id} · {digest.plan.project}")


def where(digest: Digest) -> str:
    """The conversation where a digest is posted."""
    return "our direct messages" if digest.direct else f"<#{digest.channel_id}>"


def _buttons(digest: Digest, user: Owner) -> Block:
    first = [Act.RESUME] if digest.paused else [Act.NOW, Act.PAUSE]
    last = [Act.REMOVE] if digest.owner == user else [Act.TAKE_OVER, Act.REMOVE]
    buttons = [act_button(act, digest, user) for act in (*first, Act.CHANGE, *last)]
    if not digest.personal:
        buttons.insert(len(first) + 1, button("Preview", PreviewDigest(digest=digest.id)))
    return actions(buttons)


def act_button(act: Act, digest: Digest, user: Owner | None) -> Element:
    """The button for `user`, or for everyone in the channel; it asks first for someone else's digest."""
    action, mine = ACTIONS[act], digest.owner == user
    owner = shortened(digest.owner_name, NAME)
    danger = "danger" if act is Act.REMOVE else None
    question = None
    if action.ask and (not mine or act is Act.REMOVE):
        it = f"digest {digest.id}" if mine else f"{owner}'s digest"
        told = "" if mine else f" {owner} will be notified."
        question = confirm(action.ask.format(it=it), action.then + told, action.label, style=danger)
    agrees = mine and act is Act.RESUME and digest.paused is Pause.NOT_PUBLIC
    carried = action.carries(
        digest=digest.id,
        owner=digest.owner.user_id,
        personal=digest.personal,
        agreed=digest.plan.project_id if agrees else None,
    )
    label = "Change" if act is Act.CHANGE and digest.personal else action.label
    return button(label, carried, style=danger, confirm=question)


def confirmation(digest: Digest, act: Act) -> Message:
    """The question before someone else's digest is acted on."""
    action, owner = ACTIONS[act], line(shortened(digest.owner_name, NAME))
    text = (
        f"{_named(digest)} belongs to {owner}. {action.ask.format(it='it')} {action.then} "
        f"{owner} will be notified."
    )
    carried = action.carries(digest=digest.id, owner=digest.owner.user_id)
    style = "danger" if act is Act.REMOVE else "primary"
    return Message(text, (section(text), actions([button(action.label, carried, style=style)])))


def exposing(digest: Digest, act: Act) -> Message:
    """The question before a channel is shown a project that isn't public."""
    action = ACTIONS[act]
    text = f"{_exposed(digest)} {action.ask.format(it=f'digest {digest.id}')}"
    carried = action.carries(
        digest=digest.id, owner=digest.owner.user_id, agreed=digest.plan.project_id, personal=digest.personal
    )
    return Message(text, (section(text), actions([button(action.label, carried, style="primary")])))


def _exposed(digest: Digest) -> str:
    readers = f"Everyone in {where(digest)} will see its {kind_words.noun(digest.plan)}."
    return f":warning: {line(digest.plan.project)} isn't public. {readers}"


def status_line(digest: Digest, user: Owner, wording: Wording) -> str:
    """When a digest is next posted, or why it is paused and what to do; in mrkdwn."""
    return f"Next: {moment(digest.next_due)}" if digest.next_due else why_paused(digest, user, wording)


def when_of(plan: Plan) -> str:
    """`every day at 9:00 AM (Europe/Madrid)`."""
    try:
        schedule = parse(plan.schedule).in_words()
    except ScheduleError:  # it stopped because of that, and is to be edited
        schedule = code(plan.schedule)
    return f"{schedule} ({line(plan.zone)})"


def filters_in_words(plan: Plan) -> str:
    """The kind, filters and options that differ from the defaults; in mrkdwn."""
    parts = [kind_words.explained(plan)] if kind_words.explained(plan) else []
    parts += [_filter(kind, chosen) for kind, chosen in plan.filters.items()]
    parts += [f"except {_filter(kind, chosen)}" for kind, chosen in plan.excluded.items()]
    parts += [f"grouped by {plan.group}"] if plan.group != "tracker" else []
    parts += ["posts even when there's nothing to show"] if plan.empty else []
    return " · ".join(parts)


def _filter(kind: FilterKind, chosen: Sequence[Choice]) -> str:
    return f"{kind_words.LABELS[kind].lower()} {line(series([one.name for one in chosen]))}"


# Results


def which_project(wanted: DigestSettings, projects: Sequence[Ref], saved: str) -> Message:
    """Asks for the project of a digest, the one thing that the command left out."""
    text = f"Which project's {kind_words.noun(wanted)} should I post here {wanted.schedule.in_words()}?"
    known = [(ChooseProject(project=one.id, saved=saved).pack(), one.name) for one in projects]
    select = forms.choice(ChooseProject.action, known, None, "Choose a project")
    form = button("Open form", OpenFilledForm(saved=saved))
    return Message(text, (section(text), actions([select, form])))


def added(planned: Planned, service: str) -> Message:
    """Confirms a new digest to its owner: its settings, when it is posted, and who will read it."""
    digest, plan = planned.digest, planned.digest.plan
    text = (
        f"Digest {digest.id} is set up. I'll post {kind_words.noun(plan)} from {bold(plan.project)} in "
        f"{where(digest)} {when_of(plan)}."
    )
    blocks: list[Block] = [section(text)]
    if about := filters_in_words(plan):
        blocks.append(context(about))
    blocks.append(section(f"Next: {', '.join(map(moment, planned.times))}"))
    blocks.append(context(f"It shows what you can see in {escape(service)}, except private issues."))
    if digest.agreed_project is not None and not digest.direct:
        blocks.append(section(_exposed(digest)))
        text += f" {_exposed(digest)}"
    blocks.append(actions([act_button(act, digest, digest.owner) for act in (Act.CHANGE, Act.REMOVE)]))
    return Message(text, tuple(blocks))


def changed(planned: Planned) -> str:
    """Confirms a change."""
    digest = planned.digest
    about = f" · {filters}" if (filters := filters_in_words(digest.plan)) else ""
    upcoming = "It's still paused." if digest.paused else f"Next: {moment(planned.times[0])}"
    return f"{_named(digest)} is saved: {when_of(digest.plan)}{about}. {upcoming}"


def paused(digest: Digest, user: Owner, wording: Wording) -> str:
    """Confirms a pause, or says why the digest had already stopped."""
    if digest.paused is Pause.PERSON:
        return f"{_named(digest)} is paused. To resume it: `{wording.command('digest')} resume {digest.id}`"
    return f"{_named(digest)}: {why_paused(digest, user, wording)}"


def resumed(planned: Planned) -> str:
    """Confirms that a digest is active again."""
    digest = planned.digest
    parts = (kind_words.resumed(digest.plan.kind), f"Next: {moment(planned.times[0])}")
    return " ".join((f"{_named(digest)} is active again.", *filter(None, parts)))


def taken_over(planned: Planned, service: str) -> str:
    """Confirms to the new owner."""
    return (
        f"{_named(planned.digest)} is yours now. It shows what you can see in {escape(service)}. "
        f"Next: {moment(planned.times[0])}"
    )


def removed(digest: Digest, wording: Wording) -> Message:
    """Confirms a removal, with two ways to undo it."""
    add_again = code(add_command(digest.plan, wording))
    return _undoable(f"{_named(digest)} is removed. To add it again later: {add_again}", digest)


def restored(digest: Digest, user: Owner, wording: Wording) -> str:
    """Confirms that a removal was undone."""
    status = "It's still paused." if digest.paused is Pause.PERSON else status_line(digest, user, wording)
    return f"{_named(digest)} is restored. {status}"


def owner_notice(digest: Digest, who: str, act: Act) -> Message:
    """Notifies a digest's owner of what a Slack user did with it."""
    text = (
        f"<@{who}> {ACTIONS[act].done} your digest of {bold(digest.plan.project)} in {where(digest)}, "
        f"{when_of(digest.plan)}."
    )
    if act is Act.REMOVE:
        return _undoable(text, digest)
    return text_message(f"{text} It shows what they can see now." if act is Act.TAKE_OVER else text)


def _undoable(text: str, digest: Digest) -> Message:
    return Message(text, (section(text, button("Undo", RestoreDigest(digest=digest.id))),))


def run_result(digest: Digest, state: RunState | None, stopped: str, service: str) -> str:
    """The result of *Send now*; `stopped` is why the digest has stopped, if it has."""
    project = bold(digest.plan.project)
    if state is RunState.SENT and digest.personal:
        return f"I sent your digest to {where(digest)}."
    if state is RunState.SENT:
        return f"I posted digest {digest.id} of {project} in {where(digest)}."
    if state is RunState.EMPTY:
        return kind_words.nothing(digest)
    if stopped:
        return f"{_named(digest)} wasn't posted. {stopped}"
    return (
        f"{_named(digest)} is on its way. If Slack or {escape(service)} is slow, it appears in "
        f"{where(digest)} as soon as they respond."
    )


def add_command(plan: Plan, wording: Wording) -> str:
    """The command that adds such a digest."""
    if plan.kind == "personal":
        return f"{wording.command('digest')} me {plan.schedule} tz:{plan.zone}"
    project = plan.project if _quotable(plan.project) else f"#{plan.project_id}"
    words = [wording.command("digest"), "add", _quoted(project), plan.schedule, f"tz:{plan.zone}"]
    kind = f"stale:{plan.stale_days}d" if plan.kind == "stale" else f"kind:{plan.kind}"
    words += [kind] if plan.kind != "new" else []
    words += [f"{kind}:{','.join(map(_chosen, chosen))}" for kind, chosen in plan.filters.items()]
    words += [f"-{kind}:{','.join(map(_chosen, chosen))}" for kind, chosen in plan.excluded.items()]
    words += [f"group:{plan.group}"] if plan.group != "tracker" else []
    words += ["empty:yes"] if plan.empty else []
    return " ".join(words)


def _chosen(choice: Choice) -> str:
    return _quoted(choice.name if _quotable(choice.name) else f"#{choice.id}")


def _quotable(name: str) -> bool:
    return _UNQUOTABLE.search(name) is None


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) and name.lower() not in KEYWORDS else f'"{name}"'


def _named(digest: Digest) -> str:
    return f"Digest {digest.id} ({line(digest.plan.project)})"
