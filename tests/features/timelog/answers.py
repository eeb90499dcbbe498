"""What users see after logging time."""

from tests.support.person import Person
from tests.support.reading import JSON


async def logged(person: Person, text: str = "Logged ") -> JSON:
    """The latest private answer to the user that says `text`."""
    return await person.sees(lambda m: m["ephemeral"] and text in m["text"])


async def announcement(person: Person) -> JSON:
    return await person.sees(lambda m: m["text"].startswith("Ana Ruiz logged "))
