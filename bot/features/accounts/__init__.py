"""Links Slack users to their own API keys, and forgets users and workspaces that leave."""

from bot.features.accounts.handlers import AccountHandlers
from bot.features.accounts.uninstall import Uninstall
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature, merged


def feature(parts: Parts) -> Feature:
    """The form and the buttons that link an account, and Slack's events about uninstalling."""
    return merged([AccountHandlers(parts).feature(), Uninstall(parts).feature()])
