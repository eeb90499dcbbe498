"""The buttons that search: the pages of results, and the search form."""

import json
from typing import Annotated, Self

from pydantic import ConfigDict, Field, ValidationError

from bot.slack.surfaces.buttons import BUTTON_VALUE, ActionExpired, Button, Number

CHANGE = r"^(closed|projects|filters|words|reported|drop=.+|"
CHANGE += r"(text|project|tracker|status|priority|category|version|to|author):[^=]+=.+)$"


class ResultsPage(Button):
    """Another page of results: the search as typed, the page's offset, and those of the pages before it.

    `changes` are those made to the search with buttons (see `search.changed`).
    """

    model_config = ConfigDict(populate_by_name=True)
    query: str = Field(alias="q")
    offset: Number = Field(0, alias="o")
    before: tuple[Number, ...] = Field((), alias="b")
    changes: tuple[Annotated[str, Field(pattern=CHANGE)], ...] = Field((), alias="c", max_length=12)

    def pack(self) -> str:
        packed = json.dumps(self.model_dump(by_alias=True, exclude_defaults=True), ensure_ascii=False)
        if len(packed) > BUTTON_VALUE:
            raise ValueError(f"{self.action} carries {len(packed)} characters")
        return packed

    @classmethod
    def unpack(cls, value: object) -> Self:
        try:
            return cls.model_validate_json(value if isinstance(value, str) else "")
        except ValidationError:
            raise ActionExpired from None


class PreviousPage(ResultsPage):
    action = "search.page.previous"


class NextPage(ResultsPage):
    action = "search.page.next"


class IncludeClosed(ResultsPage):
    action = "search.closed"


class AllProjects(ResultsPage):
    action = "search.projects"


class ClearFilters(ResultsPage):
    action = "search.filters"


class SearchWords(ResultsPage):
    """Searches for all the words, without reading phrases."""

    action = "search.words"


class SearchInstead(ResultsPage):
    """Searches for what was typed after another command."""

    action = "search.instead"


class DropPhrase(ResultsPage):
    action = "search.drop"


class FilterInstead(ResultsPage):
    """Searches by another name in a filter, for another role of a person, or for the nearest word."""

    action = "search.filter"


class OpenSearchForm(Button):
    """Opens the form with the filters of a search, if it comes from one."""

    action = "home.search"
    project: Number | None = None
    project_name: Annotated[str, Field(pattern="^[^:]*$")] = ""
    status: str = "open"
    mine: bool = False
    text: str = ""


class ShowMyIssues(Button):
    """Shows the user's open issues, page by page."""

    action = "home.mine"
