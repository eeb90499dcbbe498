import pytest

from bot.features.digests.buttons import ACTS, DigestAction


@pytest.mark.parametrize(
    ("act", "action"),
    [
        (DigestAction.NOW, "digest.now"),
        (DigestAction.PAUSE, "digest.pause"),
        (DigestAction.PREVIEW, "digest.preview"),
        (DigestAction.RESUME, "digest.resume"),
        (DigestAction.CHANGE, "digest.change"),
        (DigestAction.RESTORE, "digest.undo"),
        (DigestAction.TAKE_OWNERSHIP, "digest.take_over"),
        (DigestAction.REMOVE, "digest.remove"),
    ],
)
def test_buttons_in_old_posts_go_on_working(act: DigestAction, action: str) -> None:
    kind = ACTS[act]
    assert kind.action == action
    assert kind.unpack("42") == kind(digest=42)
    assert kind.unpack("42:U0ANA") == kind(digest=42, confirmed_owner="U0ANA")
