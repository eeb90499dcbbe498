"""A form's hash stays known across the bot's own updates."""

from bot.slack.debounce import Pauses

FORM = "T1:V1"


def test_own_updates_lead_to_the_latest_hash() -> None:
    pauses = Pauses()
    pauses.updated(FORM, "a", "b")
    pauses.updated(FORM, "b", "c")

    assert [pauses.hash_now(FORM, known) for known in ("a", "b", "c")] == ["c", "c", "c"]
    assert pauses.hash_now("T2:V1", "a") == "a"


def test_somebody_elses_update_ends_the_chain() -> None:
    pauses = Pauses()
    pauses.updated(FORM, "a", "b")
    pauses.updated(FORM, "x", "y")

    assert (pauses.hash_now(FORM, "a"), pauses.hash_now(FORM, "x")) == ("a", "y")


def test_an_update_without_a_new_hash_ends() -> None:
    pauses = Pauses()
    pauses.updated(FORM, "a", "a")
    assert pauses.hash_now(FORM, "a") == "a"

    pauses.updated(FORM, "a", "b")
    pauses.updated(FORM, "b", "a")
    assert pauses.hash_now(FORM, "b") == "a"
