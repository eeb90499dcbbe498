"""Custom fields of every kind, in the project that has one of each."""

from collections.abc import Iterator, Mapping

import pytest

from bot.errors import Refused
from bot.service.client import Client
from bot.service.filters import IssueFilters
from bot.service.inputs import CustomFieldInput, NewIssue
from bot.service.models import Issue
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
    """Creates an issue as Chris: only those who see the project's members can choose a tester."""
    return await client.create_issue(
        world.key("chris"),
        NewIssue(project_id=world.project(kind), subject="With fields", custom_fields=fields),
    )


def values(issue: Issue) -> dict[str, object]:
    return {field.name: field.value for field in issue.custom_fields}


def rounds(values: Mapping[str, tuple[Value, ...]]) -> Iterator[dict[str, Value]]:
    """Yields the first value of every field, then the second of those that have one, and so on."""
    for nth in range(max(map(len, values.values()))):
        yield {name: those[nth] for name, those in values.items() if len(those) > nth}


def alike(value: object) -> object:
    """Makes comparisons ignore the order of several values."""
    return set(value) if isinstance(value, tuple) else value


async def test_a_field_keeps_its_value(client: Client, world: World) -> None:
    for fields in rounds(TAKEN):
        sent = {name: given(world, name, value) for name, value in fields.items()}

        made = await created(client, world, *sent.values())
        listed = await client.list_issues(world.key("chris"), IssueFilters(issue_ids=(made.id,)))

        for issue in (made, listed.items[0]):
            fields_by_name = {field.name: field for field in issue.custom_fields if field.name in fields}
            assert {name: field.id for name, field in fields_by_name.items()} == {
                n: f.id for n, f in sent.items()
            }
            assert {n: alike(f.value) for n, f in fields_by_name.items()} == {
                n: alike(f.value) for n, f in sent.items()
            }
            assert {name for name, field in fields_by_name.items() if field.multiple} == {
                "Browsers"
            } & fields.keys()


async def test_a_field_rejects_values_of_the_wrong_type(client: Client, world: World) -> None:
    for fields in rounds(REFUSED):
        with pytest.raises(Refused) as caught:
            await created(client, world, *(given(world, name, value) for name, value in fields.items()))

        messages = {f"{name} {SENTENCES.get(name, 'is not included in the list')}" for name in fields}
        assert set(caught.value.errors) == messages


async def test_an_omitted_field_is_empty(client: Client, world: World) -> None:
    made = await created(client, world)

    values_by_name = values(made)
    assert set(values_by_name) == set(TAKEN) | {"Environment"}
    assert {name for name, value in values_by_name.items() if value not in (None, "", ())} == set()
    assert {field.name for field in made.custom_fields if field.multiple} == {"Browsers"}


async def test_multiple_values_and_foreign_fields_are_handled(client: Client, world: World) -> None:
    with pytest.raises(Refused) as caught:
        await created(client, world, given(world, "Colour", ("red", "green")))
    assert caught.value.errors == ("Colour is invalid",)

    elsewhere = [
        CustomFieldInput(id=number, value="x") for number in (world.custom_fields["Severity"], 99_999)
    ]
    made = await created(client, world, *elsewhere, given(world, "Browsers", ()))
    assert "Severity" not in values(made)
