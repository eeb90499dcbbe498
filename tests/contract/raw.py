"""Sends requests to a service without the client, and creates what the tests need there."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import uuid4

import aiohttp

from bot.service.inputs import NewProject, NewTimeEntry, NewUser
from tests.contract.world import World

JSON = dict[str, Any]
OCTETS = "application/octet-stream"


@dataclass(frozen=True)
class Answer:
    """A response; `json` is None if the body isn't JSON."""

    status: int
    headers: Mapping[str, str]
    text: str
    json: Any = field(default=None)


class Wire:
    def __init__(self, world: World, session: aiohttp.ClientSession) -> None:
        self.world = world
        self.session = session

    async def __call__(
        self,
        method: str,
        path: str,
        who: str | None = "ana",
        *,
        body: JSON | bytes | str | None = None,
        kind: str = "application/json",
        **params: str,
    ) -> Answer:
        """`who` is a login, or None for no key. A dict is sent as JSON."""
        headers = {"Content-Type": kind}
        if who:
            headers[self.world.key_header] = self.world.keys.get(who, "0" * 40)
        data = json.dumps(body) if isinstance(body, dict) else body
        async with self.session.request(
            method, self.world.url + path, data=data, headers=headers, params=params
        ) as answer:
            text = await answer.text(errors="replace")
            parsed = json.loads(text) if text.strip() and "json" in answer.content_type else None
            return Answer(answer.status, answer.headers, text, parsed)


def person(login: str = "", name: str = "One") -> NewUser:
    """Returns a user to create, with a login that nobody has by default."""
    login = login or f"a{uuid4().hex[:11]}"
    names = {"firstname": name, "lastname": name, "mail": f"{login}@example.test"}
    return NewUser(login=login, **names, generate_password=True)


def project(name: str = "Made", **rest: Any) -> NewProject:
    """Returns a project to create, with an identifier that no other one has."""
    return NewProject(name=name, identifier=f"made-{uuid4().hex[:8]}", is_public=False, **rest)


def time(world: World, **rest: Any) -> NewTimeEntry:
    """Returns an hour of design to log."""
    hour = {"hours": Decimal(1), "activity_id": world.activities["Design"]}
    return NewTimeEntry(**hour | rest)


async def made(wire: Wire, what: str, who: str = "ana", **fields: Any) -> Answer:
    return await wire("POST", f"/{what}s.json".replace("entrys", "entries"), who, body={what: fields})


async def an_issue(wire: Wire, **fields: Any) -> Answer:
    given = {"project_id": wire.world.project("child"), "subject": "An answer", **fields}
    return await made(wire, "issue", **given)


async def some_time(wire: Wire, **fields: Any) -> Answer:
    world = wire.world
    given = {
        "issue_id": world.issues["child"],
        "hours": 1,
        "activity_id": world.activities["Design"],
        **fields,
    }
    return await made(wire, "time_entry", **given)


async def a_token(wire: Wire, content: bytes = b"content", name: str = "a.txt") -> str:
    uploaded = await wire("POST", "/uploads.json", body=content, kind=OCTETS, filename=name)
    assert uploaded.status == 201
    token: str = uploaded.json["upload"]["token"]
    return token
