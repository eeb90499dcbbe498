"""A form's hash stays known across the bot's own updates."""

from bot.slack.debounce import Debouncer

FORM = "T1:V1"


def test_own_updates_lead_to_the_latest_hash() -> None:
    debouncer = Debouncer(pause=0)
    debouncer.updated(FORM, "a", "b")
    debouncer.updated(FORM, "b", "c")

    assert [debouncer.hash_now(FORM, known) for known in ("a", "b", "c")] == ["c", "c", "c"]
    assert debouncer.hash_now("T2:V1", "a") == "a"


def test_another_update_invalidates_the_known_hash() -> None:
    debouncer = Debouncer(pause=0)
    debouncer.updated(FORM, "a", "b")
    debouncer.updated(FORM, "x", "y")

    assert (debouncer.hash_now(FORM, "a"), debouncer.hash_now(FORM, "x")) == ("a", "y")


def test_an_update_without_a_new_hash_is_handled() -> None:
    debouncer = Debouncer(pause=0)
    debouncer.updated(FORM, "a", "a")
    assert debouncer.hash_now(FORM, "a") == "a"

    debouncer.updated(FORM, "a", "b")
    debouncer.updated(FORM, "b", "a")
    assert debouncer.hash_now(FORM, "b") == "a"
