"""The largest inputs that Slack and the service allow keep nobody else waiting."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import count, islice

import pytest
import pytest_asyncio

from bot.sandbox.workspace.model import Message
from bot.store.owner import Owner
from bot.store.plans import TemplateContent
from bot.store.templates import Template
from bot.timings import Delays
from tests.hostile.large_service import FIELDS, LADEN, large_tracker, telling, text_of_words
from tests.support.office import TEAM, Office
from tests.support.people import IDS
from tests.support.person import Person
from tests.support.reading import JSON, rich_section, rich_text, text_of

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.xdist_group("largest")]

COMMAND, MESSAGE, INPUT = 7_900, 12_000, 3_000
"""How many characters a command, a message and a form's input may have."""
THREAD, HEADINGS = 500, 375
HELD = 12
"""For how many yardsticks the event loop may be held. The local Slack and the service run in it, too."""
TICK, TRIES = 0.002, 4


def yardstick() -> float:
    """Returns the processor time of a fixed piece of work in seconds: more where the machine is busy."""
    before = time.thread_time()
    sum(n * n for n in range(400_000))
    return time.thread_time() - before


class Ticker:
    """Measures the longest time for which the event loop was held: its processor time in seconds."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def run(self) -> None:
        while True:
            before = time.thread_time()
            await asyncio.sleep(TICK)
            self.longest = max(self.longest, time.thread_time() - before)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Office]:
    """One for all tests, since it takes long to fill and to read."""
    delays = Delays(still_working=60, typing=0.01, cached=600)
    directory = tmp_path_factory.mktemp("large")
    office = Office(directory, "http", tracker=large_tracker(), delays=delays, rate_limits=False)
    async with office.opened("ana", "ben"):
        await Person(office, IDS["ana"], channel="webshop").ask("/tracker default webshop")
        yield office


@pytest.fixture
def ana(office: Office) -> Person:
    return Person(office, IDS["ana"], channel="webshop")


async def nobody_waits(office: Office, act: Callable[[], Awaitable[object]]) -> None:
    """Fails if another person's command isn't answered while `act` runs, or the event loop is held each time:
    what else the machine does holds it now and then.
    """
    slowdowns: list[float] = []
    while not slowdowns or slowdowns[-1] > HELD:
        assert len(slowdowns) < TRIES, slowdowns
        before = yardstick()
        ben, ticker = Person(office, IDS["ben"], channel="general"), Ticker()
        ticking = asyncio.create_task(ticker.run())
        answering = asyncio.create_task(ben.ask("/tracker"))
        try:
            await act()
            await office.idle()
            assert "linked" in text_of(await answering)
            await office.idle()
        finally:
            ticking.cancel()
            answering.cancel()
        slowdowns.append(ticker.longest / max(before, yardstick()))


def filled(piece: str, length: int = COMMAND) -> str:
    return (piece * (length // len(piece) + 1))[:length]


def listed(words: Iterator[str], between: str, length: int = COMMAND) -> str:
    """Returns as many of the words as fit."""
    text = ""
    for word in words:
        if len(text) + len(word) + len(between) > length:
            break
        text += word + between
    return text


def version(n: int) -> str:
    return f'"Release {n % 50}.{n} of"'


def different(suffix: str = "") -> Iterator[str]:
    return (telling(n * 31 % 9973) + suffix for n in count())


COMMANDS = {
    "a subject of short words": f"/issue new {filled('a ')}",
    "a subject of one word": f"/issue new {filled('a')}",
    "a subject of quotes": f"/issue new {filled('a:“b” ')}",
    "as many watchers as a list takes": f"/issue new x watch:{listed(islice(different(), 100), ',')}",
    "as many versions as a list takes": f"/issues version:{listed(map(version, range(100)), ',')}",
    "watchers": f"/issue new x watch:{listed(different(), ',')}",
    "options of an issue": f"/issue new x {listed(different(':y'), ' ')}",
    "options of a change": f"/issue 10055 {listed(different(':y'), ' ')}",
    "options of a search": f"/issues {listed(different(':y'), ' ')}",
    "options of a digest": f"/digest add webshop daily 9:00 {listed(different(':y'), ' ')}",
    "options without values": f"/issue new x {listed((f'cf_{n}:' for n in count()), ' ')}",
    "custom fields": f"/issue new x {listed((f'cf_{10_000 + n}:v' for n in range(FIELDS)), ' ')}",
    "dates": f"/issue new x {filled('due:in 7 days and ')}",
    "a version": f'/issue new x version:"{filled("Relaese of teh warehouse ", COMMAND - 30)}"',
    "a version like all others": '/issue new x version:"Relaese 77.77 of the warehouse application"',
    "a project": f"/issue new x project:{filled('Warehose-')}",
    "a project like all others": '/issue new x project:"Warehuse 77 of teh regoin"',
    "assignees": f"/issues to:{listed((telling(n).title() for n in count()), ',')}",
    "issues": f"/issues id:{listed(map(str, count(1)), ',')}",
    "words of a digest": f"/digest add web {filled('dail wekly ')}",
    "days of a digest": f"/digest add webshop weekly {filled('mon at ')}",
    "words after a weekly digest": f"/digest weekly {filled('a ')}",
    "filters of a digest": f"/digest add webshop daily 9:00 version:{listed(different(), ',')}",
    "a time zone": f"/digest add webshop daily 9:00 tz:{filled('Eruope/')}",
    "durations": f"/timelog 10001 {filled('1h ')}",
    "an activity": f"/timelog 10001 1h activity:{filled('Desgin')}",
    "a list of projects": f"/tracker projects {filled('w ')}",
    "a subcommand": f"/tracker {filled('wh')}",
}


@pytest.mark.parametrize("text", COMMANDS.values(), ids=COMMANDS)
async def test_a_long_command_keeps_nobody_waiting(office: Office, ana: Person, text: str) -> None:
    await nobody_waits(office, lambda: ana.command(text))
    await close_all(ana)  # some open a form


REPEATED = {"bold letters": "*a* ", "mentions": "<@U0BEN0001> ", "numbers": "#1 ", "lines": "• a\n"}
MESSAGES = {name: filled(piece, MESSAGE) for name, piece in REPEATED.items()}
MESSAGES["different words"] = text_of_words(MESSAGE)
SHORTCUTS = ("find_from_message", "issue_from_message", "comment_from_message", "time_from_message")


@pytest.mark.parametrize("text", MESSAGES.values(), ids=MESSAGES)
async def test_a_long_message_keeps_nobody_waiting(office: Office, ana: Person, text: str) -> None:
    message = await ana.say(text)

    async def all_shortcuts() -> None:
        for shortcut in SHORTCUTS:
            await ana.shortcut(shortcut, message)
            await office.idle()
            await close_all(ana)

    await nobody_waits(office, all_shortcuts)


async def test_a_large_answer_of_the_service_keeps_nobody_waiting(office: Office, ana: Person) -> None:
    async def listed() -> None:
        assert "Laden" in text_of(await ana.ask(f"/issues id:{LADEN}"))

    await nobody_waits(office, listed)


async def test_a_long_thread_keeps_nobody_waiting(office: Office, ana: Person) -> None:
    state, channel = office.workspace.state, office.channel_id("webshop")
    parent = state.post(Message(state.new_ts(), channel, IDS["ben"], "It fails again"))
    for n in range(THREAD):
        text = filled(f"*{n}* ", MESSAGE // 3)
        last = state.post(Message(state.new_ts(), channel, IDS["ben"], text, thread_ts=parent.ts))

    async def created() -> None:
        await ana.shortcut("issue_from_message", {"channel": channel, "ts": last.ts})
        await ana.submit(await ana.form("New issue"), {"Thread": True, "Subject": "From a thread"})

    await nobody_waits(office, created)
    assert office.newest_issue().subject == "From a thread"


@pytest.mark.parametrize("text", ["### {}", "**{}**", "{}:"])
async def test_a_long_template_keeps_nobody_waiting(office: Office, ana: Person, text: str) -> None:
    headings = [f"{n:x}" for n in range(HEADINGS)]
    description = "\n".join(f"### {heading}" for heading in headings)[:INPUT]
    webshop = next(one for one in office.tracker.data.projects.values() if one.identifier == "webshop")
    content = TemplateContent(description=description)
    template = Template(0, webshop.id, "", text, content)
    await office.bot.store.templates.put(Owner(None, TEAM, ana.user_id), template)
    lines = filled("".join(f"{text.format(heading)}\n" for heading in headings), COMMAND - 40)
    await nobody_waits(office, lambda: ana.command(f'/issue new x template:"{text}"\n{lines}'))
    await close_all(ana)


async def test_a_form_for_a_long_template_keeps_nobody_waiting(office: Office, ana: Person) -> None:
    bold = ({"type": "text", "text": f"{n}\n", "style": {"bold": True}} for n in range(HEADINGS))
    values = {"Name": "Long", "Description": rich_text(rich_section(*bold))}

    async def submitted() -> None:
        form = await ana.form_after(ana.command("/issue template new"), "New template")
        await ana.submit(form, values)
        await office.idle()
        await close_all(ana)

    await nobody_waits(office, submitted)


CHOICES: dict[str, Callable[[Person, JSON], Awaitable[object]]] = {
    "a subject": lambda ana, form: ana.type_into(form, "Subject", text_of_words(INPUT)),
    "a version": lambda ana, form: ana.suggest(form, "Target version", "e"),
    "a parent": lambda ana, form: ana.suggest(form, "Parent issue", text_of_words(INPUT)),
    "a project": lambda ana, form: ana.suggest(form, "Project", filled("w", INPUT)),
}


@pytest.mark.parametrize("typed", CHOICES.values(), ids=CHOICES)
async def test_typing_into_a_form_keeps_nobody_waiting(
    office: Office, ana: Person, typed: Callable[[Person, JSON], Awaitable[object]]
) -> None:
    await ana.command("/issue")
    form = await ana.with_more_fields(await ana.form("New issue"))
    await nobody_waits(office, lambda: typed(ana, form))
    await close_all(ana)


async def close_all(person: Person) -> None:
    for view in reversed((await person.state())["views"]):
        await person.close(view)
