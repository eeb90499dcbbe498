"""The methods of Work Objects: entities below a link, and their details for one person."""

from bot.sandbox.workspace.api.call import Arguments
from bot.sandbox.workspace.blocks.entities import check_entity
from bot.sandbox.workspace.model import Message
from bot.sandbox.workspace.shapes import JsonObject, Refused, as_list, as_object
from bot.sandbox.workspace.state import State
from bot.sandbox.workspace.triggers import Triggers

ERRORS = {"not_found", "restricted", "internal_error", "custom", "custom_partial_view", "timeout"}


def attach(state: State, message: Message, metadata: object) -> JsonObject:
    """Put the entities of chat.unfurl's `metadata` below the links of a message.

    As Slack does, what is wrong with them is only a warning in the answer, and none of them is shown.
    """
    if not state.work_objects:
        raise Refused("feature_not_enabled", "This workspace has no Work Objects.", broken=False)
    if not state.app.entity_types:
        raise Refused(
            "feature_not_enabled", "The app's manifest has no active `rich_previews`.", broken=False
        )
    entities = as_list(as_object(metadata).get("entities"))
    problems = []
    for index, entity in enumerate(entities):
        path = f"/metadata/entities/{index}"
        problems += check_entity(entity, path)
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
    """entity.presentDetails: the trigger is looked at first, then whether it's the entity that was opened."""
    trigger_id = given.required("trigger_id")[0]
    user = triggers.redeem(trigger_id).user
    details = state.details.get(user)
    if details is None or details.trigger_id != trigger_id:
        return {}
    metadata, error = given.all.get("metadata"), as_object(given.all.get("error"))
    if error:
        if error.get("status") not in ERRORS:
            raise Refused(
                "invalid_arguments", messages=["must be a known status [json-pointer:/error/status]"]
            )
        details.error = error
    else:
        if problems := check_entity(metadata, "/metadata"):
            raise Refused("invalid_arguments", messages=problems)
        entity = as_object(metadata)
        if entity["external_ref"] != details.entity["external_ref"] or entity["url"] != details.entity["url"]:
            raise Refused("entity_metadata_does_not_match_trigger", "These are details of another entity.")
        details.shown = entity
    state.changed((user,))
    return {}
