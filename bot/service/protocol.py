"""Builds requests to the service and decodes its answers. Pure functions, no I/O.

A `Call` is a request without host and key, an `Answer` the response to it. A decoder returns an answer's
value, or raises the matching ServiceError.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Literal, TypeAlias, TypeVar
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
T = TypeVar("T")

CUT_SHORT = "the answer was cut short"
NOT_JSON = "the answer is not JSON"
TOO_LARGE = "the answer is too large"
CONNECTION_BROKE = "the connection broke"
MAX_MESSAGES, MAX_MESSAGE_LENGTH = 20, 500
GATEWAY = frozenset({502, 503, 504})  # sent by a proxy in front of the service


@dataclass(frozen=True)
class Call:
    """A request. `operation` is its name in metrics; `path` starts with a slash and has no query."""

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
        """Return the error for a missing or unusable answer: a write may have been applied."""
        return (OutcomeUnknown if self.writes else if_read)(self.method, self.path, status, detail)


@dataclass(frozen=True)
class Answer:
    """A response. `defect` says why the body is incomplete; empty if it isn't."""

    call: Call
    status: int
    body: bytes = field(default=b"", repr=False)
    defect: str = ""
    retry_after: str | None = None

    def unusable(self, detail: str) -> ServiceError:
        return self.call.error(AnswerTooLarge if detail == TOO_LARGE else ServiceBroken, detail, self.status)


Decoder: TypeAlias = Callable[[Answer], T]


def path(collection: str, item: int | str, below: str = "") -> str:
    """Return the path of an item, or of the collection `below` it. Quotes the identifier.

    Raises ValueError for an empty identifier.
    """
    if item == "":
        raise ValueError("an identifier can't be empty")
    return f"/{collection}/{quote(str(item), safe='')}{below}.json"


def read(operation: str, where: str, include: Sequence[str] = (), **params: str) -> Call:
    """Return a GET request with `include` joined into one parameter."""
    if include:
        params["include"] = ",".join(sorted(include))
    return Call(operation, "GET", where, params)


def read_page(
    operation: str, where: str, params: Mapping[str, str], *, offset: int, limit: int = conventions.PAGE
) -> Call:
    """Return a GET request for one page. Always sends the limit, because services have different defaults.

    Raises ValueError for an offset or a limit out of bounds.
    """
    if offset < 0 or not 1 <= limit <= conventions.PAGE:
        raise ValueError(f"offset from 0, limit from 1 to {conventions.PAGE}")
    return Call(operation, "GET", where, {**params, "offset": str(offset), "limit": str(limit)})


def write(operation: str, method: Literal["POST", "PUT", "PATCH"], where: str, what: Write) -> Call:
    """Return a request with a JSON body."""
    body = json.dumps(what.body(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Call(operation, method, where, body=body.encode())


def resource(wrapper: str, model: type[M]) -> Decoder[M]:
    """Return a decoder for one resource under its wrapper key."""

    def decode(answer: Answer) -> M:
        return _model(answer, model, _object(answer).get(wrapper))

    return decode


def page(wrapper: str, model: type[M]) -> Decoder[Page[M]]:
    """Return a decoder for one page of a list."""

    def decode(answer: Answer) -> Page[M]:
        content = _object(answer)
        total = content.get("total_count")
        if isinstance(total, bool) or not isinstance(total, int):
            raise answer.unusable("the list has no total_count")
        offset, limit = (content.get(name) for name in ("offset", "limit"))
        return Page(
            items=tuple(_rows(answer, content, wrapper, model)),
            total_count=total,
            offset=offset if isinstance(offset, int) else int(answer.call.params["offset"]),
            limit=limit if isinstance(limit, int) else int(answer.call.params["limit"]),
        )

    return decode


def unpaged(wrapper: str, model: type[M]) -> Decoder[list[M]]:
    """Return a decoder for a list without pages."""
    return lambda answer: _rows(answer, _object(answer), wrapper, model)


def no_content(answer: Answer) -> None:
    """Check the answer to an update: any 2xx without content is a success (docs/service.md, Answers).

    JSON content is accepted as well. HTML is not: it comes from a proxy and doesn't confirm the update.
    """
    raise_for_status(answer)
    if answer.defect or answer.body.strip():
        _object(answer)


def raise_for_status(answer: Answer) -> None:
    """Raise the ServiceError for the status, unless it's 2xx.

    After any 5xx the outcome of a write is unknown: a proxy can't tell, and the service itself may fail after
    saving the change, for example while sending email.
    """
    status, where = answer.status, (answer.call.method, answer.call.path)
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return
    if status < HTTPStatus.BAD_REQUEST:
        raise Redirected(*where, status)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        raise TooManyRequests(*where, status, retry_after_seconds(answer.retry_after))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise answer.unusable("")
    kinds: dict[int, type[ServiceError]] = {401: Unauthorized, 403: Forbidden, 404: NotFound, 405: NotFound}
    kinds |= dict.fromkeys((413, 414, 431), TooLarge)
    if status in kinds:
        raise kinds[status](*where, status)
    raise Refused(*where, status, error_messages(answer.body))


def error_messages(body: bytes) -> tuple[str, ...]:
    """Return the messages in an error body: `errors` may be a list, a string, or lists by field."""
    try:
        content = from_json(body)
    except ValueError:
        return ()
    errors = content.get("errors", content.get("error")) if isinstance(content, dict) else content
    if isinstance(errors, dict):
        errors = [f"{name} {text}" for name, texts in errors.items() for text in _as_list(texts)]
    texts = (text.strip()[:MAX_MESSAGE_LENGTH] for text in _as_list(errors) if isinstance(text, str))
    return tuple(text for text in texts if text)[:MAX_MESSAGES]


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


def _object(answer: Answer) -> dict[str, object]:
    raise_for_status(answer)
    if answer.defect:
        raise answer.unusable(answer.defect)
    content: object = None
    defect = "the answer is not the interface's JSON"
    try:
        content = from_json(answer.body)
    except ValueError:
        defect = NOT_JSON
    if not isinstance(content, dict):
        raise answer.unusable(defect)
    return content


def _rows(answer: Answer, content: dict[str, object], wrapper: str, model: type[M]) -> list[M]:
    rows = content.get(wrapper)
    if not isinstance(rows, list):
        raise answer.unusable(f"the answer has no {wrapper}")
    return [_model(answer, model, row) for row in rows]


def _model(answer: Answer, model: type[M], content: object) -> M:
    problem = ""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        problem = ", ".join(".".join(map(str, each["loc"])) for each in error.errors()[:3])
    # Raised outside the handler, so that the error's context doesn't contain the answer.
    raise answer.unusable(f"the answer holds no {model.__name__}: {problem or 'not an object'}")
