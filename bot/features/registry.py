"""The index: every command, shortcut, action, form and select beside the listener that serves it."""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeVar

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext
from slack_sdk.web.async_client import AsyncWebClient

from bot.features.accounts import handlers as accounts
from bot.features.accounts import tracker_command as tracker
from bot.features.accounts import uninstall as uninstalled
from bot.features.digests import handlers as digests
from bot.features.files import handlers as file_listeners
from bot.features.home import handlers as home
from bot.features.issues import announce as announcements
from bot.features.issues import assign_handlers as assigning
from bot.features.issues import create_form_handlers as issue_form
from bot.features.issues import create_with_files as new_with_files
from bot.features.issues import duplicate_handlers as duplicates
from bot.features.issues import handlers as issues
from bot.features.links import handlers as shared_links
from bot.features.parts import Parts
from bot.features.projects import handlers as projects
from bot.features.search import handlers as search
from bot.features.timelog import handlers as timelog
from bot.features.users import handlers as users
from bot.slack.blocks import JSON
from bot.slack.deliveries import Claiming
from bot.slack.dispatch import BoltListener, Handling, Listener, Options, Submission
from bot.slack.oauth import NOT_HERE
from bot.slack.turn import Turn

L = TypeVar("L", Listener, Submission, Options)

COMMANDS: dict[str, Listener] = {
    "issue": issues.command,
    "issues": search.command,
    "timelog": timelog.command,
    "digest": digests.command,
    "tracker": tracker.command,
}
SHORTCUTS: dict[str, Listener] = {
    "create_issue": issue_form.open_create,
    "search_issues": search.open_form,
    "issue_from_message": issue_form.open_from_message,
    "files_to_issue": file_listeners.open_from_message,
    "log_time": timelog.open_empty,
    "time_from_message": timelog.open_from_message,
}


async def nothing(turn: Turn) -> None:
    """A button that only opens a link: Slack wants its press acknowledged all the same."""


ACTIONS: dict[str, Listener] = {
    "link.open": accounts.open_link_from_message,
    "issue.project": issue_form.project_chosen,
    "issue.tracker": issue_form.tracker_chosen,
    "issue.subject": duplicates.subject_typed,
    "announcement.take_back": announcements.take_back,
    "issue.show": issues.show_pressed,
    "issue.share": issues.share_pressed,
    "issue.menu": issues.menu_chosen,
    "issue.take": assigning.take_pressed,
    "search.page.previous": search.page_pressed,
    "search.page.next": search.page_pressed,
    "project.name": projects.name_typed,
    "project.default": projects.default_pressed,
    "time.open": timelog.open_pressed,
    "time.issue": timelog.issue_chosen,
    "time.fill": timelog.fill_pressed,
    "time.edit": timelog.edit_pressed,
    "time.log_anyway": timelog.log_anyway_pressed,
    "files.open": file_listeners.open_pressed,
    "files.open_describe": file_listeners.describe_pressed,
    "files.retry": file_listeners.retry_pressed,
    "files.new": new_with_files.open_pressed,
    "digest.add": digests.add_pressed,
    "digest.change": digests.change_pressed,
    "digest.undo": digests.undo_pressed,
    **dict.fromkeys(digests.BUTTONS, digests.act_pressed),
    "home.create": issue_form.open_create,
    "home.search": search.open_form,
    "home.mine": home.mine_pressed,
    "home.time": timelog.open_empty,
    "open": nothing,
}
RESUMING: dict[str, Callable[[Handling, Turn], Awaitable[None]]] = {
    "form.resume": Handling.resume_pressed,
    "form.reopen": Handling.reopen,
}
"""Actions that go on with what was kept, whatever of this index that was."""
EVENTS: dict[str, Listener] = {
    "app_home_opened": home.opened,
    "link_shared": shared_links.shared,
    "entity_details_requested": shared_links.details_requested,
    "app_uninstalled": uninstalled.uninstalled,
    "tokens_revoked": uninstalled.tokens_revoked,
    "team_access_revoked": uninstalled.team_access_revoked,
}
SETTLED = frozenset({"app_uninstalled", "team_access_revoked"})
"""Events that are acknowledged only after their listener succeeds, so that Slack repeats those that fail."""
FORMS: dict[str, Submission] = {
    "issue.create": issue_form.submit,
    "search": search.submit,
    "project.new": projects.submit,
    "user.new": users.submit_new,
    "user.edit": users.submit_edit,
    "time.log": timelog.submit,
    "time.change": timelog.submit_change,
    "digest.add": digests.submit,
    "digest.change": digests.submit_change,
    "files.attach": file_listeners.submit,
    "files.describe": file_listeners.submit_description,
}
CLOSED: dict[str, Listener] = {"link": accounts.close_link}
OPTIONS: dict[str, Options] = {
    "issue.project": issue_form.project_options,
    "issue.parent": issue_form.parent_options,
    "issue.custom": issue_form.custom_options,
    "files.issue": file_listeners.issue_options,
    "time.issue": timelog.issue_options,
    "digest.zone": digests.zone_options,
    **{f"digest.{name}": digests.choice_options for name in ("tracker", "priority", "category")},
    **{
        f"issue.{name}": issue_form.choice_options
        for name in ("tracker", "status", "priority", "assignee", "category", "version", "watchers")
    },
}


def build(*, slack: AsyncWebClient, parts: Parts) -> AsyncApp:
    """The Bolt app with everything registered. Signatures are verified before it, in `web`."""
    bolt_log = logging.getLogger("slack_bolt")
    bolt_log.setLevel(logging.ERROR)  # it would warn that the environment has a token too
    app = AsyncApp(
        logger=bolt_log,
        # With a token of its own, Bolt would ask Slack whose it is first, and turn people away until then.
        client=AsyncWebClient(
            base_url=slack.base_url, session=slack.session, retry_handlers=slack.retry_handlers
        ),
        authorize=parts.workspaces,  # type: ignore[arg-type] # Bolt takes its own class too
        user_facing_authorize_error_message=NOT_HERE,
        signing_secret="-",  # noqa: S106 - none: what comes here was verified
        request_verification_enabled=False,
    )
    bolt_log.setLevel(logging.WARNING)
    handling = Handling(parts)
    serve = partial(_serve, claiming=Claiming(parts))
    commands = {parts.command(name): listener for name, listener in COMMANDS.items()}
    acts: dict[str, Listener] = ACTIONS | {name: partial(act, handling) for name, act in RESUMING.items()}
    submissions = FORMS | {"link": accounts.submit_link(handling)}
    forms = {name: home.refreshing(submission) for name, submission in submissions.items()}
    acting = handling.acting
    # One of Bolt's listeners for each kind: it would try one after the other.
    serve(app.command, lambda body: body["command"], acting, "command", commands)
    serve(app.shortcut, lambda body: body["callback_id"], acting, "shortcut", SHORTCUTS)
    serve(app.block_action, lambda body: body["actions"][0]["action_id"], acting, "action", acts)
    serve(app.view_submission, _callback_id, handling.submitting, "form", forms)
    serve(app.view_closed, _callback_id, acting, "closed", CLOSED)
    noticed = {name: listener for name, listener in EVENTS.items() if name not in SETTLED}
    serve(app.event, lambda body: body["event"]["type"], handling.noticing, "event", noticed)
    for name in SETTLED:
        app.event(name, middleware=[handling.settling(f"event:{name}", EVENTS[name])])(_settled)
    serve(app.options, lambda body: body["action_id"], handling.suggesting, "options", OPTIONS)
    return app


async def _settled() -> None:
    """The middleware before it has answered already."""


def _callback_id(body: JSON) -> str:
    return str(body["view"]["callback_id"])


def _serve(
    register: Callable[..., Callable[[BoltListener], object]],
    name_in: Callable[[JSON], str],
    wrapped: Callable[[str, L], BoltListener],
    kind: str,
    served: Mapping[str, L],
    *,
    claiming: Claiming,
) -> None:
    """Has Bolt hand over all payloads of a kind that have one of these names in them."""
    listeners = {name: wrapped(f"{kind}:{name}", one) for name, one in served.items()}

    async def bolt_listener(
        ack: AsyncAck, body: JSON, client: AsyncWebClient, context: AsyncBoltContext
    ) -> None:
        await listeners[name_in(body)](ack, body, client, context)

    names = re.compile(rf"\A(?:{'|'.join(map(re.escape, listeners))})\Z")
    register(names, middleware=[claiming])(bolt_listener)
