"""What buttons carry survives Slack, and nothing else is taken for it."""

import pytest

from bot.slack.buttons import ActionExpired, Button, Number


class Everything(Button):
    action = "test.everything"
    number: Number
    sure: bool = False
    ts: str | None = None
    text: str = ""


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


@pytest.mark.parametrize("value", [None, 42, "", "abc", "-1", "1:maybe", "9" * 13, ":"])
def test_foreign_values_have_expired(value: object) -> None:
    with pytest.raises(ActionExpired):
        Everything.unpack(value)


def test_values_beyond_slacks_limits_are_refused_when_they_are_made() -> None:
    with pytest.raises(ValueError, match=r"test\.everything"):
        Everything(number=1, text="x" * 2000).pack()
    with pytest.raises(ValueError, match="in a menu"):
        Everything(number=1, text="x" * 140).as_option()
