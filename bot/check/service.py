"""Checks the service's address and the header that API keys are sent in."""

from collections.abc import AsyncIterator, Sequence
from http import HTTPStatus

from pydantic import SecretStr

from bot import errors
from bot.check.findings import Finding, clock, fine, wrong
from bot.config import Settings, is_local
from bot.service.client import Client
from bot.service.transport import Probe

SECONDS_TO_ANSWER = 10
REDMINE_HEADER = "X-Redmine-API-Key"
NO_KEY = SecretStr("0" * 40)  # belongs to no one: shows who answers without touching an account
CHECK_TLS = "Check the port, and that this machine trusts the certificate (docs/operations.md)."
CHECK_PATH = "Check for a missing path prefix, such as /redmine, and remove a page's path, such as /projects."
ENABLE_API = "Turn on the REST API in the tracker's settings."


async def check(settings: Settings, linked: Sequence[SecretStr]) -> AsyncIterator[Finding]:
    async with Client(settings.service_base_url, key_header=settings.service_api_key_header) as client:
        yield await check_address(client)
        yield await _check_linked_keys(client, settings, linked) or await _check_header(client, settings)
        probe = await client.probe(SECONDS_TO_ANSWER)
        if off := clock("the tracker's", probe.date if probe else None):
            yield off


async def check_address(client: Client) -> Finding:
    """Check the address. Unauthorized is a good sign: the API is there and asks for a key."""
    name = "SERVICE_BASE_URL"
    encrypted = client.base_url.startswith("https:") or is_local(client.base_url)
    note = "" if encrypted else " API keys are sent unencrypted: use https:// if the tracker has it."
    try:
        await client.list_projects(NO_KEY, limit=1)
    except errors.Unauthorized:
        return fine(name, f"The API responds and asks for a key.{note}")
    except errors.Forbidden:
        sentence = f"The API rejects every request. {ENABLE_API}"
    except errors.NotFound:
        sentence = f"There's no API at this URL. {CHECK_PATH}"
    except errors.Redirected:
        sentence = "The URL redirects. Use the URL it redirects to, often https:// instead of http://."
    except (errors.Unreachable, errors.TimedOut) as error:
        sentence = "The tracker doesn't respond. Check the host, the port, and the network."
        if "[SSL" in error.detail:
            sentence = f"Can't connect with TLS: {error.detail.partition(' (_ssl')[0]}. {CHECK_TLS}"
    except errors.ServiceError as error:
        sentence = f"The response isn't from the API (status {error.status}). Check the host and the path."
    else:
        return fine(name, f"The API responds.{note}")
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
        return fine(name, f"Keys are sent in {header}, and a linked key works.")
    if not linked:
        return None
    finding = await _check_header(client, settings)
    if not finding.fine:
        return finding
    many = (
        f"None of the {len(linked)} linked keys work." if len(linked) > 1 else "The linked key doesn't work."
    )
    fix = f"Check that the tracker reads {header} (Redmine: {REDMINE_HEADER}) and that its REST API is on."
    return wrong(name, f"{many} {fix}")


async def _check_header(client: Client, settings: Settings) -> Finding:
    """Check the header without a key: Redmine identifies itself in its challenge and reads only its own."""
    name, header = "SERVICE_API_KEY_HEADER", settings.service_api_key_header
    probe = await client.probe(SECONDS_TO_ANSWER)
    if probe is None:
        return wrong(name, "Can't check this until the tracker responds.")
    if _names_redmine(probe) and header.lower() != REDMINE_HEADER.lower():
        return wrong(name, f"The tracker doesn't read {header}. Set it to {REDMINE_HEADER}.")
    if probe.status == HTTPStatus.FORBIDDEN:
        return wrong(name, f"The tracker ignores keys. {ENABLE_API}")
    if probe.status != HTTPStatus.UNAUTHORIZED:
        return wrong(name, f"The tracker doesn't ask for a key (status {probe.status}). Check its URL.")
    return fine(name, f"Keys are sent in {header}.")


async def is_redmine(client: Client) -> bool:
    """Whether the service is a Redmine, which says so when it asks for a key."""
    probe = await client.probe(SECONDS_TO_ANSWER)
    return probe is not None and _names_redmine(probe)


def _names_redmine(probe: Probe) -> bool:
    return "redmine" in probe.authenticate.lower()
