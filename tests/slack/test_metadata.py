"""What forms remember survives Slack, and nothing else is taken for it."""

import json

import pytest

from bot.slack.buttons import ActionExpired, Number
from bot.slack.interaction import View
from bot.slack.metadata import Metadata


class Remembered(Metadata):
    number: Number
    text: str | None = None


def view_with(metadata: str) -> View:
    return View({"private_metadata": metadata})


def test_metadata_is_read_back_as_it_was_made() -> None:
    metadata = Remembered(number=42, text="“a”\n", place={"channel_id": "C1"})

    assert Remembered.of(view_with(metadata.dump())) == metadata


@pytest.mark.parametrize(
    "found", ["", "[]", "{", *(json.dumps({"number": value}) for value in (None, -1, "x", {"a": 1}, 10**12))]
)
def test_foreign_metadata_has_expired(found: str) -> None:
    with pytest.raises(ActionExpired):
        Remembered.of(view_with(found))


def test_metadata_beyond_slacks_limit_is_refused_when_it_is_made() -> None:
    with pytest.raises(ValueError, match="Remembered has"):
        Remembered(number=1, text="x" * 3000).dump()
