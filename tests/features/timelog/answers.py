"""What users see after logging time."""

from tests.support.person import Person
from tests.support.reading import JSON, until


async def logged(person: Person, said: str = "Logged ") -> JSON:
    """The latest private answer to the user that starts with `said`."""

    async def look() -> JSON | None:
        own = [m for m in await person.messages() if m["ephemeral"] and m["text"].startswith(said)]
        return own[-1] if own else None

    return await until(look)


async def announcement(person: Person) -> JSON:
    async def look() -> JSON | None:
        return next((m for m in await person.messages() if m["text"].startswith("Ana Ruiz logged ")), None)

    return await until(look)
