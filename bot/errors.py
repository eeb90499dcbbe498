"""The bot's exceptions. A user's error has its sentence with it; `slack/text/wording.py` words the others.

    BotError
    ├── UserError               invalid input; the sentence says what to do instead
    │   ├── NotLinked           the Slack user has no linked account
    │   │   ├── KeyRejected     the service refuses the linked key
    │   │   └── KeyUnreadable   the linked key can't be decrypted
    │   ├── KeyInRequest        what the user typed contains their API key
    │   ├── InProgress          another request is doing the same
    │   ├── UnknownWord         a command has no such subcommand
    │   ├── WrongField          one field of a form is invalid; has the field's name
    │   └── StoredSecretError   a stored secret or saved input can't be decrypted
    └── ServiceError            a request to the service failed; has method, path, and status
        ├── Unauthorized        401: the key is missing, wrong, or locked, or counts as anonymous
        │   └── KeySuspended        the linked key was refused lately: background work waits
        ├── Forbidden           403
        ├── SwitchedOff         403 for /users/current: the service's REST API is turned off
        ├── NotFound            404
        ├── Refused             406, 409, 412, 422: with the service's own error messages
        │   └── FilterIgnored       200: the service ignored a filter
        ├── TooLarge            413: the request is too large for the service or its proxy
        ├── TooManyRequests     429: with the requested wait
        ├── ServiceBroken       5xx, or a response that is malformed or cut short
        │   └── AnswerTooLarge  the response to a read exceeds the size limit
        ├── Unreachable         the connection failed; nothing was sent
        │   └── NoFreeConnection    too many requests in flight; nothing was sent
        ├── TimedOut            a read got no response in time
        ├── Redirected          3xx: never followed, so that the key stays with the service
        └── OutcomeUnknown      a write was sent but not confirmed; it may have been applied

Errors that one module or feature raises are defined there. No error contains a key, a header, or a body.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, dataclass_transform


@dataclass(frozen=True)
class Offer:
    """A button below an error: it runs `text` with that command, or else with the one that was typed, or
    repeats the request if there is no text.
    """

    label: str
    text: str | None = None
    command: str = ""


class BotError(Exception):
    """Base class of the bot's exceptions.

    `says` is the sentence that a user reads. `{name}` in it stands for an attribute of the error, or for the
    sentences of errors in it, `{service}` for the service's name and `{/issue new}` for a command. They are
    filled in once, for the reply (`Wording.sentence`), so typed text is never read as a template.
    """

    says: ClassVar[str] = ""
    offers: Sequence[Offer] = ()

    @property
    def correction(self) -> tuple[str, str] | None:
        """The typed name and the most likely correction, if one misspelled name is the only problem."""
        return None


@dataclass_transform(eq_default=False)
class UserError(BotError):
    """Invalid input, worded where it is raised: `raise UserError("No `{key}:` here.", key=key)`. Its `offers`
    lead on.

    An error that is caught by name, or raised in several places, is a subclass: a dataclass whose fields are
    the values that its `says` names.
    """

    def __init__(self, says: str = "", /, **values: object) -> None:
        super().__init__(says)
        vars(self).update(values, says=says)

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        dataclass(eq=False)(cls)


class NotLinked(UserError):
    says = "Link your account first."


class KeyRejected(NotLinked):
    """The service refuses the linked key; in the background that is KeySuspended."""

    says = "{service} refused your API key. Try again in a minute, or link your account again."


class KeyUnreadable(NotLinked):
    """The linked key can't be decrypted. The link stays: the right encryption key may be restored."""

    says = "I can't read your saved API key anymore. Link your account again."


class KeyInRequest(UserError):
    """What the user typed contains their API key, which the service would show or log."""

    says = (
        "What you entered contains your API key, and other people would see it. Remove it, create a new key "
        "under “My account” in {service}, then link your account again with `{/tracker link}`."
    )


class UnknownWord(UserError):
    """A command has no such subcommand; `nearest` is the best match. The `word` may be a secret."""

    says = "I don't recognize that `/{prefix}{command}` command. {instead}"
    command: str
    word: str
    nearest: str | None

    @property
    def correction(self) -> tuple[str, str] | None:
        return (self.word, self.nearest) if self.nearest else None

    @property
    def instead(self) -> UserError:
        if self.nearest is None:
            return UserError("Try `/{prefix}{command} help`.", command=self.command)
        return UserError(
            "Did you mean `/{prefix}{command} {nearest}`?", command=self.command, nearest=self.nearest
        )


class WrongField(UserError):
    says = "{error}"
    field: str
    error: UserError

    @property
    def correction(self) -> tuple[str, str] | None:
        return self.error.correction


class InProgress(UserError):
    says = "I'm already working on this. Check back in a moment."


class StoredSecretError(UserError):
    """A stored secret or saved input can't be decrypted: the encryption keys changed, or the row was tampered
    with.
    """

    says = "I can't read what I saved for this anymore. Start over."
    why: str


class ServiceError(BotError):
    """A request to the service failed.

    `method` and `path` identify the request, without host and query; `status` is the HTTP status or None.
    """

    def __init__(self, method: str, path: str, status: int | None = None, detail: str = "") -> None:
        self.method = method
        self.path = path
        self.status = status
        self.detail = detail
        what = f"{method} {path}" + (f" -> {status}" if status is not None else "")
        super().__init__(f"{what}: {detail}" if detail else what)


class Unauthorized(ServiceError):
    """401, or the service treats the key as anonymous."""


class KeySuspended(Unauthorized):
    """The linked key was refused lately, so background work waits for `retry_after` seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__("GET", "/users/current.json", 401)
        self.retry_after = retry_after


class Forbidden(ServiceError):
    """403: the user lacks the permission, or the resource is hidden from them."""


class SwitchedOff(ServiceError):
    """403 for `/users/current`: the service's REST API is turned off (docs/service.md, Responses)."""


class NotFound(ServiceError):
    """404."""


class Refused(ServiceError):
    """The service rejected the request; `errors` are its own messages, in the user's language."""

    def __init__(self, method: str, path: str, status: int, errors: Sequence[str] = ()) -> None:
        super().__init__(method, path, status)
        self.errors = tuple(errors)


class FilterIgnored(Refused):
    """`filter` is the name of a filter that the service ignored."""

    def __init__(self, method: str, path: str, filter: str) -> None:  # noqa: A002 - it is called so
        super().__init__(method, path, 200)
        self.filter = filter


class TooLarge(ServiceError):
    """413."""


class TooManyRequests(ServiceError):
    """429; `retry_after` is the requested wait in seconds, or None."""

    def __init__(self, method: str, path: str, status: int = 429, retry_after: float | None = None) -> None:
        super().__init__(method, path, status)
        self.retry_after = retry_after


class ServiceBroken(ServiceError):
    """5xx, or a response that doesn't follow the interface."""


class AnswerTooLarge(ServiceBroken):
    """The response to a read exceeds the size limit."""


class Unreachable(ServiceError):
    """The connection failed, so nothing was sent."""


class NoFreeConnection(Unreachable):
    """All connections stayed in use for too long, so nothing was sent."""


class TimedOut(ServiceError):
    """A read got no response in time."""


class Redirected(ServiceError):
    """3xx: the configured address isn't the service's own."""


class OutcomeUnknown(ServiceError):
    """A write was sent but not confirmed, so it may have been applied."""
