"""The demo's people: their Slack accounts, service accounts and API keys."""

import tomllib
from dataclasses import dataclass, field
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Person:
    """One fictional person, with an account in the local Slack (`in_slack`), the reference service, or both.

    `api_key` is for the reference service. `linked`: the sandbox links this account to `slack_id` at startup;
    the others show how linking works. `admin` applies to the service and to Slack. `color` is the avatar's
    CSS hex color.
    """

    slack_id: str
    login: str
    firstname: str
    lastname: str
    mail: str
    title: str
    tz: str
    locale: str
    api_key: str = field(repr=False)
    admin: bool = False
    linked: bool = False
    in_slack: bool = False
    color: str = "#5b6770"

    @property
    def name(self) -> str:
        return f"{self.firstname} {self.lastname}"


_TOML = files("bot.sandbox").joinpath("people.toml").read_text(encoding="utf-8")
ANA, BEN, CHRIS, DANA, EMIL, FARAH, GWEN = (Person(**row) for row in tomllib.loads(_TOML)["people"])
PEOPLE = (ANA, BEN, CHRIS, DANA, EMIL, FARAH)
"""Everyone with an account in the service, ordered by service ID (from 1); Gwen gets hers in the demo."""
