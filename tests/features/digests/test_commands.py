from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import UserError
from bot.features.digests import schedules
from bot.features.digests.buttons import Act
from bot.features.digests.commands import AddDigest, ListDigests, OnDigest, digest_command
from bot.features.digests.plans import DEFAULT_SCHEDULE, DigestSettings
from bot.slack.grammar.requests import Help
from bot.store.owner import Owner
from tests.support.digesting import ANA
from tests.support.wording import worded

KEY = "0123456789abcdefABCD" * 2

WORDS = (
    st.sampled_from(["add", "now", "take", "over", "3", "#3", "daily", "weekly", "hourly", "cron"])
    | st.sampled_from(["mon", "9am", ":30", "0 9 * * 1-5", "*/15", "tz:", "group:", "project:", "empty:"])
    | st.sampled_from(["Europe/Paris", "web", '"', " ", " ", ",", "tracker", "yes", "²", "\x00"])
)
TYPED = st.one_of(st.text(max_size=40), st.lists(WORDS, max_size=12).map("".join))


def refused(text: str) -> str:
    try:
        request = digest_command(text, ANA)
    except UserError as error:
        return worded(error)
    assert isinstance(request, AddDigest)
    return worded(request.problems[0])


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("", ListDigests()),
        ("List", ListDigests()),
        ("help", Help()),
        ("now", OnDigest(Act.NOW)),
        ("now 3", OnDigest(Act.NOW, 3)),
        ("change #3", OnDigest(Act.CHANGE, 3)),
        ("edit", OnDigest(Act.CHANGE)),
        ("PAUSE 3", OnDigest(Act.PAUSE, 3)),
        ("resume 3", OnDigest(Act.RESUME, 3)),
        ("remove 3", OnDigest(Act.REMOVE, 3)),
        ("delete 3", OnDigest(Act.REMOVE, 3)),
        ("stop 3", OnDigest(Act.REMOVE, 3)),
        ("take 3", OnDigest(Act.TAKE_OVER, 3)),
        ("takeover #3", OnDigest(Act.TAKE_OVER, 3)),
        ("take over", OnDigest(Act.TAKE_OVER)),
        ("take over 3", OnDigest(Act.TAKE_OVER, 3)),
    ],
)
def test_commands_parse_with_and_without_a_digest_number(text: str, request_: object) -> None:
    assert digest_command(text, ANA) == request_


@pytest.mark.parametrize(
    ("text", "project", "schedule"),
    [
        ("add", None, None),
        ("add web", "web", None),
        ("add Web shop WEEKDAYS", "Web shop", "weekdays 09:00"),
        ("add web weekly mon, thu at 5:30 pm", "web", "weekly mon,thu 17:30"),
        ("add web hourly", "web", "hourly"),
        ('add web cron "0 9 * * 1-5"', "web", "cron 0 9 * * 1-5"),
        ("add web cron 0 9 * * mon-fri", "web", "cron 0 9 * * MON-FRI"),
        ('add "The Daily news" daily 9', "The Daily news", "daily 09:00"),
        ('add "daily" daily 9', "daily", "daily 09:00"),
        ("add daily 9", None, "daily 09:00"),
        ("daily 9", None, "daily 09:00"),
        ("Web shop every weekday at 9:30 PM", "Web shop", "weekdays 21:30"),
        ('add daily 9 project:"Web shop"', "Web shop", "daily 09:00"),
        ("project:web add daily 9", "web", "daily 09:00"),
    ],
)
def test_words_before_the_schedule_are_the_project(
    text: str, project: str | None, schedule: str | None
) -> None:
    wanted = schedules.parse(schedule) if schedule else DEFAULT_SCHEDULE

    settings = DigestSettings(project=project, schedule=wanted)
    assert digest_command(text, ANA) == AddDigest(settings, scheduled=bool(schedule))


def test_add_accepts_every_option_anywhere() -> None:
    typed = (
        'add tz:europe/paris Web tracker:Bug,"Feature request" shop tracker:Task daily priority:High 9am '
        "category:UI group:Assignee empty:yes"
    )

    request = digest_command(typed, ANA)

    assert isinstance(request, AddDigest)
    assert request.wanted == DigestSettings(
        project="Web shop",
        schedule=schedules.parse("daily 09:00"),
        zone="Europe/Paris",
        filters={
            "tracker": ("Bug", "Feature request", "Task"),
            "priority": ("High",),
            "category": ("UI",),
        },
        group="assignee",
        empty=True,
    )


@pytest.mark.parametrize(
    ("typed", "kind", "days"),
    [
        ("", "new", 14),
        ("kind:overdue", "due", 14),
        ("kind:stale", "stale", 14),
        ("kind:stale:30d", "stale", 30),
        ("stale:2w", "stale", 14),
        ("kind:closed", "closed", 14),
    ],
)
def test_kinds_people_and_exclusions_are_understood(typed: str, kind: str, days: int) -> None:
    request = digest_command(f"add web daily 9 {typed} to:me,<@U2> -tracker:support -to:Ben", ANA)

    assert isinstance(request, AddDigest)
    wanted = request.wanted
    assert (wanted.kind, wanted.stale_days, request.problems) == (kind, days, ())
    assert wanted.filters == {"to": ("me", Owner(None, ANA.team_id, "U2"))}
    assert wanted.excluded == {"tracker": ("support",), "to": ("Ben",)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("add web daily 9 kind:old", "`kind:` can be"),
        ("add web daily 9 kind:due stale:14d", "`kind:` can be"),
        ("add web daily 9 -traker:bug", "`-tracker:`"),
        ("puase 3", "Did you mean `/digest pause`?"),
        ("xyzzy", "Try `/digest help`"),
        ("list all", "Type `/digest list` on its own"),
        ("pause all", "`/digest pause 3`"),
        ("pause 3 4", "`/digest pause 3`"),
        ("now 0", "`/digest now 3`"),
        ("take over it", "`/digest take over 3`"),
        ("pause 3 tz:UTC", "Leave out `tz:`"),
        ("add web daily 9 project:web", "named the project twice"),
        ("add web daily 9 please", "I couldn't read the time after `daily`"),
        ("add web daily 9 for us", "Try `daily 9:00`"),
        ("add web weekly 9", "`weekly mon 9:00`"),
        ("add web dayly 09:00", "Try `daily 9`"),
        ("add web 09:00", "Try `daily 9`"),
        ("add web daily tz:New York", "`America/New_York`"),
        ("add web daily group:status", "`group:` can be `tracker`, `priority`"),
        ("add web daily by:priority", "Did you mean `group:`?"),
        ("add web daily zone:UTC", "Did you mean `tz:`?"),
        ("add web daily empty:maybe", "such as `empty:yes`"),
        ("add web daily tracker:,", "`tracker:` needs a value"),
    ],
)
def test_unreadable_command_error_shows_what_to_type(text: str, said: str) -> None:
    assert said in refused(text)


@pytest.mark.parametrize("text", [KEY, f"add {KEY} daily", f"add web daily {KEY}", f"pause tz:{KEY}"])
def test_typed_key_is_refused_and_not_repeated(text: str) -> None:
    said = refused(text)

    assert "Create a new key under “My account” in Tracker" in said
    assert KEY not in said


@given(TYPED, st.sampled_from(["", "add web "]))
def test_any_input_raises_only_user_errors(text: str, begin: str) -> None:
    with suppress(UserError):
        digest_command(begin + text, ANA)
