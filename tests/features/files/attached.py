"""What the tests of files share: the attached files, messages with files, and forms' buttons."""

from bot.sandbox.tracker.data import Attachment
from bot.sandbox.tracker.server import Tracker
from tests.support.person import Person
from tests.support.reading import JSON

ANA, NUMBER = 1, 12


def attached(tracker: Tracker, number: int = NUMBER) -> list[Attachment]:
    return [file for file in tracker.data.attachments.values() if file.issue_id == number]


def names(tracker: Tracker, number: int = NUMBER) -> list[str]:
    return sorted(file.filename for file in attached(tracker, number))


async def shared(
    person: Person, *files: tuple[str, bytes], text: str = "Here they are", thread: JSON | None = None
) -> JSON:
    """A message with files."""
    ids = [(await person.upload(name, content))["id"] for name, content in files]
    about = {"channel": person.office.channel_id(person.channel)}
    about |= {"thread_ts": thread["ts"]} if thread else {}
    await person._post("message", text=text, file_ids=ids, **about)
    return next(m for m in reversed(await person.messages()) if m["files"])


def buttons(expected: JSON) -> list[str]:
    rows = ([*block.get("elements", ()), block.get("accessory")] for block in expected["blocks"])
    return [part["text"]["text"] for row in rows for part in row if part and part["type"] == "button"]
