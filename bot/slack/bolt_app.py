"""Bolt's app: it finds the token of a payload's workspace and hands the payload to dispatch."""

import logging

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.dispatch import Dispatch
from bot.slack.oauth import NOT_HERE
from bot.slack.workspaces import Workspaces


def bolt_app(slack: AsyncWebClient, workspaces: Workspaces, dispatch: Dispatch) -> AsyncApp:
    """The app with dispatch as its one middleware. Signatures are verified before it, in `http`."""
    log = logging.getLogger("slack_bolt")
    log.setLevel(logging.ERROR)  # it would warn that the environment has a token too
    app = AsyncApp(
        logger=log,
        # With a token of its own, Bolt would ask Slack whose it is first, and turn people away until then.
        client=AsyncWebClient(
            base_url=slack.base_url, session=slack.session, retry_handlers=slack.retry_handlers
        ),
        authorize=workspaces,  # type: ignore[arg-type] # Bolt takes its own class too
        user_facing_authorize_error_message=NOT_HERE,
        signing_secret="-",  # noqa: S106 - none: what comes here was verified
        request_verification_enabled=False,
    )
    log.setLevel(logging.WARNING)
    app.use(dispatch)
    return app
