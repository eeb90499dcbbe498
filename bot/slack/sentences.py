"""What a user reads of the service's errors, which carry facts; all others have their sentences with them."""

import math

from bot import errors
from bot.errors import BotError, UserError
from bot.spelling import prose_kind

SAYS: dict[type[BotError], UserError] = {
    errors.StoredSecretError: UserError(
        "I can't read your {service} API key anymore. Link your account again with `{/tracker link}`."
    ),
    errors.ServiceError: UserError("{service} couldn't do that. Try again in a minute."),
    errors.Unauthorized: UserError(
        "{service} refused your API key. Link your account again with `{/tracker link}`."
    ),
    errors.Forbidden: UserError(
        "You don't have permission to do that in {service}. Ask a project manager for access."
    ),
    errors.SwitchedOff: UserError(
        "{service}'s REST API is turned off. Ask a {service} administrator to turn it on."
    ),
    errors.NotFound: UserError(
        "{service} can't find that, or you don't have access to it. Check the number or name."
    ),
    errors.Refused: UserError(
        "{service} rejected that without giving a reason. Check what you entered and try again."
    ),
    errors.TooLarge: UserError("That's too large for {service}. Shorten it, or attach a smaller file."),
    errors.AnswerTooLarge: UserError(
        "{service} sent more than I can load at once. Open it in {service} instead."
    ),
    errors.ServiceBroken: UserError(
        "{service} ran into an error. Try again in a minute. If it keeps happening, tell a {service} "
        "administrator."
    ),
    errors.NoFreeConnection: UserError(
        "I'm sending {service} too many requests, so this wasn't sent. Try again in a minute."
    ),
    errors.Unreachable: UserError("I can't reach {service}. Try again in a minute."),
    errors.TimedOut: UserError("{service} isn't responding. Try again in a minute."),
    errors.Redirected: UserError(
        "{service} redirected me to another address, so I stopped. "
        "Ask your Issue Bot administrator to check SERVICE_BASE_URL."
    ),
    errors.OutcomeUnknown: UserError(
        "{service} stopped responding, so the change may not have been saved. Check before you try again."
    ),
}


def of_service(error: BotError) -> UserError:
    """What to tell a user of an error of the service. Raises LookupError for any other error."""
    if isinstance(error, errors.FilterIgnored):
        name = prose_kind(error.filter)
        return UserError("{service} can't filter by {name}. Remove that filter.", name=name)
    if isinstance(error, errors.Refused) and error.errors:
        said = ". ".join(message.rstrip(".") for message in error.errors)
        them = "it" if len(error.errors) == 1 else "these"
        return UserError("{service} rejected that: {said}. Fix {them} and try again.", said=said, them=them)
    if isinstance(error, errors.TooManyRequests):
        seconds = math.ceil(error.retry_after or 0)
        wait = f"in {seconds} second{'' if seconds == 1 else 's'}" if seconds else "in a minute"
        return UserError("{service} is limiting requests right now. Try again {wait}.", wait=wait)
    for kind in type(error).__mro__:
        if kind in SAYS:
            return SAYS[kind]
    raise LookupError(f"no sentence for {type(error).__name__}")
