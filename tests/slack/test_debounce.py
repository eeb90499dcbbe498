"""A form's hash stays known across the bot's own updates."""

import pytest

from bot.slack.incoming.debounce import Debouncer

FORM = "T1:V1"


@pytest.mark.parametrize(
    ("updates", "known", "now"),
    [
        (["ab", "bc"], "abc", "ccc"),
        (["ab", "xy"], "ax", "ay"),  # another update invalidates the known hash
        (["aa"], "a", "a"),
        (["ab", "ba"], "b", "a"),
    ],
)
def test_own_updates_lead_to_the_latest_hash(updates: list[str], known: str, now: str) -> None:
    debouncer = Debouncer(pause=0)
    for update in updates:
        debouncer.updated(FORM, update[0], update[1])

    assert "".join(debouncer.hash_now(FORM, one) or "" for one in known) == now
    assert debouncer.hash_now("T2:V1", "a") == "a"
