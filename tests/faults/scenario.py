"""Scenarios: the things that users do with the bot, each with its setup, its one action and its effect."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from tests.faults.scene import Scene
from tests.support.reading import JSON

Steps = AsyncGenerator[None, None]
"""Sets the scene, yields, then does exactly one action."""
Script = Callable[[Scene], Steps]
Effect = Callable[[Scene], Awaitable[int]]
Prepare = Callable[[Scene], Awaitable[Any]]
Setup = Callable[[Scene, str], Awaitable[JSON]]
"""Prepares what a user, named by login, acts on: a message or a form."""
NEVER = "(?!)"


class About(TypedDict, total=False):
    """What the tests have to know about a scenario; see `Scenario`."""

    effect: Effect
    confirmation: str
    typed: bool
    expects_answer: bool
    who: str
    refused: str
    answers: int


@dataclass(frozen=True)
class Scenario:
    """One thing that a user does with the bot.

    `handlers` names the handlers that it triggers, as registered: `command:issue`, `form:issue.create`.
    `effect` counts how often the action took effect, in the service's data or the bot's database; None if it
    only reads. `said` matches the confirmation. `typed` is whether the user typed the scene's word, which
    must not be lost. `expects_answer` is False if silence is a valid answer. `refused` matches what the bot
    may say, besides the errors' own sentences, when the service rejects part of it. A failure has at most
    `answers` answers.
    """

    name: str
    handlers: tuple[str, ...]
    steps: Script
    effect: Effect | None = None
    confirmation: str = NEVER
    typed: bool = False
    expects_answer: bool = True
    who: str = "ana"
    refused: str = NEVER
    answers: int = 1


SCENARIOS: dict[str, Scenario] = {}
TYPED: About = {"typed": True}
BY_BEN: About = {"who": "ben"}
BY_CHRIS: About = {"who": "chris"}


def scenario(name: str, *handlers: str, **about: Unpack[About]) -> Callable[[Script], Script]:
    """Adds a scenario with these steps."""

    def added(steps: Script) -> Script:
        assert name not in SCENARIOS
        SCENARIOS[name] = Scenario(name, handlers, steps, **about)
        return steps

    return added


# Setups. `{word}`, `{slug}` and `{issue}` stand for the scene's word and a new issue with it.


def answer(command: str) -> Setup:
    """The message that answers a command."""

    async def setup(s: Scene, who: str) -> JSON:
        return await s.after(s.person(who).command(s.filled(command)), who)

    return setup


def form(title: str, command: str) -> Setup:
    """The form that a command opens."""

    async def setup(s: Scene, who: str) -> JSON:
        await s.person(who).command(s.filled(command))
        return await s.form(title, who)

    return setup


def form_behind(title: str, message: Setup, button: str) -> Setup:
    """The form that a button in a message opens."""

    async def setup(s: Scene, who: str) -> JSON:
        await s.person(who).press(await message(s, who), button)
        return await s.form(title, who)

    return setup


# Actions


def command(name: str, text: str, before: Prepare | None = None, **about: Unpack[About]) -> None:
    """Adds a scenario of a typed command."""

    @scenario(name, f"command:{text[1:].split(maxsplit=1)[0]}", **about)
    async def steps(s: Scene) -> Steps:
        if before:
            await before(s)
        text_filled = s.filled(text)
        yield
        await s.person(about.get("who", "ana")).command(text_filled)


def shortcut(
    name: str,
    callback_id: str,
    message: Callable[[Scene], Awaitable[JSON]] | None = None,
    **about: Unpack[About],
) -> None:
    """Adds a scenario of a shortcut, on a message if one is given."""

    @scenario(name, f"shortcut:{callback_id}", **about)
    async def steps(s: Scene) -> Steps:
        source = await message(s) if message else None
        yield
        await s.ana.shortcut(callback_id, source)


def press(name: str, action: str, message: Setup, button: str, **about: Unpack[About]) -> None:
    """Adds a scenario of a button in a message."""

    @scenario(name, f"action:{action}", **about)
    async def steps(s: Scene) -> Steps:
        who = about.get("who", "ana")
        card = await message(s, who)
        yield
        await s.person(who).press(card, button)


def press_in_form(name: str, action: str, view: Setup, button: str, **about: Unpack[About]) -> None:
    """Adds a scenario of a button in a form."""

    @scenario(name, f"action:{action}", **about)
    async def steps(s: Scene) -> Steps:
        form = await view(s, "ana")
        yield
        await s.ana.press_in_form(form, button)


def menu(name: str, action: str, message: Setup, option: str, **about: Unpack[About]) -> None:
    """Adds a scenario of an option in the `…` menu of the line with the scene's word."""

    @scenario(name, f"action:{action}", **about)
    async def steps(s: Scene) -> Steps:
        card = await message(s, "ana")
        yield
        await s.ana.choose_from_menu(card, s.word, option)


def choose(name: str, action: str, view: Setup, label: str, text: str, **about: Unpack[About]) -> None:
    """Adds a scenario of an option chosen in a form's select."""

    @scenario(name, f"action:{action}", **about)
    async def steps(s: Scene) -> Steps:
        chosen = await s.choosing(await view(s, "ana"), label, s.filled(text))
        yield
        await chosen()


def submit(
    name: str, callback_id: str, view: Setup, values: Mapping[str, Any], **about: Unpack[About]
) -> None:
    """Adds a scenario of a form that is submitted."""

    @scenario(name, f"form:{callback_id}", **about)
    async def steps(s: Scene) -> Steps:
        who = about.get("who", "ana")
        form = await view(s, who)
        filled = {label: s.filled(v) if isinstance(v, str) else v for label, v in values.items()}
        yield
        await s.person(who).submit(form, filled)


def suggest(
    name: str, actions: str | tuple[str, ...], view: Setup, label: str, text: str, *, refused: str = NEVER
) -> None:
    """Adds a scenario of a select that searches as the user types."""
    names = (actions,) if isinstance(actions, str) else actions

    @scenario(name, *(f"options:{action}" for action in names), expects_answer=False, refused=refused)
    async def steps(s: Scene) -> Steps:
        form = await view(s, "ana")
        yield
        s.offered = await s.ana.suggest(form, label, s.filled(text))


def close(name: str, callback_id: str, view: Setup, **about: Unpack[About]) -> None:
    """Adds a scenario of a form that is closed."""

    @scenario(name, f"closed:{callback_id}", **about)
    async def steps(s: Scene) -> Steps:
        who = about.get("who", "ana")
        form = await view(s, who)
        yield
        await s.person(who).close(form)
