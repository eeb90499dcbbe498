"""What the user reads for each error that isn't one feature's own."""

import math

from bot import errors as general
from bot.errors import BotError, ServiceError
from bot.slack import directory, errors
from bot.slack.buttons import ActionExpired
from bot.slack.grammar import errors as grammar
from bot.slack.interaction import CommandTooLong
from bot.slack.posting import Announced
from bot.slack.wording import Wording

NOT_ANNOUNCED = {
    Announced.NOWHERE: "there's no conversation to post in",
    Announced.SHARED: "this channel is shared with people outside your company",
    Announced.ELSEWHERE: "you aren't in that conversation. Join it to post there",
    Announced.HIDDEN: "the project is private, and others here may not have access to it",
    Announced.UNKNOWN: "I can't see who's in this channel. Invite me with `/invite @Issue Bot` to post here",
    Announced.FAILED: "Slack rejected the post. Check who can post in this channel",
    Announced.UNSURE: "Slack didn't confirm the post. Check the channel before you try again",
}
"""Why something wasn't announced; each ends a sentence."""


def not_posted(why: Announced) -> str:
    """Why an answer was not posted for others as well, or may not have been."""
    if why is Announced.UNSURE:
        return "Slack didn't confirm the post. Check the channel before you share this again."
    return f"Only you can see this: {NOT_ANNOUNCED[why]}."


def sentence(error: BotError, wording: Wording) -> str | None:
    """The sentence for an error of the platform, the grammar or the service; None for any other error."""
    if isinstance(error, ServiceError):
        return _of_service(error, wording)
    return _of_grammar(error, wording) or _of_account(error, wording) or _of_platform(error, wording)


def _of_service(error: ServiceError, wording: Wording) -> str:
    service = wording.service
    match error:
        case general.Unauthorized():
            link = wording.command("tracker link")
            return f"{service} no longer accepts your API key. Link your account again with `{link}`."
        case general.Forbidden():
            return f"You don't have permission to do that in {service}. Ask a project manager for access."
        case general.SwitchedOff():
            return f"{service}'s REST API is turned off. Ask an administrator to turn it on."
        case general.NotFound():
            return f"{service} can't find that, or you don't have access to it. Check the number or name."
        case general.Refused(errors=()):
            return f"{service} rejected that without a reason. Check what you entered and try again."
        case general.Refused(errors=messages):
            said = ". ".join(message.rstrip(".") for message in messages)
            them = "it" if len(messages) == 1 else "these"
            return f"{service} rejected that: {said}. Fix {them} and try again."
        case general.TooLarge():
            return f"That's more than {service} accepts at once. Send something smaller."
        case general.TooManyRequests(retry_after=retry_after):
            seconds = math.ceil(retry_after or 0)
            wait = f"in {seconds} second{'' if seconds == 1 else 's'}" if seconds else "in a minute"
            return f"{service} is limiting requests right now. Try again {wait}."
        case general.AnswerTooLarge():
            return f"{service} sent more than I can load at once. Open it in {service} instead."
        case general.ServiceBroken():
            return (
                f"{service} ran into an error. Try again in a minute. "
                "If it keeps happening, tell its administrator."
            )
        case general.NoFreeConnection():
            return f"I'm sending {service} too many requests, so this wasn't sent. Try again in a minute."
        case general.Unreachable():
            return f"I can't reach {service}. Try again in a minute."
        case general.TimedOut():
            return f"{service} isn't responding. Try again in a minute."
        case general.Redirected():
            return (
                f"{service} redirected me to another address, so I stopped. "
                "Ask your administrator to check SERVICE_BASE_URL."
            )
        case general.OutcomeUnknown():
            return (
                f"{service} stopped responding, so the change may not have been saved. "
                "Check before you try again."
            )
    return f"{service} couldn't do that. Try again in a minute."


def _of_account(error: BotError, wording: Wording) -> str | None:
    service, link = wording.service, wording.command("tracker link")
    match error:
        case general.KeyRejected():
            return f"{service} refused your API key. Try again in a minute, or link your account again."
        case general.KeyUnreadable():
            return "I can't read your saved API key anymore. Link your account again."
        case general.NotLinked():
            return "Link your account first."
        case general.AccountChanged():
            return f"You linked another {service} account while I was working on this. Try again."
        case general.StoredSecretError():
            return f"I can't read your {service} API key anymore. Link your account again with `{link}`."
        case general.StoredTextError():
            return "I can't read what I saved for this anymore. Start over."
        case general.KeyInRequest():
            return (
                "What you entered contains your API key, and other people would see it. Remove it, create a "
                f"new key under “My account” in {service}, then link your account again with `{link}`."
            )
        case grammar.KeyTyped():
            return (
                "Never type your API key into a command, because it may end up in logs. Create a new key "
                f"under “My account” in {service}, then enter it with `{link}`."
            )
    return None


def _of_grammar(error: BotError, wording: Wording) -> str | None:
    quotes = "Put text that has a colon in double quotes."
    match error:
        case grammar.UnclosedQuote():
            return 'A quotation mark is missing. Close the quote, as in `desc:"two words"`, or remove it.'
        case grammar.UnknownOption(key=key, nearest=str(nearest)):
            return f"There's no `{key}:` option. Did you mean `{nearest}:`?"
        case grammar.UnknownOption(key=key, known=known):
            listed = ", ".join(f"`{one}:`" for one in known)
            return f"There's no `{key}:` option. Use {listed}. {quotes}"
        case grammar.AmbiguousField(name=name, keys=keys):
            listed = " or ".join(f"`{key}:`" for key in keys)
            return f"Several fields are named {name}. Use {listed}."
        case grammar.ValueMissing(key=key):
            return f"`{key}:` needs a value right after the colon. {quotes}"
        case grammar.ListEmpty(key=key):
            return f"`{key}:` needs a value right after the colon."
        case grammar.ListTooLong(key=key, count=count, most=most):
            return f"`{key}:` has {count:,} values. The limit is {most}."
        case grammar.GivenTwice(key=key, times=times):
            return f"You used `{key}:` {times} times. Use it once."
        case grammar.NotCombinable(keyword=keyword):
            return f"`{keyword}` can't be combined with anything else. Use it alone or remove it."
        case grammar.NotIssueNumbers(key=key):
            return f"`{key}:` takes issue numbers, such as `{key}:42`."
        case grammar.NotAPercentage(key=key):
            return f"`{key}:` takes a percentage, such as `{key}:50%`."
        case grammar.NotYesOrNo(key=key):
            return f"`{key}:` takes `yes` or `no`, such as `{key}:yes`."
        case grammar.UnknownWord(command=name, nearest=nearest):
            command = wording.command(name)
            meant = f"Did you mean `{command} {nearest}`?" if nearest else f"Try `{command} help`."
            return f"`{command}` doesn't have that command. {meant}"
        case grammar.ForeignLink():
            return f"That link isn't an issue in {wording.service}. Use the issue's number, such as `42`."
        case grammar.NotADate(typed=typed):
            return f"“{typed}” isn't a date. Try `2026-07-01`, `next friday`, `Dec 31` or `+3d`."
        case grammar.AmbiguousDate(typed=typed, month_first=one, day_first=other):
            return (
                f"“{typed}” could be {one:%B} {one.day} or {other:%B} {other.day}. Type `{one}` or `{other}`."
            )
        case grammar.NotADayOfWork(typed=typed):
            return f"“{typed}” isn't a date. Try `yesterday`, `last friday` or `2026-07-01`."
        case grammar.NoDaysInRange(typed=typed):
            return f"“{typed}” has no days. Put the earlier date first, such as `2026-07-01..2026-07-31`."
        case grammar.TooFarAway(typed=typed):
            return f"“{typed}” is too far away. Use fewer days, such as `30d`."
        case grammar.NotADuration(typed=typed):
            return f"“{typed}” isn't a duration. Try `1.5`, `90m`, `1h 30m` or `1:30`."
        case grammar.DurationOutOfRange(longest=longest):
            return f"A duration must be more than 0 and at most {longest} hours, such as `90m`."
    return None


def _of_platform(error: BotError, wording: Wording) -> str | None:
    match error:
        case general.WrongField(error=cause):
            return wording.sentence(cause)
        case ActionExpired():
            return "That action has expired. Run the command again."
        case CommandTooLong(length=length, longest=longest):
            return (
                f"Your command has {length:,} characters, and the limit is {longest:,}. "
                "Shorten it, and attach the rest as a file."
            )
        case errors.FormSentAlready():
            return "You already submitted this form. Check whether it went through before you submit another."
        case general.InProgress():
            return "This is being done right now. Check back in a moment."
        case errors.PressedAlready():
            return "You just did that. If nothing shows up, try again in a few seconds."
        case errors.FormExpired(command=str(command)):
            return f"This form has expired. Start over with `{wording.command(command)}`."
        case errors.FormExpired():
            return "This form has expired. Start over."
        case errors.ResumedAlready():
            return "This form was already opened or has expired. Start over."
        case errors.NotYourPost(first_name=first_name):
            return f"Only {first_name or 'the person who triggered it'} can delete this post."
        case errors.PostNotDeleted():
            return (
                "Slack didn't confirm that the post was deleted. If it's still there, ask a workspace "
                "administrator to delete it."
            )
        case errors.Interrupted():
            return "I was restarted while working on this. Check whether it went through."
        case errors.FormNotOpened():
            return "Slack didn't open the form. Try again."
        case errors.DatabaseUnavailable(reference=reference):
            return f"I can't reach my database. Ask your administrator to look up reference {reference}."
        case errors.InternalError(reference=reference):
            return f"Something went wrong on my end. Ask your administrator to look up reference {reference}."
        case directory.ContactUnknown():
            return "I couldn't get that person's profile from Slack. Try again in a minute."
        case directory.NotAnEmployee():
            return "You mentioned an app or a deactivated account. Mention a person who's active in Slack."
        case directory.FromAnotherCompany():
            alone = wording.command("tracker user new")
            return (
                f"The person you mentioned is from another company. Use `{alone}` on its own to create an "
                "account that isn't linked to anyone in Slack."
            )
    return None
