"""The list of digests, and the results of actions on them."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Literal
from zoneinfo import ZoneInfo

from bot.features.digests import reasons
from bot.features.digests.buttons import (
    Act,
    OpenAddForm,
    OpenChangeForm,
    PauseDigest,
    PostNow,
    RemoveDigest,
    RestoreDigest,
    ResumeDigest,
    TakeOverDigest,
)
from bot.features.digests.digests import Planned
from bot.features.digests.reasons import Command
from bot.features.digests.schedules import KEYWORDS
from bot.slack.blocks import Block, Element, Message, actions, button, confirm, context, section, shortened
from bot.slack.text import bold, code, cut, escape, line
from bot.store.digest_runs import RunState
from bot.store.digests import Choice, Digest, Pause, Plan
from bot.store.owner import Owner

NAME = 80
SHOWN = 10
"""More digests would exceed Slack's limits on blocks and text."""
FILTERS = 300
_PLAIN = re.compile(r"[\w.-]+")
_UNQUOTABLE = re.compile('["“”„‟«»`\n]')


def text_message(mrkdwn: str) -> Message:
    """A message with one sentence, in mrkdwn."""
    return Message(mrkdwn, (section(mrkdwn),))


def listing(digests: Sequence[Digest], user: Owner, command: Command, said: Message | None = None) -> Message:
    """A channel's digests with their buttons for `user`, below `said`, the result of the last action."""
    add = actions([button("Add a digest", OpenAddForm(), style=None if digests else "primary")])
    blocks: list[Block] = list(said.blocks) if said else []
    before = said.text if said else ""
    if not digests:
        text = "There is no digest here yet."
        how = f"`{command('digest')} add <project> daily 09:00` posts every morning what was opened since."
        blocks += [section(text), context(escape(how)), add]
        return Message(" ".join(filter(None, (before, text))), tuple(blocks))
    text = f"*{len(digests)} digest{'' if len(digests) == 1 else 's'} here*"
    blocks.append(section(text))
    for digest in digests[:SHOWN]:
        blocks += [section(_entry(digest, user, command)), _buttons(digest, user)]
    if more := [str(digest.id) for digest in digests[SHOWN:]]:
        blocks.append(context(f"{len(more)} more, by their numbers: {', '.join(more)}"))
    blocks.append(add)
    names = "; ".join(f"{d.id} {line(d.plan.project)}, {when_of(d.plan)}" for d in digests[:SHOWN])
    return Message(" ".join(filter(None, (before, f"{text}: {names}"))), tuple(blocks))


def _entry(digest: Digest, user: Owner, command: Command) -> str:
    about = " · ".join(filter(None, (f"by {line(digest.owner_name)}", cut(filters_of(digest.plan), FILTERS))))
    return f"{_headed(digest)} · {when_of(digest.plan)}\n{about}\n{status_line(digest, user, command)}"


def title(digest: Digest) -> str:
    """A digest's number, project, channel and schedule."""
    return f"{_headed(digest)} in {where(digest)} · {when_of(digest.plan)}"


def _headed(digest: Digest) -> str:
    return bold(f"{digest.id} · {digest.plan.project}")


def where(digest: Digest) -> str:
    """The conversation where a digest is posted."""
    return "our conversation" if _direct(digest) else f"<#{digest.channel_id}>"


def _direct(digest: Digest) -> bool:
    return digest.channel_id.startswith("D")


def _buttons(digest: Digest, user: Owner) -> Block:
    number = digest.id
    active = [button("Post now", PostNow(digest=number)), button("Pause", PauseDigest(digest=number))]
    buttons = [button("Resume", ResumeDigest(digest=number))] if digest.paused else active
    buttons.append(button("Change", OpenChangeForm(digest=number)))
    if digest.owner != user:
        buttons.append(take_over(digest, "Take over"))
    buttons.append(_remove(digest, user))
    return actions(buttons)


def take_over(digest: Digest, label: str) -> Element:
    """The button that takes over someone else's digest, with a confirmation."""
    question = confirm(
        f"Take over {shortened(digest.owner_name, NAME)}'s digest?",
        "It runs with your key then, so it shows to everybody in the channel what you may see of the "
        f"project. {shortened(digest.owner_name, NAME)} is told.",
        "Take over",
    )
    taken = TakeOverDigest(digest=digest.id, owner=digest.owner.user_id)
    return button(label, taken, confirm=question)


def confirmation(digest: Digest, act: Literal[Act.REMOVE, Act.TAKE_OVER]) -> Message:
    """The confirmation before someone else's digest is removed or taken over."""
    owner, agreed = line(shortened(digest.owner_name, NAME)), digest.owner.user_id
    if act is Act.REMOVE:
        question = "Remove it?"
        removal = RemoveDigest(digest=digest.id, owner=agreed)
        yes = button("Remove digest", removal, style="danger")
    else:
        question = "Take it over?"
        taken = TakeOverDigest(digest=digest.id, owner=agreed)
        yes = button("Take over digest", taken, style="primary")
    text = f"{_named(digest)} belongs to {owner}. {question} {owner} is told."
    return Message(text, (section(text), actions([yes])))


def status_line(digest: Digest, user: Owner, command: Command) -> str:
    """When a digest is next posted, or why it is paused and what to do; in mrkdwn."""
    said = (
        f"next {moment(digest.next_due)}" if digest.next_due else f"{reasons.listed(digest, user, command)}."
    )
    return said[0].upper() + said[1:]


def _remove(digest: Digest, user: Owner) -> Element:
    owner = shortened(digest.owner_name, NAME)
    mine = digest.owner == user
    removal = RemoveDigest(digest=digest.id, owner=digest.owner.user_id)
    question = confirm(
        f"Remove digest {digest.id}?" if mine else f"Remove {owner}'s digest?",
        "Nothing is posted any more; what was posted stays." + ("" if mine else f" {owner} is told."),
        "Remove",
        style="danger",
    )
    return button("Remove", removal, style="danger", confirm=question)


def when_of(plan: Plan) -> str:
    """`daily 09:00, Europe/Madrid`."""
    schedule = code(plan.schedule) if plan.schedule.startswith("cron") else line(plan.schedule)
    return f"{schedule}, {line(plan.zone)}"


def filters_of(plan: Plan) -> str:
    """The filters and options that differ from the defaults; in mrkdwn."""
    parts = [f"{kind} {line(_or(one.name for one in chosen))}" for kind, chosen in plan.filters.items()]
    parts += [f"grouped by {plan.group}"] if plan.group != "tracker" else []
    parts += ["also when nothing is new"] if plan.empty else []
    return " · ".join(parts)


def _or(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def moment(at: datetime) -> str:
    """A time in Slack's date token: each reader sees it in their own time zone."""
    utc = at.astimezone(UTC)
    shown = f"{utc:%b} {utc.day}, {utc.year} at {utc:%H:%M} UTC"
    return f"<!date^{int(at.timestamp())}^{{date_short_pretty}} at {{time}}|{shown}>"


def wall_clock(times: Sequence[datetime], zone: str) -> str:
    """`Mon 23 Nov 09:00, Tue 24 Nov 09:00 (Europe/Madrid)`."""
    shown = [at.astimezone(ZoneInfo(zone)) for at in times]
    soon = len({at.year for at in shown}) == 1
    days = [f"{at:%a} {at.day} {at:%b}{'' if soon else f' {at.year}'} {at:%H:%M}" for at in shown]
    return f"{', '.join(days)} ({zone})"


# Results


def added(planned: Planned) -> Message:
    """Confirms a new digest to its owner: its settings, when it is posted, and who will read it."""
    digest, plan = planned.digest, planned.digest.plan
    text = f"Digest {digest.id} is set: {bold(plan.project)}, {when_of(plan)}, in {where(digest)}."
    blocks: list[Block] = [section(text)]
    if about := filters_of(plan):
        blocks.append(context(about))
    blocks.append(section(f"Next: {wall_clock(planned.times, plan.zone)}"))
    blocks.append(
        context(
            "It has what is opened from now on. It runs with your key, so it holds what you may see; private "
            "issues are left out."
        )
    )
    if not planned.public and not _direct(digest):
        readers = f"everybody in {where(digest)} will read its new issues"
        warning = f":warning: {line(plan.project)} is not public: {readers}."
        blocks.append(section(warning))
        text += f" {warning}"
    change = button("Change", OpenChangeForm(digest=digest.id))
    blocks.append(actions([change, _remove(digest, digest.owner)]))
    return Message(text, tuple(blocks))


def changed(planned: Planned) -> str:
    """Confirms a change."""
    digest = planned.digest
    about = ", ".join(filter(None, (when_of(digest.plan), filters_of(digest.plan))))
    upcoming = (
        "it is still paused" if digest.paused else f"next {wall_clock(planned.times, digest.plan.zone)}"
    )
    return f"{_named(digest)} is changed to {about}; {upcoming}."


def paused(digest: Digest, user: Owner, command: Command) -> str:
    """Confirms a pause, or says why the digest had already stopped."""
    if digest.paused is Pause.PERSON:
        return f"{_named(digest)} is paused: `{command('digest')} resume {digest.id}` makes it go on."
    return f"{_named(digest)} is {reasons.listed(digest, user, command)}."


def resumed(planned: Planned) -> str:
    """Confirms that a digest is active again."""
    upcoming = wall_clock(planned.times, planned.digest.plan.zone)
    return f"{_named(planned.digest)} goes on: next {upcoming}. What was opened meanwhile is in the next one."


def taken_over(planned: Planned) -> str:
    """Confirms to the new owner."""
    upcoming = wall_clock(planned.times, planned.digest.plan.zone)
    said = "is yours and runs with your key, so it holds what you may see"
    return f"{_named(planned.digest)} {said}: next {upcoming}."


def removed(digest: Digest, command: Command) -> Message:
    """Confirms a removal, with two ways to undo it."""
    add_again = code(add_command(digest.plan, command))
    return _undoable(f"{_named(digest)} is removed. To add it again later: {add_again}", digest)


def restored(digest: Digest, user: Owner, command: Command) -> str:
    """Confirms that a removal was undone."""
    return f"{_named(digest)} is restored. {status_line(digest, user, command)}"


def owner_notice(digest: Digest, who: str, done: Literal["removed", "restored", "took over"]) -> Message:
    """Notifies a digest's owner of what a Slack user did with it."""
    text = (
        f"<@{who}> {done} your digest {bold(digest.plan.project)} in {where(digest)}, {when_of(digest.plan)}."
    )
    if done == "removed":
        return _undoable(text, digest)
    return text_message(f"{text} It runs with their key now." if done == "took over" else text)


def _undoable(text: str, digest: Digest) -> Message:
    return Message(text, (section(text, button("Undo", RestoreDigest(digest=digest.id))),))


def run_result(digest: Digest, state: RunState | None, stopped: str, service: str) -> str:
    """The result of *Post now*; `stopped` is why the digest has stopped, if it has."""
    project = bold(digest.plan.project)
    if state is RunState.SENT:
        return f"Digest {digest.id} of {project} is posted in {where(digest)}."
    if state is RunState.EMPTY:
        return f"Nothing new in {project} since {moment(digest.period_from)}: nothing was posted."
    if stopped:
        return f"Nothing was posted: {_named(digest)} is {stopped}."
    return (
        f"{_named(digest)} is being posted already, or comes as soon as Slack or {escape(service)} lets it."
    )


def add_command(plan: Plan, command: Command) -> str:
    """The command that adds such a digest."""
    project = plan.project if _quotable(plan.project) else f"#{plan.project_id}"
    words = [command("digest"), "add", _quoted(project), plan.schedule, f"tz:{plan.zone}"]
    words += [f"{kind}:{','.join(map(_chosen, chosen))}" for kind, chosen in plan.filters.items()]
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
