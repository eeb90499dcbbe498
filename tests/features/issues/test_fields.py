"""The table of an issue's fields, and what is documented of it."""

import re
from pathlib import Path

import pytest

from bot.features.help import views as help_views
from bot.features.issues.commands import OPTIONS
from bot.features.issues.fields import FIELDS, Draft
from bot.features.projects.catalog import PARTS
from bot.service.inputs import NewIssue
from bot.service.models import Issue
from bot.store.owner import Owner
from tests.support.registered import ROUTES

DOCS = Path(__file__).parents[3] / "docs"


def test_every_row_names_fields_of_the_service_and_the_catalog() -> None:
    rows = FIELDS.values()

    assert {row.sent for row in rows} <= NewIssue.model_fields.keys()
    assert {row.answer for row in rows if row.answer} <= Issue.model_fields.keys()
    assert {row.choices for row in rows if row.choices} <= set(PARTS)


def test_every_searched_field_offers_its_choices() -> None:
    searched = {f"issue.{field.name}" for field in FIELDS.values() if field.choices or field.key == "parent"}

    assert searched <= ROUTES.options.keys()


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
    draft = Draft.model_validate(
        {
            "subject": "One",
            "project": "webshop",
            "values": {
                "tracker": "Bug",
                "to": Owner(None, "T1", "U1"),
                "watch": ("me", Owner("E1", "T1", "U2")),
                "parent": 7,
                "due": "2030-01-31",
                "estimate": "1.5",
                "private": True,
                "status": None,
                "category": "",
            },
            "custom_fields": {3: ("a", "b"), 4: "c"},
        }
    )

    assert set(draft.values) == {"tracker", "to", "watch", "parent", "due", "estimate", "private"}
    assert Draft.model_validate_json(draft.model_dump_json()) == draft
