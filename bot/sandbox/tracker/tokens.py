"""The upload tokens sent with an issue."""

from typing import Any

from bot.sandbox.tracker.call import Body, as_int, as_text
from bot.sandbox.tracker.data import Attachment, Data
from bot.sandbox.tracker.files import clean_name


class Tokens:
    """The `uploads` of a new or updated issue; `errors` reports the invalid ones.

    Anyone can use a token, once.
    """

    def __init__(self, data: Data, sent: Body) -> None:
        given = sent.get("uploads")
        self._rows: list[tuple[Attachment, dict[str, Any]]] = []
        lost = 0
        for row in given if isinstance(given, list) else []:
            token = row.get("token") if isinstance(row, dict) else None
            number = as_int(str(token or "").partition(".")[0])
            file = data.attachments.get(number or 0)
            if file is None or file.token != token or file.issue_id is not None or file in self._files:
                lost += 1
                continue
            self._rows.append((file, row))
        self.errors = [f"{lost} file(s) could not be saved."] if lost else []

    @property
    def _files(self) -> list[Attachment]:
        return [file for file, _ in self._rows]

    def use(self) -> list[Attachment]:
        """Use up the tokens; return their files, renamed as requested, for the caller to set the issue."""
        for file, row in self._rows:
            file.filename = clean_name(as_text(row.get("filename"))) or file.filename
            file.content_type = as_text(row.get("content_type")) or file.content_type
            file.description = as_text(row.get("description"))
        return self._files
