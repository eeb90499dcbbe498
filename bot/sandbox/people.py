"""The demo's people: their Slack accounts, service accounts and API keys."""

from dataclasses import dataclass, field


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


ANA = Person(
    slack_id="U0ANA0001",
    login="ana",
    firstname="Ana",
    lastname="Ruiz",
    mail="ana@harbor.example",
    title="Developer",
    tz="Europe/Madrid",
    locale="es-ES",
    api_key="a1a0" * 10,
    linked=True,
    in_slack=True,
    color="#c2410c",
)
BEN = Person(
    slack_id="U0BEN0001",
    login="ben",
    firstname="Ben",
    lastname="Okafor",
    mail="ben@harbor.example",
    title="Customer support",
    tz="Europe/London",
    locale="en-GB",
    api_key="be50" * 10,
    in_slack=True,
    color="#0f766e",
)
CHRIS = Person(
    slack_id="U0CHRIS01",
    login="chris",
    firstname="Chris",
    lastname="Lindqvist",
    mail="chris@harbor.example",
    title="Platform lead, administrator",
    tz="Europe/Stockholm",
    locale="sv-SE",
    api_key="c4c1" * 10,
    admin=True,
    linked=True,
    in_slack=True,
    color="#6d28d9",
)
DANA = Person(
    slack_id="U0DANA001",
    login="dana",
    firstname="Dana",
    lastname="Novak",
    mail="dana@harbor.example",
    title="Product manager",
    tz="Europe/Prague",
    locale="cs-CZ",
    api_key="da2a" * 10,
    color="#be185d",
)
EMIL = Person(
    slack_id="U0EMIL001",
    login="emil",
    firstname="Emil",
    lastname="Haddad",
    mail="emil@harbor.example",
    title="Mobile developer",
    tz="America/New_York",
    locale="en-US",
    api_key="e311" * 10,
    color="#1d4ed8",
)
FARAH = Person(
    slack_id="U0FARAH01",
    login="farah",
    firstname="Farah",
    lastname="Iqbal",
    mail="farah@harbor.example",
    title="Quality engineer",
    tz="Asia/Karachi",
    locale="en-GB",
    api_key="fa4a" * 10,
    color="#4d7c0f",
)

PEOPLE: tuple[Person, ...] = (ANA, BEN, CHRIS, DANA, EMIL, FARAH)
"""Everyone, ordered by service ID (from 1)."""
