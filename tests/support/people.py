"""Whose keys the demo data has, and an environment that nobody has configured anything in."""

import os

from bot.config import Settings
from bot.sandbox.people import PEOPLE

KEYS = {person.login: person.api_key for person in PEOPLE}
BARE = {name: value for name, value in os.environ.items() if name.lower() not in Settings.model_fields}
