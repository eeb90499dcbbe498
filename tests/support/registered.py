"""Everything that the bot answers to, by kind, as registered."""

from slack_sdk.web.async_client import AsyncWebClient

from bot.features import registry
from bot.features.accounts.accounts import Accounts
from bot.service.client import Client
from bot.slack.audience import Audiences
from bot.slack.buttons import ReopenForm, ResumeRequest
from bot.slack.directory import Profiles
from bot.slack.feature import Feature
from bot.slack.outgoing.outbox import Outbox
from bot.slack.replies import Platform
from bot.slack.waits import Waits
from bot.slack.workspaces import OneWorkspace
from bot.store.database import Database
from bot.store.store import Store
from bot.store.vault import Vault
from bot.timings import DEFAULT
from tests.support.wording import WORDING

URL = "http://127.0.0.1:1"


def _routes() -> Feature:
    """Builds the bot's features from unused parts."""
    store = Store(Database("sqlite:///unused.db"), Vault([Vault.generate_key()]))
    client, workspaces = Client(URL), OneWorkspace(AsyncWebClient())
    outbox = Outbox(workspaces, Waits(), DEFAULT.longest_post)
    platform = Platform(WORDING, Audiences(), Profiles(), outbox, Accounts(client, store).link_of)
    return registry.build(
        client,
        store,
        workspaces,
        platform,
        file_hosts=frozenset(),
        timings=DEFAULT,
        waits=Waits(),
    ).routes


ROUTES = _routes()
RESUMING = (ResumeRequest.action, ReopenForm.action)
"""The buttons that dispatch itself handles."""
REGISTERED: dict[str, set[str]] = {
    "command": {*ROUTES.commands},
    "shortcut": {*ROUTES.shortcuts},
    "action": {*map(str, ROUTES.buttons), *RESUMING},
    "event": {*ROUTES.events, *ROUTES.settled_events},
    "form": {*ROUTES.forms},
    "closed": {*ROUTES.closed},
    "options": {*ROUTES.options},
}
