"""Each delivery acts once: Slack repeats itself, and replicas exist (slack-rules, Delivery)."""

import hashlib
import json
from collections.abc import Awaitable, Callable

import structlog
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from bot import telemetry
from bot.features.parts import Parts
from bot.slack.blocks import JSON, sentence
from bot.slack.dispatch import DELIVERY, kept_of, last_resort
from bot.slack.submissions import SENT_ALREADY
from bot.slack.turn import Turn, modal, owner_of
from bot.store.unfinished import Asked

WAITED_FOR = frozenset({"block_actions", "shortcut", "message_action", "view_submission"})

log = structlog.get_logger(__name__)


def delivery_key(body: JSON) -> str | None:
    """What tells a delivery from its repetitions; None for what may be asked any number of times.

    Slack repeats an event under several `event_id`s, so its own content is the key (slack-rules, Delivery).
    """
    if body.get("type") == "block_suggestion" or body.get("type") == "url_verification":
        return None
    if event := body.get("event"):
        if event.get("type") in ("app_uninstalled", "tokens_revoked", "team_access_revoked"):
            return None  # nothing tells the next time from a repetition, which does no harm
        told = {
            k: event.get(k)
            for k in ("type", "user", "channel", "ts", "event_ts", "tab", "view_id", "unfurl_id")
        }
        return _hashed({"team": body.get("team_id"), **told})
    told = {k: body.get(k) for k in ("trigger_id", "command", "callback_id", "type", "action_ts")}
    told["team"] = owner_of(body).team_id
    actions = [(a.get("action_id"), a.get("action_ts")) for a in body.get("actions") or ()]
    view = (body.get("view") or {}).get("id")
    if told["trigger_id"] is None and view is None and not actions:
        return _hashed(body)
    return _hashed({**told, "actions": actions, "view": view})


def _hashed(told: JSON) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()


def unclaimed(body: JSON, text: str) -> BoltResponse:
    """The answer to what can't be claimed, and so must not be acted on: a sentence where one can be given.

    An event is refused, so that Slack delivers it again.
    """
    if "command" in body:
        return BoltResponse(status=200, body={"response_type": "ephemeral", "text": text})
    if view := modal(body) if body.get("type") == "view_submission" else None:
        first = next((b["block_id"] for b in view["blocks"] if b.get("type") == "input"), "")
        return BoltResponse(status=200, body={"response_action": "errors", "errors": {first: text}})
    return BoltResponse(status=503 if "event" in body else 200, body="")


def _asked(body: JSON, context: AsyncBoltContext) -> Asked | None:
    """What somebody waits for an answer to; None for what nobody does."""
    if "command" not in body and body.get("type") not in WAITED_FOR:
        return None
    return Asked(owner_of(body), (context.enterprise_id, context.team_id), kept_of(body))


class Claiming(AsyncMiddleware):
    """Each delivery is claimed in the database before it is acted on, so that it acts once."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,  # noqa: ARG002 - Bolt's signature
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002 - Bolt's name
    ) -> BoltResponse | None:
        """Goes on with what is this process's to act on; an answer for anything else."""
        body = req.body
        req.context[DELIVERY] = key = delivery_key(body)
        try:
            fresh = key is None or await self._parts.store.deliveries.claim(key, _asked(body, req.context))
        except Exception:
            reference = telemetry.reference()
            log.exception("unclaimed", action="delivery.unclaimed", reference=reference)
            said = f"I can't reach my memory; tell your administrator the reference {reference}."
            if body.get("type") not in ("view_submission", "view_closed") and "user" in body:
                turn = Turn.from_body(self._parts, req.context.client, body)
                await last_resort(turn.answer(sentence(said)))
            return unclaimed(body, said)
        if not fresh:
            log.info("repeated", action="delivery.repeated", mode=req.mode, user=owner_of(body).user_id)
            if body.get("type") == "view_submission":  # an empty answer would close it as if all was well
                return unclaimed(body, SENT_ALREADY)
            return BoltResponse(status=200, body="")
        return await next()
