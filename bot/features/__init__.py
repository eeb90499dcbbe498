"""Everything that the bot does: a feature imports none above it, and answers to what its `feature` lists."""

from bot.features import (
    accounts,
    assign_to_me,
    assigned,
    comments,
    digests,
    editing,
    files,
    following,
    help,  # noqa: A004 - a feature
    home,
    issue_command,
    issues,
    link_cards,
    new_issue,
    posts,
    projects,
    related,
    search,
    templates,
    timelog,
    tracker,
    users,
)
from bot.features.accounts.departures import Departures
from bot.features.home.handlers import HomeHandlers
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature, merged

FEATURES = (
    *(posts, help, accounts, projects, users, issues, tracker, assigned, files, comments, templates, timelog),
    *(following, search, related, editing, new_issue, digests, assign_to_me, issue_command, link_cards, home),
)
"""From the lowest to the highest."""


def build(parts: Parts) -> Feature:
    """Build every feature, and set the three calls that would close a circle if they were imported."""
    departures = Departures(parts)
    # Slack says who has left; the key and all that runs with it end then.
    parts.accounts.check_departure = departures.check
    parts.platform.profiles.on_deactivated = departures.seen
    # Home shows what most features change, and links to them.
    parts.platform.publish_home = HomeHandlers(parts).publish
    return merged([departures.feature(), *(each.feature(parts) for each in FEATURES)])
