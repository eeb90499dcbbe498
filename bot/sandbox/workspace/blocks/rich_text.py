"""The rich_text block and its elements.

Source: https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
"""

from bot.sandbox.workspace.blocks.schema import (
    IDENTIFIER,
    Rule,
    anything,
    boolean,
    by_type,
    choice,
    fields,
    integer,
    items,
    string,
)

STYLE = fields({}, dict.fromkeys(("bold", "italic", "strike", "code"), boolean))


def _leaf(required: dict[str, Rule], optional: dict[str, Rule] | None = None) -> Rule:
    return fields(required, {"style": anything, **(optional or {})})


LEAVES: dict[str, Rule] = {
    "text": fields({"text": string(3000, 1)}, {"style": STYLE}),
    "link": fields({"url": string(3000, 1)}, {"text": string(3000), "style": STYLE, "unsafe": boolean}),
    "user": _leaf({"user_id": IDENTIFIER}),
    "usergroup": _leaf({"usergroup_id": IDENTIFIER}),
    "channel": _leaf({"channel_id": IDENTIFIER}),
    "broadcast": _leaf({"range": choice("here", "channel", "everyone")}),
    "emoji": _leaf({"name": string(255, 1)}, {"unicode": string(255), "skin_tone": anything}),
    "date": _leaf(
        {"timestamp": anything, "format": string(255, 1)}, {"url": string(3000), "fallback": string(255)}
    ),
    "color": _leaf({"value": string(255, 1)}),
}
SECTION = fields({"elements": items(by_type(LEAVES), 0, 1000)}, {})
BORDERED = fields(
    {"elements": items(by_type(LEAVES), 0, 1000)}, {"border": integer(0, 1), "language": string(255)}
)
RICH_TEXT = by_type(
    {
        "rich_text_section": SECTION,
        "rich_text_preformatted": BORDERED,
        "rich_text_quote": BORDERED,
        "rich_text_list": fields(
            {
                "style": choice("bullet", "ordered"),
                "elements": items(by_type({"rich_text_section": SECTION}), 1, 1000),
            },
            {"indent": integer(0, 8), "offset": integer(0, 1_000_000), "border": integer(0, 1)},
        ),
    }
)
ELEMENTS = items(RICH_TEXT, 1, 1000)
VALUE = by_type({"rich_text": fields({"elements": ELEMENTS}, {"block_id": IDENTIFIER})})
