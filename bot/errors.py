"""Every error that the bot raises on purpose, and the sentence that a person sees for it.

    BotError
    ├── UserError               what a person typed or chose can't be used; says what to do instead
    │   ├── NotLinked           no key is known for this Slack user
    │   │   └── KeyRejected     the key that was known has just stopped working; said once
    │   ├── AccountChanged      the person linked another account while this was going on
    │   ├── WrongField          one field of a form can't be used; has the field's name
    │   └── StoredTextError     what was kept for a person can't be opened with the keys at hand
    ├── ServiceError            something between the bot and the service; has method, path and status
    │   ├── Unauthorized        401: the key is missing, wrong, locked, or became an anonymous visitor
    │   ├── Forbidden           403
    │   ├── SwitchedOff         403 to the question whose key it is: the interface is switched off
    │   ├── NotFound            404
    │   ├── Refused             406, 409, 412, 422: with the service's own sentences
    │   ├── TooLarge            413: the request was too large for the service or a proxy before it
    │   ├── TooManyRequests     429: with the wait that was asked for
    │   ├── ServiceBroken       5xx, an answer that is not the interface's, or cut short
    │   │   └── AnswerTooLarge  an answer to a read that is larger than the limit
    │   ├── Unreachable         no connection was made: nothing was sent
    │   │   └── NoFreeConnection    too many requests in flight: this one didn't get its turn in time
    │   ├── TimedOut            no answer in time, to a read
    │   ├── Redirected          3xx: an error, not a detour, so that no key travels along
    │   └── OutcomeUnknown      a write was sent and its answer never came: it may have happened
    └── StoredSecretError       a stored secret can't be opened with the keys at hand

`sentence(service)` takes the service's name as people know it (`SERVICE_NAME`) and gives one sentence
that says what to do. No error carries a key, a header or a body.
"""

import math
from collections.abc import Sequence


class BotError(Exception):
    """Base of the tree; `sentence` is what a person sees."""

    def sentence(self, service: str) -> str:
        """One sentence in plain text for the person who asked."""
        raise NotImplementedError


class UserError(BotError):
    """What a person typed can't be used; the message is the sentence, `{service}` the service's name."""

    def sentence(self, service: str) -> str:
        """The message."""
        return str(self).replace("{service}", service)


class NotLinked(UserError):
    """No key is known for this Slack user."""

    def __init__(self, message: str = "Link your account first.") -> None:
        super().__init__(message)


class KeyRejected(NotLinked):
    """The linked key has just stopped working and was forgotten; said once, the next call is NotLinked."""

    def sentence(self, service: str) -> str:
        """What happened; the button to link anew stands below it."""
        return f"{service} no longer accepts your API key, so I've forgotten it: link your account anew."


class AccountChanged(UserError):
    """The person linked another account while something was done for the one before."""

    def __init__(self) -> None:
        super().__init__("You've linked another {service} account meanwhile, so I stopped. Try again.")


class WrongField(UserError):
    """One field can't be used; `field` is its name in the form."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class StoredTextError(UserError):
    """What was kept for a person can't be opened: other encryption keys, or a row that was tampered with."""

    def __init__(self) -> None:
        super().__init__("What I kept of this can't be read any more: begin anew.")


class ServiceError(BotError):
    """Something between the bot and the service.

    `method` and `path` name the request (no query, no host), `status` is the HTTP status or None.
    """

    template = "{service} could not do that."

    def __init__(self, method: str, path: str, status: int | None = None, detail: str = "") -> None:
        self.method = method
        self.path = path
        self.status = status
        self.detail = detail
        what = f"{method} {path}" + (f" -> {status}" if status is not None else "")
        super().__init__(f"{what}: {detail}" if detail else what)

    def sentence(self, service: str) -> str:
        """The class's sentence with the service's name."""
        return self.template.format(service=service)


class Unauthorized(ServiceError):
    """401, or a key that the service treats as an anonymous visitor's."""

    template = "{service} no longer accepts your API key: link your account anew with `/tracker link`."


class Forbidden(ServiceError):
    """403: the person lacks the right, or the thing is hidden from them."""

    template = "{service} doesn't let you do that: ask a manager of the project for the right."


class SwitchedOff(ServiceError):
    """403 to the question whose key it is: the interface is switched off (service-facts.md, "Answers")."""

    template = "{service} lets nobody in this way: ask its administrator to switch its REST interface on."


class NotFound(ServiceError):
    """404."""

    template = "{service} doesn't have that, or hides it from you: check the number or name."


class Refused(ServiceError):
    """The service understood and refused; `errors` are its own sentences, in the person's language."""

    def __init__(self, method: str, path: str, status: int, errors: Sequence[str] = ()) -> None:
        super().__init__(method, path, status)
        self.errors = tuple(errors)

    def sentence(self, service: str) -> str:
        """The service's own sentences, or that it changed in between when it gives none."""
        if not self.errors:
            return f"{service} refused that without a reason: check what you entered and try again."
        return f"{service} refused that: {'; '.join(e.rstrip('.') for e in self.errors)}."


class TooLarge(ServiceError):
    """413."""

    template = "That is more than {service} takes at once: send something smaller."


class TooManyRequests(ServiceError):
    """429; `retry_after` is the wait asked for in seconds, or None."""

    def __init__(self, method: str, path: str, status: int = 429, retry_after: float | None = None) -> None:
        super().__init__(method, path, status)
        self.retry_after = retry_after

    def sentence(self, service: str) -> str:
        """When to try again."""
        seconds = math.ceil(self.retry_after or 0)
        wait = f"in {seconds} second{'' if seconds == 1 else 's'}" if seconds else "in a minute"
        return f"{service} is asking us to slow down: try again {wait}."


class ServiceBroken(ServiceError):
    """5xx, or an answer that isn't the interface's."""

    template = (
        "{service} answered with an error of its own: "
        "try again in a minute, and tell its administrator if it stays."
    )


class AnswerTooLarge(ServiceBroken):
    """The answer to a read is larger than the limit."""

    template = "{service} sent more than I can read at once. Open it in {service} instead."


class Unreachable(ServiceError):
    """No connection was made; nothing was sent."""

    template = "{service} can't be reached, so nothing was done: try again in a minute."


class NoFreeConnection(Unreachable):
    """All connections were in use for too long; nothing was sent."""

    template = (
        "I'm handling too many requests to {service} right now, so nothing was sent. Try again in a minute."
    )


class TimedOut(ServiceError):
    """A read got no answer in time."""

    template = "{service} took too long to answer: try again in a minute."


class Redirected(ServiceError):
    """3xx: the configured address is not the service's own."""

    template = (
        "{service} sent us to another address, which we don't follow: "
        "tell your administrator to check SERVICE_BASE_URL."
    )


class OutcomeUnknown(ServiceError):
    """A write was sent and no answer came: it may have happened."""

    template = (
        "{service} broke off before it answered, so it may have been done or not: look before you try again."
    )


class StoredSecretError(BotError):
    """A stored secret can't be opened: other encryption keys, or a row that was tampered with."""

    def sentence(self, service: str) -> str:
        """Link anew."""
        return (
            f"Your stored {service} key can't be read any more: link your account anew with `/tracker link`."
        )
