"""How much Slack takes: characters of a text, or how many of a thing. The bot's own limits are elsewhere.

The comments name the pages below https://docs.slack.dev/reference.
"""

# block-kit/blocks: section-block, context-block, header-block, input-block
SECTION_LENGTH, MAX_SECTION_FIELDS, FIELD_LENGTH = 3000, 10, 2000
MAX_CONTEXT_ELEMENTS = 10
HEADER_LENGTH = 150
LABEL_LENGTH, HINT_LENGTH = 2000, 2000

# block-kit/block-elements: button-element, overflow-menu-element, select-menu-element, checkboxes-element,
# plain-text-input-element
BUTTON_LENGTH, BUTTON_VALUE_LENGTH = 75, 2000
MAX_MENU_OPTIONS = 5
MAX_SELECT_OPTIONS, PLACEHOLDER_LENGTH = 100, 150
MAX_CHECKBOXES = 10
INPUT_LENGTH = 3000

# block-kit/composition-objects: option-object, confirmation-dialog-object
OPTION_LENGTH, OPTION_VALUE_LENGTH, OPTION_DESCRIPTION_LENGTH = 75, 150, 75
CONFIRM_TITLE_LENGTH, CONFIRM_LENGTH, CONFIRM_BUTTON_LENGTH = 100, 300, 30

# views: modal-views, home-tab-views
MAX_VIEW_BLOCKS, METADATA_LENGTH = 100, 3000
VIEW_TITLE_LENGTH, VIEW_BUTTON_LENGTH = 24, 24

# app-manifest, with the slash
COMMAND_NAME_LENGTH = 32

MESSAGE_LENGTH = 13_000
"""All texts of a message. Slack doesn't document it, but refuses messages from about 13,200 characters with
`msg_blocks_too_long` (slackapi/bolt-js issues 2509 and 2867).
"""
