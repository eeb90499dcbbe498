"""Descriptions, notes and comments as Harbor's people write them, in Markdown."""

from bot.sandbox.demo.randomness import Dice
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


def description(tracker_id: int, subject: str, dice: Dice) -> str:
    """A description that fits the tracker; some people write little."""
    if dice.chance(12):
        return f"{subject}. {dice.one(_EFFECTS)}"
    if tracker_id == BUG:
        text = _bug(dice)
    elif tracker_id == FEATURE:
        criteria = "\n".join(f"* {c}" for c in dice.sample(_CRITERIA, dice.randint(2, 4)))
        text = f"As **{dice.one(_WHO)}** I want this so that I can {dice.one(_WISHES)}."
        text += f"\n\n## Done when\n\n{criteria}"
    elif tracker_id == SUPPORT:
        text = f"From the customer:\n\n> {dice.one(_LETTERS)}\n\n{dice.one(_EFFECTS)}"
    else:
        text = "\n".join(f"{n}. {s}" for n, s in enumerate(dice.sample(_STEPS, dice.randint(2, 5)), 1))
    return text.replace("\n", "\r\n")


def _bug(dice: Dice) -> str:
    steps = [f"Open {dice.one(_PLACES)}.", *dice.sample(_ACTIONS, dice.randint(1, 3))]
    text = "## Steps\n\n" + "\n".join(f"{n}. {s}" for n, s in enumerate(steps, 1))
    text += f"\n\n## What happens\n\n{dice.one(_EFFECTS)}"
    if dice.chance(35):
        text += f"\n\n```\n{dice.one(_LOGS)}\n```"
    return text


def note(dice: Dice) -> str:
    """A comment on an issue."""
    return dice.one(_NOTES)


def time_comment(dice: Dice) -> str | None:
    """A comment on spent time; not everybody writes one."""
    return dice.one(_COMMENTS)


def log_text(dice: Dice) -> str:
    """A few lines of a log, as attached to a bug."""
    return "\n".join(dice.sample(_LOGS, 2)) + "\n"
