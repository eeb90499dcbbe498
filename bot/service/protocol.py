"""Requests as values, and what their answers mean: pure functions, no I/O.

A `Call` is a request without address and key, an `Answer` what came back. A decoder turns both into a
value or raises the ServiceError that the answer stands for.
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
    TimedOut,
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
SENTENCES, SENTENCE = 20, 500
GATEWAY = frozenset({502, 503, 504})  # said by whatever stands in front of the service


@dataclass(frozen=True)
class Call:
    """A request: `operation` names it in metrics, `path` begins with a slash and holds no query."""

    operation: str
    method: Literal["GET", "POST", "PUT", "PATCH"]
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = field(default=None, repr=False)

    @property
    def writes(self) -> bool:
        """Whether it may change something, so that it must not be sent twice."""
        return self.method != "GET"

    def broken(self, detail: str, status: int | None = None) -> ServiceError:
        """The error for an answer that can't be used: a write may have happened all the same."""
        kind = AnswerTooLarge if detail == TOO_LARGE else ServiceBroken
        return (OutcomeUnknown if self.writes else kind)(self.method, self.path, status, detail)

    def late(self, detail: str = "") -> ServiceError:
        """The error for an answer that didn't come in time."""
        return (OutcomeUnknown if self.writes else TimedOut)(self.method, self.path, None, detail)


@dataclass(frozen=True)
class Answer:
    """What came back; `flaw` says why the body isn't all there, if it isn't."""

    status: int
    body: bytes = field(default=b"", repr=False)
    flaw: str = ""
    retry_after: str | None = None


Decoder: TypeAlias = Callable[[Call, Answer], T]


def path(collection: str, item: int | str, below: str = "") -> str:
    """The path of one item of a collection, or of a collection below it; identifiers are quoted.

    Raises ValueError for an empty identifier.
    """
    if item == "":
        raise ValueError("an identifier can't be empty")
    return f"/{collection}/{quote(str(item), safe='')}{below}.json"


def read(operation: str, where: str, include: Sequence[str] = (), **params: str) -> Call:
    """A GET. `include` is joined as the service takes it."""
    if include:
        params["include"] = ",".join(sorted(include))
    return Call(operation, "GET", where, params)


def read_page(
    operation: str, where: str, params: Mapping[str, str], *, offset: int, limit: int = conventions.PAGE
) -> Call:
    """A GET of one page. The limit is always sent: services differ in what a missing one means.

    Raises ValueError for an offset or a limit outside the interface's bounds (section 8).
    """
    if offset < 0 or not 1 <= limit <= conventions.PAGE:
        raise ValueError(f"offset from 0, limit from 1 to {conventions.PAGE}")
    return Call(operation, "GET", where, {**params, "offset": str(offset), "limit": str(limit)})


def write(operation: str, method: Literal["POST", "PUT", "PATCH"], where: str, what: Write) -> Call:
    """A request with a JSON body."""
    body = json.dumps(what.body(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Call(operation, method, where, body=body.encode())


def one(wrapper: str, model: type[M]) -> Decoder[M]:
    """Decodes a resource under its wrapper key."""

    def decode(call: Call, answer: Answer) -> M:
        return _model(call, answer, model, _object(call, answer).get(wrapper))

    return decode


def page(wrapper: str, model: type[M]) -> Decoder[Page[M]]:
    """Decodes one page of a list."""

    def decode(call: Call, answer: Answer) -> Page[M]:
        content = _object(call, answer)
        total = content.get("total_count")
        if isinstance(total, bool) or not isinstance(total, int):
            raise call.broken("the list has no total_count", answer.status)
        offset, limit = (content.get(name) for name in ("offset", "limit"))
        return Page(
            items=tuple(_rows(call, answer, content, wrapper, model)),
            total_count=total,
            offset=offset if isinstance(offset, int) else int(call.params.get("offset", 0)),
            limit=limit if isinstance(limit, int) else int(call.params.get("limit", conventions.PAGE)),
        )

    return decode


def whole(wrapper: str, model: type[M]) -> Decoder[list[M]]:
    """Decodes a list that comes in one piece."""

    def decode(call: Call, answer: Answer) -> list[M]:
        return _rows(call, answer, _object(call, answer), wrapper, model)

    return decode


def nothing(call: Call, answer: Answer) -> None:
    """Decodes an update's answer: any 2xx without content is success (service-facts.md, "Answers").

    Content is accepted when it is JSON; a page of HTML is a proxy's and says nothing about the update.
    """
    check(call, answer)
    if answer.flaw or answer.body.strip():
        _object(call, answer)


def check(call: Call, answer: Answer) -> None:
    """Raise the ServiceError that the status stands for, if it isn't 2xx.

    After any 5xx a write's outcome is unknown: what stands before the service can't know it, and the service
    itself may fail after it has done what was asked (sending mails, say).
    """
    status, where = answer.status, (call.method, call.path)
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return
    if status < HTTPStatus.BAD_REQUEST:
        raise Redirected(*where, status)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        raise TooManyRequests(*where, status, wait(answer.retry_after))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise call.broken("", status)
    kinds: dict[int, type[ServiceError]] = {401: Unauthorized, 403: Forbidden, 404: NotFound, 405: NotFound}
    kinds |= dict.fromkeys((413, 414, 431), TooLarge)
    if status in kinds:
        raise kinds[status](*where, status)
    raise Refused(*where, status, sentences(answer.body))


def sentences(body: bytes) -> tuple[str, ...]:
    """The service's own sentences from an error's body: `errors` as a list, one text, or lists by field."""
    try:
        content = from_json(body)
    except ValueError:
        return ()
    errors = content.get("errors", content.get("error")) if isinstance(content, dict) else content
    if isinstance(errors, dict):
        errors = [f"{name} {text}" for name, texts in errors.items() for text in _listed(texts)]
    texts = (text.strip()[:SENTENCE] for text in _listed(errors) if isinstance(text, str))
    return tuple(text for text in texts if text)[:SENTENCES]


def wait(retry_after: str | None) -> float | None:
    """The seconds that a Retry-After header asks for, by number or date; None if it can't be read."""
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


def _listed(thing: object) -> Sequence[object]:
    return thing if isinstance(thing, list) else [thing]


def _object(call: Call, answer: Answer) -> dict[str, object]:
    check(call, answer)
    if answer.flaw:
        raise call.broken(answer.flaw, answer.status)
    content: object = None
    flaw = "the answer is not the interface's JSON"
    try:
        content = from_json(answer.body)
    except ValueError:
        flaw = NOT_JSON
    if not isinstance(content, dict):
        raise call.broken(flaw, answer.status)
    return content


def _rows(call: Call, answer: Answer, content: dict[str, object], wrapper: str, model: type[M]) -> list[M]:
    rows = content.get(wrapper)
    if not isinstance(rows, list):
        raise call.broken(f"the answer has no {wrapper}", answer.status)
    return [_model(call, answer, model, row) for row in rows]


def _model(call: Call, answer: Answer, model: type[M], content: object) -> M:
    problem = ""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        problem = ", ".join(".".join(map(str, each["loc"])) for each in error.errors()[:3])
    # Outside the handler, so that the answer's content doesn't travel along in the error's context.
    raise call.broken(f"the answer holds no {model.__name__}: {problem or 'not an object'}", answer.status)
