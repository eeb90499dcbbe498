import pytest

from bot.features.digests.buttons import (
    DigestButton,
    OpenChangeForm,
    PauseDigest,
    PostNow,
    RemoveDigest,
    RestoreDigest,
    ResumeDigest,
    TakeOverDigest,
)


@pytest.mark.parametrize(
    ("kind", "action"),
    [
        (PostNow, "digest.now"),
        (PauseDigest, "digest.pause"),
        (ResumeDigest, "digest.resume"),
        (OpenChangeForm, "digest.change"),
        (RestoreDigest, "digest.undo"),
        (TakeOverDigest, "digest.take_over"),
        (RemoveDigest, "digest.remove"),
    ],
)
def test_buttons_in_old_posts_go_on_working(kind: type[DigestButton], action: str) -> None:
    assert kind.action == action
    assert kind.unpack("42") == kind(digest=42)
    assert kind.unpack("42:U0ANA") == kind(digest=42, owner="U0ANA")
