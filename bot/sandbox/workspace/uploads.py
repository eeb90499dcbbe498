"""Files: uploaded from the page to disk, and served to the app like Slack's file host does."""

from pathlib import Path

from aiohttp import BodyPartReader, web

from bot.sandbox.workspace import snapshot
from bot.sandbox.workspace.delivery import PageError
from bot.sandbox.workspace.model import File
from bot.sandbox.workspace.state import State

MOST = 10
MAX_TOTAL_SIZE = 4 * 1024**3
SHOWN_INLINE = {"image/png", "image/jpeg", "image/gif", "image/webp"}
SIGN_IN = (
    "<!DOCTYPE html><html><head><title>Slack</title></head><body>Sign in to see this file.</body></html>"
)


async def _kept(part: BodyPartReader, path: Path, max_size: int) -> int:
    size = 0
    with path.open("wb") as kept:
        while chunk := await part.read_chunk(256 * 1024):
            size += len(chunk)
            if size > max_size:
                raise PageError("A file can be at most 1 GB.")
            kept.write(chunk)
    return size


async def receive(state: State, request: web.Request) -> web.StreamResponse:
    """Handle POST /page/upload, a multipart body; raises PageError when it is too large."""
    if not request.content_type.startswith("multipart/"):
        raise PageError("Send files as multipart/form-data.")
    received: list[File] = []
    try:
        await _receive(state, request, received)
    except BaseException:
        for file in received:
            file.path.unlink(missing_ok=True)
        raise
    state.files |= {file.id: file for file in received}
    return web.json_response({"ok": True, "files": [snapshot.file(file) for file in received]})


async def _receive(state: State, request: web.Request, received: list[File]) -> None:
    user = ""
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader):
            raise PageError("Send files as plain parts.")
        if part.filename:
            if len(received) == MOST:
                raise PageError("You can upload up to 10 files at a time.")
            mimetype = part.headers.get("Content-Type", "application/octet-stream").partition(";")[0]
            file_id = state.new_id("F")
            path = state.folder / file_id
            file = File(file_id, part.filename, mimetype, path, 0, "", created=int(state.clock.now()))
            received.append(file)
            file.size = await _kept(part, path, state.max_file_size)
        elif part.name == "user":
            user = (await part.read_chunk(1024)).decode(errors="replace")
    if user not in state.users:
        raise PageError("This person isn't in the workspace.")
    if sum(file.size for file in (*state.files.values(), *received)) > MAX_TOTAL_SIZE:
        raise PageError("The sandbox has no room for more files. Restart it to clear them.")
    for file in received:
        file.user = user


def _sent(file: File, *, inline: bool) -> web.StreamResponse:
    safe = file.name.encode("ascii", "replace").decode().replace('"', "_").replace("\\", "_")
    headers = {
        "Content-Type": file.mimetype,
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox",
        "Content-Disposition": f'{"inline" if inline else "attachment"}; filename="{safe}"',
    }
    return web.FileResponse(file.path, headers=headers)


async def show(state: State, request: web.Request) -> web.StreamResponse:
    """Handle GET /page/files/<id>: images inline, other files as downloads."""
    file = state.files.get(request.match_info["file"])
    if file is None:
        raise web.HTTPNotFound
    return _sent(file, inline=file.mimetype in SHOWN_INLINE)


async def hand_over(state: State, bot_token: str, request: web.Request) -> web.StreamResponse:
    """Handle GET /files-pri/…: the file for the bot's token, else a sign-in page with status 200."""
    file = state.files.get(request.match_info["file"].removeprefix(f"{state.team.id}-"))
    allowed = (
        request.headers.get("Authorization") == f"Bearer {bot_token}" and "files:read" in state.app.scopes
    )
    if file is None or not allowed or not state.sees_file(file):
        state.violate("url_private", "file_not_allowed", "The token can't access this file.")
        return web.Response(text=SIGN_IN, content_type="text/html")
    return _sent(file, inline=False)
