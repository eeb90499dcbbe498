"""Files: taken from the page, handed to the app as Slack's file host does."""

from aiohttp import BodyPartReader, web

from bot.sandbox.workspace import snapshot
from bot.sandbox.workspace.exchange import Mistake
from bot.sandbox.workspace.model import File
from bot.sandbox.workspace.shapes import JsonObject
from bot.sandbox.workspace.state import State

LARGEST = 25 * 1024 * 1024
MOST = 10
ALL_TOGETHER = 256 * 1024 * 1024
SHOWN_INLINE = {"image/png", "image/jpeg", "image/gif", "image/webp"}
SIGN_IN = (
    "<!DOCTYPE html><html><head><title>Slack</title></head><body>Sign in to see this file.</body></html>"
)


async def _content(part: BodyPartReader) -> bytes:
    content = bytearray()
    while chunk := await part.read_chunk(64 * 1024):
        content += chunk
        if len(content) > LARGEST:
            raise Mistake("A file may have 25 MB here.")
    return bytes(content)


async def receive(state: State, request: web.Request) -> JsonObject:
    """POST /page/upload: the files of a multipart body; raises Mistake for too much of it."""
    if not request.content_type.startswith("multipart/"):
        raise Mistake("Files come as multipart/form-data.")
    user = ""
    received: list[tuple[str, str, bytes]] = []
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader):
            raise Mistake("Files come as plain parts.")
        if part.filename:
            if len(received) == MOST:
                raise Mistake("At most 10 files at once.")
            mimetype = part.headers.get("Content-Type", "application/octet-stream").partition(";")[0]
            received.append((part.filename, mimetype, await _content(part)))
        elif part.name == "user":
            user = (await _content(part)).decode(errors="replace")
    if user not in state.users:
        raise Mistake("There is no such person.")
    held = sum(len(file.content) for file in state.files.values())
    if held + sum(len(content) for _, _, content in received) > ALL_TOGETHER:
        raise Mistake("The sandbox holds no more files.")
    files = [
        File(state.new_id("F"), name, mimetype, content, user, created=int(state.clock.now()))
        for name, mimetype, content in received
    ]
    state.files |= {file.id: file for file in files}
    return {"files": [snapshot.file(file) for file in files]}


def _sent(file: File, *, inline: bool) -> web.Response:
    response = web.Response(body=file.content, headers={"Content-Type": file.mimetype})
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = "sandbox"
    safe = file.name.encode("ascii", "replace").decode().replace('"', "_").replace("\\", "_")
    response.headers["Content-Disposition"] = f'{"inline" if inline else "attachment"}; filename="{safe}"'
    return response


def show(state: State, file_id: str) -> web.Response:
    """GET /page/files/<id>: pictures within the page, the rest as downloads."""
    file = state.files.get(file_id)
    if file is None:
        raise web.HTTPNotFound
    return _sent(file, inline=file.mimetype in SHOWN_INLINE)


def hand_over(state: State, request: web.Request, bot_token: str) -> web.Response:
    """GET /files-pri/…: the bytes for the bot's token; without the right 200 and a sign-in page."""
    file = state.files.get(request.match_info["file"].removeprefix(f"{state.team.id}-"))
    allowed = (
        request.headers.get("Authorization") == f"Bearer {bot_token}" and "files:read" in state.app.scopes
    )
    if file is None or not allowed or not state.sees_file(file):
        state.violate("url_private", "file_not_allowed", "The file was asked for without the right to it.")
        return web.Response(text=SIGN_IN, content_type="text/html")
    return _sent(file, inline=False)
