"""What the errors of digests say to the user."""

from datetime import timedelta

from bot.errors import BotError
from bot.features.digests import channels, commands, errors, schedules
from bot.features.digests.channels import ChannelProblem
from bot.features.series import series
from bot.slack.wording import Wording
from bot.store.digest_plans import GROUPS

CRON = "`cron 0 9 * * 1-5`"
SCHEDULES = {
    None: f"When should I post? Try `daily 9`, `weekdays 9:30`, `weekly mon 9am`, `hourly`, or {CRON}.",
    "weekly": "Which day? Try `weekly mon 9:00`, or `weekly mon,thu 9:00` for several days.",
    "hourly": "I couldn't read the minute after `hourly`. Try `hourly`, or `hourly :30` for half past.",
    "cron": (
        "A cron line has five fields, from the minute to the day of the week, and at most "
        f"{schedules.LONGEST} characters. Try {CRON}."
    ),
    "every": "I can post every 15, 20, or 30 minutes, or every 1, 2, 3, 4, 6, 8, or 12 hours.",
}
CHANNELS = {
    ChannelProblem.NONE_CHOSEN: "Choose a channel for the digest.",
    ChannelProblem.SLACK_UNREACHABLE: "Slack isn't responding. Try again in a minute.",
    ChannelProblem.BOT_NOT_INVITED: "I'm not in that channel. Invite me with `/invite`, then try again.",
    ChannelProblem.ARCHIVED: "That channel is archived. Choose another one.",
    ChannelProblem.READERS_UNKNOWN: "I can't see who's in that channel. Try again in a minute.",
    ChannelProblem.SHARED_OUTSIDE: (
        "That channel is shared with people outside your company. Choose another one."
    ),
    ChannelProblem.NO_DIRECT_MESSAGES: (
        "Slack doesn't let me send you direct messages. Ask your administrator to reinstall me, then try "
        "again."
    ),
    ChannelProblem.USER_NOT_A_MEMBER: "You're not in that channel. Join it first, or choose another one.",
}


def sentence(error: BotError, wording: Wording) -> str | None:
    """The sentence for an error of digests; None for any other error."""
    command, service = wording.command("digest"), wording.service
    match error:
        case schedules.UnreadableSchedule(kind=kind):
            return SCHEDULES[kind]
        case schedules.UnreadableTime(after=words):
            return f"I couldn't read the time after `{words}`. Try `{words} 9:00` or `{words} 5:30 pm`."
        case schedules.UnreadableCron(field=None):
            return f"That cron line never matches a date. Try one like {CRON}."
        case schedules.UnreadableCron(field=field):
            return f"The {field} in that cron line isn't valid. Try one like {CRON}."
        case schedules.UnknownTimeZone(near=()):
            return "I don't know that time zone. Try one like `Europe/Paris` or `UTC`."
        case schedules.UnknownTimeZone(near=near):
            names = [f"`{name}`" for name in near]
            return f"I don't know that time zone. Did you mean {series(names)}?"
        case errors.NeverDue(zone=zone):
            return f"That schedule never runs in {zone}. Choose another time."
        case commands.NothingExpected(word=word, option=None):
            return f"Type `{command} {word}` on its own."
        case commands.NothingExpected(word=word, option=option):
            return f"`{command} {word}` doesn't take options. Leave out `{option}:`."
        case commands.DigestNumberMissing(word=word):
            act = "take over" if word == "take" else word
            return f"Which digest? Type its number, like `{command} {act} 3`."
        case commands.ProjectNamedTwice():
            return "You named the project twice. Leave out `project:` or the name before the schedule."
        case commands.UnknownGroup():
            groups = [f"`{group}`" for group in GROUPS]
            return f"`group:` can be {series(groups)}. Try `group:priority`."
        case commands.UnknownKind():
            return "`kind:` can be `new`, `due`, `closed`, or `stale`. For stale issues, try `stale:14d`."
        case channels.ChannelRefused(why=ChannelProblem.OUTSIDE_ANY_CHANNEL):
            return f"Digests belong to a channel. Type `{command}` in one."
        case channels.ChannelRefused(why=why):
            return CHANNELS[why]
        case errors.TooManyDigests(whose="channel", most=most):
            return f"This channel already has {most} digests, the most allowed. Remove one in `{command}`."
        case errors.TooManyDigests(most=most):
            return f"You already own {most} digests, the most allowed. Remove one in a channel's `{command}`."
        case errors.TooOften(gap=gap):
            return (
                f"A digest can post at most once every {gap // timedelta(minutes=1)} minutes. "
                "Choose a slower schedule, like `hourly`."
            )
        case errors.DuplicateDigest(digest=None):
            return f"That digest is already being added. Type `{command}` to see it."
        case errors.DuplicateDigest(digest=number):
            return f"This channel already has that digest. It's number {number} in `{command}`."
        case errors.DigestNotNamed(known=known) if known:
            which = ", ".join(f"{number} ({project})" for number, project in known.items())
            return f"Which digest? Add its number: {which}."
        case errors.DigestNotNamed():
            return f"This channel has no digests. Add one with `{command} add <project> daily 9`."
        case errors.UnknownDigest(digest=number, restoring=True):
            return (
                f"Digest {number} can't be restored anymore. Type `{command}` to see this channel's digests."
            )
        case errors.UnknownDigest(digest=number):
            return f"There's no digest {number} here. Type `{command}` to see this channel's digests."
        case errors.NotAgreed(digest=number, project=project, owner=None):
            return f"{project} isn't public. To show its issues in the channel: `{command} resume {number}`."
        case errors.NotAgreed(digest=number, project=project, owner=owner):
            return (
                f"{project} isn't public, and only {owner} can agree to show it here. To take ownership: "
                f"`{command} take over {number}`."
            )
        case errors.ProjectHidden(project=project, owner=None):
            return f"You can't see {project} in {service}. Ask one of its managers for access."
        case errors.ProjectHidden(project=project, digest=number, owner=owner):
            return f"You can't see {project} in {service}. Ask {owner}, who owns digest {number}."
        case errors.ProjectClosed(project=project):
            return f"{project} is closed, so it gets no new issues. Choose another project."
        case errors.TimeZoneRemoved(zone=zone):
            return f"The time zone {zone} no longer exists. Edit the digest and choose another one."
        case errors.OwnerLostAccess(digest=number, owner=owner, project=project):
            return (
                f"{owner}, who owns this digest, can't see {project} anymore. To take ownership: "
                f"`{command} take over {number}`."
            )
        case errors.OwnerChanged(owner=owner):
            return f"{owner} owns this digest now and will be notified of your changes."
        case errors.DigestPaused(digest=number):
            return f"Digest {number} is paused. To resume it: `{command} resume {number}`."
        case errors.RepeatedRequest(digest=number):
            return f"Digest {number} was just sent. Try again in ten seconds."
    return None
