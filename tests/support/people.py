"""The Slack IDs and API keys of the demo users, and an environment without any of the bot's settings."""

import os

from bot.config import Settings
from bot.sandbox.people import PEOPLE

IDS = {person.login: person.slack_id for person in PEOPLE}
KEYS = {person.login: person.api_key for person in PEOPLE}
BARE = {name: value for name, value in os.environ.items() if name.lower() not in Settings.model_fields}
