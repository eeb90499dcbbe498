"""The bot's exceptions, and the sentence the user sees for each.

    BotError
    ├── UserError               invalid input; the message says what to do instead
    │   ├── NotLinked           the Slack user has no linked account
    │   │   └── KeyRejected     the linked key just stopped working; raised once
    │   ├── AccountChanged      the user linked another account during the operation
    │   ├── WrongField          one field of a form is invalid; has the field's name
    │   └── StoredTextError     saved input can't be decrypted
    ├── ServiceError            a request to the service failed; has method, path, and status
    │   ├── Unauthorized        401: the key is missing, wrong, or locked, or counts as anonymous
    │   ├── Forbidden           403
    │   ├── SwitchedOff         403 for the current user: the service's REST API is turned off
    │   ├── NotFound            404
    │   ├── Refused             406, 409, 412, 422: with the service's own error messages
    │   ├── TooLarge            413: the request is too large for the service or its proxy
    │   ├── TooManyRequests     429: with the requested wait
    │   ├── ServiceBroken       5xx, or an answer that is malformed or cut short
    │   │   └── AnswerTooLarge  the answer to a read exceeds the size limit
    │   ├── Unreachable         the connection failed; nothing was sent
    │   │   └── NoFreeConnection    too many requests in flight; nothing was sent
    │   ├── TimedOut            a read got no answer in time
    │   ├── Redirected          3xx: never followed, so that the key stays with the service
    │   └── OutcomeUnknown      a write was sent but not confirmed; it may have been applied
    └── StoredSecretError       a stored secret can't be decrypted

`sentence(service)` returns the sentence for the user, given the service's display name (`SERVICE_NAME`).
No error contains a key, a header, or a body.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import dataclass_transform


class BotError(Exception):
    """Base class of the bot's exceptions."""

    def sentence(self, service: str) -> str:
        """Return the sentence for the user, in plain text."""
        raise NotImplementedError


@dataclass_transform(eq_default=False)
class UserError(BotError):
    """Invalid input. Each subclass is a dataclass whose fields are the facts that its sentence needs."""

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        dataclass(eq=False)(cls)

    def __init__(self, *message: object) -> None:
        super().__init__(*message)

    def sentence(self, service: str) -> str:
        return str(self).replace("{service}", service)


class NotLinked(UserError):
    """The Slack user has no linked account."""

    def __init__(self, message: str = "Link your account first.") -> None:
        super().__init__(message)


class KeyRejected(NotLinked):
    """The linked key stopped working, so the link was deleted. Raised once; the next call is NotLinked."""

    def sentence(self, service: str) -> str:
        return f"{service} no longer accepts your API key, so I've forgotten it: link your account anew."


class AccountChanged(UserError):
    """The user linked another account during the operation."""

    def __init__(self) -> None:
        super().__init__("You've linked another {service} account meanwhile, so I stopped. Try again.")


class WrongField(UserError):
    """One field of a form is invalid; `field` is its name."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class StoredTextError(UserError):
    """Saved input can't be decrypted: the encryption keys changed, or the row was tampered with."""

    def __init__(self) -> None:
        super().__init__("What I kept of this can't be read any more: begin anew.")


class ServiceError(BotError):
    """A request to the service failed.

    `method` and `path` identify the request, without host and query; `status` is the HTTP status or None.
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
        return self.template.format(service=service)


class Unauthorized(ServiceError):
    """401, or the service treats the key as anonymous."""

    template = "{service} no longer accepts your API key: link your account anew with `/tracker link`."


class Forbidden(ServiceError):
    """403: the user lacks the permission, or the resource is hidden from them."""

    template = "{service} doesn't let you do that: ask a manager of the project for the right."


class SwitchedOff(ServiceError):
    """403 for the current user: the service's REST API is turned off (docs/service.md, Answers)."""

    template = "{service} lets nobody in this way: ask its administrator to switch its REST interface on."


class NotFound(ServiceError):
    """404."""

    template = "{service} doesn't have that, or hides it from you: check the number or name."


class Refused(ServiceError):
    """The service rejected the request; `errors` are its own messages, in the user's language."""

    def __init__(self, method: str, path: str, status: int, errors: Sequence[str] = ()) -> None:
        super().__init__(method, path, status)
        self.errors = tuple(errors)

    def sentence(self, service: str) -> str:
        if not self.errors:
            return f"{service} refused that without a reason: check what you entered and try again."
        return f"{service} refused that: {'; '.join(e.rstrip('.') for e in self.errors)}."


class TooLarge(ServiceError):
    """413."""

    template = "That is more than {service} takes at once: send something smaller."


class TooManyRequests(ServiceError):
    """429; `retry_after` is the requested wait in seconds, or None."""

    def __init__(self, method: str, path: str, status: int = 429, retry_after: float | None = None) -> None:
        super().__init__(method, path, status)
        self.retry_after = retry_after

    def sentence(self, service: str) -> str:
        seconds = math.ceil(self.retry_after or 0)
        wait = f"in {seconds} second{'' if seconds == 1 else 's'}" if seconds else "in a minute"
        return f"{service} is asking us to slow down: try again {wait}."


class ServiceBroken(ServiceError):
    """5xx, or an answer that doesn't follow the interface."""

    template = (
        "{service} answered with an error of its own: "
        "try again in a minute, and tell its administrator if it stays."
    )


class AnswerTooLarge(ServiceBroken):
    """The answer to a read exceeds the size limit."""

    template = "{service} sent more than I can read at once. Open it in {service} instead."


class Unreachable(ServiceError):
    """The connection failed, so nothing was sent."""

    template = "{service} can't be reached, so nothing was done: try again in a minute."


class NoFreeConnection(Unreachable):
    """All connections stayed in use for too long, so nothing was sent."""

    template = (
        "I'm handling too many requests to {service} right now, so nothing was sent. Try again in a minute."
    )


class TimedOut(ServiceError):
    """A read got no answer in time."""

    template = "{service} took too long to answer: try again in a minute."


class Redirected(ServiceError):
    """3xx: the configured address isn't the service's own."""

    template = (
        "{service} sent us to another address, which we don't follow: "
        "tell your administrator to check SERVICE_BASE_URL."
    )


class OutcomeUnknown(ServiceError):
    """A write was sent but not confirmed, so it may have been applied."""

    template = (
        "{service} broke off before it answered, so it may have been done or not: look before you try again."
    )


class StoredSecretError(BotError):
    """A stored secret can't be decrypted: the encryption keys changed, or the row was tampered with."""

    def sentence(self, service: str) -> str:
        return (
            f"Your stored {service} key can't be read any more: link your account anew with `/tracker link`."
        )
