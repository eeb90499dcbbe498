"""The tables. A Slack user without an enterprise has an empty text there, as keys take no null."""

from datetime import UTC, date, datetime
from typing import Any

from slack_sdk.oauth.installation_store.sqlalchemy import SQLAlchemyInstallationStore
from slack_sdk.oauth.state_store.sqlalchemy import SQLAlchemyOAuthStateStore
from sqlalchemy import (
    JSON,
    BigInteger,
    Date,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    Text,
    column,
    false,
    func,
    select,
    table,
    type_coerce,
)
from sqlalchemy import Table as SqlTable
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime, stored and given back as UTC on every database (SQLite keeps no zone)."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To UTC; SQLite gets it without a zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a datetime without a zone can't be stored")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Aware, in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)


NOW = select(type_coerce(func.current_timestamp(), UtcDateTime))
"""What time it is for all processes: by the database's clock."""


class Table(DeclarativeBase):
    """Base of the tables."""

    type_annotation_map = {str: Text, int: BigInteger, datetime: UtcDateTime, dict[str, Any]: JSON}  # noqa: RUF012 - SQLAlchemy's way to say it


def table_of(row: type[Table]) -> SqlTable:
    """The table itself, for statements that are built once: those cost less than with its class."""
    return Table.metadata.tables[row.__tablename__]


class LinkRow(Table):
    """A Slack user's account in the service."""

    __tablename__ = "links"

    enterprise_id: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(primary_key=True)
    sealed_key: Mapped[str]
    service_user_id: Mapped[int]
    name: Mapped[str]
    linked_at: Mapped[datetime]


class ChannelDefaultRow(Table):
    """A channel's project."""

    __tablename__ = "channel_defaults"

    team_id: Mapped[str] = mapped_column(primary_key=True)
    channel_id: Mapped[str] = mapped_column(primary_key=True)
    project_id: Mapped[int]
    name: Mapped[str]
    set_by_enterprise_id: Mapped[str]
    set_by_team_id: Mapped[str]
    set_by_user_id: Mapped[str]
    set_at: Mapped[datetime]


class DeliveryRow(Table):
    """A delivery from Slack that some process of the bot has taken; until it is finished with its holder, and
    with what was asked, sealed.
    """

    __tablename__ = "deliveries"

    key: Mapped[str] = mapped_column(primary_key=True)
    claimed_at: Mapped[datetime] = mapped_column(index=True)
    holder: Mapped[str | None]
    sealed: Mapped[str | None]

    __table_args__ = (
        Index(
            "ix_deliveries_holder",
            "holder",
            postgresql_where=column("holder").is_not(None),
            sqlite_where=column("holder").is_not(None),
        ),
    )


class ProcessRow(Table):
    """A process of the bot, and when it was last heard of."""

    __tablename__ = "processes"

    holder: Mapped[str] = mapped_column(primary_key=True)
    seen_at: Mapped[datetime]


class ContinuationRow(Table):
    """What a person typed before they were linked, sealed."""

    __tablename__ = "sealed_continuations"

    id: Mapped[str] = mapped_column(primary_key=True)
    enterprise_id: Mapped[str]
    team_id: Mapped[str]
    user_id: Mapped[str]
    sealed: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(index=True)


CLEAR_CONTINUATIONS = table("continuations", column("created_at", UtcDateTime))
"""Where the version before keeps them in clear; the one after drops it."""


class CreatedIssueRow(Table):
    """An issue that was created through the bot, and the message that it was made from, if any."""

    __tablename__ = "created_issues"
    __table_args__ = (
        Index("ix_created_issues_owner", "enterprise_id", "team_id", "user_id", "created_at"),
        Index("ix_created_issues_message", "team_id", "channel_id", "message_ts"),
        Index("ix_created_issues_created_at", "created_at"),
    )

    issue_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    enterprise_id: Mapped[str]
    team_id: Mapped[str]
    user_id: Mapped[str]
    subject: Mapped[str]
    channel_id: Mapped[str | None]
    message_ts: Mapped[str | None]
    created_at: Mapped[datetime]
    privacy_refused: Mapped[bool] = mapped_column(default=False, server_default=false())


class TimeEntryRow(Table):
    """A time entry that was made through the bot; `minutes` as the person gave them.

    `post_channel_id` is where it was announced, `post_ts` its post there if Slack said which one it is.
    """

    __tablename__ = "time_entries"
    __table_args__ = (
        Index("ix_time_entries_owner", "enterprise_id", "team_id", "user_id", "created_at"),
        Index("ix_time_entries_created_at", "created_at"),
    )

    entry_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    enterprise_id: Mapped[str]
    team_id: Mapped[str]
    user_id: Mapped[str]
    project_id: Mapped[int]
    issue_id: Mapped[int | None]
    title: Mapped[str]
    minutes: Mapped[int] = mapped_column(Integer)
    activity_id: Mapped[int | None]
    activity: Mapped[str]
    spent_on: Mapped[date] = mapped_column(Date)
    comments: Mapped[str]
    created_at: Mapped[datetime]
    post_channel_id: Mapped[str | None]
    post_ts: Mapped[str | None]


class DigestRow(Table):
    """A digest. `next_due` is null while it is paused; the notices are what people still have to be told, and
    `notice_holder` the process that is telling them.

    A removed digest keeps its row for a while, paused, so that it can be restored; `removed_paused` is what
    `paused` was before.
    """

    __tablename__ = "digests"
    __table_args__ = (
        Index("ix_digests_channel", "team_id", "channel_id"),
        Index("ix_digests_owner", "enterprise_id", "team_id", "user_id"),
        {"sqlite_autoincrement": True},  # a removed digest's number doesn't come back
    )

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    enterprise_id: Mapped[str]
    team_id: Mapped[str]
    user_id: Mapped[str]
    owner_name: Mapped[str]
    channel_id: Mapped[str]
    project_id: Mapped[int]
    project: Mapped[str]
    schedule: Mapped[str]
    zone: Mapped[str]
    filters: Mapped[dict[str, Any]]
    grouped_by: Mapped[str]
    empty: Mapped[bool]
    next_due: Mapped[datetime | None] = mapped_column(index=True)
    paused: Mapped[str | None]
    covered_to: Mapped[datetime | None]
    period_from: Mapped[datetime]
    history: Mapped[dict[str, Any]]
    owner_notice: Mapped[str | None]
    channel_notice: Mapped[bool]
    notice_holder: Mapped[str | None]
    created_at: Mapped[datetime]
    removed_at: Mapped[datetime | None]
    removed_paused: Mapped[str | None]


class DigestRunRow(Table):
    """A digest's run for one due time, held by one process; another takes it over once that one is dead, and
    not before `lease_until`, which is null once the run is finished. `sending_at` is Slack's time if that is
    known; `searched_to` is the `ts` down to which the channel was searched for the run's message.
    """

    __tablename__ = "digest_runs"

    digest_id: Mapped[int] = mapped_column(
        Integer, ForeignKey("digests.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    due_at: Mapped[datetime] = mapped_column(primary_key=True)
    state: Mapped[str]
    holder: Mapped[str]
    lease_until: Mapped[datetime | None] = mapped_column(index=True)
    attempts: Mapped[int] = mapped_column(Integer)
    missed: Mapped[int] = mapped_column(Integer)
    asked: Mapped[bool]
    sending_at: Mapped[datetime | None]
    searched_to: Mapped[str | None]
    covered_to: Mapped[datetime | None]
    ts: Mapped[str | None]


class DigestIssueRow(Table):
    """An issue that a digest covers, so that it is in no other one; `due_at` is its run's, null for those
    that were there before the digest.
    """

    __tablename__ = "digest_issues"

    digest_id: Mapped[int] = mapped_column(
        Integer, ForeignKey("digests.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    issue_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    created_on: Mapped[datetime]
    due_at: Mapped[datetime | None]


SEALED_TOKENS = ("bot_token", "bot_refresh_token")
INSTALLATIONS = SQLAlchemyInstallationStore.build_bots_table(Table.metadata, "slack_bots")
"""The workspaces and organizations where the bot is installed, as slack_sdk keeps them."""
for _name in SEALED_TOKENS:
    INSTALLATIONS.c[_name].type = Text()  # encrypted they are longer than slack_sdk reckons with
OAUTH_STATES = SQLAlchemyOAuthStateStore.build_oauth_states_table(Table.metadata, "slack_oauth_states")
"""The installations that have been begun, as slack_sdk keeps them."""
