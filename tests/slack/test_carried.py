"""What buttons carry and forms remember survives Slack, and nothing else is taken for it."""

import json

import pytest

from bot.slack.surfaces.buttons import ActionExpired, Button, Number
from bot.slack.surfaces.view import Metadata, View


class Everything(Button):
    action = "test.everything"
    number: Number
    sure: bool = False
    ts: str | None = None
    text: str = ""


class Remembered(Metadata):
    number: Number
    text: str | None = None


@pytest.mark.parametrize(
    "button",
    [
        Everything(number=0),
        Everything(number=42, sure=True, ts="1700000000.000100"),
        Everything(number=42, text="a:b: “c”\n"),
    ],
)
def test_a_button_is_read_back_as_it_was_made(button: Everything) -> None:
    assert Everything.unpack(button.pack()) == button


def test_metadata_is_read_back_as_it_was_made() -> None:
    metadata = Remembered(number=42, text="“a”\n", place={"channel_id": "C1"})

    assert Remembered.of(View({"private_metadata": metadata.dump()})) == metadata


@pytest.mark.parametrize("value", [None, 42, "", "abc", "-1", "1:maybe", "9" * 13, ":"])
def test_foreign_button_values_have_expired(value: object) -> None:
    with pytest.raises(ActionExpired):
        Everything.unpack(value)


@pytest.mark.parametrize(
    "expected", ["", "[]", "{", *(json.dumps({"number": value}) for value in (None, -1, {"a": 1}, 10**12))]
)
def test_foreign_metadata_has_expired(expected: str) -> None:
    with pytest.raises(ActionExpired):
        Remembered.of(View({"private_metadata": expected}))


def test_contents_beyond_slacks_limits_are_refused_when_they_are_made() -> None:
    with pytest.raises(ValueError, match=r"test\.everything"):
        Everything(number=1, text="x" * 2000).pack()
    with pytest.raises(ValueError, match="in a menu"):
        Everything(number=1, text="x" * 140).as_option()
    with pytest.raises(ValueError, match="Remembered has"):
        Remembered(number=1, text="x" * 3000).dump()
