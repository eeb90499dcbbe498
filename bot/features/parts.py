"""What features are built from."""

from dataclasses import dataclass

from bot.access.access import Access
from bot.slack.outgoing.replies import Platform
from bot.slack.workspaces.tokens import Workspaces


@dataclass(frozen=True)
class Parts(Access):
    """`Access`, and Slack: a feature builds its handlers from it, and use cases of features below."""

    platform: Platform
    workspaces: Workspaces

    @classmethod
    def on(cls, access: Access, platform: Platform, workspaces: Workspaces) -> "Parts":
        return cls(**vars(access), platform=platform, workspaces=workspaces)
