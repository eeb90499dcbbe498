"""The workspace's initial content: users, channels, and a day of conversation for the bot to work with."""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.sandbox.people import Person
from bot.sandbox.workspace.model import Channel, ChannelKind, File, Message, Note, User
from bot.sandbox.workspace.state import State

PARTNER_TEAM = "T0PARTNER1"
PARTNER = User(
    id="U0LENA0001",
    name="lena",
    real_name="Lena Fuchs",
    team_id=PARTNER_TEAM,
    mail="lena@quayside.example",
    title="Quayside Logistics",
    tz="Europe/Berlin",
    locale="de-DE",
    color="#64748b",
)
NEWCOMER = Person(
    slack_id="U0GWEN001",
    login="gwen",
    firstname="Gwen",
    lastname="Adair",
    mail="gwen@harbor.example",
    title="Designer, new this week",
    tz="Europe/Dublin",
    locale="en-IE",
    api_key="",
    in_slack=True,
    color="#7c3aed",
)
"""Has no account in the service, so that the demo can create one for her."""
TALKERS = 3
LOG = b"""\
10:41:07 INFO  cart 7f3a: voucher SPRING10 accepted, total 45.00
10:41:09 INFO  cart 7f3a: line 2 removed, total 12.00
10:41:12 ERROR checkout: KeyError: 'voucher_minimum' (cart 7f3a)
10:41:12 ERROR checkout: answered 500 after 38 ms
10:41:40 INFO  cart 7f3a: voucher removed by hand, total 12.00
10:41:52 INFO  checkout: order 20417 placed
"""


def _note(person: Person) -> Note:
    if person.admin:
        return "administrator"
    return "no account yet" if person is NEWCOMER else "not linked"


def _picture() -> bytes:
    """Return a small PNG: a bar chart that drops at the end."""
    paper, good, bad = b"\xf6\xf7\xf9", b"\x3b\x82\xc4", b"\xd9\x48\x3b"
    height, gap, wide, foot = 120, 5, 19, 8
    bars = [(tall, good) for tall in (80, 88, 84, 92, 98, 90, 94)] + [(tall, bad) for tall in (40, 28, 22)]
    width = len(bars) * (gap + wide)
    rows = bytearray()
    for above in range(height, 0, -1):
        line = b"".join(paper * gap + (ink if foot < above < tall else paper) * wide for tall, ink in bars)
        rows += b"\0" + line

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(bytes(rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


class Seed:
    """Fills an empty workspace."""

    def __init__(self, state: State, people: Sequence[Person], service_url: str) -> None:
        self._state = state
        self._people = [person for person in people if person.in_slack]
        if self._people:
            self._people.append(NEWCOMER)
        self._service_url = service_url.rstrip("/")

    def populate(self) -> None:
        """Add users, channels, and messages from yesterday and today."""
        self._users()
        self._channels()
        if len(self._people) >= TALKERS:
            self._talk()

    def _users(self) -> None:
        state = self._state
        for person in self._people:
            state.users[person.slack_id] = User(
                id=person.slack_id,
                name=person.login,
                real_name=person.name,
                team_id=state.team.id,
                mail=person.mail,
                title=person.title,
                tz=person.tz,
                locale=person.locale,
                color=person.color,
                is_admin=person.admin,
                is_choice=True,
                note=_note(person),
            )
        state.users[PARTNER.id] = replace(PARTNER)
        state.users[state.app.bot_user_id] = User(
            id=state.app.bot_user_id,
            name=state.app.name.lower().replace(" ", ""),
            real_name=state.app.name,
            team_id=state.team.id,
            color="#334155",
            is_bot=True,
        )

    def _channel(
        self, key: str, name: str, topic: str, members: set[str], *, kind: ChannelKind = "channel"
    ) -> Channel:
        created = int(self._state.clock.now()) - 90 * 86_400
        creator = next((person.slack_id for person in self._people if person.admin), "")
        return self._state.add_channel(
            Channel(f"C0{key}", name, kind, members, topic, created=created, creator=creator)
        )

    def _channels(self) -> None:
        bot = self._state.app.bot_user_id
        all_of_us = {person.slack_id for person in self._people}
        self._channel(
            "GENERAL01", "general", "Harbor, the company: everything for everyone", all_of_us | {bot}
        )
        self._channel("WEBSHOP01", "webshop", "The shop: what is broken, what is next", all_of_us | {bot})
        self._channel("MOBILE001", "mobile", "Apps for both platforms", all_of_us | {bot})
        self._channel("TRIAGE001", "triage", "What is new in the shop, every few minutes", all_of_us | {bot})
        leaders = all_of_us - {
            person.slack_id for person in self._people if not (person.admin or person.linked)
        }
        self._channel("LEADERS01", "leadership", "Plans before they are news", leaders, kind="private")
        partners = self._channel(
            "PARTNERS1", "partners", "With Quayside Logistics", all_of_us | {bot, PARTNER.id}
        )
        partners.is_ext_shared = True
        for person in self._people:
            self._state.im(person.slack_id)

    def _file(self, name: str, mimetype: str, content: bytes, user: str) -> str:
        file_id = self._state.new_id("F")
        path = self._state.folder / file_id
        path.write_bytes(content)
        found = File(
            file_id,
            name,
            mimetype,
            path,
            len(content),
            user,
            created=int(self._state.clock.now()) - 3600,
        )
        self._state.files[found.id] = found
        return found.id

    def _say(
        self,
        channel: str,
        minutes_ago: float,
        user: str,
        text: str,
        *,
        thread: str | None = None,
        file: str = "",
    ) -> str:
        at = self._state.clock.now() - minutes_ago * 60
        message = Message(
            self._state.new_ts(at), channel, user, text, thread_ts=thread, files=[file] if file else []
        )
        return self._state.post(message).ts

    def _talk(self) -> None:
        ana, ben, chris = (person.slack_id for person in self._people[:3])
        now = datetime.fromtimestamp(self._state.clock.now(), UTC)
        yesterday = (
            now - (now - timedelta(days=1)).replace(hour=9, minute=12, second=0)
        ).total_seconds() / 60
        self._say(
            "C0GENERAL01",
            yesterday,
            chris,
            "Morning all :wave: The release leaves on Thursday at 16:00.",
        )
        self._say(
            "C0GENERAL01",
            yesterday - 9,
            chris,
            f"<@{self._state.app.bot_user_id}> is in our channels now: type `/issue` to note something in "
            "the tracker, `/issues` to find it again, `/tracker` to link your account.",
        )
        self._say(
            "C0GENERAL01",
            yesterday - 31,
            ben,
            "Nice. No more “can somebody file this?” :sweat_smile:",
        )
        shop = "C0WEBSHOP01"
        broken = self._say(
            shop,
            yesterday - 140,
            ben,
            "A customer can't pay: *checkout answers 500 when a voucher is in the cart and the last "
            "item over its minimum is removed*.\nTo see it:\n1. put two articles in the cart, one over 40 €\n"
            "2. enter the voucher `SPRING10`\n3. remove the expensive one and press _Pay_\n"
            "> Something went wrong. Please try again.",
        )
        self._say(
            shop,
            yesterday - 146,
            ana,
            "I can reproduce that. `voucher_minimum` is missing after the recalculation.",
            thread=broken,
        )
        self._say(
            shop,
            150,
            ben,
            "It happened again just now, here is the log of the shop.",
            file=self._file("checkout-error.log", "text/plain", LOG, ben),
        )
        self._say(shop, 96, ana, "Spent an hour and a half on #12 this morning, still have to log it.")
        link = f"<{self._service_url}/issues/12>" if self._service_url else "#12"
        self._say(shop, 88, chris, f"Thanks! For the others, that's {link}.")
        mobile = "C0MOBILE001"
        self._say(mobile, yesterday - 200, ana, "Push notifications arrive twice on Android 15, iOS is fine.")
        self._say(
            mobile,
            75,
            chris,
            "Sign-ins through the app dropped since 2.8. Worth an issue, I think:",
            file=self._file("sign-ins.png", "image/png", _picture(), chris),
        )
        self._say(mobile, 62, ben, "Two customers wrote about it too: they are sent back to the start page.")
        self._say(
            "C0LEADERS01", 120, chris, "The numbers of the quarter come on Friday; please keep them here."
        )
        partners = "C0PARTNERS1"
        self._say(
            partners, 110, PARTNER.id, "The tracking numbers of this morning's parcels never reached us."
        )
        self._say(partners, 104, ana, "Looking into it, I'll open an issue and keep you posted.")
