"""Bolt's app: finds the token of a payload's workspace and hands the payload to dispatch."""

import logging

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.dispatch import Dispatch
from bot.slack.oauth import NOT_INSTALLED_MESSAGE
from bot.slack.web_client import for_team
from bot.slack.workspaces import Workspaces


def bolt_app(slack: AsyncWebClient, workspaces: Workspaces, dispatch: Dispatch) -> AsyncApp:
    """The app, with dispatch as its only middleware; `http` has already verified signatures."""
    log = logging.getLogger("slack_bolt")
    log.setLevel(logging.ERROR)  # else it warns about a token in the environment
    app = AsyncApp(
        name="issuebot",  # else Bolt reads the source of every caller to find one
        logger=log,
        # With a token, Bolt would call auth.test first and reject requests until then.
        client=for_team(slack, None, None),
        authorize=workspaces,  # type: ignore[arg-type] # Bolt accepts its own class too
        user_facing_authorize_error_message=NOT_INSTALLED_MESSAGE,
        signing_secret="-",  # noqa: S106 - unused: requests are verified already
        request_verification_enabled=False,
    )
    log.setLevel(logging.WARNING)
    app.use(dispatch)
    return app
