"""The workspace's initial content: users, the channels and conversation of seed.toml, and two files."""

import tomllib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from importlib.resources import files

from bot.sandbox import picked
from bot.sandbox.people import GWEN, Person
from bot.sandbox.workspace.model import Channel, File, JsonObject, Message, Note, User
from bot.sandbox.workspace.state import State

HERE = files("bot.sandbox.workspace")
SEED = tomllib.loads(HERE.joinpath("seed.toml").read_text(encoding="utf-8"))


def populate(state: State, people: Sequence[Person]) -> None:
    """Add users, channels, and messages from yesterday and today to an empty workspace."""
    members = [person for person in people if person.in_slack]
    if members:
        members.append(GWEN)
    _add_users(state, members)
    _add_channels(state, members)
    authors = {user.name: user.id for user in state.users.values()}
    if all(message["from"] in authors for message in SEED["messages"]):
        _add_messages(state, authors)


def _add_users(state: State, people: Sequence[Person]) -> None:
    notes: dict[str, Note] = {GWEN.slack_id: "no account yet"}
    notes |= {person.slack_id: "administrator" for person in people if person.admin}
    for person in people:
        state.users[person.slack_id] = User(
            id=person.slack_id,
            name=person.login,
            real_name=person.name,
            team_id=state.team.id,
            **picked(person, "mail", "title", "tz", "locale", "color"),
            is_admin=person.admin,
            is_choice=True,
            note=notes.get(person.slack_id, "not linked"),
        )
    partner = User(**SEED["partner"])
    state.users[partner.id] = partner
    state.users[state.app.bot_user_id] = User(
        id=state.app.bot_user_id,
        name=state.app.name.lower().replace(" ", ""),
        real_name=state.app.name,
        team_id=state.team.id,
        color="#334155",
        is_bot=True,
    )


def _add_channels(state: State, people: Sequence[Person]) -> None:
    """Add the channels: private ones have the leaders, others everyone and the app."""
    created = int(state.clock.now()) - 90 * 86_400
    creator = next((person.slack_id for person in people if person.admin), "")
    for row in SEED["channels"]:
        channel = state.add_channel(Channel(**{"kind": "channel", "members": set(), **row}))
        channel.created, channel.creator = created, creator
        if channel.kind == "private":
            channel.members |= {person.slack_id for person in people if person.admin or person.linked}
            continue
        channel.members |= {state.app.bot_user_id, *(person.slack_id for person in people)}
        if channel.is_ext_shared:
            channel.members.add(SEED["partner"]["id"])
    for person in people:
        state.im(person.slack_id)


def _add_messages(state: State, authors: dict[str, str]) -> None:
    issue = f"<{state.service_url.rstrip('/')}/issues/12>" if state.service_url else "#12"
    ts = ""
    for row in SEED["messages"]:
        author = authors[row["from"]]
        message = Message(
            ts=state.new_ts(_sent_at(state, row)),
            channel=row["channel"],
            user=author,
            text=row["text"].format(bot=f"<@{state.app.bot_user_id}>", issue=issue),
            thread_ts=ts if "replies_to_previous" in row else None,
            files=[_add_file(state, row["file"], author)] if "file" in row else [],
        )
        ts = state.post(message).ts


def _sent_at(state: State, row: JsonObject) -> float:
    now = datetime.fromtimestamp(state.clock.now(), UTC)
    if "minutes_ago" in row:
        return (now - timedelta(minutes=row["minutes_ago"])).timestamp()
    return datetime.combine(now.date() - timedelta(days=1), row["yesterday"], UTC).timestamp()


def _add_file(state: State, name: str, user: str) -> str:
    mimetype, content = "text/plain", SEED["log"].encode()
    if name.endswith(".png"):
        mimetype, content = "image/png", HERE.joinpath("chart.png").read_bytes()
    file_id = state.new_id("F")
    path = state.folder / file_id
    path.write_bytes(content)
    created = int(state.clock.now()) - 3600
    state.files[file_id] = File(file_id, name, mimetype, path, len(content), user, created=created)
    return file_id
