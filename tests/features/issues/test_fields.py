"""The table of an issue's fields, and its documentation."""

import re
from pathlib import Path

import pytest

from bot.access.catalog import PARTS
from bot.features.help import views as help_views
from bot.features.issue_command.commands import OPTIONS
from bot.features.issues.field_inputs import entered, field_input
from bot.features.issues.fields import FIELDS, Draft, Field, FieldType
from bot.service.inputs import NewIssue
from bot.service.models import Issue, Ref
from bot.slack.surfaces import forms
from bot.store.owner import Owner

DOCS = Path(__file__).parents[3] / "docs"


def test_every_row_names_fields_of_the_service_and_the_catalog() -> None:
    rows = FIELDS.values()

    assert {row.sent for row in rows} <= NewIssue.model_fields.keys()
    assert {row.answer for row in rows if row.answer} <= Issue.model_fields.keys()
    assert {row.choices for row in rows if row.choices} <= set(PARTS)


@pytest.mark.parametrize("kind", FieldType)
def test_every_kind_of_field_has_an_input_that_is_read_back(kind: FieldType) -> None:
    field = Field(key="row", name="row", label="Row", kind=kind, sent="row")

    block = field_input(field, None, [Ref(id=1, name="One")], "")

    empty = forms.Values({"state": {"values": {block["block_id"]: {block["element"]["action_id"]: {}}}}})
    assert not entered(empty, field, "")


def test_a_text_field_shows_what_it_has_and_takes_what_is_entered() -> None:
    field = Field(key="row", name="row", label="Row", kind=FieldType.TEXT, sent="row")

    one, lines = (field_input(field, text, (), "")["element"] for text in ("One line", "Two\nlines"))

    assert (one["initial_value"], one["multiline"]) == ("One line", False)
    assert (lines["initial_value"], lines["multiline"]) == ("Two\nlines", True)
    state = {"values": {"row": {"row": {"type": "plain_text_input", "value": "Another"}}}}
    assert entered(forms.Values({"state": state}), field, "") == "Another"


@pytest.mark.parametrize("where", ["commands.md", "help"])
def test_documentation_names_every_option(where: str) -> None:
    if where == "help":
        text = help_views.of("issue", lambda name: f"/{name}").text
        listed = text.partition("Options")[2]
    else:
        text = (DOCS / where).read_text(encoding="utf-8")
        listed = next(line for line in text.splitlines() if line.startswith("| `/issue new"))

    named = set(re.findall(r"([a-z_]+)(?:<id>|&lt;id&gt;)?:", listed.partition("\n")[0]))

    assert set(OPTIONS) <= named


def test_a_draft_survives_the_forms_metadata() -> None:
    people = {"to": Owner(None, "T1", "U1"), "watch": ("me", Owner("E1", "T1", "U2"))}
    values = people | {"tracker": "Bug", "parent": 7, "due": "2030-01-31", "estimate": "1.5", "private": True}
    given = {"subject": "One", "project": "webshop", "values": values | {"status": None, "category": ""}}
    draft = Draft.model_validate(given | {"custom_fields": {3: ("a", "b"), 4: "c"}})

    assert draft.values.keys() == values.keys()
    assert Draft.model_validate_json(draft.model_dump_json()) == draft
