"""The bot was taken out of a workspace: what is there because of it goes too."""

import structlog

from bot.slack.posting import SLACK_FAILED
from bot.slack.turn import Turn
from bot.slack.views.blocks import JSON

log = structlog.get_logger(__name__)


async def uninstalled(turn: Turn) -> None:
    """Forget the workspace, or the organization, unless its token works: Slack may repeat itself when the bot
    is installed again already.
    """
    there, enterprise_id = _installed(turn)
    team_id = None if there.get("is_enterprise_install") else there.get("team_id") or turn.body.get("team_id")
    try:
        await (await turn.parts.workspaces.client(enterprise_id, team_id)).auth_test()
    except SLACK_FAILED:
        await turn.parts.store.installations.remove(enterprise_id, team_id)
        log.info("workspace forgotten", action="slack.uninstalled", enterprise=enterprise_id)
    else:
        log.info("still installed", action="slack.still_installed", enterprise=enterprise_id)


async def team_access_revoked(turn: Turn) -> None:
    """Forget workspaces that an organization's installation serves no more, unless it works there again."""
    _, enterprise_id = _installed(turn)
    for team_id in turn.body["event"]["team_ids"]:
        try:
            slack = await turn.parts.workspaces.client(enterprise_id, team_id)
            await slack.users_conversations(team_id=team_id, limit=1)  # auth.test is of the organization
        except SLACK_FAILED:
            await turn.parts.store.installations.forget_team(team_id)
            log.info("workspace forgotten", action="slack.access_revoked", team=team_id)
        else:
            log.info("still installed", action="slack.still_installed", team=team_id)


async def tokens_revoked(turn: Turn) -> None:
    """As `uninstalled`, where the token is the bot's own."""
    if (turn.body["event"].get("tokens") or {}).get("bot"):
        await uninstalled(turn)


def _installed(turn: Turn) -> tuple[JSON, str | None]:
    """The installation that an event is about, and its organization."""
    there = (turn.body.get("authorizations") or [turn.body])[0]
    return there, there.get("enterprise_id") or turn.body.get("enterprise_id")
