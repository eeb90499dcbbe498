"""`/tracker` (docs/commands.md)."""

from dataclasses import dataclass
from enum import Enum

from bot.access.people import Who
from bot.errors import UserError
from bot.service.conventions import KEY
from bot.slack.language.doubts import reject_question
from bot.slack.language.keys import LINK, key_typed
from bot.slack.language.options import Parsed
from bot.slack.language.tables import CommandTable, shapes
from bot.slack.language.tokens import SlackUser, words
from bot.slack.language.values import issue_number, person, unknown_word
from bot.store.owner import Owner

Act = Enum(
    "Act",
    "ACCOUNT NO_ACCOUNT HEALTH LANGUAGE LINK LINK_WITH_KEY UNLINK LOGOUT WHOAMI HELP "
    "PROJECTS PROJECT MEMBERS NEW_PROJECT "
    "SHOW_DEFAULT CLEAR_DEFAULT SET_DEFAULT SHOW_EMOJI CLEAR_EMOJI SET_EMOJI SHOW_NOTICES SET_NOTICES "
    "MUTE UNMUTE USER NEW_USER EDIT_USER",
)


@dataclass(frozen=True)
class TrackerRequest:
    """An action, with the text after its words, `who`, or the Slack user or the issue it is about."""

    act: Act
    text: str = ""
    who: Who = "me"
    mentioned: SlackUser | None = None
    issue: int | None = None


_LINK, _DEFAULT, _EMOJI, _NOTIFY, _USER = (
    "|".join(LINK),
    "default|channel|use",
    "emoji|reaction|reactions",
    "notify|notice|notices|notification|notifications",
    "user|users|person|people",
)
_NEW, _NONE = "new|create|add", "none|clear|remove|off"
_TABLE = CommandTable(
    ("", Act.ACCOUNT),
    ("my? settings", Act.ACCOUNT),
    ("my account", Act.ACCOUNT),
    (f"{_LINK} {{talk?}}", Act.LINK),
    (f"{_LINK} {{rest}}", Act.LINK_WITH_KEY),
    ("unlink {talk?}", Act.UNLINK),
    ("logout|signout|disconnect|logoff {talk?}", Act.LOGOUT),
    ("log|sign me? out|off {talk?}", Act.LOGOUT),
    ("log|sign me? in {talk?}", Act.LINK),
    ("whoami|me|who|who's|account|status {talk?}", Act.WHOAMI),
    ("help {talk?}", Act.HELP),
    ("who|who's is|are? in|on {rest}", Act.MEMBERS),
    ("who|who's is|are? {rest}", Act.USER),
    ("unlink {rest}", Act.UNLINK),
    ("logout {rest}", Act.LOGOUT),
    ("whoami {rest}", Act.WHOAMI),
    ("help {rest}", Act.HELP),
    ("projects|list|ls projects? {rest?}", Act.PROJECTS),
    (f"project {_NEW} {{rest?}}", Act.NEW_PROJECT),
    ("project {rest}", Act.PROJECT),
    ("project", Act.PROJECTS),
    (_DEFAULT, Act.SHOW_DEFAULT),
    (f"{_DEFAULT} {_NONE}", Act.CLEAR_DEFAULT),
    (f"set? {_DEFAULT} to? {{rest}}", Act.SET_DEFAULT),
    (_EMOJI, Act.SHOW_EMOJI),
    (f"{_EMOJI} {_NONE}", Act.CLEAR_EMOJI),
    (f"{_EMOJI} {{rest}}", Act.SET_EMOJI),
    (_NOTIFY, Act.SHOW_NOTICES),
    (f"{_NOTIFY} me when|if|about {{rest}}", Act.SHOW_NOTICES),
    (f"{_NOTIFY} {{rest}}", Act.SET_NOTICES),
    (f"turn|switch|stop|disable on|off? the|my|all|comments|changes? {_NOTIFY} on|off?", Act.SHOW_NOTICES),
    ("mute {issue}", Act.MUTE),
    ("unmute {issue}", Act.UNMUTE),
    (f"{_USER} {_NEW} {{rest?}}", Act.NEW_USER),
    (f"{_USER} edit|change|update {{rest?}}", Act.EDIT_USER),
    (f"{_USER} {{rest?}}", Act.USER),
    ("is it|everything|tracker up|down|working|ok|okay|broken|slow", Act.HEALTH),
    ("{accountless}", Act.NO_ACCOUNT),
    ("{language}", Act.LANGUAGE),
    ("{noisy}", Act.SHOW_NOTICES),
    accountless=r"(?:i|we)\s.*(?:no|don['’]?t have|need|without)\s(?:(?:an?|any)\s)?(?:\S+\s)?account\b.*",
    noisy=r"(?:.*\s)?(?:pings?|noisy|too\s(?:many|much)\s(?:messages|notifications|pings))(?![^\s.,!?]).*",
    language=r"(?:.*\s)?(?:language|locale|english|german|french|spanish)(?![^\s.,!?]).*",
)
_ALONE = {Act.UNLINK: "unlink", Act.LOGOUT: "logout", Act.WHOAMI: "whoami", Act.HELP: "help"}
_WRITES = (
    *(Act.SET_DEFAULT, Act.CLEAR_DEFAULT, Act.SET_EMOJI, Act.CLEAR_EMOJI),
    *(Act.SET_NOTICES, Act.MUTE, Act.UNMUTE, Act.UNLINK),
)
_PERSON = shapes(
    "{number}",
    "{name}",
    number=r"(?:#|https?://\S*/users/)?(?P<id>[0-9]{1,9})/?",
    name=r"[^\W\d_][\w .'’-]{1,60}",
)


def may_hold_key(text: str) -> bool:
    """Whether what follows the first word may be an API key."""
    return text.split(" ", 1)[0].casefold() in LINK


def tracker_command(text: str, asker: Owner) -> TrackerRequest:
    """Parse `/tracker <text>` of `asker`. Raises UserError, never with a typed API key in its text."""
    typed = words(text)
    match = _TABLE.take(text.strip() if typed else "")
    if match is None and not KEY.search(text):
        raise unknown_word(typed[0].text.lower().rstrip("?!.,"), _TABLE.verbs, "tracker")
    if match is None or match[0] is Act.LINK_WITH_KEY or KEY.search(text):  # nothing else looks like a key
        raise key_typed()

    act, rest = match[0], Parsed(words(match[1].groupdict().get("rest") or ""), {})
    if act in _WRITES:
        reject_question(text, typed)
    if rest.words and act in _ALONE:
        raise UserError("Type `{/tracker} {command}` on its own.", command=_ALONE[act])

    if issue := match[1].groupdict().get("issue"):
        return TrackerRequest(act, issue=issue_number(issue))
    if act is Act.NEW_USER:
        mentioned = [word.user for word in rest.words]
        if len(mentioned) > 1 or None in mentioned:
            raise UserError(
                "Mention one person, such as `{/tracker user new} @gwen`, or type `{/tracker user new}` "
                "on its own."
            )
        return TrackerRequest(act, mentioned=next(iter(mentioned), None))
    if act is Act.EDIT_USER or (act is Act.USER and rest.words):
        return TrackerRequest(act, who=_who(rest, "user edit" if act is Act.EDIT_USER else "user", asker))
    return TrackerRequest(act, rest.text.rstrip("?") if act is Act.MEMBERS else rest.text)


def _who(args: Parsed, command: str, asker: Owner) -> Who:
    who = person(args.words[0], asker) if len(args.words) == 1 else args.plain
    if isinstance(who, Owner) or who == "me":
        return who
    match = _PERSON.take(who)
    slots = match[1].groupdict("") if match else {}
    number, name = slots.get("id"), slots.get("name")
    if name and command == "user":
        return name.rstrip(". ")
    if not number or not int(number):
        raise UserError(
            "Mention the person or use their ID: `{/tracker} {command} @name` or `{/tracker} {command} 5`.",
            command=command,
        )
    return number
