import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from slack_sdk.web.async_client import AsyncWebClient

from bot.features.links import views as shared_links
from bot.slack.manifest import SCOPES, Mode, manifest, to_yaml
from tests.support.registered import REGISTERED

ROOT = Path(__file__).parents[2]
ADDRESS = "https://bot.example.com"
SCHEMA = Path(__file__).with_name("slack-manifest.schema.json")
READ, HISTORY = (
    {f"{kind}:{what}" for kind in ("channels", "groups", "im", "mpim")} for what in ("read", "history")
)
NEEDED: dict[str, set[str]] = {
    "api_test": set(),
    "apps_connections_open": set(),
    "auth_test": set(),
    "chat_delete": {"chat:write"},
    "chat_getPermalink": set(),
    "chat_postEphemeral": {"chat:write"},
    "chat_postMessage": {"chat:write"},
    "chat_unfurl": {"links:write"},
    "chat_update": {"chat:write"},
    "conversations_history": HISTORY,
    "conversations_info": READ,
    "conversations_members": READ,
    "conversations_open": {"im:write"},
    "conversations_replies": HISTORY,
    "entity_presentDetails": set(),
    "files_info": {"files:read"},
    "oauth_v2_access": set(),
    "users_conversations": READ,
    "users_info": {"users:read", "users:read.email"},
    "views_open": set(),
    "views_publish": set(),
    "views_push": set(),
    "views_update": set(),
}
"""The scopes that Slack documents for each method: https://docs.slack.dev/reference/methods."""
NEEDED_BESIDE = {"commands", "links:read"}
"""What slash commands and shortcuts, and the event link_shared, need."""


def test_manifest_yml_is_the_default_output() -> None:
    assert (ROOT / "manifest.yml").read_text(encoding="utf-8") == to_yaml(manifest())


@pytest.mark.parametrize(
    ("mode", "url", "several"),
    [("socket", None, False), ("socket", ADDRESS, True), ("http", ADDRESS, False), ("http", ADDRESS, True)],
)
def test_the_manifest_matches_slacks_schema(mode: Mode, url: str | None, several: bool) -> None:  # noqa: FBT001 - parametrized
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))

    assert list(Draft7Validator(schema).iter_errors(manifest(mode, url, "x" * 24, several=several))) == []


def test_the_manifest_lists_exactly_the_handled_features() -> None:
    features = manifest()["features"]

    assert {c["command"].removeprefix("/") for c in features["slash_commands"]} == REGISTERED["command"]
    assert {s["callback_id"] for s in features["shortcuts"]} == REGISTERED["shortcut"]

    def events(**how: Any) -> set[str]:
        return set(manifest(**how)["settings"]["event_subscriptions"]["bot_events"])

    assert events(url=ADDRESS, several=True) == REGISTERED["event"]
    assert REGISTERED["event"] - events() == {"team_access_revoked"}  # only organizations' apps are told


def test_link_previews_declare_the_task_entity() -> None:
    previews = manifest()["features"]["rich_previews"]

    assert previews == {"is_active": True, "entity_types": [shared_links.TASK]}


def test_the_manifest_requests_exactly_the_scopes_in_use() -> None:
    methods = {name for name in dir(AsyncWebClient) if "_" in name and not name.startswith("_")}
    files = [path for path in (ROOT / "bot").rglob("*.py") if "sandbox" not in path.parts]
    named = {name for path in files for name in re.findall(r"\.(\w+)", path.read_text(encoding="utf-8"))}
    called = methods & named - {"api_call", "retry_handlers"}

    assert called == NEEDED.keys()
    assert set.union(NEEDED_BESIDE, *NEEDED.values()) == SCOPES.keys()


def test_several_workspaces_need_redirects_and_token_rotation() -> None:
    content = manifest("socket", f"{ADDRESS}/slack/events", several=True)

    assert content["oauth_config"]["redirect_urls"] == [f"{ADDRESS}/slack/oauth_redirect"]
    assert content["settings"]["org_deploy_enabled"]
    assert content["settings"]["token_rotation_enabled"]
    with pytest.raises(ValueError, match="need --url"):
        manifest("socket", several=True)


def test_commands_have_the_prefix_and_escape_mentions() -> None:
    commands = manifest(prefix="acme-")["features"]["slash_commands"]

    names = {"/acme-issue", "/acme-issues", "/acme-timelog", "/acme-digest", "/acme-tracker"}
    assert {command["command"] for command in commands} == names
    assert all(command["should_escape"] for command in commands)


def test_http_mode_uses_one_request_url() -> None:
    content = manifest("http", "https://bot.example.com/")

    assert not content["settings"]["socket_mode_enabled"]
    addresses = {command["url"] for command in content["features"]["slash_commands"]}
    addresses.add(content["settings"]["interactivity"]["request_url"])
    addresses.add(content["settings"]["interactivity"]["message_menu_options_url"])
    assert addresses == {"https://bot.example.com/slack/events"}


@pytest.mark.parametrize("url", [None, "", "bot.example.com"])
def test_http_mode_requires_a_url(url: str | None) -> None:
    with pytest.raises(ValueError, match="need --url"):
        manifest("http", url)


@pytest.mark.parametrize(
    ("service_url", "domains"),
    [
        ("https://Tracker.example.com:8443/redmine", ["tracker.example.com"]),
        ("http://127.0.0.1:8081", None),
        ("http://localhost:3000", None),
        ("http://[::1]:3000", None),
        (None, None),
    ],
)
def test_links_unfurl_if_slack_accepts_the_host(service_url: str | None, domains: list[str] | None) -> None:
    assert manifest(service_url=service_url)["features"].get("unfurl_domains") == domains


def test_yaml_quotes_ambiguous_values() -> None:
    content = {
        "a": "true",
        "b": True,
        "c": "x: y",
        "d": ["null", "chat:write"],
        "e": [{"f": "“q”", "g": "# no"}],
    }

    assert to_yaml(content) == (
        'a: "true"\nb: true\nc: "x: y"\nd:\n  - "null"\n  - chat:write\ne:\n  - f: "“q”"\n    g: "# no"\n'
    )
