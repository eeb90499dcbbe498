"""What people type, and what it means: one table for all commands, durations and dates."""

from collections.abc import Callable, Collection
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from bot.features.digests.buttons import DigestAction
from bot.features.digests.commands import AddDigest, ListDigests, OnDigest, digest_command, typed_digest
from bot.features.digests.plans import Typed
from bot.features.issue_command.commands import Act as OfIssue
from bot.features.issue_command.commands import (
    CreateIssue,
    OnIssues,
    OpenForm,
    TypedIssue,
    issue_command,
    new_issue,
)
from bot.features.issues.fields import Draft
from bot.features.search.commands import OPTIONS as FILTERS
from bot.features.search.commands import issues_command
from bot.features.search.search import Query
from bot.features.timelog.commands import Act as OnTime
from bot.features.timelog.commands import ShowTotal, WhoLogged, timelog_command, typed_time
from bot.features.timelog.timelog import TimeDraft, TimeToLog
from bot.features.tracker.commands import Act as OnTracker
from bot.features.tracker.commands import TrackerRequest, tracker_command
from bot.service.filters import DateRange, Sort, TimeRange
from bot.slack.language.dates import day, days
from bot.slack.language.durations import hours
from bot.slack.language.options import Parsed, checked, understand
from bot.slack.language.tokens import SlackUser
from bot.slack.language.values import CommandContext, Help, OneIssue
from bot.store.owner import Owner
from bot.store.plans import Plan
from tests.support.digesting import requested_plan

T = TypeVar("T")
ANA, BO, CY = (Owner("E1", "T1", f"U{number}") for number in (1, 2, 3))
WEDNESDAY = date(2026, 7, 15)
PARIS = ZoneInfo("Europe/Paris")
TYPIST = CommandContext(ANA, PARIS, now=datetime.combine(WEDNESDAY, time(23, 30), PARIS))
KNOWN = ("project", "priority", "to", "watch", "desc", "start", "cf_")
EVERY_FIELD = (
    'new Blank page project:"Web shop" tracker:Bug status:New priority:High category:UI version:1.0 '
    "to:<@U2|bo> watch:me,<@U3|cy> watch:Dee parent:#7 start:today due:fri estimate:1h30 private:yes "
    'done:50% desc:"First line\nsecond" cf_3:"dark blue" cf_4:x'
)
LISTED = "add web daily 9 {} to:me,<@U2> -tracker:support -to:Ben"


def parse(text: str, known: Collection[str]) -> Parsed:
    return checked(understand(text, known).with_fields())


def options(text: str) -> tuple[str, dict[str, list[object]]]:
    """The words, and each option's values: whom they mention, or their text."""
    parsed = parse(text, KNOWN)
    return parsed.text, {key: [v.user or v.text for v in values] for key, values in parsed.options.items()}


def issue(text: str) -> object:
    request = issue_command(text, TYPIST)
    return new_issue(request, TYPIST) if isinstance(request, TypedIssue) else request


READERS: dict[str, Callable[[str], object]] = {
    "/issue": issue,
    "/issues": lambda text: issues_command(understand(text, FILTERS), TYPIST),
    "/tracker": lambda text: tracker_command(text, ANA),
    "/timelog": lambda text: timelog_command(typed_time(text), TYPIST),
    "/digest": lambda text: digest_command(typed_digest(text), ANA),
    "options": options,
    "a duration": lambda text: str(hours(text)),
    "a day": lambda text: day(text, TYPIST.today),
    "past days": lambda text: days(text, TYPIST.today, "past"),
}


def same(meant: T, *texts: str) -> dict[str, T]:
    """Texts that mean the same."""
    return dict.fromkeys(texts, meant)


def kept(*texts: str) -> dict[str, object]:
    """Texts without options, which stay as they are."""
    return {text: (text, {}) for text in texts}


def of(year_month: str, *written: tuple[str, str]) -> dict[str, object]:
    """The days that texts mean, without the part of the date that they share."""
    return {text: date.fromisoformat(year_month + rest) for text, rest in written}


def between(since: str | None, until: str | None) -> DateRange:
    """A range of days in 2026 or 2027."""
    return DateRange(*(date.fromisoformat(end) if end else None for end in (since, until)))


def moments(since: str, until: str | None = None) -> TimeRange:
    return TimeRange(*(datetime.fromisoformat(end) if end else None for end in (since, until)))


def logged(spent: str, comment: str = "", day: int = 15, **about: Any) -> TimeToLog:
    """Time on issue 42, or `about` something else, on a day of July 2026."""
    about = about or {"issue": 42}
    return TimeToLog(hours=Decimal(spent), spent_on=date(2026, 7, day), comment=comment, **about)


def quoted(spent: str, comment: str) -> TimeToLog:
    """Time on issue 42 with a comment in quotes."""
    return logged(spent, comment).model_copy(update={"quoted": True})


def created(subject: str, **more: Any) -> CreateIssue:
    return CreateIssue(Draft(subject=subject, **more))


def added(project: str | None, schedule: str = "") -> AddDigest:
    return AddDigest(requested_plan(project, schedule or Plan.schedule, zone=""), scheduled=bool(schedule))


def listing(kind: str, stale_days: int = Plan.stale_days) -> AddDigest:
    """A digest of one kind, with people and exclusions."""
    about: dict[str, Any] = {"kind": kind, "stale_days": stale_days, "filters": {"to": ("me", BO)}}
    excluded: Typed = {"tracker": ("support",), "to": ("Ben",)}
    plan = requested_plan("web", "daily 09:00", zone="", excluded=excluded, **about)
    return AddDigest(plan, scheduled=True)


UNDERSTOOD: dict[str, dict[str, object]] = {
    "/issue": {
        "help": Help(),
        **same(OneIssue(42), "42", "#42", "<https://tracker.example/redmine/issues/42#note-3|that one>"),
        **same(OneIssue(42), "show #42"),
        "attach #42": OnIssues(OfIssue.ATTACH, 42),
        "attach": OnIssues(OfIssue.ATTACH),
        **same(OpenForm(), "", "new"),
        **same(OpenForm(Draft(project="web")), "project:web", "new project:web"),
        "NEW The page is blank": created("The page is blank"),
        "project:web new The page is blank": created("The page is blank", project="web"),
        'new "Fix: the thing"': created("Fix: the thing"),
        **same(created("It is blank"), "create It is blank", "add It is blank"),
        'new Blank project:web desc:"Since\ntoday"\nSteps: open it\n\n> status:500 "': created(
            "Blank", project="web", values={"desc": 'Since\ntoday\n\nSteps: open it\n\n> status:500 "'}
        ),
        "new 42": created("42"),
        EVERY_FIELD: created(
            "Blank page",
            project="Web shop",
            values={
                "tracker": "Bug",
                "status": "New",
                "priority": "High",
                "category": "UI",
                "version": "1.0",
                "to": BO,
                "watch": ("me", CY, "Dee"),
                "parent": 7,
                "estimate": Decimal("1.5"),
                "done": 50,
                "start": WEDNESDAY,
                "due": date(2026, 7, 17),
                "private": True,
                "desc": "First line\nsecond",
            },
            custom_fields={3: "dark blue", 4: "x"},
        ),
    },
    "/issues": {
        "help": Help(),
        'blank "login page" project:web subproject:none tracker:Bug,"Feature request" tracker:Task '
        "status:any to:me,<@U2|bo> author:@cy priority:High category:none version:any parent:7 id:#1,2 "
        "query:5 cf_3:blue": Query(
            text="blank login page",
            project="web",
            subproject="none",
            tracker=("Bug", "Feature request", "Task"),
            status="any",
            to=("me", BO),
            author=("@cy",),
            priority=("High",),
            category="none",
            version="any",
            parent=(7,),
            ids=(1, 2),
            query=5,
            custom_fields={3: "blue"},
        ),
        **same(Query(text="gift cards"), "gift cards?", "gift, cards!", '"gift cards"'),
        '"gift cards?"': Query(text="gift cards?"),
        "a customer told us that gift cards are blank": Query(text="customer told gift cards blank"),
        "status:New,Resolved": Query(status=("New", "Resolved")),
        "status:Closed": Query(status="closed"),
        "status:open": Query(status="open"),
        "to:none": Query(to="nobody"),
        "to:anybody": Query(to="anybody"),
        "created:&gt;=2026-07-01": Query(created=moments("2026-07-01T00:00:00+02:00")),
        "updated:7d": Query(updated=moments("2026-07-09T00:00:00+02:00", "2026-07-15T23:59:59+02:00")),
        "closed:2026-03-29": Query(closed=moments("2026-03-29T00:00:00+01:00", "2026-03-29T23:59:59+02:00")),
        "start:..today": Query(start=between(None, "2026-07-15")),
        "due:7d": Query(due=between("2026-07-15", "2026-07-21")),
        "sort:priority:desc,updated,-due": Query(
            sort=(Sort("priority", descending=True), Sort("updated_on"), Sort("due_date", descending=True))
        ),
    },
    "/tracker": {
        **same(TrackerRequest(OnTracker.ACCOUNT), "", "\u2060"),
        "help": TrackerRequest(OnTracker.HELP),
        **same(TrackerRequest(OnTracker.LINK), "Link", "login", "connect", "signin"),
        "unlink": TrackerRequest(OnTracker.UNLINK),
        **same(TrackerRequest(OnTracker.NO_ACCOUNT), "I don't have an account", "we need an account"),
        **same(TrackerRequest(OnTracker.HEALTH), "is it down?", "is everything ok"),
        **same(TrackerRequest(OnTracker.LANGUAGE), "change language to german", "what language is this?"),
        "who is in webshop?": TrackerRequest(OnTracker.MEMBERS, "webshop"),
        "turn off notifications": TrackerRequest(OnTracker.SHOW_NOTICES),
        **same(TrackerRequest(OnTracker.LOGOUT), "logout", "disconnect"),
        **same(TrackerRequest(OnTracker.WHOAMI), "whoami", "me", "who am I", "who am I?"),
        **same(TrackerRequest(OnTracker.LINK), "link my account", "login please"),
        "settings": TrackerRequest(OnTracker.ACCOUNT),
        **same(TrackerRequest(OnTracker.USER, who="dana"), "user dana", "who is dana", "who is dana?"),
        **same(TrackerRequest(OnTracker.PROJECTS), "projects", "list"),
        "projects web shop": TrackerRequest(OnTracker.PROJECTS, "web shop"),
        "project web": TrackerRequest(OnTracker.PROJECT, "web"),
        "project new": TrackerRequest(OnTracker.NEW_PROJECT),
        "project NEW Web Shop": TrackerRequest(OnTracker.NEW_PROJECT, "Web Shop"),
        'project "New home page"': TrackerRequest(OnTracker.PROJECT, "New home page"),
        **same(TrackerRequest(OnTracker.USER, who="me"), "user", "user me"),
        **same(
            TrackerRequest(OnTracker.USER, who="5"),
            "user 5",
            "user <https://tracker.example/redmine/users/5>",
        ),
        "User <@U2|bo>": TrackerRequest(OnTracker.USER, who=BO),
        "user new": TrackerRequest(OnTracker.NEW_USER),
        "user new <@U2|bo>": TrackerRequest(OnTracker.NEW_USER, mentioned=SlackUser("U2", "bo")),
        "user edit #5": TrackerRequest(OnTracker.EDIT_USER, who="5"),
        "user edit <@U2>": TrackerRequest(OnTracker.EDIT_USER, who=BO),
        "default “Web shop”": TrackerRequest(OnTracker.SET_DEFAULT, "Web shop"),
        "default none": TrackerRequest(OnTracker.CLEAR_DEFAULT),
        "default": TrackerRequest(OnTracker.SHOW_DEFAULT),
    },
    "/timelog": {
        **{
            f"{issue} {duration} activity:design on:mon Pairing with <@U1|ben>": logged(
                "1.5", "Pairing with @ben", day=13, issue=42, activity="design"
            )
            for issue in ("42", "#42", "<https://tracker.example/issues/42>")
            for duration in ("1.5", "1,5h", "90m", "1h30", "1h 30m", "1:30", "1 h 30 min", "1.5 hours")
        },
        **same(logged("1.5"), "42 1h 30", "1:30 42", "1 h 30 min #42", "1.5 on 42"),
        **same(logged("1"), "1h 42", "1h #42", "42 1h today"),
        **same(logged("1", day=14), "42 1h yesterday", "42 1h for yesterday", "42 1h on:tue"),
        **same(logged("1", day=13), "42 1h mon", "42 1h 2 days ago", "42 1h 7/13"),
        **same(logged("1", day=10), "42 1h last friday", "42 1h on friday"),
        "42 1h on:Wed": logged("1", day=8),
        "42 1h on:thursday": logged("1", day=9),
        "42 1h 30 tickets sorted": logged("1", "30 tickets sorted"),
        "42 2 30 tickets sorted": logged("2", "30 tickets sorted"),
        "42 2 hours of it": logged("2", "of it"),
        '42 2 "as it was"': quoted("2", "as it was"),
        "42 20m Fixed: it": logged("0.3333", "Fixed: it"),
        "1h 30m 42 Pairing": logged("1.5", "Pairing"),
        "90m #42 30 tickets sorted": logged("1.5", "30 tickets sorted"),
        "5h 30m for #42": logged("5.5"),
        "add 2 hours to issue 42 Code review": logged("2", "Code review"),
        "1h 42 Yesterday Pairing": logged("1", "Pairing", day=14),
        "42 1h 2026-07-01 Pairing": logged("1", "Pairing", day=1),
        "42 1h Mon Repos renovated": logged("1", "Mon Repos renovated"),
        "42 1h What broke yesterday": logged("1", "What broke", day=14),
        "1h 42 on wednesday Pairing": logged("1", "Pairing", day=8),
        "42 1h Fix the friday report last friday.": logged("1", "Fix the friday report", day=10),
        "42 1h on Jul 3 Deployed": logged("1", "Deployed", day=3),
        "42 1h Deployed 2026-07-01": logged("1", "Deployed", day=1),
        "42 1h Fix the friday report": logged("1", "Fix the friday report"),
        "42 1h Report for last friday": logged("1", "Report for last friday"),
        '42 1h Play "last friday"': logged("1", 'Play "last friday"'),
        "42 1h Moved on sprint 31": logged("1", "Moved on sprint 31"),
        "42 1h Moved on 2 fronts": logged("1", "Moved on 2 fronts"),
        "42 1h tomorrow": logged("1", day=16, issue=42, with_day="tomorrow"),
        '42 1h "yesterday"': quoted("1", "yesterday"),
        "42 1h yesterday's call": logged("1", "yesterday's call"),
        "42 1h on:mon yesterday": logged("1", "yesterday", day=13),
        "project:web 1h yesterday": logged("1", day=14, project="web"),
        'project:"web shop" 45m stand-up': logged("0.75", "stand-up", project="web shop"),
        "": TimeDraft(),
        "42": TimeDraft(issue=42),
        "42 activity:design": TimeDraft(issue=42, activity="design"),
        "project:web": TimeDraft(project="web"),
        "login page": TimeDraft(comment="login page"),
        "42 fixed 2h ago": TimeDraft(issue=42, comment="fixed 2h ago"),
        "42 2 hours ago": TimeDraft(issue=42, comment="2 hours ago"),
        "1h30": TimeDraft(hours=Decimal("1.5")),
        "1h 30m stand-up": TimeDraft(hours=Decimal("1.5"), comment="stand-up"),
        "1h 30 42": TimeDraft(hours=Decimal(1), comment="30 42"),
        "1h 42 2 files": TimeDraft(hours=Decimal(1), comment="42 2 files"),
        "on:yesterday": TimeDraft(spent_on=date(2026, 7, 14)),
        "1h on friday": TimeDraft(hours=Decimal(1), spent_on=date(2026, 7, 10)),
        **same(
            logged("2"),
            "42 about 2 hours",
            "42 for 2h",
            "worked on 42 for 2 hours",
            "42 - 2h",
            "42: 2h please",
            "42 spent 2h",
            "on 42 I worked 2h",
        ),
        **same(logged("1.5", "Review"), "42 one and a half hours Review", "42 1h30: Review"),
        **same(logged("2", day=13), "42 2 days ago 2h", "42 2h 2d ago"),
        **same(OnTime.EDIT_LAST, "edit", "Delete", "undo"),
        **same(OnTime.SHOW_TOTALS, "today", "list", "show my time", "how much this week?"),
        **{
            text: ShowTotal(date(2026, *since), date(2026, *until))
            for text, since, until in (
                ("what did I work yesterday?", (7, 14), (7, 14)),
                ("how many hours did I work last week?", (7, 6), (7, 12)),
                ("show june", (6, 1), (6, 30)),
                ("last month", (6, 1), (6, 30)),
            )
        },
        **same(WhoLogged(None), "how much time did Dana spend on web", "what did Ben log today?"),
        "who logged time on 12": WhoLogged(12),
        **same(logged("1.25", "debugging"), "from 2pm to 3.15pm on 42 debugging", "42 2-3:15pm debugging"),
        **same(logged("1.5"), "1:30 to 42", "1h30 on 42 for me", "9:00-10:30 on 42"),
        "Help": Help(),
    },
    "/digest": {
        **same(ListDigests(), "", "List", "what's set up here?", "which digests are there"),
        "help": Help(),
        "now": OnDigest(DigestAction.NOW),
        "now 3": OnDigest(DigestAction.NOW, 3),
        "change #3": OnDigest(DigestAction.CHANGE, 3),
        "edit": OnDigest(DigestAction.CHANGE),
        "PAUSE 3": OnDigest(DigestAction.PAUSE, 3),
        "resume 3": OnDigest(DigestAction.RESUME, 3),
        **same(OnDigest(DigestAction.REMOVE, 3), "remove 3", "delete 3", "stop 3", "stop digest 3"),
        **same(OnDigest(DigestAction.REMOVE), "remove the digest", "stop it", "stop all"),
        "stop webshop": OnDigest(DigestAction.REMOVE, named="webshop"),
        "preview": OnDigest(None),
        "change 3 10am": OnDigest(DigestAction.CHANGE, 3, schedule="10am"),
        "change to 10am": OnDigest(DigestAction.CHANGE, schedule="10am"),
        "take over": OnDigest(DigestAction.TAKE_OWNERSHIP),
        **same(OnDigest(DigestAction.TAKE_OWNERSHIP, 3), "take 3", "takeover #3", "take over 3"),
        # Words before the schedule are the project.
        "add": added(None),
        "add web": added("web"),
        "add Web shop WEEKDAYS": added("Web shop", "weekdays 09:00"),
        "add web weekly mon, thu at 5:30 pm": added("web", "weekly mon,thu 17:30"),
        "add web hourly": added("web", "hourly"),
        "add web mon-fri 8:30": added("web", "weekdays 08:30"),
        "add web mondays 8am and thursdays": added("web", "weekly mon,thu 08:00"),
        "add web mon thu at 8": added("web", "weekly mon,thu 08:00"),
        **same(added("web", "weekly fri 16:00"), "add web on fridays at 4pm", "create web, each fri 4pm"),
        "schedule web daily 9 o'clock": added("web", "daily 09:00"),
        "add web every 30 min": added("web", "cron */30 * * * *"),
        "add mon": added("mon"),
        "add Mon Repos mon 9": added("Mon Repos", "weekly mon 09:00"),
        "add web mon-wed 9": added("web", "weekly mon,tue,wed 09:00"),
        'add web cron "0 9 * * 1-5"': added("web", "cron 0 9 * * 1-5"),
        "add web cron 0 9 * * mon-fri": added("web", "cron 0 9 * * MON-FRI"),
        'add "The Daily news" daily 9': added("The Daily news", "daily 09:00"),
        'add "daily" daily 9': added("daily", "daily 09:00"),
        **same(added(None, "daily 09:00"), "add daily 9", "daily 9"),
        "Web shop every weekday at 9:30 PM": added("Web shop", "weekdays 21:30"),
        'add daily 9 project:"Web shop"': added("Web shop", "daily 09:00"),
        "project:web add daily 9": added("web", "daily 09:00"),
        'add tz:europe/paris Web tracker:Bug,"Feature request" shop tracker:Task daily priority:High 9am '
        "category:UI group:Assignee empty:yes": AddDigest(
            requested_plan(
                "Web shop",
                "daily 09:00",
                "Europe/Paris",
                filters={
                    "tracker": ("Bug", "Feature request", "Task"),
                    "priority": ("High",),
                    "category": ("UI",),
                },
                group="assignee",
                empty=True,
            ),
            scheduled=True,
        ),
        LISTED.format(""): listing("new"),
        LISTED.format("kind:overdue"): listing("due"),
        **same(listing("stale"), LISTED.format("kind:stale"), LISTED.format("stale:2w")),
        LISTED.format("kind:stale:30d"): listing("stale", 30),
        LISTED.format("kind:closed"): listing("closed"),
    },
    "options": {
        "PROJECT:web the page priority:High is  blank\ncf_7:blue": (
            "the page is blank",
            {"project": ["web"], "priority": ["High"], "cf_7": ["blue"]},
        ),
        **{
            f"new desc:{opening}two: words{closing} more": ("new more", {"desc": ["two: words"]})
            for opening, closing in ('""', "“”", "””", "„“", "‟”", "«»", '“"', '"”')
        },
        'desc:"says “hi”\nand goes"': ("", {"desc": ["says “hi”\nand goes"]}),
        "start:next friday fix it": ("fix it", {"start": ["next friday"]}),
        "fix start:31 Dec 2026 it": ("fix it", {"start": ["31 Dec 2026"]}),
        "start:>= 2026-07-01 late": ("late", {"start": [">= 2026-07-01"]}),
        "start:7d 3 days late": ("3 days late", {"start": ["7d"]}),
        'start:today "3 days" late': ('"3 days" late', {"start": ["today"]}),
        **kept("http://host/path is down", "at 12:30 sharp", "std::vector leaks", "Fix: the thing"),
        **kept("C:\\temp fills up", ":smile: is broken", "(project:web)", 'the 19" screen'),
        **kept('Button "Save" does nothing'),
        '"priority:high and all"': ("priority:high and all", {}),
        'say "priority:high" loud': ("say priority:high loud", {}),
        'to:"<@U1|ana>"': ("", {"to": [SlackUser("U1", "ana")]}),
        # Entities are read before the text is unescaped.
        "ask <@U1|ana> or <@U2> in <#C1|general> &amp;lt; <https://x.y/a?b=1&amp;c|label> <!here> "
        "<!subteam^S1|@team> <!date^1^{date}|today> <mailto:a@b.c|a@b.c> &lt;!channel&gt;": (
            "ask @ana or @U2 in #general &lt; https://x.y/a?b=1&c @here @team today a@b.c <!channel>",
            {},
        ),
    },
    "a duration": {
        **same("1.5", *("1.5", "1,5h", "90m", "1h30", "1h 30m", "1:30", "90 min")),
        "2": "2",
        "2 H": "2",
        "20m": "0.3333",
        "0.25": "0.25",
        "100": "100",
    },
    "a day": {
        **of("2026-07-", ("today", "15"), ("Tomorrow", "16"), ("yesterday", "14"), ("+3d", "18")),
        **of("2026-07-", ("7d", "22"), ("2w", "29"), ("-1d", "14"), ("wed", "15"), ("mon", "20")),
        **of("2026-07-", ("Friday", "17"), ("this monday", "13"), ("last Monday", "13")),
        **of("2026-07-", ("next wednesday", "22"), ("next  friday", "17"), ("next week", "20")),
        **of("2026-07-", ("end of next week", "26"), ("end of the week", "19")),
        **of("2026-07-", ("in 2w", "29"), ("3d ago", "12"), ("+2 days", "17")),
        **of("2026-07-", ("in 3 days", "18"), ("2 weeks ago", "01")),
        **of("2026-", ("2026-08-01", "08-01"), ("next month", "08-01"), ("Aug 1st, 2026", "08-01")),
        **of("2026-12-", ("31/12/2026", "31"), ("12/31/2026", "31"), ("1.12.2026", "01")),
        **of("202", ("12/31", "6-12-31"), ("31/12", "6-12-31"), ("1/13", "7-01-13"), ("8/8", "6-08-08")),
        **of("2026-12-", ("Dec 31", "31"), ("31 december 2026", "31")),
        **of("202", ("5/5/2026", "6-05-05"), ("Jan 2", "7-01-02")),  # the nearest one, without a year
    },
    "past days": {
        "last week": between("2026-07-06", "2026-07-12"),
        **same(between("2026-07-01", "2026-07-31"), "this month", "this july"),
        "next year": between("2027-01-01", "2027-12-31"),
        "last 7 days": between("2026-07-09", "2026-07-15"),
        "next 2 weeks": between("2026-07-15", "2026-07-28"),
        ">last week": between("2026-07-13", None),
        "last month..this week": between("2026-06-01", "2026-07-19"),
        ">=2026-07-01": between("2026-07-01", None),
        "<=2026-07-01": between(None, "2026-07-01"),
        ">2026-07-01": between("2026-07-02", None),
        "<2026-07-01": between(None, "2026-06-30"),
        "2026-07-01..mon": between("2026-07-01", "2026-07-13"),
        "yesterday..": between("2026-07-14", None),
        "..7d": between(None, "2026-07-08"),
        "today": between("2026-07-15", "2026-07-15"),
        "7d": between("2026-07-09", "2026-07-15"),
        "1d": between("2026-07-15", "2026-07-15"),
        "Dec 31": between("2025-12-31", "2025-12-31"),
    },
}
"""What a reader makes of a text."""
