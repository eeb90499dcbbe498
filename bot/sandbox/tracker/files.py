"""POST /uploads.json, its tokens in a new or updated issue, and PATCH /attachments/{id}.json."""

import mimetypes
import re
import secrets

from aiohttp import web

from bot.sandbox.tracker.call import Body, Call, HttpError, ValidationError, as_int, too_long
from bot.sandbox.tracker.data import Attachment, Data, free_id

MAX_TEXT = 255
FORBIDDEN = frozenset({"exe", "bat", "com"})
_UNSAFE = re.compile(r'[/?%*:|"\'<>\n\r\x00]+')


def clean_name(name: str) -> str:
    """Return a file name as the service stores it: no path, no characters unsafe in file systems."""
    return _UNSAFE.sub("_", re.sub(r"\A.*[\\/]", "", name, flags=re.DOTALL))


async def upload(call: Call) -> web.Response:
    """Store the raw bytes and return a single-use token.

    Responds 406 for another content type, 422 when the file is too large (without reading the rest).
    """
    author = call.user
    call.require(call.viewer.may_anywhere("add_issues"))
    if call.request.content_type != "application/octet-stream":
        raise HttpError(406)
    name = clean_name(call.params.get("filename", "")) or secrets.token_hex(8)
    if name.rpartition(".")[2].lower() in FORBIDDEN:
        raise ValidationError(f"Attachment extension .{name.rpartition('.')[2]} is not allowed")
    if errors := too_long("File", name, MAX_TEXT):
        raise ValidationError(*errors)
    content = await _content(call.request, call.service.max_upload)
    row = Attachment(
        id=free_id(call.data.attachments),
        filename=name,
        content=content,
        content_type=call.params.get("content_type") or mimetypes.guess_type(name)[0] or "",
        author_id=author.id,
        created_on=call.now,
    )
    call.data.attachments[row.id] = row
    return call.created("upload", {"id": row.id, "token": row.token})


async def _content(request: web.Request, most: int) -> bytes:
    content = bytearray()
    async for chunk in request.content.iter_chunked(64 * 1024):
        content += chunk
        if len(content) > most:
            reason = "it exceeds the maximum allowed file size"
            raise ValidationError(f"This file cannot be uploaded because {reason} ({_size(most)})")
    return bytes(content)


def _size(most: int) -> str:
    for unit, factor in (("MB", 1024 * 1024), ("KB", 1024)):
        if most >= factor:
            return f"{most / factor:.3g} {unit}"
    return f"{most} Bytes"


def taken_uploads(data: Data, sent: Body) -> tuple[list[tuple[Attachment, Body]], int]:
    """Return the files that an issue's upload tokens name, and how many tokens are invalid.

    Anyone can use a token, once.
    """
    given = sent.get("uploads")
    taken: dict[int, tuple[Attachment, Body]] = {}
    lost = 0
    for sent_row in given if isinstance(given, list) else []:
        row = Body(sent_row) if isinstance(sent_row, dict) else Body()
        token = row.get("token")
        file = data.attachments.get(as_int(str(token or "").partition(".")[0]) or 0)
        if file is None or file.token != token or file.issue_id is not None or file.id in taken:
            lost += 1
        else:
            taken[file.id] = file, row
    return list(taken.values()), lost


def use_uploads(taken: list[tuple[Attachment, Body]]) -> list[Attachment]:
    """Return the files, renamed as requested, for the caller to set the issue."""
    for file, row in taken:
        file.filename = clean_name(row.text("filename")) or file.filename
        file.content_type = row.text("content_type") or file.content_type
        file.description = row.text("description")
    return [file for file, _ in taken]


async def update_attachment(call: Call) -> web.Response:
    """Change a file's name or description: by its uploader until attached, then by the issue's editors.

    Responds 404 (unknown), 401, 403 (hidden or not allowed), 422.
    """
    row = call.path_row(call.data.attachments)
    call.require(_editable(call, row))
    sent = await call.body("attachment")
    name = clean_name(sent.text("filename")) if "filename" in sent else row.filename
    description = sent.text("description") if "description" in sent else row.description
    errors = [] if name else ["File cannot be blank"]
    errors += too_long("File", name, MAX_TEXT) + too_long("Description", description, MAX_TEXT)
    if errors:
        raise ValidationError(*errors)
    row.filename, row.description = name, description
    return call.updated()


def _editable(call: Call, row: Attachment) -> bool:
    author = call.viewer.user is not None and call.viewer.user.id == row.author_id
    if row.issue_id is None:
        return author
    issue = call.data.issues[row.issue_id]
    return (author or call.viewer.edits_issue(issue)) and call.viewer.sees_issue(issue)
