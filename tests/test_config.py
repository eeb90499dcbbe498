from pathlib import Path

import pytest

from bot.config import ConfigError, Settings, load, load_storage

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


def _problems() -> tuple[str, ...]:
    with pytest.raises(ConfigError) as wrong:
        load()
    return wrong.value.problems


def test_required_variables_are_sufficient(environment: pytest.MonkeyPatch) -> None:
    for name, value in NEEDED.items():
        environment.setenv(name, value)

    settings = load()

    assert settings.socket_mode
    assert settings.service_base_url == "https://tracker.example.com/redmine"
    assert settings.service_name == "Issue tracker"
    assert settings.slack_api_url == "https://slack.com/api/"
    assert settings.file_hosts == {"files.slack.com", "slack-files.com", "slack.com"}
    assert settings.database_url == "sqlite:///issuebot.db"
    assert (settings.host, settings.port, settings.log_level) == ("0.0.0.0", 3000, "info")  # noqa: S104 - the documented default


def test_a_signing_secret_without_an_app_token_selects_http(environment: pytest.MonkeyPatch) -> None:
    for name, value in (NEEDED | {"SLACK_SIGNING_SECRET": "s3cret", "SLACK_APP_TOKEN": ""}).items():
        environment.setenv(name, value)

    assert not load().socket_mode


def test_several_workspaces_need_no_bot_token(environment: pytest.MonkeyPatch) -> None:
    for name, value in (NEEDED | PAIR | {"SLACK_BOT_TOKEN": ""}).items():
        environment.setenv(name, value)

    assert load().several_workspaces


@pytest.mark.parametrize(("alone", "missing"), [tuple(PAIR), tuple(PAIR)[::-1]])
def test_oauth_needs_both_client_id_and_secret(
    environment: pytest.MonkeyPatch, alone: str, missing: str
) -> None:
    for name, value in (NEEDED | {alone: PAIR[alone]}).items():
        environment.setenv(name, value)

    (problem,) = _problems()

    assert problem.startswith(f"{missing}: Missing, but {alone} is set.")


def test_the_environment_overrides_the_env_file(environment: pytest.MonkeyPatch) -> None:
    lines = [f"{name}={value}" for name, value in NEEDED.items()]
    Path(".env").write_text("\n".join([*lines, "SERVICE_NAME=Redmine", "PORT=4000"]), encoding="utf-8")
    environment.setenv("PORT", "5000")

    settings = load()

    assert (settings.service_name, settings.port) == ("Redmine", 5000)


def test_every_missing_variable_is_named() -> None:
    names = [problem.partition(":")[0] for problem in _problems()]

    assert names == ["SLACK_BOT_TOKEN", "SERVICE_BASE_URL", "ENCRYPTION_KEYS", "SLACK_APP_TOKEN"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SLACK_BOT_TOKEN", "xoxp-s3cret"),
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
        ("ENCRYPTION_KEYS", "s3cret"),
        ("ENCRYPTION_KEYS", f"{NEEDED['ENCRYPTION_KEYS']},s3cret"),
        ("COMMAND_PREFIX", "Acme "),
        ("COMMAND_PREFIX", "x" * 25),
        ("PORT", "http"),
        ("LOG_FORMAT", "xml"),
    ],
)
def test_invalid_values_are_reported_without_repeating_them(
    environment: pytest.MonkeyPatch, name: str, value: str
) -> None:
    for needed, right in (NEEDED | (PAIR if name in PAIR else {}) | {name: value}).items():
        environment.setenv(needed, right)

    (problem,) = _problems()

    assert problem.startswith(f"{name}: ")
    assert "s3cret" not in problem


def test_invalid_and_missing_variables_are_reported_together(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("PORT", "http")
    environment.setenv("SLACK_BOT_TOKEN", "xoxp-1")

    problems = "\n".join(_problems())

    assert "PORT: Must be" in problems
    assert "SLACK_BOT_TOKEN: Must start" in problems
    assert "SERVICE_BASE_URL: Missing." in problems


def test_database_commands_need_only_database_settings(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("SLACK_BOT_TOKEN", "wrong")

    assert load_storage(with_keys=False).database_url == "sqlite:///issuebot.db"
    with pytest.raises(ConfigError, match="ENCRYPTION_KEYS: Missing"):
        load_storage(with_keys=True)


def test_secrets_are_hidden_in_repr(environment: pytest.MonkeyPatch) -> None:
    secret = {"DATABASE_URL": "postgresql://bot:pa55word@db/bot", "SLACK_SIGNING_SECRET": "s3cret"}
    for name, value in (NEEDED | secret).items():
        environment.setenv(name, value)

    shown = repr(load())

    for value in ("pa55word", "s3cret", NEEDED["SLACK_BOT_TOKEN"], NEEDED["ENCRYPTION_KEYS"]):
        assert value not in shown
