"""Real payloads for every handler of the bot, recorded from the local Slack.

`python -m tests.hostile.recording` records them again by running every scenario once.
"""

import asyncio
import json
from dataclasses import dataclass
from functools import cache, reduce
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.sandbox.workspace import payloads
from bot.sandbox.workspace.delivery import Kind
from tests.support.deliveries import listening
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.reading import JSON
from tests.support.registered import REGISTERED

RECORDED = Path(__file__).parent / "recorded"
SLACK, SERVICE, SECRET = "http://slack.invalid/", "http://service.invalid", "0" * 40


@dataclass(frozen=True, repr=False)
class Recorded:
    """A payload, how it is delivered, and the handler that it triggers, as registered."""

    name: str
    kind: Kind
    payload: JSON

    def __repr__(self) -> str:
        return f"{self.name} {json.dumps(self.payload):.5000}"

    def at(self, office: Office) -> JSON:
        """Returns the payload with the URLs of this office."""
        text = json.dumps(self.payload).replace(SLACK, office.workspace.url)
        moved: JSON = json.loads(text.replace(SERVICE, office.tracker.url))
        return moved


GONE: tuple[JSON, ...] = (
    {"type": "app_uninstalled", "event_ts": "1.1"},
    {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": ["U0ISSUEBOT"]}, "event_ts": "1.2"},
    {"type": "team_access_revoked", "team_ids": ["T0HARBOR01"], "event_ts": "1.3"},
    {"type": "user_change", "user": {"id": "U0GWEN001", "team_id": "T0HARBOR01", "deleted": True}}
    | {"event_ts": "1.4"},
)
"""What Slack sends after the bot is uninstalled or a user is deactivated, which users can't do."""


@cache
def recordings() -> tuple[Recorded, ...]:
    """Returns all the recorded payloads."""
    files = sorted(RECORDED.glob("*.json"))
    return tuple(Recorded(**one) for file in files for one in json.loads(file.read_text(encoding="utf-8")))


def registered() -> set[str]:
    """Returns the names of all the bot's handlers."""
    return {f"{kind}:{name}" for kind, names in REGISTERED.items() for name in names}


def name_of(payload: JSON) -> str:
    """Returns the name of the handler that a payload triggers, such as `command:issue`."""
    match payload:
        case {"command": str(command)}:
            return f"command:{command[1:]}"
        case {"event": {"type": happening}}:
            return f"event:{happening}"
        case {"actions": [{"action_id": "menu", "selected_option": {"value": str(carried)}}, *_]}:
            return f"action:{carried.partition(' ')[0]}"
        case {"type": "block_actions", "actions": [{"action_id": action}, *_]}:
            return f"action:{action}"
        case {"type": "block_suggestion", "action_id": action}:
            return f"options:{action}"
        case {"type": "view_submission", "view": {"type": kind, "callback_id": form}}:
            return f"{'edit' if kind.startswith('entity_') else 'form'}:{form}"
        case {"type": "view_closed", "view": {"callback_id": form}}:
            return f"closed:{form}"
    return f"shortcut:{payload['callback_id']}"


async def _record(directory: Path) -> dict[str, list[JSON]]:
    """Returns the first payload of each handler, by its kind, without secrets and this office's URLs."""
    from tests.faults.scenarios import SCENARIOS
    from tests.faults.scene import Scene

    recorded: dict[str, tuple[Kind, str]] = {}
    async with Office(directory, transport="http", rate_limits=False).opened() as office:
        workspace, scene = office.workspace, Scene(office)

        def record(sent: JSON) -> None:
            text = json.dumps(sent["payload"], ensure_ascii=False)
            recorded.setdefault(name_of(sent["payload"]), (sent["kind"], text))

        with listening("delivered", record):
            for scenario in SCENARIOS.values():
                await scene.reset()
                async for _ in scenario.steps(scene):
                    await scene.settled()
                await scene.settled()
        for event in GONE:
            record({"kind": "events_api", "payload": payloads.event(workspace.state, event, shared=False)})
    hidden = dict.fromkeys((workspace.bot_token, workspace.app_token, *KEYS.values()), SECRET)
    hidden |= {workspace.url: SLACK, office.tracker.url: SERVICE}
    files: dict[str, list[JSON]] = {}
    for name, (kind, text) in sorted(recorded.items()):
        clean = reduce(lambda text_so_far, pair: text_so_far.replace(*pair), hidden.items(), text)
        one = {"name": name, "kind": kind, "payload": json.loads(clean)}
        files.setdefault(name.partition(":")[0], []).append(one)
    return files


def main() -> None:
    """Writes one file per kind of handler."""
    with TemporaryDirectory() as directory:
        files = asyncio.run(_record(Path(directory)))
    for name, recordings in files.items():
        lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in recordings)
        (RECORDED / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
