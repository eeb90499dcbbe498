"""Work Objects: an app's metadata for a linked resource, in link previews and in the details one user opens.

Source: https://docs.slack.dev/messaging/work-objects; block_kit.toml has their limits.
"""

from bot.sandbox.workspace.api.call import Arguments
from bot.sandbox.workspace.blocks import rule
from bot.sandbox.workspace.delivery import Triggers
from bot.sandbox.workspace.model import Details, JsonObject, Message, as_list, as_object
from bot.sandbox.workspace.state import ApiError, State


def attach(state: State, message: Message, metadata: object) -> JsonObject:
    """Attach the entities in chat.unfurl's `metadata` to a message's links.

    As in Slack, invalid entities produce only a warning in the response, and none of them is shown.
    """
    if not state.work_objects or not state.app.entity_types:
        detail = "Work Objects are off in this workspace, or the manifest has no active `rich_previews`."
        raise ApiError("feature_not_enabled", detail, broken=False)
    entities = as_list(as_object(metadata).get("entities"))
    problems: list[str] = []
    for index, entity in enumerate(entities):
        path = f"/metadata/entities/{index}"
        problems += rule("entity")(entity, path)
        if as_object(entity).get("entity_type") not in state.app.entity_types:
            problems.append(f"entity type isn't in the app's manifest [json-pointer:{path}]")
        if not as_object(entity).get("app_unfurl_url"):
            problems.append(f"missing required field: app_unfurl_url [json-pointer:{path}]")
    if problems or not entities:
        state.violate("chat.unfurl", "invalid_metadata_format", "; ".join(problems) or "no entities")
        return {"warning": "invalid_metadata_format", "response_metadata": {"messages": problems}}
    message.entities |= {entity["app_unfurl_url"]: entity for entity in entities}
    return {}


def present(state: State, given: Arguments, triggers: Triggers) -> JsonObject:
    """entity.presentDetails: checks the trigger first, then that the entity is the one the user opened."""
    if (details := _opened(state, given, triggers)) is None:
        return {}
    metadata, error = given.all.get("metadata"), as_object(given.all.get("error"))
    if error:
        if problems := [*rule("error_status")(error.get("status"), "/error/status")]:
            raise ApiError("invalid_arguments", messages=problems)
        details.error = error
    else:
        if problems := [*rule("entity")(metadata, "/metadata")]:
            raise ApiError("invalid_arguments", messages=problems)
        entity = as_object(metadata)
        if entity["external_ref"] != details.entity["external_ref"] or entity["url"] != details.entity["url"]:
            raise ApiError(
                "entity_metadata_does_not_match_trigger", "These details belong to another entity."
            )
        details.presentation, details.error = entity, None
    details.errors = {}
    state.changed()
    return {}


def present_comments(state: State, given: Arguments, triggers: Triggers) -> JsonObject:
    """entity.presentComments: the comments follow those on the pages before."""
    if (details := _opened(state, given, triggers)) is None:
        return {}
    if problems := [*rule(f"items 0 {state.comments_limit} comment")(given.all.get("comments"), "/comments")]:
        raise ApiError("invalid_arguments", messages=problems)
    details.comments = [*(details.comments or ()), *given.all["comments"]]
    details.cursor = given.text("cursor") or None
    details.can_post = given.all.get("can_post_comment") is True
    details.error = {"custom_message": error_text} if (error_text := given.text("error")) else details.error
    state.changed()
    return {}


def acknowledge_comment(state: State, given: Arguments, triggers: Triggers) -> JsonObject:
    """entity.acknowledgeCommentAction: shows a comment that the user posted, or why it wasn't."""
    if (details := _opened(state, given, triggers)) is None:
        return {}
    details.comment_error = given.text("error") or None
    if not details.comment_error:
        comment = given.all.get("comment")
        if problems := [*rule("comment")(comment, "/comment")]:
            raise ApiError("invalid_arguments", messages=problems)
        details.comments = [as_object(comment), *(details.comments or ())]
    state.changed()
    return {}


def _opened(state: State, given: Arguments, triggers: Triggers) -> Details | None:
    """Return the details that a trigger belongs to, unless the user closed them."""
    trigger_id = given.required("trigger_id")[0]
    details = state.details.get(triggers.redeem(trigger_id).user)
    return details if details and trigger_id in details.triggers else None
