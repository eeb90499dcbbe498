"""Custom fields of each kind, in the project that has one of each."""

from collections.abc import Mapping

import pytest

from bot.errors import Refused
from bot.service.client import Client
from bot.service.filters import IssueFilters
from bot.service.models import Issue
from bot.service.writes import CustomFieldInput, NewIssue
from tests.contract.world import World

Value = str | tuple[str, ...]
LONG = "Zwölf Boxkämpfer 🥊 " * 100

TAKEN: Mapping[str, tuple[Value, ...]] = {
    "Serial number": ("A-17", " x ", "0", "5 < 6 & 7", "Ж 𝒳 🧪", "=1"),
    "Remarks": ("One line", "Two\nlines", LONG),
    "Attempts": ("0", "-3", "+4", "900719925474099312"),
    "Voltage": ("3.5", "-0.25", "1e3", "7"),
    "Reproducible": ("1", "0"),
    "First seen": ("2024-02-29",),
    "Colour": ("green",),
    "Browsers": (("Firefox",), ("Safari", "Firefox")),
    "Tester": ("Ben Okafor", "Dora Weiss"),
    "Broken since": ("Prototype",),
    "Report": ("https://example.test/?a=1&b=2", "no link at all"),
    "Building": ("South",),
}
REFUSED: Mapping[str, tuple[Value, ...]] = {
    "Attempts": ("three", "1.5", "1e3"),
    "Voltage": ("much", "1,5"),
    "First seen": ("yesterday", "2024-02-30", "29.02.2024"),
    "Colour": ("Green", "yellow"),
    "Browsers": (("Firefox", "Lynx"),),
    "Tester": ("99999", "Ben"),
    "Broken since": ("99999",),
    "Building": ("North Pole",),
}
SENTENCES = {"Attempts": "is not a number", "Voltage": "is invalid", "First seen": "is not a valid date"}


def given(world: World, name: str, value: Value) -> CustomFieldInput:
    choices = world.choices.get(name, {})
    if isinstance(value, str):
        value = str(choices.get(value, value))
    return CustomFieldInput(id=world.custom_fields[name], value=value)


async def created(client: Client, world: World, *fields: CustomFieldInput, kind: str = "lab") -> Issue:
    """Chris's issue: a tester can't be chosen by who isn't shown the people of the project."""
    return await client.create_issue(
        world.key("chris"),
        NewIssue(project_id=world.project(kind), subject="With fields", custom_fields=fields),
    )


def values(issue: Issue) -> dict[str, object]:
    return {field.name: field.value for field in issue.custom_fields}


@pytest.mark.parametrize("name", TAKEN)
async def test_a_field_keeps_what_it_was_given(client: Client, world: World, name: str) -> None:
    for value in TAKEN[name]:
        sent = given(world, name, value)

        made = await created(client, world, sent)
        listed = await client.list_issues(world.key("chris"), IssueFilters(issue_ids=(made.id,)))

        for issue in (made, listed.items[0]):
            field = next(field for field in issue.custom_fields if field.id == sent.id)
            assert field.name == name
            assert field.multiple == isinstance(value, tuple)
            kept = set(field.value) if isinstance(field.value, tuple) else field.value
            assert kept == (set(sent.value) if isinstance(sent.value, tuple) else sent.value)


@pytest.mark.parametrize("name", REFUSED)
async def test_a_field_refuses_what_is_not_its_kind(client: Client, world: World, name: str) -> None:
    for value in REFUSED[name]:
        with pytest.raises(Refused) as caught:
            await created(client, world, given(world, name, value))

        assert caught.value.errors == (f"{name} {SENTENCES.get(name, 'is not included in the list')}",)


async def test_a_field_that_was_not_given_is_there_and_empty(client: Client, world: World) -> None:
    made = await created(client, world)

    found = values(made)
    assert set(found) == set(TAKEN) | {"Environment"}
    assert {name for name, value in found.items() if value not in (None, "", ())} == set()
    assert {field.name for field in made.custom_fields if field.multiple} == {"Browsers"}


async def test_several_values_for_one_and_a_field_of_elsewhere(client: Client, world: World) -> None:
    with pytest.raises(Refused) as caught:
        await created(client, world, given(world, "Colour", ("red", "green")))
    assert caught.value.errors == ("Colour is invalid",)

    elsewhere = [
        CustomFieldInput(id=number, value="x") for number in (world.custom_fields["Severity"], 99_999)
    ]
    made = await created(client, world, *elsewhere, given(world, "Browsers", ()))
    assert "Severity" not in values(made)
