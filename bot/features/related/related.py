"""Finds the issues that a message may be about, and possible duplicates of a new one, with the user's key.

The service finds only subjects with all words of a query, so the bot searches for each of the message's most
distinctive words separately and concurrently. The fewer issues have a word, the more it counts.

Common words are dropped. A code or an identifier (`KeyError`, `SPRING10`) tells more than a name (`Safari`),
a name more than another word, and a long word more than a short one. Words are compared by their stems, so
that `charged` finds `charge`.
"""

import asyncio
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import IntEnum
from itertools import chain
from typing import Literal

from bot.access.access import Access
from bot.access.accounts import Session
from bot.access.projects import KnownProject
from bot.features.issues.creating import Source
from bot.features.issues.issues import IssueNotFound, Issues
from bot.service.client import Client
from bot.service.filters import IssueFilters, Sort
from bot.service.models import Issue
from bot.store.channels import Channel
from bot.store.owner import Owner

WORDS_SEARCHED = 6  # words that are searched for; further words only rank what these find
MAX_NAMED = 5  # issues that the message names and that are read
ISSUES_PER_WORD = 50  # issues that are read for each word, the most recently updated ones
MAX_RESULTS = 10
LEAST_SHARE = 0.5  # issues that fit less well than this share of the best one aren't shown
LEAST_LETTERS = 3  # a shorter word tells nothing, unless it is a code
STEM_LETTERS = 3
LONG_NUMBER = 4
TEXT_LENGTH = 6_000  # how many characters of a text are read
MAX_WORDS = 200  # how many words of a text count
IN_SUBJECT = 2.0  # how much more a word counts in a subject than in a description
MAX_DUPLICATES = 3
SUBJECT_WORDS_SEARCHED = 3  # words of a subject that are searched for
SIMILAR_CANDIDATES = 15
LEAST_SIMILARITY = 0.5  # how similar a subject has to be
_COMMON = """
about above after again all also and another any anybody anyone anything are aren around ask asked
asks back because been before being below between both bug but call came can cannot cant come comes
could couldn did didn does doesn doing don done down each either else even ever every everybody
everyone everything few find fine first fix fixed for found from further get gets getting give go
goes going gone good got had has hasn have haven having heads hello help her here hers hey him his
how however instead into isn issue issues its itself just keep keeps kind know last least less let
like look looked looking looks lot made make makes many may maybe mean might mine more most much
must need needs never new next nobody none not nothing now off often okay old once one ones only
other others our ours out over own people perhaps please problem put quite really right said same
saw say says see seem seems seen shall she should shouldn show shows since some somebody someone
something sometimes soon sorry still such sure take tell than thank thanks that the their them then
there these they thing things think this those though through ticket time today together told
tomorrow too took totally tried try trying two under until upon use used user users uses using very
via want wants was wasn way week well went were weren what when where which while who whole whom why
will with within without won work worked working works would wouldn wrong wrote yes yesterday yet
you your yours
"""
COMMON = frozenset(_COMMON.split())
ENDINGS = (
    *("ations", "ation", "ments", "ment", "ings", "ing", "ions", "ion", "ness", "ers", "ies", "er", "ed"),
    *("es", "ly", "s", "y", "e"),
)
_SENTENCE = re.compile(r"[.!?:;]\s|\n")
_WORD = re.compile(r"[^\W_]{1,40}(?:[._][^\W_]{1,40}){0,6}")
_SKIPPED = re.compile(r":[a-z0-9_+-]{1,40}:|https?://[^\s]{1,2000}|@[\w.-]{1,40}")
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")


@dataclass(frozen=True)
class RelatedMatches:
    """Issues that a message may be about: those that it names, then open ones, then closed ones, each the
    nearest first. `project` is the one that was searched, None for all.
    """

    issues: tuple[Issue, ...]
    project: KnownProject | None


class RelatedIssues:
    def __init__(self, access: Access) -> None:
        self.access, self.issues = access, access.shared(Issues)

    async def find(
        self,
        owner: Owner,
        text: str,
        numbers: Sequence[int],
        channel: Channel | None,
        *,
        everywhere: bool = False,
    ) -> RelatedMatches:
        """The issues that a message in plain text may be about; `numbers` are those that it names.

        Searches the channel's project, and all projects if it has none, nothing is found, or `everywhere` is
        set. Raises NotLinked, KeyRejected, ServiceError.
        """
        words = await asyncio.to_thread(telling_words, text)
        async with self.access.accounts.reading(owner) as session:
            project = None if everywhere else await self.access.projects.default_in(session, channel)
            named, near = await asyncio.gather(
                self.issues.several(session, numbers[:MAX_NAMED]), self._nearest(session, words, project)
            )
            if not near and project:
                project, near = None, await self._nearest(session, words, None)
        first = [named[number] for number in numbers[:MAX_NAMED] if number in named]
        others = (issue for issue in near if issue.id not in named)
        return RelatedMatches((*first, *others)[:MAX_RESULTS], project)

    async def _nearest(
        self, session: Session, words: Sequence[str], project: KnownProject | None
    ) -> tuple[Issue, ...]:
        asked, project_id = words[:WORDS_SEARCHED], project.id if project else None
        candidates, totals = await with_words(
            self.access.client, session, asked, project_id, status="any", most=ISSUES_PER_WORD
        )
        return await asyncio.to_thread(nearest, words, candidates, totals)


async def with_words(
    client: Client,
    session: Session,
    words: Sequence[str],
    project_id: int | None,
    *,
    status: Literal["any", "open"],
    most: int,
) -> tuple[tuple[Issue, ...], dict[str, int]]:
    """For each word, the most recently updated issues with it in their subject, and how many have it."""
    latest = (Sort("updated_on", descending=True),)
    searches = (
        IssueFilters(project_id=project_id, subject=word, status=status, sort=latest) for word in words
    )
    lists = (client.list_issues(session.key, each, limit=most) for each in searches)
    pages = await asyncio.gather(*lists)
    issues = {issue.id: issue for issue in chain.from_iterable(page.items for page in pages)}
    totals = {word: page.total_count for word, page in zip(words, pages, strict=True)}
    return tuple(issues.values()), totals


def nearest(words: Sequence[str], issues: Sequence[Issue], totals: Mapping[str, int]) -> tuple[Issue, ...]:
    """The issues that fit the words, open ones first and then the nearest first.

    `totals` says how many issues have a word; for other words, the given issues are counted.
    """
    sought = frozenset(words)
    texts = [(stems(issue.subject, issue.description or "", sought), issue) for issue in issues]
    having = Counter(chain.from_iterable(stemmed.everywhere for stemmed, _ in texts))
    weights = {word: 1 / (1 + math.log2(1 + (totals.get(word) or having[word]))) for word in words}
    rated = [(stemmed.fit(weights), issue) for stemmed, issue in texts]
    enough = LEAST_SHARE * max((rate for rate, _ in rated), default=0)
    near = [(rate, issue) for rate, issue in rated if rate > enough]
    near.sort(key=lambda pair: (not pair[1].is_open, -pair[0], -pair[1].id))
    return tuple(issue for _, issue in near)


class WordKind(IntEnum):
    """What a word may be, the most telling last."""

    WORD = 1
    NAME = 2
    CODE = 3


def telling_words(text: str) -> tuple[str, ...]:
    """Return the stems of a text's distinctive words, the most distinctive first: up to `MAX_WORDS`."""
    ranks: dict[str, tuple[WordKind, int]] = {}
    for sentence in _SENTENCE.split(_SKIPPED.sub(" ", text[:TEXT_LENGTH])):
        for n, word in enumerate(_WORD.findall(sentence)):
            kind = _kind(word, starts=n == 0)
            common = len(word) < LEAST_LETTERS or word.casefold() in COMMON
            if kind is WordKind.CODE or not common:
                ranks[stem(word)] = max((kind, len(word)), ranks.get(stem(word), (kind, 0)))
    return tuple(sorted(ranks, key=lambda known: ranks[known], reverse=True)[:MAX_WORDS])


def _kind(word: str, *, starts: bool) -> WordKind:
    digits = sum(map(str.isdigit, word))
    if 0 < digits < len(word) or digits >= LONG_NUMBER or "_" in word or _INNER_CAPITAL.search(word):
        return WordKind.CODE
    named = word[0].isupper() and (not starts or word.isupper())
    return WordKind.NAME if named else WordKind.WORD


def stem(word: str) -> str:
    """The word in lowercase without its ending."""
    word = word.casefold()
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= STEM_LETTERS:
            return word.removesuffix(ending)
    return word


@dataclass(frozen=True)
class Stems:
    """The sought stems that an issue has: those in its subject, and all."""

    in_subject: AbstractSet[str]
    everywhere: AbstractSet[str]

    def fit(self, words: Mapping[str, float]) -> float:
        """How well the issue fits: the weights of its words, those in its subject counting double."""
        return sum(
            weight * (IN_SUBJECT if word in self.in_subject else 1)
            for word, weight in words.items()
            if word in self.everywhere
        )


def stems(subject: str, description: str, sought: AbstractSet[str]) -> Stems:
    """The sought stems that an issue has; of its description, the first TEXT_LENGTH characters count."""
    in_subject = _stems(subject) & sought
    return Stems(in_subject, in_subject | (_stems(description[:TEXT_LENGTH]) & sought))


def _stems(text: str) -> set[str]:
    return {stem(word) for word in _WORD.findall(text)}


class Duplicates:
    def __init__(self, access: Access) -> None:
        self.access, self.issues = access, access.shared(Issues)

    async def find(
        self, session: Session, subject: str, project_id: int | None, source: Source | None
    ) -> tuple[tuple[Issue, ...], tuple[Issue, ...]]:
        """Issues created from the same message, and similar ones in the project."""
        made, similar = await asyncio.gather(
            self._of_message(session, source), self.similar(session, subject, project_id)
        )
        numbers = {issue.id for issue in made}
        return made, tuple(issue for issue in similar if issue.id not in numbers)

    async def _of_message(self, session: Session, source: Source | None) -> tuple[Issue, ...]:
        if source is None:
            return ()
        made = await self.access.store.created_issues.from_message(
            session.owner.team_id, source.channel_id, source.ts
        )
        issues = []
        for one in made:
            try:
                issues.append(await self.issues.one(session, one.issue_id))
            except IssueNotFound:  # someone else's private issue
                continue
        return tuple(issues)

    async def similar(self, session: Session, subject: str, project_id: int | None) -> tuple[Issue, ...]:
        """Open issues in the project with a similar subject, the most similar first."""
        words = telling_words(subject)[:SUBJECT_WORDS_SEARCHED]
        if not words or project_id is None:
            return ()
        candidates, _ = await with_words(
            self.access.client, session, words, project_id, status="open", most=SIMILAR_CANDIDATES
        )
        rated = [(similarity(subject, issue.subject), issue) for issue in candidates]
        similar = [(rate, issue) for rate, issue in rated if rate >= LEAST_SIMILARITY]
        similar.sort(key=lambda pair: (-pair[0], -pair[1].id))
        return tuple(issue for _, issue in similar[:MAX_DUPLICATES])


def similarity(one: str, other: str) -> float:
    """How similar two subjects are, from 0 to 1: the share of telling words that they have in common."""
    ours, theirs = (set(telling_words(text)) for text in (one, other))
    return 2 * len(ours & theirs) / (len(ours) + len(theirs)) if ours and theirs else 0.0
