"""Checks the service's address and the header that API keys are sent in."""

from collections.abc import AsyncIterator, Sequence
from http import HTTPStatus

from pydantic import SecretStr

from bot import errors
from bot.check.findings import Finding, clock, fine, wrong
from bot.config import Settings
from bot.service.client import Client

SECONDS_TO_ANSWER = 10
REDMINE_HEADER = "X-Redmine-API-Key"
NO_KEY = SecretStr("0" * 40)  # belongs to no one: shows who answers without touching an account
ENABLE_API = "switch the REST interface on in the service's settings"


async def check(settings: Settings, linked: Sequence[SecretStr]) -> AsyncIterator[Finding]:
    """Yield what is found about the service; one of the `linked` keys should work, if there are any."""
    async with Client(settings.service_base_url, key_header=settings.service_api_key_header) as client:
        yield await _check_address(client)
        yield await _check_linked_keys(client, settings, linked) or await _check_header(client, settings)
        probe = await client.probe(SECONDS_TO_ANSWER)
        if off := clock("the service's", probe.date if probe else None):
            yield off


async def _check_address(client: Client) -> Finding:
    """Check the address. Unauthorized is a good sign: the API is there and asks for a key."""
    name = "SERVICE_BASE_URL"
    try:
        await client.list_projects(NO_KEY, limit=1)
    except errors.Unauthorized:
        return fine(name, "the interface answers, and asks for a key")
    except errors.Forbidden:
        sentence = f"refuses everybody: {ENABLE_API}"
    except errors.NotFound:
        sentence = "there is no interface at this address: is a path prefix missing, such as /redmine?"
    except errors.Redirected:
        sentence = "sends us elsewhere: use the address that it leads to, often https:// in place of http://"
    except (errors.Unreachable, errors.TimedOut):
        sentence = "doesn't answer: check host, port and network"
    except errors.ServiceError as error:
        sentence = f"doesn't answer as the interface does (status {error.status}): check host and path"
    else:
        return fine(name, "the interface answers")
    return wrong(name, sentence)


async def _check_linked_keys(
    client: Client, settings: Settings, linked: Sequence[SecretStr]
) -> Finding | None:
    """Whether one of the linked keys still works; None if that can't be told."""
    name, header = "SERVICE_API_KEY_HEADER", settings.service_api_key_header
    for key in linked:
        try:
            await client.get_user(key, "current")
        except errors.Unauthorized:
            continue
        except errors.ServiceError:
            return None
        return fine(name, f"keys are sent in {header}, and one that is linked works")
    if not linked:
        return None
    finding = await _check_header(client, settings)
    if not finding.fine:
        return finding
    many = (
        f"none of {len(linked)} linked keys works" if len(linked) > 1 else "the one linked key doesn't work"
    )
    mend = f"is {header} what this service reads (Redmine: {REDMINE_HEADER}), and its REST interface on?"
    return wrong(name, f"{many}: {mend}")


async def _check_header(client: Client, settings: Settings) -> Finding:
    """Check the header without a key: Redmine identifies itself in its challenge and reads only its own."""
    name, header = "SERVICE_API_KEY_HEADER", settings.service_api_key_header
    probe = await client.probe(SECONDS_TO_ANSWER)
    if probe is None:
        return wrong(name, "can't be checked while the service doesn't answer")
    if "redmine" in probe.authenticate.lower() and header.lower() != REDMINE_HEADER.lower():
        return wrong(name, f"{header} is not read by this service: set it to {REDMINE_HEADER}")
    if probe.status == HTTPStatus.FORBIDDEN:
        return wrong(name, f"is not looked at: {ENABLE_API}")
    if probe.status != HTTPStatus.UNAUTHORIZED:
        return wrong(name, f"the service doesn't ask for a key (status {probe.status}): check its address")
    return fine(name, f"keys are sent in {header}")
