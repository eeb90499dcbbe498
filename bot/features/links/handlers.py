"""Links to issues in conversations: unfurled for all who read along, with details for each of them."""

from contextlib import suppress
from datetime import timedelta

import structlog
from slack_sdk.errors import SlackApiError

from bot.errors import BotError, KeyRejected, NotLinked, UserError
from bot.features.accounts import views as account_views
from bot.features.links import views
from bot.slack.blocks import JSON
from bot.slack.forms import number_in
from bot.slack.posting import Place, reason
from bot.slack.turn import Turn

log = structlog.get_logger(__name__)

LINKS = 3
REPEAT = timedelta(minutes=30)
WITHOUT_ENTITIES = frozenset({"feature_not_enabled", "invalid_arguments", "invalid_arg_name"})


async def shared(turn: Turn) -> None:
    """Somebody posted links. Drafts, and what outsiders might read, stay links.

    Nobody asked for anything: whoever isn't linked is left in peace.
    """
    event = turn.body["event"]
    channel = event.get("channel")
    if not channel or channel == "COMPOSER" or event.get("source") == "composer":
        return
    if turn.body.get("is_ext_shared_channel") or not event.get("user"):
        return
    urls: dict[int, str] = {}
    for one in event.get("links") or ():
        if number := turn.parts.shared_links.number(str(one.get("url"))):
            urls.setdefault(number, one["url"])
    if not urls or await turn.parts.accounts.linked_as(turn.owner) is None:
        return
    if await turn.parts.audiences.overheard(turn.slack, turn.owner.team_id, channel) is not None:
        return
    claims = {n: f"unfurl:{turn.owner.team_id}:{channel}:{n}" for n in list(urls)[:LINKS]}
    deliveries = turn.parts.store.deliveries
    fresh = {n: urls[n] for n, claim in claims.items() if await deliveries.claim_for(claim, REPEAT)}
    unfurled: frozenset[int] = frozenset()
    try:
        if fresh:
            unfurled = await _unfurl(turn, channel, event["message_ts"], fresh)
    except KeyRejected as error:
        place = Place(channel if event.get("is_bot_user_member") else None)
        said = error.sentence(turn.service)
        await turn.at(place).answer(account_views.link_offer(turn.service, said, None, ""))
    finally:
        for number in fresh.keys() - unfurled:
            await deliveries.release(claims[number])


async def _unfurl(turn: Turn, channel: str, ts: str, urls: dict[int, str]) -> frozenset[int]:
    issues = await turn.parts.shared_links.for_everybody(turn.owner, urls.keys())
    if not issues:
        return frozenset()
    unfurls = {urls[issue.id]: views.card(issue, turn.style) for issue in issues}
    entities = [views.entity(issue, turn.style, urls[issue.id]) for issue in issues]
    arguments: JSON = {"channel": channel, "ts": ts, "unfurls": unfurls}
    try:
        await turn.slack.chat_unfurl(**arguments, metadata={"entities": entities})
    except SlackApiError as error:
        why = reason(error) or ""
        if why not in WITHOUT_ENTITIES and "metadata" not in why:
            raise
        log.info("no work objects", action="unfurl.no_work_objects", error=why)
        await turn.slack.chat_unfurl(**arguments)
    return frozenset(issue.id for issue in issues)


async def details_requested(turn: Turn) -> None:
    """Somebody opened a card's details: they see there what their own key shows them."""
    event = turn.body["event"]
    reference = event.get("external_ref") or {}
    answer: JSON = {"error": {"status": "not_found"}}
    if reference.get("type") == views.REFERENCE:
        with suppress(UserError):
            answer = await _details(turn, number_in(reference.get("id")))
    await turn.slack.entity_presentDetails(trigger_id=event["trigger_id"], **answer)


async def _details(turn: Turn, number: int) -> JSON:
    try:
        shown = await turn.parts.issues.show(turn.owner, number)
    except NotLinked:
        return {"error": views.link_first(turn.service, turn.parts.command("tracker"))}
    except BotError as error:
        return {"error": views.refused("Nothing to show", turn.worded(error.sentence(turn.service)))}
    description = await turn.style.mrkdwn(shown.issue.description)
    return {"metadata": views.details(shown, turn.style, description)}
