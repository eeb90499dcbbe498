"""Scenarios with comments."""

from tests.faults.file_scenarios import files_attached
from tests.faults.issue_scenarios import CARD
from tests.faults.scenario import TYPED, About, choose, command, form_behind, press, shortcut, submit, suggest
from tests.faults.scene import NUMBER, Scene
from tests.faults.thread_scenarios import comments_made
from tests.support.reading import JSON

FORM = "Write a comment"
"""In the form, which has no *Private note* if the user's role can't be read."""


async def messages_added(s: Scene) -> int:
    return max(await comments_made(s), await files_attached(s))


async def message(s: Scene) -> JSON:
    return await s.message(s.file, text=f"{s.word} #{NUMBER}")


async def form_for_message(s: Scene, _who: str) -> JSON:
    await s.ana.shortcut("comment_from_message", await message(s))
    return await s.form("Comment")


async def saved(s: Scene, _who: str) -> JSON:
    kept = {"issue": NUMBER, "text": s.word, "after": None, "warning": "Try again."}
    return await s.offer(kept, "Open form", "comment.open_saved")


async def message_added_before(s: Scene, _who: str) -> JSON:
    message = await s.message()
    place = {"channel_id": message["channel"], "thread_ts": message["ts"]}
    kept = {"files": [], "message": {"text": s.word, "ts": message["ts"]}, "place": place}
    return await s.offer(kept, "Comment", "comment.with_message", about=f"{NUMBER}:")


ADDED: About = {"effect": comments_made, "confirmation": r"Commented on|Added this message to"}
OPENED = form_behind("Comment", CARD, "Comment")
command("comment", f"/issue {NUMBER} comment {{word}}", **ADDED | TYPED)
press("comment button", "comment.open", CARD, "Comment", refused=FORM)
submit("submit comment", "comment.add", OPENED, {"Comment": "{word}"}, **ADDED | TYPED)
shortcut("comment from message", "comment_from_message", message, refused=FORM)
submit(
    "submit a message as a comment",
    "comment.add",
    form_for_message,
    {},
    effect=messages_added,
    confirmation=ADDED["confirmation"],
)
press("open a saved comment", "comment.open_saved", saved, "Open form", refused=FORM)
press("comment with a message", "comment.with_message", message_added_before, "Comment", refused=FORM)
choose(
    "choose an issue to comment on", "comment.issue", form_for_message, "Issue", f"#{NUMBER}", refused=FORM
)
suggest("offer issues to comment on", "comment.issue", form_for_message, "Issue", str(NUMBER))
