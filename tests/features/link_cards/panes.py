"""The details of an issue's card, as one person sees and edits them."""

from dataclasses import dataclass
from typing import Any

from bot.sandbox.tracker.data import Issue
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import JSON, option_saying, rich_text


@dataclass
class Pane:
    """The details that a user opened."""

    office: Office
    person: Person

    async def state(self) -> JSON:
        """Returns what the details show once the bot is idle."""
        await self.office.idle()
        part: JSON = (await self.person.state())["details"]
        return part

    async def entity(self) -> JSON:
        part: JSON = (await self.state())["entity"]
        return part

    async def fields(self) -> JSON:
        part: JSON = (await self.entity())["entity_payload"]["fields"]
        return part

    async def edit(self, **chosen: str | None) -> JSON:
        """Saves an edit with the shown values and those that were `chosen`; returns what is shown then."""
        return await self.send(values=await self.entered(**chosen))

    async def entered(self, **chosen: str | None) -> JSON:
        values: JSON = {}
        for name, field in (await self.fields()).items():
            if "edit" in field:
                values[name] = {f"{name}.input": _entered(field, chosen.get(name, field))}
        return values

    async def press(self, text: str) -> None:
        """Presses a button of the details."""
        actions = (await self.entity())["entity_payload"]["actions"]
        button = next(b for row in actions.values() for b in row if b["text"] == text)
        await self.send(action_id=button["action_id"])

    async def more_comments(self) -> JSON:
        """Opens the comments, or their next page."""
        return await self.send()

    async def comment(self, *elements: JSON) -> JSON:
        """Posts a comment with these inline elements; returns what is shown then."""
        return await self.send(comment=rich_text({"type": "rich_text_section", "elements": list(elements)}))

    async def send(self, **what: Any) -> JSON:
        await self.person._post("details", **what)
        return await self.state()


def _entered(field: JSON, chosen: str | JSON | None) -> JSON:
    kept = chosen is field
    if "select" not in field["edit"]:
        return {"type": "datepicker", "selected_date": field.get("value") if kept else chosen}
    select = field["edit"]["select"]
    options = select["static_options"]
    if kept:
        option = next((o for o in options if o["value"] == select.get("current_value")), None)
    else:
        option = option_saying(options, chosen) if isinstance(chosen, str) else None
    return {"type": "static_select", "selected_option": option}


async def posted(person: Person, office: Office, issue: Issue) -> JSON:
    """Posts a link to an issue and returns the message with its card."""
    message = await person.say(office.link_to(issue))
    return await person.sees(lambda m: m["ts"] == message["ts"] and m["unfurls"])


async def opened(office: Office, person: Person, issue: Issue, message: JSON | None = None) -> Pane:
    """Opens the details of an issue's card; posts a link to the issue unless the message is given."""
    message = message or await posted(person, office, issue)
    preview = message["unfurls"][0]
    assert preview["has_details"]
    pane = Pane(office, person)
    await pane.send(channel=message["channel"], ts=message["ts"], url=preview["url"])
    return pane
