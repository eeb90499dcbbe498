"""Everything that the bot does: a feature imports none above it, and answers to what its `feature` lists."""

from collections.abc import Callable
from typing import Protocol

from bot.features import posts
from bot.features.accounts.departures import Departures, Uninstall
from bot.features.accounts.handlers import AccountHandlers
from bot.features.comments.handlers import CommentHandlers
from bot.features.digests.feeds import FeedAnnouncer
from bot.features.digests.handlers import DigestHandlers
from bot.features.editing.handlers import EditHandlers
from bot.features.emoji.handlers import EmojiHandlers
from bot.features.files.handlers import FileHandlers
from bot.features.following.handlers import FollowHandlers
from bot.features.home.handlers import HomeHandlers
from bot.features.issue_command.handlers import IssueCommand
from bot.features.issues.handlers import IssueHandlers
from bot.features.link_cards.handlers import LinkHandlers
from bot.features.mentions.handlers import MentionHandlers
from bot.features.new_issue.handlers import CreateFormHandlers
from bot.features.new_issue.opening import FormOpening
from bot.features.notices.handlers import NoticeHandlers
from bot.features.parts import Parts
from bot.features.projects.handlers import ProjectHandlers
from bot.features.related.handlers import RelatedHandlers
from bot.features.search.handlers import SearchHandlers
from bot.features.templates.handlers import TemplateHandlers
from bot.features.timelog.handlers import TimelogHandlers
from bot.features.tracker.handlers import TrackerHandlers
from bot.features.users.handlers import UserHandlers
from bot.features.workflow_steps.handlers import WorkflowSteps
from bot.slack.incoming.feature import Feature, merged


class Handlers(Protocol):
    def feature(self) -> Feature: ...


HANDLERS: tuple[Callable[[Parts], Handlers], ...] = (
    *(AccountHandlers, Uninstall, ProjectHandlers, UserHandlers, IssueHandlers),
    *(NoticeHandlers, FileHandlers, CommentHandlers, TemplateHandlers, TimelogHandlers, FollowHandlers),
    *(SearchHandlers, RelatedHandlers, EditHandlers, FormOpening, CreateFormHandlers, DigestHandlers),
    *(EmojiHandlers, TrackerHandlers, IssueCommand, MentionHandlers, LinkHandlers),
    *(WorkflowSteps, HomeHandlers),
)
"""From the lowest to the highest."""


def build(parts: Parts) -> Feature:
    """Build every feature, and set the four calls that would close a circle if they were imported."""
    departures = parts.shared(Departures)
    # Slack says who has left; the key and all that runs with it end then.
    parts.accounts.check_departure = departures.check
    parts.platform.profiles.on_deactivated = departures.handle_deactivation
    # Home shows what most features change, and links to them.
    parts.platform.publish_home = parts.shared(HomeHandlers).publish
    parts.platform.announce_live = parts.shared(FeedAnnouncer).announce
    own = (posts.FEATURE, departures.feature())
    return merged([*own, *(parts.shared(each).feature() for each in HANDLERS)])
