"""Builds requests to the service and reads its responses. Pure functions, no I/O.

A `Call` is a request without host and key, an `Answer` the successful response to it; any other response
raises the matching ServiceError.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Literal, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from bot.errors import (
    AnswerTooLarge,
    Forbidden,
    NotFound,
    OutcomeUnknown,
    Redirected,
    Refused,
    ServiceBroken,
    ServiceError,
    TooLarge,
    TooManyRequests,
    Unauthorized,
)
from bot.service import conventions
from bot.service.inputs import Write
from bot.service.models import Page

M = TypeVar("M", bound=BaseModel)

CUT_SHORT = "the response was cut short"
NOT_JSON = "the response is not JSON"
TOO_LARGE = "the response is too large"
CONNECTION_BROKE = "the connection broke"
MAX_MESSAGES, MAX_MESSAGE_LENGTH = 20, 500
GATEWAY = frozenset({502, 503, 504})  # sent by a proxy in front of the service


@dataclass(frozen=True)
class Call:
    """A request. `operation` is its name in metrics; `path` starts with a slash and has no query.

    Empty `params` aren't sent.
    """

    operation: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = field(default=None, repr=False)

    @property
    def writes(self) -> bool:
        """Whether the request may change data, so that it must not be repeated."""
        return self.method != "GET"

    def error(self, if_read: type[ServiceError], detail: str, status: int | None = None) -> ServiceError:
        """Return the error for a missing or unusable response: a write may have been applied."""
        return (OutcomeUnknown if self.writes else if_read)(self.method, self.path, status, detail)


@dataclass(frozen=True)
class Answer:
    """The content of a successful response. The methods raise ServiceBroken or OutcomeUnknown for others."""

    call: Call
    status: int
    content: Mapping[str, object] = field(repr=False)

    def one(self, wrapper: str, model: type[M]) -> M:
        return self._model(model, self.content.get(wrapper))

    def rows(self, wrapper: str, model: type[M]) -> tuple[M, ...]:
        rows = self.content.get(wrapper)
        if not isinstance(rows, list):
            raise self.call.error(ServiceBroken, f"the response has no {wrapper}", self.status)
        return tuple([self._model(model, row) for row in rows])

    def page(self, wrapper: str, model: type[M]) -> Page[M]:
        total, offset, limit = map(self.content.get, ("total_count", "offset", "limit"))
        if isinstance(total, bool) or not isinstance(total, int):
            raise self.call.error(ServiceBroken, "the list has no total_count", self.status)
        return Page(
            items=self.rows(wrapper, model),
            total_count=total,
            offset=offset if isinstance(offset, int) else int(self.call.params["offset"]),
            limit=limit if isinstance(limit, int) else int(self.call.params["limit"]),
        )

    def _model(self, model: type[M], content: object) -> M:
        problem = ""
        try:
            return model.model_validate(content)
        except ValidationError as error:
            problem = ", ".join(".".join(map(str, each["loc"])) for each in error.errors()[:3])
        # Raised outside the handler, so that the error's context doesn't contain the answer.
        problem = f"the response holds no {model.__name__}: {problem or 'not an object'}"
        raise self.call.error(ServiceBroken, problem, self.status)


def done(_: Answer) -> None:
    """Read nothing: an update's response has no content."""


def project_path(project_id: int | str, below: str = "") -> str:
    """Return the path of a project, or of the collection `below` it. Quotes the identifier.

    Raises ValueError for an empty identifier.
    """
    if project_id == "":
        raise ValueError("an identifier can't be empty")
    return f"/projects/{quote(str(project_id), safe='')}{below}.json"


def read_page(operation: str, path: str, params: Mapping[str, str], offset: int, limit: int) -> Call:
    """Return a GET request for one page. Always sends the limit, because services have different defaults.

    Raises ValueError for an offset or a limit out of bounds.
    """
    if offset < 0 or not 1 <= limit <= conventions.PAGE_SIZE:
        raise ValueError(f"offset from 0, limit from 1 to {conventions.PAGE_SIZE}")
    return Call(operation, "GET", path, {**params, "offset": str(offset), "limit": str(limit)})


def write(operation: str, method: Literal["POST", "PUT", "PATCH"], path: str, what: Write) -> Call:
    """Return a request with the fields that were set as a JSON body."""
    beside = set(what.top_level)
    fields = what.model_dump(mode="json", exclude_unset=True)
    body: dict[str, object] = {name: fields.pop(name) for name in beside & fields.keys()}
    content = json.dumps(
        {what.wrapper: fields, **body}, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return Call(operation, method, path, body=content.encode())


def answered(call: Call, status: int, body: bytes, defect: str, retry_after: str | None) -> Answer:
    """Return the response to a call; `defect` says why the body is incomplete, empty if it isn't.

    An update returns any 2xx without content (docs/service.md, Responses), or with JSON. HTML comes from a
    proxy and confirms nothing. Raises the ServiceError that the status or the body stands for.
    """
    if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        raise _refusal(call, status, body, retry_after)
    if defect:
        raise call.error(AnswerTooLarge if defect == TOO_LARGE else ServiceBroken, defect, status)
    if call.method not in ("GET", "POST") and not body.strip():
        return Answer(call, status, {})
    content: object = None
    defect = "the response is not the interface's JSON"
    try:
        content = from_json(body)
    except ValueError:
        defect = NOT_JSON
    if not isinstance(content, dict):
        raise call.error(ServiceBroken, defect, status)
    return Answer(call, status, content)


def _refusal(call: Call, status: int, body: bytes, retry_after: str | None) -> ServiceError:
    """Return the error for a status other than 2xx.

    After any 5xx the outcome of a write is unknown: a proxy can't tell, and the service itself may fail after
    saving the change, for example while sending email.
    """
    where = (call.method, call.path)
    if status < HTTPStatus.BAD_REQUEST:
        return Redirected(*where, status)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return TooManyRequests(*where, status, retry_after_seconds(retry_after))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return call.error(ServiceBroken, "", status)
    kinds: dict[int, type[ServiceError]] = {401: Unauthorized, 403: Forbidden, 404: NotFound, 405: NotFound}
    kinds |= dict.fromkeys((413, 414, 431), TooLarge)
    if status in kinds:
        return kinds[status](*where, status)
    return Refused(*where, status, error_messages(body))


def error_messages(body: bytes) -> tuple[str, ...]:
    """Return the messages in an error body: `errors` may be a list, a string, or lists by field."""
    try:
        content = from_json(body)
    except ValueError:
        return ()
    errors = content.get("errors", content.get("error")) if isinstance(content, dict) else content
    if isinstance(errors, dict):
        errors = [*_by_field(errors)]
    texts = (text.strip()[:MAX_MESSAGE_LENGTH] for text in _as_list(errors) if isinstance(text, str))
    return tuple(text for text in texts if text)[:MAX_MESSAGES]


def _by_field(errors: Mapping[str, object]) -> Iterator[str]:
    for name, texts in errors.items():
        yield from (f"{name} {text}" for text in _as_list(texts))


def retry_after_seconds(retry_after: str | None) -> float | None:
    """Return the seconds requested by a Retry-After header, a number or a date; None if it's invalid."""
    if not retry_after:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            moment = parsedate_to_datetime(retry_after)
        except ValueError:
            return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        seconds = (moment - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _as_list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else [value]
