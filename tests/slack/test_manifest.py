import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator
from slack_sdk.web.async_client import AsyncWebClient

from bot.features.link_cards import views as shared_links
from bot.slack.surfaces.manifest import SCOPES, Mode, manifest_yaml, parsed
from tests.support.registered import REGISTERED

ROOT = Path(__file__).parents[2]
ADDRESS = "https://bot.example.com"
SCHEMA = Path(__file__).with_name("slack-manifest.schema.json")
READ, HISTORY = (
    {f"{kind}:{what}" for kind in ("channels", "groups", "im", "mpim")} for what in ("read", "history")
)
STEPS = ("functions_completeError", "functions_completeSuccess")
FREE = (
    *STEPS,
    "api_test",
    "apps_connections_open",
    "auth_test",
    "chat_getPermalink",
    "entity_presentDetails",
)
VIEWS = ("views_open", "views_publish", "views_push", "views_update")
POSTS = ("chat_delete", "chat_postEphemeral", "chat_postMessage", "chat_update")
NEEDED: dict[str, set[str]] = {
    **dict.fromkeys((*FREE, *VIEWS, "oauth_v2_access"), set[str]()),  # noqa: RUF024 - read only
    **dict.fromkeys(POSTS, {"chat:write"}),  # noqa: RUF024 - read only
    **dict.fromkeys(("conversations_history", "conversations_replies"), HISTORY),
    **dict.fromkeys(("conversations_info", "conversations_members", "users_conversations"), READ),
    "chat_unfurl": {"links:write"},
    "conversations_open": {"im:write"},
    "reactions_get": {"reactions:read"},
    "files_info": {"files:read"},
    "users_info": {"users:read", "users:read.email"},
}
"""The scopes that Slack documents for each method: https://docs.slack.dev/reference/methods."""
NEEDED_BESIDE = {"commands", "links:read", "app_mentions:read"}
"""What slash commands and shortcuts, and the events link_shared and app_mention, need."""


def manifest(*arguments: Any, **options: Any) -> dict[str, Any]:
    return parsed(manifest_yaml(*arguments, **options))


def test_manifest_yml_is_the_default_output() -> None:
    assert (ROOT / "manifest.yml").read_text(encoding="utf-8") == manifest_yaml()


@pytest.mark.parametrize("options", [{}, {"mode": "http", "several": True, "service_url": "https://abc.de"}])
def test_the_manifest_is_read_as_by_any_yaml_parser(options: dict[str, Any]) -> None:
    text = manifest_yaml(url=ADDRESS, prefix="acme-", **options)

    assert parsed(text) == yaml.safe_load(text)
    assert "{" not in text
    assert " # " not in text


@pytest.mark.parametrize(
    ("mode", "url", "several"),
    [("socket", None, False), ("socket", ADDRESS, True), ("http", ADDRESS, False), ("http", ADDRESS, True)],
)
def test_the_manifest_matches_slacks_schema(mode: Mode, url: str | None, *, several: bool) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))

    assert list(Draft7Validator(schema).iter_errors(manifest(mode, url, "x" * 24, several=several))) == []


def test_the_manifest_lists_exactly_the_handled_features() -> None:
    features = manifest()["features"]

    assert {c["command"].removeprefix("/") for c in features["slash_commands"]} == REGISTERED["command"]
    assert {s["callback_id"] for s in features["shortcuts"]} == REGISTERED["shortcut"]

    def events(**how: Any) -> set[str]:
        subscribed = manifest(**how)["settings"]["event_subscriptions"]["bot_events"]
        return {name.removesuffix(".im") for name in subscribed}

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
    assert set.union(NEEDED_BESIDE, *NEEDED.values()) == set(SCOPES)


def test_several_workspaces_need_redirects_and_token_rotation() -> None:
    content = manifest("socket", f"{ADDRESS}/slack/events", several=True)

    assert content["oauth_config"]["redirect_urls"] == [f"{ADDRESS}/slack/oauth_redirect"]
    assert content["settings"]["org_deploy_enabled"]
    assert content["settings"]["token_rotation_enabled"]


def test_commands_have_the_prefix_and_escape_mentions() -> None:
    commands = manifest(prefix="acme-")["features"]["slash_commands"]

    names = {f"/acme-{name}" for name in ("issue", "issues", "timelog", "digest", "tracker")}
    assert {command["command"] for command in commands} == names
    assert all(command["should_escape"] for command in commands)


def test_http_mode_uses_one_request_url() -> None:
    content = manifest("http", f"{ADDRESS}/")
    interactivity = content["settings"]["interactivity"]

    assert not content["settings"]["socket_mode_enabled"]
    assert {
        *(command["url"] for command in content["features"]["slash_commands"]),
        *(interactivity[name] for name in ("request_url", "message_menu_options_url")),
    } == {f"{ADDRESS}/slack/events"}


@pytest.mark.parametrize(
    ("mode", "url", "several"),
    [("http", None, False), ("http", "", False), ("http", "bot.example.com", False), ("socket", None, True)],
)
def test_http_and_several_workspaces_need_a_url(mode: Mode, url: str | None, *, several: bool) -> None:
    with pytest.raises(ValueError, match="need --url"):
        manifest(mode, url, several=several)


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
