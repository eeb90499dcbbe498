"""Everything that the bot answers to, by kind, as registered."""

from slack_sdk.web.async_client import AsyncWebClient

from bot.access.access import Access
from bot.features import build
from bot.features.parts import Parts
from bot.service.client import Client
from bot.slack.incoming.feature import Feature
from bot.slack.outgoing.conversations import Conversations
from bot.slack.outgoing.outbox import Outbox
from bot.slack.outgoing.replies import Platform
from bot.slack.outgoing.stored import StoredPosts
from bot.slack.surfaces.drafts import ReopenForm, ResumeRequest
from bot.slack.workspaces.directory import Profiles
from bot.slack.workspaces.tokens import OneWorkspace
from bot.store.database import Database
from bot.store.store import Store
from bot.store.vault import Vault
from bot.timings import DEFAULT, Delays
from tests.support.wording import WORDING

URL = "http://127.0.0.1:1"


def _routes() -> Feature:
    """Builds the bot's features from unused parts."""
    store = Store(Database("sqlite:///unused.db"), Vault([Vault.generate_key()]))
    client, workspaces = Client(URL), OneWorkspace(AsyncWebClient())
    access = Access.to(client, store)
    conversations = Conversations(workspaces, Delays.channels)
    outbox = Outbox(workspaces, conversations, Delays(), DEFAULT.longest_post)
    posts = StoredPosts(store.jobs, outbox, DEFAULT, Delays())
    platform = Platform(WORDING, conversations, Profiles(store.links), outbox, posts, store)
    return build(Parts.on(access, platform, workspaces))


ROUTES = _routes()
RESUMING = (ResumeRequest.action, ReopenForm.action)
"""The buttons that dispatch itself handles."""
REGISTERED: dict[str, set[str]] = {
    "command": {*ROUTES.commands},
    "shortcut": {*ROUTES.shortcuts},
    "action": {*map(str, ROUTES.buttons), *RESUMING},
    "event": {*ROUTES.events, *ROUTES.messages},
    "form": {*ROUTES.forms},
    "edit": {*ROUTES.edits},
    "closed": {*ROUTES.closed},
    "options": {*ROUTES.options},
}
