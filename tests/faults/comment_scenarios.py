"""Scenarios with comments."""

from collections.abc import AsyncGenerator

from tests.faults.issue_scenarios import message
from tests.faults.scene import NUMBER, Scene, scenario
from tests.support.reading import JSON

Steps = AsyncGenerator[None, None]
ADDED = r"Commented on|Added this message to"
FORM = "Write a comment"
"""In the form, which has no *Private note* if the user's role can't be read."""


async def comments_made(s: Scene) -> int:
    return sum(s.word in note.text for note in s.data.issues[NUMBER].notes)


async def opened(s: Scene) -> JSON:
    """Opens the form for a comment and returns it."""
    await s.ana.press(await s.after(s.ana.command(f"/issue {NUMBER}")), "Comment")
    return await s.form("Comment")


async def opened_for_message(s: Scene, *files: str) -> JSON:
    """Opens the form for a message that names the issue and returns it."""
    await s.ana.shortcut("comment_from_message", await message(s, *files, text=f"{s.word} #{NUMBER}"))
    return await s.form("Comment")


@scenario("comment", "command:issue", effect=comments_made, said=ADDED, typed=True)
async def comment(s: Scene) -> Steps:
    yield
    await s.ana.command(f"/issue {NUMBER} comment {s.word}")


@scenario("comment button", "action:comment.open", refused=FORM)
async def comment_pressed(s: Scene) -> Steps:
    card = await s.after(s.ana.command(f"/issue {NUMBER}"))
    yield
    await s.ana.press(card, "Comment")


@scenario("submit comment", "form:comment.add", effect=comments_made, said=ADDED, typed=True)
async def submit_comment(s: Scene) -> Steps:
    form = await opened(s)
    yield
    await s.ana.submit(form, {"Comment": s.word})


@scenario("comment from message", "shortcut:comment_from_message", refused=FORM)
async def comment_from_message(s: Scene) -> Steps:
    found = await message(s, f"{s.slug}.log", text=f"{s.word} #{NUMBER}")
    yield
    await s.ana.shortcut("comment_from_message", found)


@scenario("submit a message as a comment", "form:comment.add", effect=comments_made, said=ADDED)
async def submit_message(s: Scene) -> Steps:
    form = await opened_for_message(s, f"{s.slug}.log")
    yield
    await s.ana.submit(form, {})


@scenario("open a saved comment", "action:comment.open_saved", refused=FORM)
async def open_saved(s: Scene) -> Steps:
    kept = {"issue": NUMBER, "text": s.word, "after": None, "said": "Try again."}
    offer = await s.offer(kept, "Open form", "comment.open_saved")
    yield
    await s.ana.press(offer, "Open form")


@scenario("comment with a message", "action:comment.with_message", refused=FORM)
async def comment_with_message(s: Scene) -> Steps:
    found = await message(s)
    place = {"channel_id": found["channel"], "thread_ts": found["ts"]}
    kept = {"files": [], "message": {"text": s.word, "ts": found["ts"]}, "place": place}
    offer = await s.offer(kept, "Comment", "comment.with_message", about=f"{NUMBER}:")
    yield
    await s.ana.press(offer, "Comment")


@scenario("choose an issue to comment on", "action:comment.issue", refused=FORM)
async def choose_issue(s: Scene) -> Steps:
    choose = await s.choosing(await opened_for_message(s), "Issue", f"#{NUMBER}")
    yield
    await choose()


@scenario("offer issues to comment on", "options:comment.issue", expects_answer=False)
async def offer_issues(s: Scene) -> Steps:
    form = await opened_for_message(s)
    yield
    s.offered = await s.ana.suggest(form, "Issue", str(NUMBER))
