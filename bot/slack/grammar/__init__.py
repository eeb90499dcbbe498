"""Command text → a frozen request: pure functions that raise nothing but UserError."""

from bot.slack.grammar.dates import day, days
from bot.slack.grammar.durations import hours
from bot.slack.grammar.issue import issue_command
from bot.slack.grammar.issues import issues_command
from bot.slack.grammar.options import Parsed, parse
from bot.slack.grammar.requests import (
    Account,
    AttachFiles,
    ClearDefault,
    Help,
    IssueRequest,
    IssuesRequest,
    Link,
    Me,
    Named,
    NewIssue,
    OpenForm,
    Person,
    Projects,
    Search,
    SetDefault,
    ShowIssue,
    ShowProject,
    SlackUser,
    TrackerHelp,
    TrackerRequest,
    Unlink,
    Whoami,
)
from bot.slack.grammar.tokens import Value
from bot.slack.grammar.tracker import tracker_command

__all__ = [
    "Account",
    "AttachFiles",
    "ClearDefault",
    "Help",
    "IssueRequest",
    "IssuesRequest",
    "Link",
    "Me",
    "Named",
    "NewIssue",
    "OpenForm",
    "Parsed",
    "Person",
    "Projects",
    "Search",
    "SetDefault",
    "ShowIssue",
    "ShowProject",
    "SlackUser",
    "TrackerHelp",
    "TrackerRequest",
    "Unlink",
    "Value",
    "Whoami",
    "day",
    "days",
    "hours",
    "issue_command",
    "issues_command",
    "parse",
    "tracker_command",
]
