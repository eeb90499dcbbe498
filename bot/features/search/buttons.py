"""The buttons that search: the pages of results, and the search form."""

import json
from typing import Self

from pydantic import ConfigDict, Field, ValidationError

from bot.slack.buttons import BUTTON_VALUE, ActionExpired, Button, Number


class Page(Button):
    """Another page of results: the search as typed, the page's offset, and those of the pages before it."""

    model_config = ConfigDict(populate_by_name=True)
    query: str = Field(alias="q")
    offset: Number = Field(alias="o")
    before: tuple[Number, ...] = Field(alias="b")

    def pack(self) -> str:
        packed = json.dumps(self.model_dump(by_alias=True), ensure_ascii=False)
        if len(packed) > BUTTON_VALUE:
            raise ValueError(f"{self.action} carries {len(packed)} characters")
        return packed

    @classmethod
    def unpack(cls, value: object) -> Self:
        try:
            return cls.model_validate_json(value if isinstance(value, str) else "")
        except ValidationError:
            raise ActionExpired from None


class PreviousPage(Page):
    """Shows the page before this one."""

    action = "search.page.previous"


class NextPage(Page):
    """Shows the page after this one."""

    action = "search.page.next"


class OpenSearchForm(Button):
    """Opens the search form."""

    action = "home.search"


class ShowMyIssues(Button):
    """Shows the user's open issues, page by page."""

    action = "home.mine"
