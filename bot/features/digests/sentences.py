"""What the errors of digests say to the user."""

from datetime import timedelta

from bot.errors import BotError
from bot.features.digests import channels, commands, errors, schedules
from bot.features.digests.channels import ChannelProblem
from bot.slack.wording import Wording
from bot.store.digests import GROUPS

CRON = "`cron 0 9 * * 1-5`"
SCHEDULES = {
    None: f"Say when: `daily 09:00`, `weekdays 09:00`, `weekly mon 09:00`, `hourly` or {CRON}.",
    "weekly": "Say on which day: `weekly mon 09:00`, or `weekly mon,thu 09:00` for several.",
    "hourly": "After `hourly` comes a minute or nothing: write `hourly` or `hourly :30`.",
    "cron": f"A cron line has five short fields, from the minute to the day of the week: {CRON}.",
}
CHANNELS = {
    ChannelProblem.NONE_CHOSEN: "A digest belongs to a channel: choose one.",
    ChannelProblem.SLACK_UNREACHABLE: "Slack doesn't tell me who is in that channel: try again in a minute.",
    ChannelProblem.BOT_NOT_INVITED: (
        "I'm not in that channel: invite me there first with `/invite`, then try again."
    ),
    ChannelProblem.ARCHIVED: "That channel is archived: have it opened again, or use another one.",
    ChannelProblem.READERS_UNKNOWN: "Slack doesn't say who can read that channel. Try again in a minute.",
    ChannelProblem.SHARED_OUTSIDE: (
        "That channel is shared with people outside your company, so no digest is posted there: use another "
        "one."
    ),
    ChannelProblem.USER_NOT_A_MEMBER: (
        "You aren't in that channel: join it first, or choose one that you are in."
    ),
}


def sentence(error: BotError, wording: Wording) -> str | None:
    """The sentence for an error of digests; None for any other error."""
    command = wording.command("digest")
    return (
        _schedule(error)
        or _command(error, command)
        or _adding(error, command)
        or _finding(error, command, wording.service)
        or _running(error, command)
    )


def _schedule(error: BotError) -> str | None:
    match error:
        case schedules.UnreadableSchedule(kind=kind):
            return SCHEDULES[kind]
        case schedules.UnreadableTime(after=words):
            return (
                f"After `{words}` comes a time and nothing else: write `{words} 09:00` or `{words} 5:30 pm`."
            )
        case schedules.UnreadableCron(field=None):
            return f"No day ever fits that cron line: write one such as {CRON}."
        case schedules.UnreadableCron(field=field):
            return f"The {field} of that cron line can't be read or never comes: write one such as {CRON}."
        case schedules.UnknownTimeZone(near=()):
            return "There is no time zone of that name: write one such as `Europe/Paris` or `UTC`."
        case schedules.UnknownTimeZone(near=near):
            names = " or ".join(f"`{name}`" for name in near)
            return f"There is no time zone of that name: did you mean {names}?"
        case errors.NeverDue(zone=zone):
            return f"In the time zone {zone} that never comes: choose other times."
    return None


def _command(error: BotError, command: str) -> str | None:
    match error:
        case commands.NothingExpected(word=word, option=None):
            return f"`{command} {word}` takes nothing after it: type it alone."
        case commands.NothingExpected(word=word, option=option):
            return f"`{command} {word}` takes no options: leave out `{option}:`."
        case commands.DigestNumberMissing(word=word):
            return f"Say which digest by its number: `{command} {word} 3`."
        case commands.ProjectNamedTwice():
            return "The project is named twice: leave out `project:`, or the words before the schedule."
        case commands.UnknownGroup():
            groups = ", ".join(f"`{group}`" for group in GROUPS)
            return f"`group:` is one of {groups}: write `group:priority`."
    return None


def _adding(error: BotError, command: str) -> str | None:
    match error:
        case channels.ChannelRefused(why=ChannelProblem.OUTSIDE_ANY_CHANNEL):
            return f"Digests belong to a channel: type `{command}` in one."
        case channels.ChannelRefused(why=why):
            return CHANNELS[why]
        case errors.TooManyDigests(whose="channel", most=most):
            return (
                f"This channel has {most} digests, which is the limit. Remove one first: `{command}` lists "
                "them."
            )
        case errors.TooManyDigests(most=most):
            return (
                f"You own {most} digests, which is the limit. Remove one first: `{command}` lists the ones "
                "in a channel."
            )
        case errors.TooOften(gap=gap):
            return (
                f"A digest can be posted every {gap // timedelta(minutes=1)} minutes at most. Choose a "
                "slower schedule, such as `hourly`."
            )
        case errors.DuplicateDigest(digest=None):
            return f"That digest is being added at this moment: `{command}` lists this channel's."
        case errors.DuplicateDigest(digest=number):
            return f"This channel has that digest already: it is number {number}."
    return None


def _finding(error: BotError, command: str, service: str) -> str | None:
    match error:
        case errors.DigestNotNamed(known=known) if known:
            which = ", ".join(f"{number} ({project})" for number, project in known.items())
            return f"Which one? Add its number: {which}."
        case errors.DigestNotNamed():
            return f"This channel has no digest: add one with `{command} add <project> daily 09:00`."
        case errors.UnknownDigest(digest=number, restoring=True):
            return f"Digest {number} isn't there to restore: `{command}` lists this channel's."
        case errors.UnknownDigest(digest=number):
            return f"There is no digest {number} here: `{command}` lists this channel's."
        case errors.ProjectHidden(project=project, owner=None):
            return f"You don't see {project} in {service}."
        case errors.ProjectHidden(project=project, digest=number, owner=owner):
            return f"You don't see {project} in {service}: ask {owner}, whose digest {number} is."
    return None


def _running(error: BotError, command: str) -> str | None:
    match error:
        case errors.ProjectClosed(project=project):
            return f"{project} is closed, so nothing new is opened in it."
        case errors.TimeZoneRemoved(zone=zone):
            return f"The time zone {zone} isn't known any more: change the digest first."
        case errors.OwnerLostProject(digest=number, owner=owner, project=project):
            return (
                f"{owner}, whose key it runs with, can't read {project} any more: "
                f"`{command} take over {number}` makes it yours."
            )
        case errors.OwnersKeyRejected(digest=number, owner=owner):
            return (
                f"It runs with the key of {owner}, which no longer works: `{command} take over {number}` "
                "makes it yours."
            )
        case errors.DigestPaused(digest=number):
            return f"Digest {number} stands still: `{command} resume {number}` first."
        case errors.RepeatedRequest(digest=number):
            return f"Digest {number} was asked for a moment ago: try again in ten seconds."
    return None
