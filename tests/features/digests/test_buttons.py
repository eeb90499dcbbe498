import pytest

from bot.features.digests.buttons import (
    OpenChangeForm,
    PauseDigest,
    PostNow,
    RemoveDigest,
    RestoreDigest,
    ResumeDigest,
    TakeOverDigest,
)
from bot.slack.buttons import Button


@pytest.mark.parametrize(
    ("button", "action", "packed"),
    [
        (PostNow(digest=42), "digest.now", "42"),
        (PauseDigest(digest=42), "digest.pause", "42"),
        (ResumeDigest(digest=42), "digest.resume", "42"),
        (OpenChangeForm(digest=42), "digest.change", "42"),
        (RestoreDigest(digest=42), "digest.undo", "42"),
        (TakeOverDigest(digest=42, owner="U0ANA"), "digest.take_over", "42:U0ANA"),
        (RemoveDigest(digest=42, owner="U0ANA"), "digest.remove", "42:U0ANA"),
    ],
)
def test_buttons_in_old_posts_go_on_working(button: Button, action: str, packed: str) -> None:
    assert button.action == action
    assert button.pack() == packed
    assert type(button).unpack(packed) == button
