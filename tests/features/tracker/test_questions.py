"""Questions that no command answers get a sentence and the next step."""

import re

from tests.features.test_said import answered
from tests.support.office import Office
from tests.support.person import Person
from tests.support.written import written

ANSWERS = {
    "/timelog how much time did Dana spend on webshop": "can't show other people.s time.*Open time in",
    "/timelog change today's entry on {n} to 2h": "haven't logged any time yet. Log it on #{n}.*Log time",
    "/tracker who is in webshop?": "Web Shop.*can't list its members.*Open in Tracker",
    "/tracker is it down?": "Tracker is up.*Help",
    "/tracker I don't have an account": "Ask a Tracker administrator.*Link account",
    "i have no account": "Ask a Tracker administrator.*Link account",
    "/tracker change language to german": "English only.*Help",
    "undo that": "choose “Undo” below its confirmation.*Help",
    "that's wrong, I meant {n}": "choose “Undo” below its confirmation.*Help",
    "are you a human?": "I'm a bot.*Help",
    "what's up with #{n} and #{m}": "Show #{n}.*Show #{m}",
}


async def test_a_question_leads_on(office: Office, ana: Person) -> None:
    """Texts without a slash are direct messages; `{n}` and `{m}` are issues."""
    await ana.ask("/tracker default webshop")
    issue, before = office.public_issue(), written(office)

    for typed, says in ANSWERS.items():
        text, leads = await answered(office, ana, typed.format(n=issue.id, m=issue.id + 1), issue.id)
        assert leads, typed
        assert re.search(says.format(n=issue.id, m=issue.id + 1), text, re.DOTALL), (typed, text)

    assert written(office) == before
