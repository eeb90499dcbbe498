"""Descriptions, notes and comments in the style of Harbor's people, in Markdown."""

from bot.sandbox.demo.randomness import SeededRandom
from bot.sandbox.tracker.defaults import BUG, FEATURE, SUPPORT

_PLACES = ("the start page", "a product page", "the cart", "a link in a mail", "the account page")
_ACTIONS = (
    "Choose any product and put it into the cart.",
    "Sign in with an account that has orders.",
    "Change the language to French.",
    "Go back with the browser's button.",
    "Wait for about a minute.",
    "Reload the page.",
    "Do the same again quickly.",
)
_EFFECTS = (
    "It takes **three attempts** out of four.",
    "Farah could repeat it, I couldn't on my own machine.",
    "Seen by at least five customers since Monday.",
    "It worked before the last release.",
    "No error is shown, only the log tells.",
)
_LOGS = (
    "WARN  pricing: rule 17 matched twice for cart 8841\nINFO  pricing: total 39.90 -> 29.90",
    "ERROR gateway: timeout after 30000 ms (POST /payments)\n  at Gateway.send (gateway.js:211)",
    "IllegalStateException: picture not attached\n    at shop.PictureView.rotate(PictureView.kt:88)",
    "lock: held by runner-3 since 02:14:07, no such process",
)
_WISHES = (
    "pay faster",
    "find what I look for",
    "see at a glance what will arrive when",
    "not type the same thing twice",
    "trust the price that I see",
)
_WHO = ("a customer", "a guest", "a business customer", "an editor", "a colleague in support")
_CRITERIA = (
    "It works with the keyboard alone.",
    "Nothing changes for people who don't use it.",
    "The texts exist in all five languages.",
    "It is measured, so that we know whether it helps.",
    "Support knows about it a week ahead.",
    "It can be switched off without a release.",
)
_LETTERS = (
    "I have tried this on my phone and on my computer and it is the same. Please help, it is a present!",
    "Third time I write about this. The order number is in the subject.",
    "Everything else works very well, thank you. Only this does not.",
    "Could you please do this for me? I can't find where.",
)
_STEPS = (
    "Ask Dana which dates are free",
    "Write down the state before",
    "Try it on staging",
    "Tell #general a day ahead",
    "Remove what is no longer used",
    "Look at the dashboard for an hour afterwards",
)
_NOTES = (
    "I could repeat this. It has been so since the last release, I think.",
    "Fixed on staging, please have a look.",
    "Asked the customer for the order number.",
    "Not urgent any more: there is a way around, see the description.",
    "This is the same cause as the related one.",
    "Moved to the next version, we won't make it.",
    "Looks good to me. :+1:",
    "Can we do this *before* the holidays?",
    "Measured again: 240 ms instead of 1.9 s.",
)
_COMMENTS = (
    "Found the cause",
    "Tests",
    "Review with Farah",
    "Tried it on staging",
    "Call with the customer",
    "First version",
    "Second half",
    None,
    "Cleaning up",
)


def description(tracker_id: int, subject: str, rng: SeededRandom) -> str:
    """Return a description for the tracker; some are short or empty."""
    if rng.chance(12):
        return f"{subject}. {rng.one(_EFFECTS)}"
    if tracker_id == BUG:
        text = _bug(rng)
    elif tracker_id == FEATURE:
        criteria = "\n".join(f"* {c}" for c in rng.sample(_CRITERIA, rng.randint(2, 4)))
        text = f"As **{rng.one(_WHO)}** I want this so that I can {rng.one(_WISHES)}."
        text += f"\n\n## Done when\n\n{criteria}"
    elif tracker_id == SUPPORT:
        text = f"From the customer:\n\n> {rng.one(_LETTERS)}\n\n{rng.one(_EFFECTS)}"
    else:
        text = "\n".join(f"{n}. {s}" for n, s in enumerate(rng.sample(_STEPS, rng.randint(2, 5)), 1))
    return text.replace("\n", "\r\n")


def _bug(rng: SeededRandom) -> str:
    steps = [f"Open {rng.one(_PLACES)}.", *rng.sample(_ACTIONS, rng.randint(1, 3))]
    text = "## Steps\n\n" + "\n".join(f"{n}. {s}" for n, s in enumerate(steps, 1))
    text += f"\n\n## What happens\n\n{rng.one(_EFFECTS)}"
    if rng.chance(35):
        text += f"\n\n```\n{rng.one(_LOGS)}\n```"
    return text


def note(rng: SeededRandom) -> str:
    """Return a comment on an issue."""
    return rng.one(_NOTES)


def time_comment(rng: SeededRandom) -> str | None:
    """Return a comment on a time entry; some have none."""
    return rng.one(_COMMENTS)


def log_text(rng: SeededRandom) -> str:
    """Return a few log lines, as attached to a bug."""
    return "\n".join(rng.sample(_LOGS, 2)) + "\n"
