"""Work Objects: an app's metadata for a linked resource (https://docs.slack.dev/messaging/work-objects).

Limits missing from the documentation match those observed in the API.
"""

from bot.sandbox.workspace.blocks.schema import Problems, anything, choice, fields, items, pattern, string

TYPES = tuple(f"slack#/entities/{name}" for name in ("task", "file", "item", "incident", "content_item"))
TITLE = fields({"text": string(3000, 1)}, {"edit": anything})
ATTRIBUTES = fields(
    {"title": TITLE},
    {
        "display_id": string(255),
        "display_type": string(255),
        "product_name": string(255),
        "product_icon": anything,
        "locale": string(20),
        "full_size_preview": anything,
        "metadata_last_modified": anything,
    },
)
CUSTOM = fields(
    {"key": string(255, 1), "label": string(255, 1), "type": string(255, 1)},
    {
        "value": anything,
        "link": string(3000),
        "long": anything,
        "format": string(20),
        "tag_color": string(20),
    },
)
PAYLOAD = fields(
    {"attributes": ATTRIBUTES},
    {
        "fields": anything,
        "custom_fields": items(CUSTOM, 0, 100),
        "display_order": anything,
        "actions": anything,
    },
)
REFERENCE = fields({"id": pattern(r"[0-9a-zA-Z\-_:!/=]+", "an id without dots")}, {"type": string(255)})
ENTITY = fields(
    {
        "entity_type": choice(*TYPES),
        "url": string(3000, 1),
        "external_ref": REFERENCE,
        "entity_payload": PAYLOAD,
    },
    {"app_unfurl_url": string(3000, 1)},
)


def check_entity(entity: object, path: str) -> Problems:
    """Return Slack's errors for a Work Object; empty when it is valid."""
    problems: Problems = []
    ENTITY(entity, path, problems)
    return problems
