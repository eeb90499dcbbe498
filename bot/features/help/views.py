"""Help: every command, with examples that work as typed."""

from collections.abc import Callable

from bot.features.issues.fields import FIELDS, FieldType
from bot.slack.surfaces.blocks import Element, Message, actions, button, context, section
from bot.slack.surfaces.buttons import Button
from bot.slack.text.mrkdwn import escape, prose

*_OPTIONS, _DESCRIPTION = (
    f"{field.key}:yes" if field.kind is FieldType.FLAG else f"{field.key}:" for field in FIELDS.values()
)
_ISSUE_OPTIONS = " ".join(("project:", "template:", "subject:", *_OPTIONS, "cf_<id>:", _DESCRIPTION))
EXAMPLES_EACH = 4  # how many examples of each command the overview shows
HELP: dict[str, tuple[tuple[str, str], ...]] = {
    "issue": (
        ("", "Open the form for a new issue"),
        ("new Login page is blank", "Create an issue in this channel's project"),
        ("42", "Show issue 42"),
        ("42 close", "Close issue 42 (`reopen` opens it again)"),
        ("42 to:me due:fri done:50%", "Change issue 42 (`42 edit` opens a form)"),
        ("42 comment Same here in Safari", "Comment on issue 42"),
        ("42 follow", "Follow issue 42 (`unfollow` stops it)"),
        ("attach 42", "Attach files to issue 42"),
        ("template", "List this project's templates (`new template:bug Login fails` uses one)"),
        ('new Checkout fails priority:high to:me due:fri desc:"Since this morning"', "Set more fields"),
    ),
    "issues": (
        ("", "List open issues in this channel's project"),
        ("login", "Search open issues"),
        ("to:me sort:due", "List your issues, soonest due date first"),
        ("status:any created:7d", "List issues created in the last 7 days"),
        ("project:any priority:high,urgent updated:>=yesterday", "Search all projects"),
    ),
    "timelog": (
        ("", "Open the form for logging time"),
        ("42 1h30 Pairing with Ben", "Log time on issue 42"),
        ("42 45m on:yesterday activity:design", "Log time for another day"),
        ("edit", "Edit or delete your last entry"),
        ('project:"web shop" 30m activity:support Stand-up', "Log time on a project"),
    ),
    "digest": (
        ("", "List this channel's digests"),
        ("add webshop weekdays 09:00", "Post new issues here every weekday at 9:00 AM"),
        ("add webshop live", "Post each new issue here as it's created, and keep the post up to date"),
        ("me weekdays 9:00", "Get a direct message with your due and changed issues"),
        ("add webshop daily 9 kind:due -to:me", "Post issues that are overdue or due soon, except yours"),
        ("add webshop", "Open the form for a new digest"),
        ("now", "Post a digest now"),
        ("pause 3", "Pause digest 3 (`resume 3` restarts it)"),
        ("change 3", "Edit digest 3 (`remove 3` removes it)"),
        ("take over 3", "Take ownership of digest 3"),
        (
            "add webshop weekly mon,thu 9:30 tracker:bug priority:high,urgent tz:Europe/Paris",
            "Choose the days, issues, and time zone",
        ),
    ),
    "tracker": (
        ("", "Show your account"),
        ("link", "Link your account (`unlink` removes your key from Issue Bot)"),
        ("projects", "List projects"),
        ("default webshop", "Set this channel's project (`default none` clears it)"),
        ("notify comments on", "Get a direct message about comments on your issues"),
        ("emoji :ticket:", "Create issues here by reacting with an emoji (`emoji off` stops it)"),
        ("project webshop", "Show a project"),
        ("project new", "Create a project"),
        ("whoami", "Show which account you're linked to"),
        ("user @ana", "Show a person (`user me` and `user 5` work, too)"),
        ("user new @gwen", "Create an account for someone (tracker administrators only)"),
        ("user edit 5", "Edit an account (tracker administrators only)"),
    ),
}
OPTIONS = {
    "issue": f"Options: `{_ISSUE_OPTIONS}`, and custom fields by name, such as `browsers:safari`",
    "issues": "Filters: `project: subproject: tracker: status: to: author: priority: category: version: "
    "parent: created: updated: closed: start: due: query: sort: id: subject: cf_<id>:`",
    "timelog": "Durations: `1.5` `1,5h` `90m` `1h30` `1h 30m` `1:30`. "
    "Days: `on:yesterday`, `on:mon` to `on:sun`, `on:2026-07-01`",
    "digest": "Schedules: `live`, `daily 9am`, `weekdays 09:00`, `weekly mon 09:00`, `hourly`, "
    "`cron 0 9 * * 1-5`. Kinds: `kind:new|due|stale:14d|closed|changed`. "
    "Filters: `tracker: priority: category: author: to: version: cf_<id>: query:`. "
    "Put `-` before a filter to exclude matches. "
    "Options: `group:tracker|priority|category|assignee empty:yes subprojects:yes tz:`",
}


class ShowHelp(Button):
    action = "help"


def overview(command: Callable[[str], str]) -> Message:
    """What the bot can do: a few examples of each command, and all of `/tracker`."""
    blocks = [
        section(_examples(name, command, None if name == "tracker" else EXAMPLES_EACH)) for name in HELP
    ]
    more = " ".join(f"`{command(name)} help`" for name in OPTIONS)
    tips = (
        f"For all options: {more}",
        "To turn a message into an issue, choose *More actions › Create an issue*. Replies are private. New "
        "issues are announced in the channel.",
        "In a thread, mention me: `@Issue Bot 42 close`. In a direct message, leave out the mention.",
        f"Your own words work, too: `{command('issues')} my overdue bugs`, `{command('issue')} 42 set "
        f"priority to high`, `{command('timelog')} 42 2h yesterday`.",
    )
    return Message("Help", (*blocks, *map(context, tips)))


def of(name: str, command: Callable[[str], str]) -> Message:
    """All examples and options of one command."""
    examples, options = _examples(name, command), escape(OPTIONS[name])
    return Message(f"{examples}\n{options}", (section(examples), context(options)))


def beside_help(text: str) -> Message:
    """A sentence, and *Help*."""
    return Message(prose(text), (section(prose(text)), actions([help_button()])))


def help_button() -> Element:
    return button("Help", ShowHelp())


def _examples(name: str, command: Callable[[str], str], most: int | None = None) -> str:
    return "\n".join(
        f"`{escape(f'{command(name)} {example}'.strip())}` {escape(does)}"
        for example, does in HELP[name][:most]
    )
