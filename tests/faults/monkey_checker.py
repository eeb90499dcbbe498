"""Compares what was asked for with what Slack and the tracker have."""

import re
from collections import Counter
from collections.abc import Iterator

from bot.sandbox.tracker.defaults import CLOSED
from bot.sandbox.workspace.model import Message
from tests.faults.monkey_acts import Act, claims
from tests.faults.monkey_chaos import Chaos
from tests.faults.monkey_load import Digest, Followed, Load

ISSUE = re.compile(r"/issues/([0-9]+)\|")
AGAIN = "You may have already received this message"


class Checker:
    """`missing` is what may still come, `wrong` is what time doesn't cure.

    Unless it is `strict`, it tolerates what is known: a request that is lost in a crash is told in its form
    alone, which may be closed, and a direct message that may have been sent is looked for, and tried again,
    by the database's clock, which may be another than Slack's.
    """

    def __init__(self, load: Load, chaos: Chaos, *, strict: bool) -> None:
        self._load, self._strict = load, strict
        self._checks_messages = strict or not chaos.sets_clock
        self._began = load.office.workspace.state.new_ts()
        self._data, self._state = load.office.tracker.data, load.office.workspace.state

    def missing(self, *, due: bool = True) -> list[str]:
        """Without `due`, only what comes without a digest coming due."""
        self._load.note_forms()
        later = [line for digest in self._load.digests for line in self._unposted(digest)] if due else []
        return [
            *map(self._unanswered, self._silent()),
            *(
                line
                for one in self._load.followed
                if due or not one.live
                for line in self._untold_changes(one)
            ),
            *(self._untold() if self._checks_messages else ()),
            *(self._untold_stops() if due else ()),
            *later,
        ]

    def wrong(self) -> list[str]:
        return [
            *(line for act in self._load.acts for line in self._repeated(act)),
            *(line for digest in self._load.digests for line in self._posted_twice(digest)),
            *(line for one in self._load.followed for line in self._told_wrong(one)),
            *(self._messages_sent_twice() if self._checks_messages else ()),
        ]

    def summary(self) -> str:
        """What there was to check."""
        asked, data = self._asked(), self._data
        done = sum(bool(act.kind.effects(data, act)) for act in asked)
        posts = sum(len(self._numbers_in(digest)) for digest in self._load.digests)
        lines = sum(len(self._load.replies(one)) for one in self._load.followed)
        parts = len([*self._parts()])
        return (
            f"{done} of {len(asked)} acts done, {posts} digest posts, {lines} replies in followed threads, "
            f"{parts} assignments and comments, {len(self._load.closed)} projects closed"
        )

    # What people asked for

    def _asked(self) -> list[Act]:
        return [act for act in self._load.acts if act.asked]

    def _silent(self) -> list[Act]:
        """The acts of which nobody was told what became of them."""
        acts = [act for act in self._asked() if not (act.failed or act.form_texts or act.replies())]
        acts = [act for act in acts if self._strict or not act.kind.in_form]
        # What goes wrong with a reaction is told privately, without saying which one it was.
        reactions: dict[str, list[Act]] = {}
        for act in acts:
            if act.thread:
                reactions.setdefault(act.channel, []).append(act)
        answered = {act for channel, few in reactions.items() for act in few[: self._private_notes(channel)]}
        return [act for act in acts if act not in answered]

    def _private_notes(self, channel: str) -> int:
        return sum(
            bool(m.by_app and m.to and "Act-" not in m.text and m.ts > self._began)
            for m in self._state.messages[channel]
        )

    def _unanswered(self, act: Act) -> str:
        texts = [m.text for m in self._state.messages[act.channel]][-5:]
        return f"{act}: no answer, done {act.kind.effects(self._data, act)} times, in its channel: {texts}"

    def _repeated(self, act: Act) -> Iterator[str]:
        done, replies = act.kind.effects(self._data, act), act.replies()
        public = [m.text for m in replies if m.to is None and act.text in m.text and m.channel == act.channel]
        if done > 1:
            yield f"{act}: done {done} times"
        if len(public) > 1:
            yield f"{act}: announced {len(public)} times: {public}"
        if not done and any(claims(act, text) for text in (*act.form_texts, *(m.text for m in replies))):
            yield f"{act}: said to be done, but isn't: {[m.text for m in replies]} {act.form_texts}"

    # Digests

    def _numbers_in(self, digest: Digest) -> list[set[int]]:
        """The numbers of the issues in each of a digest's posts."""
        posts = [m for m in self._state.messages[digest.channel] if m.by_app and m.to is None]
        posted = [set(map(int, ISSUE.findall(str(post.blocks)))) for post in posts if not post.thread_ts]
        return [numbers for numbers in posted if numbers]

    def _unposted(self, digest: Digest) -> Iterator[str]:
        project = self._data.projects[digest.project]
        if project.name in self._load.closed:
            return
        posted = {number for numbers in self._numbers_in(digest) for number in numbers}
        texts = str([message.blocks for message in self._state.messages[digest.channel]])
        behind_links = sum(map(int, re.findall(r"\band ([0-9]+) more\b", texts)))
        missing = [
            f"{digest.channel}: #{issue.id} {issue.subject} isn't in the digest"
            for issue in self._data.issues.values()
            if issue.project_id == digest.project and issue.id not in digest.known | posted
        ]
        if len(missing) > behind_links:
            yield from missing

    def _posted_twice(self, digest: Digest) -> Iterator[str]:
        counted = Counter(number for numbers in self._numbers_in(digest) for number in numbers)
        for number, times in counted.items():
            if times > 1:
                yield f"{digest.channel}: #{number} is in {times} posts"

    # Followed issues

    def _untold_changes(self, one: Followed) -> Iterator[str]:
        lines, replies = self._load.lines(one), self._load.replies(one)
        if len(lines) < one.toggles:
            yield f"#{one.issue.id}: {one.toggles} changes, but {lines}"
        for comment in one.comments:
            if not any(comment in text for text in replies):
                yield f"#{one.issue.id}: {comment} isn't quoted"
        if ("white_check_mark" in replies[0]) != (one.issue.status_id == CLOSED):
            yield f"#{one.issue.id}: the post says {replies[0]}"

    def _told_wrong(self, one: Followed) -> Iterator[str]:
        lines, replies = self._load.lines(one), self._load.replies(one)
        closed = ["Closed" in line for line in lines]
        if closed != [n % 2 == 0 for n in range(len(lines))] or len(lines) > one.toggles:
            yield f"#{one.issue.id}: {one.toggles} changes, but {lines}"
        quoted = [comment for text in replies for comment in one.comments if comment in text]
        if quoted != [comment for comment in one.comments if comment in quoted]:
            yield f"#{one.issue.id}: quoted {quoted} of {one.comments}"

    # Direct messages

    def _direct(self, slack_id: str) -> list[Message]:
        return [m for m in self._state.messages[self._state.im(slack_id).id] if m.by_app]

    def _parts(self) -> Iterator[tuple[str, str]]:
        """Each person, and what they have to be told."""
        for one in self._load.assigned:
            for text in (f"assigned #{one.issue} to you", *one.comments):
                yield one.slack_id, text

    def _untold(self) -> Iterator[str]:
        for slack_id, text in self._parts():
            if not any(text in m.text for m in self._direct(slack_id)):
                yield f"{slack_id}: not told: {text}"

    def _messages_sent_twice(self) -> Iterator[str]:
        for slack_id, text in self._parts():
            notices = [m for m in self._direct(slack_id) if text in m.text and AGAIN not in str(m.blocks)]
            if len(notices) > 1:
                yield f"{slack_id}: told more than once: {text} {[m.ts for m in notices]}"
        for name in self._load.closed:
            if (stops := self._stops(name)) > 1:
                yield f"{name}: told {stops} times that its digest stopped"

    def _stops(self, name: str) -> int:
        messages = (m for n in {act.person.user_id for act in self._load.acts} for m in self._direct(n))
        return sum(name in m.text and "stopped" in m.text and AGAIN not in str(m.blocks) for m in messages)

    def _untold_stops(self) -> Iterator[str]:
        yield from (
            f"{name}: nobody was told that its digest stopped"
            for name in self._load.closed
            if not self._stops(name)
        )
