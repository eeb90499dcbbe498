"""Help: every command, with examples that work as typed."""

from collections.abc import Callable

from bot.features.issues.fields import FIELDS, Kind
from bot.slack.blocks import Message, context, section
from bot.slack.text import escape

*_OPTIONS, _DESCRIPTION = (
    f"{field.key}:yes" if field.kind is Kind.FLAG else f"{field.key}:" for field in FIELDS.values()
)
_ISSUE_OPTIONS = " ".join(("project:", *_OPTIONS, "cf_<id>:", _DESCRIPTION))
HELP: dict[str, tuple[tuple[str, str], ...]] = {
    "issue": (
        ("", "opens the form for a new issue"),
        ("new The login page is blank", "creates it in this channel's project"),
        (
            'new Checkout fails priority:high to:me due:fri desc:"Since this morning"',
            f"creates it with options: `{_ISSUE_OPTIONS}`, and custom fields by name: `browser:safari`",
        ),
        ("42", "shows issue 42 to you"),
        ("attach 42", "takes files from your computer for issue 42"),
    ),
    "issues": (
        ("", "lists the open issues of this channel's project, or all that you see"),
        ("login", "finds open issues with that in their subject"),
        ("to:me sort:due", "yours, the most urgent first"),
        ("status:any created:7d", "all that were created in the last seven days"),
        (
            "project:any priority:high,urgent updated:>=yesterday",
            "everywhere; filters: `project: subproject: tracker: status: to: author: priority: category: "
            "version: parent: created: updated: closed: start: due: query: sort: id: cf_<id>:`",
        ),
    ),
    "timelog": (
        ("", "opens the form for time that you spent"),
        (
            "42 1h30 activity:design Pairing with Ben",
            "logs it on issue 42; durations: `1.5` `1,5h` `90m` `1h30` `1h 30m` `1:30`",
        ),
        ("42 45m on:yesterday", "on another day: `yesterday`, `mon` to `sun`, `2026-07-01`"),
        ('project:"web shop" 30m activity:support Stand-up', "logs it on a project"),
        ("edit", "changes what you logged last"),
    ),
    "digest": (
        ("", "lists the digests of this channel, with buttons"),
        ("add webshop weekdays 09:00", "posts here, at nine in your time zone, what was opened since"),
        ("add webshop", "opens the form with all there is to choose"),
        (
            "add webshop weekly mon,thu 9:30 tracker:bug priority:high,urgent tz:Europe/Paris",
            "with a schedule (`daily 9am`, `weekdays 09:00`, `weekly mon 09:00`, `hourly`, "
            "`cron 0 9 * * 1-5`) and options: `tracker: priority: category: "
            "group:tracker|priority|category|assignee empty:yes tz:`",
        ),
        ("now", "posts what is new at once; `now 3` where there are several"),
        ("pause 3", "stops number 3 until `resume 3`; `change 3` opens its form, `remove 3` forgets it"),
        ("take over 3", "makes it yours: it runs with your key from then on"),
    ),
    "tracker": (
        ("", "your account, and this help"),
        ("link", "links your account; the key is typed into a form"),
        ("whoami", "who you are there"),
        ("unlink", "forgets your key"),
        ("projects", "lists the projects that you see; `projects web` those called so"),
        ("project <name>", "shows one"),
        ("project new", "opens the form for a new one"),
        (
            "default <project>",
            "makes it this channel's; `default` says which one is, `default none` takes it back",
        ),
        ("user me", "shows a person: yourself, one by number (`user 5`), or somebody in Slack (`user @ana`)"),
        (
            "user new",
            "opens the form for a new account, for administrators; `user new @gwen` fills it from her Slack "
            "profile and links her",
        ),
        ("user edit 5", "opens the form with an account's name, login and mail, for administrators"),
    ),
}


def overview(command: Callable[[str], str], service: str) -> Message:
    blocks = tuple(section(_text(name, command)) for name in HELP)
    tip = context(
        f"A message becomes an issue with *More actions › Create an issue*. Everything is done in your own "
        f"name in {escape(service)}, and answers are for your eyes only until you share them."
    )
    return Message("What you can do", (*blocks, tip))


def of(name: str, command: Callable[[str], str]) -> Message:
    text = _text(name, command)
    return Message(text, (section(text),))


def _text(name: str, command: Callable[[str], str]) -> str:
    lines = [
        f"• `{escape(f'{command(name)} {example}'.strip())}` {escape(does)}" for example, does in HELP[name]
    ]
    return f"*{command(name)}*\n" + "\n".join(lines)
