"""Harbor, the demo's company, as harbor.toml describes it."""

import tomllib
from importlib.resources import files

from pydantic import BaseModel

from bot.sandbox.tracker.defaults import BUG, FEATURE, SUPPORT, TASK

TRACKER_IDS = {"bug": BUG, "feature": FEATURE, "support": SUPPORT, "task": TASK}
WEBSHOP, MOBILE, INFRASTRUCTURE, SECURITY, OLD_SHOP = 1, 2, 3, 4, 5
"""Project IDs: the position in harbor.toml, from 1."""


class HarborProject(BaseModel):
    """A project; `categories` are subjects by category and tracker, `members` are roles by login.

    `versions` are the days until each is due. `circumstances` turn one bug's subject into several.
    """

    name: str
    identifier: str
    description: str
    homepage: str | None = None
    parent: str | None = None
    is_public: bool = True
    is_closed: bool = False
    issues: int
    trackers: list[str]
    members: dict[str, str]
    versions: dict[str, int] = {}
    circumstances: list[str]
    categories: dict[str, dict[str, list[str]]]


class Epic(BaseModel):
    """A large feature; `tasks` have subtasks of their own."""

    project: str
    category: str
    subject: str
    tasks: dict[str, list[str]]


class Prose(BaseModel):
    """Fragments of descriptions, notes and comments, in Markdown."""

    places: list[str]
    actions: list[str]
    effects: list[str]
    logs: list[str]
    wishes: list[str]
    people: list[str]
    criteria: list[str]
    customer_letters: list[str]
    steps: list[str]
    notes: list[str]
    time_comments: list[str]


class Harbor(BaseModel):
    """`invoice` and `gift_cards` describe the issues with fixed numbers."""

    invoice: str
    gift_cards: str
    projects: list[HarborProject]
    epics: list[Epic]
    prose: Prose


_TOML = files("bot.sandbox.demo").joinpath("harbor.toml").read_text(encoding="utf-8")
HARBOR = Harbor.model_validate(tomllib.loads(_TOML))
