"""Parses `/digest`, and words the command that adds a digest."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from typing import TypeVar

from bot.access.people import Who
from bot.errors import Offer, UserError
from bot.features.digests import schedules
from bot.features.digests.buttons import DigestAction
from bot.features.digests.plans import FILTERS, ORDER, PlanDraft
from bot.features.digests.schedules import Schedule
from bot.slack.language import values
from bot.slack.language.doubts import reject_question
from bot.slack.language.keys import reject_key
from bot.slack.language.marks import Vocabulary
from bot.slack.language.options import CUSTOM_FIELD, Parsed, checked, understand
from bot.slack.language.tables import shapes
from bot.slack.language.tokens import UnclosedQuote, Word, words
from bot.slack.language.values import Help
from bot.slack.text.wording import Wording
from bot.spelling import SURE, series
from bot.store.owner import Owner
from bot.store.plans import (
    FILTER_KINDS,
    GROUPS,
    LIVE,
    STALE_DAYS,
    DigestKind,
    FieldValue,
    FilterKind,
    FilterValue,
    Group,
    Plan,
)

T = TypeVar("T")


@dataclass(frozen=True)
class ListDigests:
    """`/digest`: this channel's digests."""


@dataclass(frozen=True)
class AddDigest:
    """`/digest add …`, or just a schedule. Unless it is `scheduled`, the form opens.

    `problems` are the errors in the command; the rest is what was understood. `/digest me` sets up a personal
    digest, and shows it unless it is `scheduled`.
    """

    draft: PlanDraft = field(default_factory=PlanDraft)
    scheduled: bool = False
    problems: tuple[UserError, ...] = ()

    @property
    def personal(self) -> bool:
        return self.draft.plan.kind == "personal"


@dataclass(frozen=True)
class OnDigest:
    """`/digest pause [3]` and the like; `id` is None if none was typed. `personal`: `/digest me pause`.

    `named` is the project of the digest, and `schedule` the new one in `change to 10am`.
    """

    act: DigestAction
    id: int | None = None
    personal: bool = False
    named: str = ""
    schedule: str = ""


DigestRequest = ListDigests | AddDigest | OnDigest | Help
MORE = ("query", CUSTOM_FIELD)  # the filters that only the service applies
_FILTER_OPTIONS = (*FILTER_KINDS, *(f"-{kind}" for kind in FILTER_KINDS), *MORE)
OPTIONS = ("project", "kind", "stale", *_FILTER_OPTIONS, "group", "empty", "subprojects", "tz")

ME = "digest me"
_ALONE: dict[str, DigestRequest] = {"list": ListDigests(), "help": Help()}
_ACTS = {
    **dict.fromkeys(("change", "edit"), DigestAction.CHANGE),
    "now": DigestAction.NOW,
    "pause": DigestAction.PAUSE,
    "resume": DigestAction.RESUME,
    **dict.fromkeys(("remove", "delete", "stop"), DigestAction.REMOVE),
    **dict.fromkeys(("take", "takeover"), DigestAction.TAKE_OWNERSHIP),
    "preview": DigestAction.PREVIEW,
}
_THE_ONE = {"the", "digest", "digests", "it", "this", "my", "one", "all", "please", "here", "channel"}
ADD = ("add", "create", "schedule")
_KNOWN = (*ADD, "me", *_ALONE, *_ACTS)
_KIND_WORDS: Mapping[str, DigestKind] = {**{kind: kind for kind in ORDER}, "overdue": "due"}
_DAYS = re.compile(r"([1-9][0-9]{0,2}) ?(?:(w)(?:eeks?)?|d(?:ays?)?)?", re.IGNORECASE)
_TIME = re.compile(r"[0-9]{1,2}(?:[:.][0-9]{2}|\s?[ap]m)")
_PLAIN = re.compile(r"[\w.-]+")
_UNQUOTABLE = re.compile('["“”„‟«»`\n]')
_SCHEDULE_WORDS, _PROJECT_WORDS = 12, 40
_WEEKLY = re.compile(r"(?:weekly|every week)(?!\S)", re.IGNORECASE)
_END = re.compile(r"(?is)(?:^|\s)((?:(?:until|till|for|to|through)\s|[0-9]+ (?:day|week)|tomorrow).*)")
_ASKS = shapes("what|what's|whats|which|when|who|how|is|are {rest?}")
_TWICE = re.compile(r"\b(?:twice|two times) (?:daily|(?:a|per|each|every) day)\b", re.IGNORECASE)
_ALL = re.compile(r"\b(?:all|every|each)(?: the)? projects?\b", re.IGNORECASE)
_MOVED = re.compile(r"(?:make|move|set) (?:it|this)(?: to)? (.+?)(?: instead(?: of .+)?)?", re.IGNORECASE)
_SCHEDULE_LIKE = frozenset({"each", "monthly", "morning", "mornings", "yearly"})


def typed_digest(text: str) -> Parsed:
    """What follows `/digest`; without a quote that isn't closed. Raises UserError for a key."""
    reject_key(text)
    parsed = understand(text, OPTIONS)
    if any(isinstance(problem, UnclosedQuote) for problem in parsed.problems):
        problems, parsed = parsed.problems, understand(text.translate(schedules.QUOTES), OPTIONS)
        parsed = replace(parsed, problems=problems)
    words = tuple(word for word in parsed.words if not word.text.endswith(":"))  # options without a value
    return replace(parsed, words=words)


def typed_project(typed: Parsed) -> str | None:
    """The project that a new digest names before its schedule."""
    parsed = typed.after(1) if typed.plain.lower().split()[:1] in ([word] for word in ADD) else typed
    return _project(parsed, _schedule_at(parsed.words)) or None


def digest_command(
    parsed: Parsed,
    asker: Owner,
    vocabulary: Vocabulary,
    project: str | None = None,
) -> DigestRequest:
    """The request in `/digest …`, for the `project` if one is given, by name or as `#5`.

    Raises UserError, which never repeats a key that was typed.
    """
    if _ASKS.take(parsed.plain) and _schedule_at(parsed.words, mistyped=False) == len(parsed.words):
        return ListDigests()
    reject_question(parsed.text, parsed.words)
    parsed = parsed.with_fields(vocabulary.fields, vocabulary.problem)
    request = _request(replace(parsed, problems=()), list(parsed.problems), asker)
    if project and isinstance(request, AddDigest):
        request = replace(request, draft=replace(request.draft, project=project))
    return request


def _request(parsed: Parsed, problems: list[UserError], asker: Owner) -> DigestRequest:
    command = parsed.words[0].text.lower() if parsed.words else "list"
    rest = parsed.after(1)
    if command in ADD:
        return _add(rest, problems, asker)
    if command == "me":
        return _personal(rest, problems)
    if not (problems or parsed.options) and (moved := _MOVED.fullmatch(parsed.plain)):
        return _on_digest("change", Parsed(words(f"to {moved[1]}"), {}))
    if command not in _KNOWN and _schedule_at(parsed.words, mistyped=False) < len(parsed.words):
        return _add(parsed, problems, asker)

    if problems:
        raise problems[0]
    if _TWICE.search(parsed.plain) or _ALL.search(parsed.plain):
        problem = UserError(
            "A digest covers one project, on a schedule such as `daily 9`, or `cron 0 9,16 * * *` for twice "
            "a day. Add one for each project."
        )
        understood = _ALL.sub("", _TWICE.sub("cron 0 9,16 * * *", parsed.plain))
        return _add(replace(parsed, words=words(understood)), [problem], asker)
    if command not in _KNOWN:
        raise values.unknown_word(command, _KNOWN, "digest")
    if parsed.options:
        raise _takes_no_options(command, next(iter(parsed.options)))
    if command in _ACTS:
        return _on_digest(command, rest)
    if rest.words:
        raise UserError("Type `{/digest} {word}` on its own.", word=command)
    return _ALONE[command]


def _takes_no_options(word: str, option: str) -> UserError:
    return UserError(
        "`{/digest} {word}` doesn't take options. Leave out `{option}:`.", word=word, option=option
    )


def more_filters(parsed: Parsed, vocabulary: Vocabulary) -> tuple[tuple[FieldValue, ...], int | None]:
    """Custom fields and a saved query as a form's field has them. Raises UserError."""
    parsed = checked(parsed.with_fields(vocabulary.fields, vocabulary.problem))
    if parsed.words:
        raise UserError("Use custom fields and a saved query here, such as `cf_7:Acme query:3`.")
    return _custom_fields(parsed), values.saved_query(parsed, "query")


def _custom_fields(parsed: Parsed, _: str = CUSTOM_FIELD) -> tuple[FieldValue, ...]:
    return tuple(FieldValue(number, value) for number, value in values.custom_fields(parsed).items())


def _on_digest(word: str, parsed: Parsed, whose: str = "") -> OnDigest:
    if word == "take" and parsed.plain.lower().split()[:1] == ["over"]:
        parsed = parsed.after(1)
    if word == "pause" and (end := _END.search(parsed.plain)):
        which = parsed.plain.replace(end[1], "").strip()
        raise UserError(
            "A pause lasts until someone resumes the digest, so I didn't pause it. Pause it anyway?",
            offers=[Offer("Pause digest", f"{whose}pause {which}".strip())],
        )
    words = [word.text for word in parsed.words if word.text.lower() not in _THE_ONE]
    act, names = _ACTS[word], [name.lower() for name in words]
    to = names.index("to") if act is DigestAction.CHANGE and "to" in names[:-1] else len(words)
    if act is DigestAction.CHANGE and words[1:] and to == len(words) and values.issue_number(words[0]):
        words, to = [words[0], "to", *words[1:]], 1

    text, schedule = " ".join(words[:to]), " ".join(words[to + 1 :])
    number = values.issue_number(text)
    if number or not text or text[:1].isalpha():
        return OnDigest(act, number, named="" if number else text, schedule=schedule)
    verb = "take over" if word == "take" else word
    raise UserError("Which digest? Type its number, like `{/digest} {act} 3`.", act=verb)


def _personal(parsed: Parsed, problems: list[UserError]) -> AddDigest | OnDigest:
    act = parsed.plain.lower().partition(" ")[0]
    if act in _ACTS and not parsed.options:
        request = _on_digest(act, parsed.after(1), whose="me ")
        if request.id is None and not request.named:
            return replace(request, personal=True)

    if other := next((key for key in parsed.options if key != "tz"), None):
        problems.append(_takes_no_options("me", other))
    zone = _given(parsed, problems, _zone, "tz")
    schedule = _schedule(parsed, problems)
    if schedule and schedule.text == LIVE:
        problems.append(schedules.needed())
    unread = values.unknown_word(act, (*_ACTS, *schedules.KEYWORDS), ME)
    if parsed.words and not schedule and unread.nearest not in (None, unread.word):
        raise unread
    text = schedule.text if schedule else Plan.schedule
    draft = PlanDraft(plan=Plan(kind="personal", schedule=text, zone=zone or ""))
    return AddDigest(draft, schedule is not None, tuple(problems))


def _add(parsed: Parsed, problems: list[UserError], asker: Owner) -> AddDigest:
    at = next((n for n, word in enumerate(parsed.words) if re.match(r"#\D", word.text)), None)
    if at is not None:
        problems.append(
            UserError(
                "I post where you type the command. Type it in {channel}, or choose the channel in the form.",
                channel=parsed.words[at].text,
            )
        )
        before = 1 if parsed.words[at - 1 : at] and parsed.words[at - 1].text.lower() in ("to", "in") else 0
        parsed = parsed.without(at - before, before + 1)
    start = _schedule_at(parsed.words)
    project = _project(parsed, start)
    given = partial(_given, parsed, problems)
    option = given(values.name, "project")
    if project and option:
        problems.append(
            UserError("You named the project twice. Leave out `project:` or the name before the schedule.")
        )
    zone = given(_zone, "tz")

    def chosen(kind: FilterKind, key: str) -> tuple[Who, ...] | None:
        if FILTERS[kind].part == "people":
            return given(partial(values.people, asker=asker), key)
        return given(values.names, key)

    schedule = _schedule(parsed.after(start), problems)
    kind, stale_days = given(_kind, "kind") or ("new", STALE_DAYS)
    if problems and not parsed.options.keys() & {"kind", "stale"}:  # the form opens with what was understood
        kind = next(filter(None, map(_KIND_WORDS.get, parsed.plain.lower().split())), kind)
    if schedule and schedule.text == LIVE and parsed.options.keys() & {"kind", "stale"}:
        problems.append(UserError("A live feed posts new issues. Leave out `kind:` and `stale:`."))
    filters = {kind: names for kind in FILTER_KINDS if (names := chosen(kind, kind))}
    excluded = {kind: names for kind in FILTER_KINDS if (names := chosen(kind, f"-{kind}"))}
    plan = Plan(
        schedule=schedule.text if schedule else Plan.schedule,
        zone=zone or "",
        kind=kind,
        stale_days=stale_days,
        custom_fields=given(_custom_fields, CUSTOM_FIELD) or (),
        query=given(values.saved_query, "query"),
        group=given(_group, "group") or "tracker",
        empty=given(values.yes_or_no, "empty") or False,
        subprojects=given(values.yes_or_no, "subprojects") or False,
    )
    draft = PlanDraft(plan=plan, project=project or option, filters=filters, excluded=excluded)
    return AddDigest(draft, schedule is not None, tuple(problems))


def _given(parsed: Parsed, problems: list[UserError], read: Callable[[Parsed, str], T], key: str) -> T | None:
    try:
        return read(parsed, key)
    except UserError as error:
        problems.append(error)
        return None


def _schedule(typed: Parsed, problems: list[UserError]) -> Schedule | None:
    """The schedule, or else what the first words mean without the rest; None for no words."""
    try:
        return schedules.parse(typed.plain) if typed.words else None
    except UserError as error:
        problems.append(error)
    for end in range(min(len(typed.words), _SCHEDULE_WORDS), 0, -1):
        with suppress(UserError):
            return schedules.parse(Parsed(typed.words[:end], {}).plain)
    if weekly := _WEEKLY.match(typed.plain):
        text = f"weekly mon{typed.plain[weekly.end() :]}"
        if not schedules.is_schedule(text):
            first = typed.plain.split()[:_SCHEDULE_WORDS]
            days = [day for day in first if schedules.is_schedule(f"weekly {day}")]
            problems[-1:] = (
                problems[-1:] if days else [UserError("Which day? I filled in the form with Monday.")]
            )
            text = f"weekly {','.join(days) or 'mon'}"
        return schedules.parse(text)
    return None


def _project(parsed: Parsed, start: int) -> str:
    """The words before the schedule."""
    return Parsed(parsed.words[:start], {}).plain.rstrip(",")


def _schedule_at(words: Sequence[Word], *, mistyped: bool = True) -> int:
    """Where the schedule starts; the words before it are the project's name, and so is what is quoted."""
    plain = ["" if word.quoted else word.text.lower() for word in words[:_PROJECT_WORDS]]

    def starts(n: int) -> bool:
        """`live` is part of the name unless another schedule or nothing follows."""
        named = plain[n] == LIVE and plain[n + 1 :] and not schedules.starts(plain[n + 1])
        return schedules.starts(plain[n]) and not named

    def resembles(n: int) -> bool:
        near = get_close_matches(plain[n], set(schedules.KEYWORDS) - {LIVE}, n=1, cutoff=SURE)
        return n > 0 and bool(near or plain[n] in _SCHEDULE_LIKE or _TIME.fullmatch(plain[n]))

    last = range(max(0, len(words) - _SCHEDULE_WORDS), len(plain))
    complete = [n for n in last if plain[n] and schedules.is_schedule(Parsed(tuple(words[n:]), {}).plain)]
    positions = [*complete, *filter(starts, range(len(plain)))]
    return min(positions or [*filter(resembles, range(len(plain) if mistyped else 0)), len(words)])


def _kind(parsed: Parsed, key: str) -> tuple[DigestKind, int]:
    """`kind:due`, `kind:stale`, `kind:stale:14d` or `stale:14d`."""
    word, _, days = (values.name(parsed, key) or "").lower().partition(":")
    days = days or values.name(parsed, "stale") or ""
    kind = _KIND_WORDS.get(word or ("stale" if days else "new"))
    number = _DAYS.fullmatch(days)
    if kind is None or (days and (kind != "stale" or number is None)):
        raise UserError(
            "`kind:` can be `new`, `due`, `closed`, `changed`, or `stale`. For stale issues, try `stale:14d`."
        )
    if number is None:
        return kind, STALE_DAYS
    return kind, int(number[1]) * (7 if number[2] else 1)


def _zone(parsed: Parsed, key: str) -> str | None:
    typed = values.name(parsed, key)
    return schedules.zone_named(typed) if typed else None


def _group(parsed: Parsed, key: str) -> Group:
    typed = values.name(parsed, key) or "tracker"
    group = next((known for known in GROUPS if known == typed.lower()), None)
    if group is None:
        groups = series([f"`{group}`" for group in GROUPS])
        raise UserError("`group:` can be {groups}. Try `group:priority`.", groups=groups)
    return group


def add_command(plan: Plan, wording: Wording) -> str:
    if plan.kind == "personal":
        return f"{wording.command('digest')} me {plan.schedule} tz:{plan.zone}"
    project = plan.project if _quotable(plan.project) else f"#{plan.project_id}"
    words = [wording.command("digest"), "add", _quoted(project), plan.schedule]
    words += [] if plan.live else [f"tz:{plan.zone}"]

    kind = f"stale:{plan.stale_days}d" if plan.kind == "stale" else f"kind:{plan.kind}"
    words += [kind] if plan.kind != "new" else []
    words += [f"{kind}:{','.join(map(_chosen, chosen))}" for kind, chosen in plan.filters.items()]
    words += [f"-{kind}:{','.join(map(_chosen, chosen))}" for kind, chosen in plan.excluded.items()]
    words += [more_typed(plan)] if more_typed(plan) else []
    words += [f"group:{plan.group}"] if plan.group != "tracker" else []
    words += ["empty:yes"] if plan.empty else []
    words += ["subprojects:yes"] if plan.subprojects else []
    return " ".join(words)


def more_typed(plan: Plan) -> str:
    """The custom fields and the saved query as they are typed."""
    fields = [f"{CUSTOM_FIELD}{one.id}:{_quoted(one.value)}" for one in plan.custom_fields]
    return " ".join([*fields, f"query:{plan.query}"] if plan.query else fields)


def _chosen(choice: FilterValue) -> str:
    return _quoted(choice.name if _quotable(choice.name) else f"#{choice.id}")


def _quotable(name: str) -> bool:
    return _UNQUOTABLE.search(name) is None


def _quoted(name: str) -> str:
    if _PLAIN.fullmatch(name) and name.lower() not in schedules.KEYWORDS:
        return name
    return f"«{name}»" if '"' in name else f'"{name}"'
