"""Words without a colon mean options; what belongs to no phrase stays text."""

from collections.abc import Callable
from datetime import date
from functools import partial

import pytest

from bot.features.editing.commands import OPTIONS as CHANGES
from bot.features.search.commands import OPTIONS as FILTERS
from bot.slack.language import reading
from bot.slack.language.marks import Vocabulary
from bot.slack.language.options import Parsed
from tests.slack.language.readers import parse

MONDAY = partial(date, 2026, 11, 23)
NAMES = Vocabulary(
    {
        "tracker": ("Bug", "Feature", "Support", "Story"),
        "status": ("New", "In progress", "Resolved", "Closed"),
        "priority": ("Low", "Normal", "High", "Urgent", "Immediate"),
        "category": ("Checkout", "Search"),
        "version": ("2.9", "3.0"),
        "person": ("Ana Ruiz", "Ben Okafor", "April May", "Will Yu"),
        "project": ("Web Shop", "webshop", "Mobile App"),
    }
)
SEARCHES = {
    "overdue": "status=open due=<today",
    "what's overdue?": "status=open due=<today",
    "what’s overdue?": "status=open due=<today",  # a phone's apostrophe, as the next one
    "ben’s open bugs": "to=ben status=open tracker=Bug",
    "due today": "due=today",
    "due this week": "due=this week",
    "due before friday": "due=<friday",
    "due by next friday": "due=<=next friday",
    "due in two weeks": "due=in two weeks",
    "due by the end of the month": "due=<=end of the month",
    "unassigned bugs": "to=nobody tracker=Bug",
    "bugs not assigned to anyone": "tracker=Bug to=nobody",
    "what's on my plate today?": "to=me",
    "what did I close last week": "status=any to=me closed=last week",
    "bugs ben reported": "tracker=Bug author=ben",
    "everything that isn't closed": "status=open",
    "not open": "status=closed",
    "still open": "status=open",
    "in progress since monday": "status=In progress updated=>=monday",
    "nobody touched for two weeks": "updated=<two weeks ago",
    "assigned to me": "to=me",
    "bugs assigned to ben okafor": "tracker=Bug to=ben okafor",
    "assigned to <@U2|ben>": "to=@ben",
    "assigned to zoe": "to=zoe",
    "for ben": "to=ben",
    "ben's open bugs": "to=ben status=open tracker=Bug",
    "my issues": "to=me",
    "assigned to april": "to=april",
    "April bugs": "tracker=Bug | April",
    "for will": "to=will",
    "by me": "author=me",
    "created by okafor": "author=okafor",
    "tickets I created": "author=me",
    "reported by ana ruiz last week": "author=ana ruiz created=last week",
    "urgent": "priority=Urgent",
    "high priority bugs": "priority=High tracker=Bug",
    "priority high": "priority=High",
    "stories": "tracker=Story",
    "bugs and features": "tracker=Bug,Feature",
    "in progress": "status=In progress",
    "all open bugs": "status=open tracker=Bug",
    "all issues": "status=any",
    "open or closed bugs": "status=any tracker=Bug",
    "closed last week": "status=any closed=last week",
    "resolved this week": "status=any closed=this week",
    "created today": "created=today",
    "new this week": "created=this week",
    "updated since monday": "updated=>=monday",
    "updated in the last 7 days": "updated=last 7 days",
    "bugs in web shop": "tracker=Bug project=Web Shop",
    "in mobile": "project=mobile",
    "everything in all projects": "project=any",
    "login in checkout": "category=Checkout | login",
    "bugs for 3.0": "tracker=Bug version=3.0",
    "newest bugs": "sort=created:desc tracker=Bug",
    "issues with login": "| login",
    "issues": "|",
    "show me the list of all the tickets": "status=any",
    "login page with error": "| login page with error",
    "to do list": "| to do list",
    "payment for parcels": "| payment for parcels",
    "web": "| web",
    '"high priority" login': "| high priority login",
    'assigned to "Ben Okafor"': "to=Ben Okafor",
    "status:closed overdue": "status=closed due=<today",
    "due 1/2/2026": "due=1/2/2026",
    "not assigned to me": "to=!me",
    "bugs not assigned to ben or ana": "tracker=Bug to=!ben,!ana",
    "bugs not assigned to ben, ana": "tracker=Bug to=!ben,!ana",
    "bugs not assigned to ana and for ben": "tracker=Bug to=!ana,ben",
    "not bugs, not tasks": "tracker=!Bug | not tasks",
    "not mine": "to=!me",
    "bugs except ben, ana": "tracker=Bug to=!ben,!ana",
    "issues that aren't mine": "to=!me",
    "except ben's": "to=!ben",
    "not by ben": "author=!ben",
    "not resolved": "status=!Resolved",
    "open bugs that aren't resolved": "status=!Resolved tracker=Bug",
    "status not resolved": "status=!Resolved",
    "neither high nor urgent": "| neither high nor urgent",
    "not in checkout": "category=!Checkout",
    "not for 3.0": "version=!3.0",
    "all bugs except in mobile": "status=any tracker=Bug cannot=project",
    "not in slack": "| not in slack",
    "assigned to 12": "| assigned to 12",
    "bug reports": "tracker=Bug",
    "3 oldest bugs": "sort=created:asc tracker=Bug most=3",
    "bugs by friday": "tracker=Bug | by friday",
    "yesterday's bugs": "created=yesterday tracker=Bug",
    "anything about gift cards": "| gift cards",
    "can you find the issue about delivery costs": "| delivery costs",
    "who should fix the cart": "| fix the cart",
    "resolved, from the customer": "status=Resolved | customer",
    "ben okafor reported & high": "author=ben okafor priority=High",
    "at least high": "priority=>=High",
    "high+ bugs": "priority=>=High tracker=Bug",
    "high+ prio": "priority=>=High",
    "where is the invoice": "| invoice",
    "at least high as kites": "| at least high as kites",
    "what did ben close this week?": "status=any to=ben closed=this week",
    "what did ben create last week": "status=any author=ben created=last week",
    "what did I report yesterday": "status=any author=me created=yesterday",
    "category checkout": "category=Checkout",
    "category returns": "category=returns",
    "due before 12/15": "due=<12/15",
    "24/7": "| 24/7",
    "opened between 1 and 15 november": "created=1 november..15 november",
    "between nov 1 and 15": "created=nov 1..nov 15",
    "due between monday and friday": "due=monday..friday",
    "last 5 created": "sort=created:desc most=5",
    "stale ones": "updated=<30d",
    "stale cart": "| stale cart",
    "w/o due date": "due=none",
    "w/o estimate": "cannot=estimate",
    "which ones did I comment on": "cannot=comments",
    "assigned to the ben okafor": "to=ben okafor",
    "bugs in the mobile": "tracker=Bug project=mobile",
    "priority above normal": "priority=>Normal",
    "bugs below high priority": "tracker=Bug priority=<High",
    "priority is at least high": "priority=>=High",
    "urgent or lower": "priority=<=Urgent",
    "watched by ben": "cannot=watched",
    "login page with files": "| login page with files",
}
SUBJECTS = {
    "Login broken assign to ben": "to=ben | Login broken",
    "Login broken due friday priority high assign to Ben Okafor": "due=friday priority=High to=ben okafor"
    " | Login broken",
    "Fix it and assign to me and due tomorrow": "to=me due=tomorrow | Fix it",
    "Login broken assign to will": "to=will | Login broken",
    "Login broken in project web shop": "project=Web Shop | Login broken",
    "Users can't assign to groups": "| Users can't assign to groups",
    "Pay the amount due": "| Pay the amount due",
    "Users can't assign to me": "| Users can't assign to me",
    "Sort by priority high": "| Sort by priority high",
    "Mail was assigned to ben": "| Mail was assigned to ben",
    "Delay due to 2026-12-01": "| Delay due to 2026-12-01",
    "Can I release due tomorrow?": "| Can I release due tomorrow?",
    "Login broken assign to nobody": "| Login broken assign to nobody",
    "Login broken -p high -a ben": "priority=High to=ben | Login broken",
    "Login broken --project webshop --type bug": "project=webshop tracker=Bug | Login broken",
    "Can't log in; project webshop": "project=webshop | Can't log in",
    "Login broken, assign to Bob": "to=Bob | Login broken",
    "Call April by friday": "| Call April by friday",
    "The high priority": "| The high priority",
    "assign to me": "| assign to me",
    'Say "due friday"': "| Say due friday",
}
CHANGED = {
    "close": "step=close",
    "mark it as done": "step=close",
    "reopen": "step=reopen",
    "close and assign to me": "to=me step=close",
    "assign to ben okafor due friday": "to=ben okafor due=friday",
    "take it": "to=me",
    "I'll take it": "to=me",
    "maybe I'll take it": "to=me | maybe",
    "no due date anymore": "due=none",
    "due 12/18": "due=12/18",
    "push the due date to end of next week": "due=end of next week",
    "assign to me, please": "to=me",
    "assign to zoe, due friday now": "to=zoe due=friday",
    'assign to "Zoe, please"': "to=Zoe, please",
    "unassign": "to=none",
    "set status to in progress": "status=in progress",
    "set priority to high and assign to me": "priority=high to=me",
    "high priority": "priority=high",
    "make it urgent": "priority=urgent",
    "set it due friday": "due=friday",
    "mine": "to=me",
    "status in progress due tomorrow": "status=in progress due=tomorrow",
    "due someday": "due=someday",
    "no due date": "due=none",
    "move to feedback": "status=feedback",
    "close, nobody needs it": "step=close | nobody needs",
    "reopen, it happened again": "step=reopen | happened again",
    "status feedback, please check it again": "status=feedback | check it again",
    "due Dec 1, 2026": "due=dec 1, 2026",
    "start working on it": "step=start",
    "start monday": "start=monday",
    "is a duplicate of 348": "cannot=relation",
    "blocked by #306": "cannot=relation",
    "copy": "cannot=copy",
    "50% done": "done=50%",
    "estimate 3h": "estimate=3h",
    "rename to Fix due date handling": "subject=Fix due date handling",
    "change the target version to 3.0 and close": "version=3.0 step=close",
    "category Search and Browse": "category=Search and Browse",
    "tracker bug": "tracker=bug",
    "in progress": "| in progress",
    "subject Cart is full": "subject=Cart is full",
    "subject line is empty": "| subject line is empty",
    "title is cut off": "| title is cut off",
    "assign to ben to:me": "to=me | assign to ben",
    "it soon": "| soon",
    f"set version to{' long' * 21}": f"version={' '.join(['long'] * 20)} | long",
}


def told(parsed: Parsed) -> str:
    """The options and acts, and after a bar the words that are left."""
    meant = {**parsed.options, **parsed.acts}
    options = [f"{key}={','.join(v.text for v in values)}" for key, values in meant.items()]
    return " ".join([*options, *(["|", parsed.plain] if parsed.words or not options else [])]).strip()


READERS: dict[str, tuple[dict[str, str], Callable[[str], Parsed]]] = {
    "search": (SEARCHES, lambda text: reading.search(parse(text, FILTERS), NAMES, MONDAY)),
    "new": (SUBJECTS, lambda text: reading.subject(parse(text, FILTERS), NAMES, MONDAY)),
    "change": (CHANGED, lambda text: reading.change(parse(text, CHANGES), Vocabulary(), MONDAY)),
}


@pytest.mark.parametrize("where", READERS)
def test_phrases_are_options_and_the_rest_stays_text(where: str) -> None:
    meant, read = READERS[where]
    assert {text: told(read(text)) for text in meant} == meant


@pytest.mark.parametrize("where", READERS)
def test_a_long_text_is_read_in_time(where: str) -> None:
    many = {
        kind: [f"{name} {n}" for n in range(5_000) for name in some] for kind, some in NAMES.names.items()
    }
    names = Vocabulary(many)
    long = "assign to in due for set " * 600
    read = {"search": reading.search, "new": reading.subject, "change": reading.change}[where]
    parsed = read(parse(long, CHANGES if where == "change" else FILTERS), names, MONDAY)
    assert parsed.words
