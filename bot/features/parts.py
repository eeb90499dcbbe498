"""The objects that features are built from."""

from dataclasses import dataclass, fields

from bot.access.access import Access
from bot.slack.outgoing.replies import Platform
from bot.slack.workspaces.tokens import Workspaces


@dataclass(frozen=True)
class Parts(Access):
    """`Access`, and Slack: features are built from it, and `shared` has the handlers of features below."""

    platform: Platform
    workspaces: Workspaces

    @classmethod
    def on(cls, access: Access, platform: Platform, workspaces: Workspaces) -> "Parts":
        known = {each.name: getattr(access, each.name) for each in fields(Access) if each.init}
        return cls(**known, platform=platform, workspaces=workspaces)
