from collections.abc import Callable
from pathlib import Path

import pytest

from bot.config import ConfigError, Settings, load

NEEDED = {
    "SLACK_BOT_TOKEN": "xoxb-123-abc",
    "SLACK_APP_TOKEN": "xapp-1-abc",
    "SERVICE_BASE_URL": "https://tracker.example.com/redmine/",
    "ENCRYPTION_KEYS": "0000000000000000000000000000000000000000000=",
}

PAIR = {"SLACK_CLIENT_ID": "123.456", "SLACK_CLIENT_SECRET": "0123456789abcdef0123456789abcdef"}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


Loader = Callable[..., Settings]


@pytest.fixture
def loaded(environment: pytest.MonkeyPatch) -> Loader:
    """Loads what is needed, changed by the given variables."""

    def load_with(**variables: str) -> Settings:
        for name, value in (NEEDED | variables).items():
            environment.setenv(name, value)
        return load()

    return load_with


def test_required_variables_are_sufficient(loaded: Loader) -> None:
    settings = loaded()

    assert settings.socket_mode
    assert settings.service_base_url == "https://tracker.example.com/redmine"
    assert settings.service_name == "Tracker"
    assert settings.slack_api_url == "https://slack.com/api/"
    assert settings.file_hosts == {"files.slack.com", "slack-files.com", "slack.com"}
    assert settings.database_url == "sqlite:///issuebot.db"
    assert (settings.host, settings.port, settings.log_level) == ("0.0.0.0", 3000, "info")  # noqa: S104 - the documented default


def test_the_given_settings_select_http_and_workspaces(loaded: Loader) -> None:
    assert not loaded(SLACK_SIGNING_SECRET="s3cret", SLACK_APP_TOKEN="").socket_mode
    assert loaded(**PAIR, SLACK_BOT_TOKEN="").several_workspaces


@pytest.mark.parametrize(("alone", "missing"), [tuple(PAIR), tuple(PAIR)[::-1]])
def test_oauth_needs_both_client_id_and_secret(loaded: Loader, alone: str, missing: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        loaded(**{alone: PAIR[alone]})

    (problem,) = wrong.value.problems
    assert problem.startswith(f"{missing}: Missing. ")


def test_the_environment_overrides_the_env_file(environment: pytest.MonkeyPatch) -> None:
    lines = [f"{name}={value}" for name, value in NEEDED.items()]
    Path(".env").write_text("\n".join([*lines, "SERVICE_NAME=Redmine", "PORT=4000"]), encoding="utf-8")
    environment.setenv("PORT", "5000")

    settings = load()

    assert (settings.service_name, settings.port) == ("Redmine", 5000)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SLACK_BOT_TOKEN", "xoxp-s3cret"),
        ("SLACK_BOT_TOKEN", "xoxb-s3cret x"),
        ("SLACK_APP_TOKEN", "xoxb-s3cret"),
        ("SLACK_CLIENT_ID", "A0s3cret"),
        ("SLACK_CLIENT_SECRET", "s3cret"),
        ("SERVICE_BASE_URL", "tracker.example.com"),
        ("SERVICE_BASE_URL", "https://tracker.example.com/?key=s3cret"),
        ("SERVICE_BASE_URL", "https://somebody:s3cret@tracker.example.com/"),
        ("SERVICE_BASE_URL", "https://tracker.example.com:s3cret/"),
        ("SERVICE_API_KEY_HEADER", "X-Key: s3cret"),
        ("SERVICE_TEXT_FORMAT", "html"),
        ("SERVICE_NAME", "x" * 50),
        ("DATABASE_URL", "mysql://bot:s3cret@db/bot"),
        ("DATABASE_URL", "sqlite:///:memory:"),
        ("ENCRYPTION_KEYS", "s3cret"),
        ("ENCRYPTION_KEYS", f"{NEEDED['ENCRYPTION_KEYS']},s3cret"),
        ("COMMAND_PREFIX", "Acme "),
        ("COMMAND_PREFIX", "x" * 25),
        ("PORT", "http"),
        ("LOG_FORMAT", "xml"),
        ("LOG_LEVEL", "s3cret"),
    ],
)
def test_invalid_values_are_reported_without_repeating_them(loaded: Loader, name: str, value: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        loaded(**(PAIR if name in PAIR else {}) | {name: value})

    (problem,) = wrong.value.problems
    assert problem.startswith(f"{name}: ")
    assert "s3cret" not in problem
