"""Descriptions and log excerpts in the style of Harbor's people, in Markdown."""

from bot.sandbox.demo.harbor import HARBOR
from bot.sandbox.demo.randomness import SeededRandom
from bot.sandbox.tracker.defaults import BUG, FEATURE, SUPPORT

PROSE = HARBOR.prose


def description(tracker_id: int, subject: str, rng: SeededRandom) -> str:
    """Return a description for the tracker; some are short or empty."""
    if rng.chance(12):
        return f"{subject}. {rng.one(PROSE.effects)}"
    if tracker_id == BUG:
        text = _bug(rng)
    elif tracker_id == FEATURE:
        criteria = "\n".join(f"* {c}" for c in rng.sample(PROSE.criteria, rng.randint(2, 4)))
        text = f"As **{rng.one(PROSE.people)}** I want this so that I can {rng.one(PROSE.wishes)}."
        text += f"\n\n## Done when\n\n{criteria}"
    elif tracker_id == SUPPORT:
        text = f"From the customer:\n\n> {rng.one(PROSE.customer_letters)}\n\n{rng.one(PROSE.effects)}"
    else:
        text = _numbered(rng.sample(PROSE.steps, rng.randint(2, 5)))
    return text.replace("\n", "\r\n")


def _bug(rng: SeededRandom) -> str:
    steps = [f"Open {rng.one(PROSE.places)}.", *rng.sample(PROSE.actions, rng.randint(1, 3))]
    text = f"## Steps\n\n{_numbered(steps)}\n\n## What happens\n\n{rng.one(PROSE.effects)}"
    if rng.chance(35):
        text += f"\n\n```\n{rng.one(PROSE.logs)}\n```"
    return text


def _numbered(steps: list[str]) -> str:
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def log_text(rng: SeededRandom) -> str:
    """Return a few log lines, as attached to a bug."""
    return "\n".join(rng.sample(PROSE.logs, 2)) + "\n"
