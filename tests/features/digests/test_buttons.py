import pytest

from bot.features.digests.buttons import ACTS, Act


@pytest.mark.parametrize(
    ("act", "action"),
    [
        (Act.NOW, "digest.now"),
        (Act.PAUSE, "digest.pause"),
        (Act.RESUME, "digest.resume"),
        (Act.CHANGE, "digest.change"),
        (Act.RESTORE, "digest.undo"),
        (Act.TAKE_OWNERSHIP, "digest.take_over"),
        (Act.REMOVE, "digest.remove"),
    ],
)
def test_buttons_in_old_posts_go_on_working(act: Act, action: str) -> None:
    kind = ACTS[act]
    assert kind.action == action
    assert kind.unpack("42") == kind(digest=42)
    assert kind.unpack("42:U0ANA") == kind(digest=42, owner="U0ANA")
