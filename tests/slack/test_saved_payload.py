"""What is stored of a payload, to resume it later."""

import pytest

from bot.slack.saved_payload import saveable

KEY = "0123456789abcdef" * 2


@pytest.mark.parametrize("command", ["/tracker", "/acme-tracker"])
def test_a_key_typed_into_a_command_is_not_stored(command: str) -> None:
    typed = {"command": command, "text": f"link {KEY}", "trigger_id": "1.2"}

    assert saveable(typed) == {"command": command, "text": "link …"}


def test_what_looks_like_a_key_in_a_subject_is_kept() -> None:
    typed = {"command": "/issue", "text": f"new Reverts {KEY}"}

    assert saveable(typed) == typed
