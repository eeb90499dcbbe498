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
    Announced.NOWHERE: "was not asked for in a conversation",
    Announced.SHARED: "this channel is shared with people outside your company",
    Announced.ELSEWHERE: "you aren't in that conversation",
    Announced.UNKNOWN: "I can't see who reads along here: invite me with `/invite` to have it announced",
    Announced.FAILED: "Slack didn't take the message",
    Announced.UNSURE: "Slack broke off, so it may stand there for everybody or not",
}
"""Why something wasn't announced; each ends a sentence."""


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
            return f"{service} no longer accepts your API key: link your account anew with `{link}`."
        case general.Forbidden():
            return f"{service} doesn't let you do that: ask a manager of the project for the right."
        case general.SwitchedOff():
            return (
                f"{service} lets nobody in this way: ask its administrator to switch its REST interface on."
            )
        case general.NotFound():
            return f"{service} doesn't have that, or hides it from you: check the number or name."
        case general.Refused(errors=()):
            return f"{service} refused that without a reason: check what you entered and try again."
        case general.Refused(errors=messages):
            return f"{service} refused that: {'; '.join(message.rstrip('.') for message in messages)}."
        case general.TooLarge():
            return f"That is more than {service} takes at once: send something smaller."
        case general.TooManyRequests(retry_after=retry_after):
            seconds = math.ceil(retry_after or 0)
            wait = f"in {seconds} second{'' if seconds == 1 else 's'}" if seconds else "in a minute"
            return f"{service} is asking us to slow down: try again {wait}."
        case general.AnswerTooLarge():
            return f"{service} sent more than I can read at once. Open it in {service} instead."
        case general.ServiceBroken():
            return (
                f"{service} answered with an error of its own: "
                "try again in a minute, and tell its administrator if it stays."
            )
        case general.NoFreeConnection():
            return (
                f"I'm handling too many requests to {service} right now, so nothing was sent. "
                "Try again in a minute."
            )
        case general.Unreachable():
            return f"{service} can't be reached, so nothing was done: try again in a minute."
        case general.TimedOut():
            return f"{service} took too long to answer: try again in a minute."
        case general.Redirected():
            return (
                f"{service} sent us to another address, which we don't follow: "
                "tell your administrator to check SERVICE_BASE_URL."
            )
        case general.OutcomeUnknown():
            return (
                f"{service} broke off before it answered, so it may have been done or not: "
                "look before you try again."
            )
    return f"{service} could not do that."


def _of_account(error: BotError, wording: Wording) -> str | None:
    service, link = wording.service, wording.command("tracker link")
    match error:
        case general.KeyRejected():
            return f"{service} no longer accepts your API key, so I've forgotten it: link your account anew."
        case general.KeyUnreadable():
            return "Your stored key can't be read any more: link your account anew."
        case general.NotLinked():
            return "Link your account first."
        case general.AccountChanged():
            return f"You've linked another {service} account meanwhile, so I stopped. Try again."
        case general.StoredSecretError():
            return f"Your stored {service} key can't be read any more: link your account anew with `{link}`."
        case general.StoredTextError():
            return "What I kept of this can't be read any more: begin anew."
        case general.KeyInRequest():
            return (
                "Your API key is in what you typed, where others would read it: take it out, renew it under "
                f"“My account” in {service}, then link your account anew with `{link}`."
            )
        case grammar.KeyTyped():
            return (
                "Never type your key into a command, where logs may keep it: renew it under “My account” in "
                f"{service}, then type `{link}` alone and put the new key into its form."
            )
    return None


def _of_grammar(error: BotError, wording: Wording) -> str | None:
    match error:
        case grammar.UnclosedQuote():
            return 'A quote is opened and never closed: close it, as in `desc:"two words"`, or leave it out.'
        case grammar.UnknownOption(key=key, nearest=str(nearest)):
            meant = f"did you mean `{nearest}:`?"
            return f"Unknown option `{key}:`; {meant} Text with a colon goes in double quotes."
        case grammar.UnknownOption(key=key, known=known):
            listed = ", ".join(f"`{one}:`" for one in known)
            return (
                f"Unknown option `{key}:`; there are {listed}, and text with a colon goes in double quotes."
            )
        case grammar.AmbiguousField(name=name, keys=keys):
            listed = " or ".join(f"`{key}:`" for key in keys)
            return f"There are several fields named {name}. Write {listed}."
        case grammar.ValueMissing(key=key):
            return f"`{key}:` needs a value right after its colon; text with a colon goes in quotes."
        case grammar.ListEmpty(key=key):
            return f"`{key}:` needs a value right after its colon."
        case grammar.GivenTwice(key=key, times=times):
            return f"`{key}:` is given {times} times: leave one."
        case grammar.NotCombinable(keyword=keyword):
            return f"`{keyword}` goes with nothing else: leave it out or type it alone."
        case grammar.NotIssueNumbers(key=key):
            return f"`{key}:` takes issue numbers: write `{key}:42`."
        case grammar.NotYesOrNo(key=key):
            return f"`{key}:` is `yes` or `no`: write `{key}:yes`, or leave it out."
        case grammar.UnknownWord(command=name, nearest=nearest):
            command = wording.command(name)
            meant = f"did you mean `{command} {nearest}`?" if nearest else f"try `{command} help`."
            return f"`{command}` doesn't know that word: {meant}"
        case grammar.ForeignLink():
            return f"That link doesn't lead to an issue of {wording.service}: give the issue's number."
        case grammar.NotADate(typed=typed):
            return f"“{typed}” isn't a date: write `2026-07-01`, `today`, `mon` or `+3d`."
        case grammar.NotADayOfWork(typed=typed):
            return f"“{typed}” isn't a date: write `yesterday`, `mon` or `2026-07-01`."
        case grammar.NoDaysInRange(typed=typed):
            return f"“{typed}” holds no days: write `2026-07-01..2026-07-31`, the earlier first."
        case grammar.TooFarAway(typed=typed):
            return f"“{typed}” is too far away: write fewer days, such as `30d`."
        case grammar.NotADuration(typed=typed):
            return f"“{typed}” isn't a duration: write `1.5`, `1,5h`, `90m`, `1h30` or `1:30`."
        case grammar.DurationOutOfRange(longest=longest):
            return f"A duration is more than 0 and at most {longest} hours: write `1.5`, `90m` or `1h30`."
    return None


def _of_platform(error: BotError, wording: Wording) -> str | None:
    match error:
        case general.WrongField(error=cause):
            return wording.sentence(cause)
        case ActionExpired():
            return "I can't tell what that was about: begin anew."
        case CommandTooLong(length=length, longest=longest):
            return (
                f"Your command has {length:,} characters, and I read up to {longest:,}. "
                "Shorten it, and attach the rest as a file."
            )
        case errors.FormSentAlready():
            return "This form was sent already: look whether it was done before you send another."
        case errors.FormExpired():
            return "That form is too old to be opened again: begin anew."
        case errors.ResumedAlready():
            return "That was carried out already, or is too old: ask again."
        case errors.NotYourPost(first_name=first_name):
            return f"Only {first_name or 'the person who caused it'} can delete this post."
        case errors.PostNotDeleted():
            return (
                "Slack didn't confirm that the post was deleted. If it's still there, ask a workspace "
                "administrator to delete it."
            )
        case errors.Interrupted():
            return "I was stopped in the middle of this: look whether it was done before you try again."
        case errors.FormNotOpened():
            return "Slack didn't show the form: try again."
        case errors.DatabaseUnavailable(reference=reference):
            return f"I can't reach my memory; tell your administrator the reference {reference}."
        case errors.InternalError(reference=reference):
            return f"Something went wrong on my side; tell your administrator the reference {reference}."
        case directory.ContactUnknown():
            return "Slack doesn't tell me who you mentioned: try again in a minute."
        case directory.NotAnEmployee():
            return "An account is for a person who is here: you mentioned an app, or somebody who left."
        case directory.FromAnotherCompany():
            alone = wording.command("tracker user new")
            return (
                f"The person you mentioned is from another company: `{alone}` alone makes an account "
                "that isn't linked to anybody in Slack."
            )
    return None
