"""The tables, and the types of their columns, which are the same on SQLite and PostgreSQL."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from itertools import chain
from typing import Any, ClassVar, Protocol, TypeVar

import sqlalchemy as sa
from pydantic import TypeAdapter
from slack_sdk.oauth.installation_store.sqlalchemy import SQLAlchemyInstallationStore
from slack_sdk.oauth.state_store.sqlalchemy import SQLAlchemyOAuthStateStore
from sqlalchemy import Table as SqlTable
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator

from bot.store.owner import Owner
from bot.store.plans import EntryPost, FieldValue, Filters, TemplateContent


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime in UTC on every database, as SQLite stores no time zone."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a datetime without a zone can't be stored")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)


class Stored(TypeDecorator[Any]):
    """JSON of any type that pydantic can validate, such as a dataclass."""

    impl = sa.JSON
    cache_ok = True

    def __init__(self, kind: Any) -> None:  # noqa: ANN401 - a type, or a generic alias of one
        super().__init__(none_as_null=True)
        self.kind = kind
        self._adapter: TypeAdapter[Any] = TypeAdapter(kind)

    def process_bind_param(self, value: object, dialect: sa.Dialect) -> Any:  # noqa: ANN401, ARG002 - as SQLAlchemy has it
        return None if value is None else self._adapter.dump_python(value, mode="json", warnings=False)

    def process_result_value(self, value: object, dialect: sa.Dialect) -> Any:  # noqa: ANN401, ARG002 - as SQLAlchemy has it
        return None if value is None else self._adapter.validate_python(value)


class DatabaseTime(FunctionElement[datetime]):
    """The database's time, with fractions of a second."""

    type = UtcDateTime()
    inherit_cache = True


@compiles(DatabaseTime)
def _current(_element: DatabaseTime, _compiler: SQLCompiler, **_: object) -> str:
    return "current_timestamp"


@compiles(DatabaseTime, "sqlite")
def _current_on_sqlite(_element: DatabaseTime, _compiler: SQLCompiler, **_: object) -> str:
    return "strftime('%Y-%m-%d %H:%M:%f000', 'now')"  # as SQLAlchemy stores times: with microseconds


NOW = sa.select(DatabaseTime())  # the query for the database's time


class Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


T = TypeVar("T", bound=Dataclass)


KnownUpdates = Mapping[int, datetime]  # issues with the times of their last updates
History = tuple[tuple[datetime, int], ...]


class Table(DeclarativeBase):
    type_annotation_map = {str: sa.Text, int: sa.BigInteger, datetime: UtcDateTime}  # noqa: RUF012 - SQLAlchemy's convention


def from_row(kind: type[T], row: sa.Row[Any], **other: object) -> T:
    """Return a dataclass whose fields are the row's columns with the same names, and `other`."""
    columns = row._mapping  # noqa: SLF001 - SQLAlchemy's own name for it
    names = kind.__dataclass_fields__.keys() & columns.keys()
    return kind(**{**{name: columns[name] for name in names}, **other})


def columns_of(value: Dataclass, *without: str) -> dict[str, object]:
    """Return the fields of a dataclass, except `without`, as the columns with the same names."""
    return {name: item for name, item in vars(value).items() if name not in without}


WHERE = "where"
"""The key of a partial index's condition in its `info`. To say it per dialect would load all dialects."""


@sa.event.listens_for(Table.metadata, "before_create")
def _set_conditions(metadata: sa.MetaData, connection: sa.Connection, **_: object) -> None:
    for index in chain.from_iterable(table.indexes for table in metadata.tables.values()):
        if WHERE in index.info:
            index.dialect_options[connection.dialect.name]["where"] = index.info[WHERE]


def table_of(row: type[Table]) -> SqlTable:
    return Table.metadata.tables[row.__tablename__]


class Owned:
    """The columns of the Slack user who owns a row; see `Owner.columns`."""

    enterprise_id: Mapped[str]
    team_id: Mapped[str]
    user_id: Mapped[str]

    @classmethod
    def of(cls, owner: Owner) -> sa.ColumnElement[bool]:
        return sa.and_(*(getattr(cls, name) == value for name, value in owner.columns.items()))


class OnePerOwner(Owned):
    enterprise_id: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(primary_key=True)


class LinkRow(OnePerOwner, Table):
    """A linked account. The service refused its key from `refused_since` to `refused_at`; both are null if it
    accepted the key last. `zone` is the last time zone that Slack named.
    """

    __tablename__ = "links"

    encrypted_key: Mapped[str]
    service_user_id: Mapped[int]
    name: Mapped[str]
    linked_at: Mapped[datetime]
    zone: Mapped[str | None]
    refused_since: Mapped[datetime | None]
    refused_at: Mapped[datetime | None]


class ChannelRow(Owned, Table):
    """A channel's default project, the emoji that creates issues in it, and who changed them last."""

    __tablename__ = "channels"

    team_id: Mapped[str] = mapped_column(primary_key=True)
    channel_id: Mapped[str] = mapped_column(primary_key=True)
    project_id: Mapped[int | None]
    emoji: Mapped[str | None]
    changed_at: Mapped[datetime]


class TemplateRow(Owned, Table):
    """A template for new issues, and who changed it last. `channel_id` is empty for the whole project's;
    `name_key` is the name without case.
    """

    __tablename__ = "issue_templates"
    __table_args__ = (
        sa.Index("ix_issue_templates_name", "team_id", "project_id", "channel_id", "name_key", unique=True),
        {"sqlite_autoincrement": True},  # the ID of a removed template is never reused
    )

    id: Mapped[int] = mapped_column(sa.Integer, primary_key=True)
    project_id: Mapped[int]
    channel_id: Mapped[str]
    name: Mapped[str]
    name_key: Mapped[str]
    content: Mapped[TemplateContent] = mapped_column(Stored(TemplateContent))
    changed_at: Mapped[datetime]


class ClaimRow(Table):
    """Work that a request does once; see `store.claims`. `at` is when it was done, or when the first attempt
    that may have done it began; `by` names the owner whose attempt that was, where several people can ask for
    the same work.
    """

    __tablename__ = "claims"

    key: Mapped[str] = mapped_column(primary_key=True)
    state: Mapped[str]
    holder: Mapped[str | None]
    at: Mapped[datetime] = mapped_column(index=True)
    by: Mapped[str | None]

    __table_args__ = (sa.Index("ix_claims_held", "holder", info={WHERE: sa.column("holder").is_not(None)}),)


class JobRow(Table):
    """Work that any process can do; see `store.jobs`. It was first due at `due_since`. The worker takes it
    from `due_at` on, or if its holder dies, but not before `keep_until` if a request may still arrive.

    That request began at `request_began`, by the clock of the system that receives it. Since `unknown_since`,
    by the database's clock, nobody knows whether one arrived. `searched_to` is Slack's `ts` up to which a
    look-up came. `encrypted` is the job's content, and `sending` that of the request, encrypted too.
    """

    __tablename__ = "jobs"

    key: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    holder: Mapped[str | None]
    due_since: Mapped[datetime] = mapped_column(index=True)
    due_at: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(sa.Integer, default=0)
    failures: Mapped[int] = mapped_column(sa.Integer, default=0)
    request_began: Mapped[datetime | None]
    keep_until: Mapped[datetime | None]
    unknown_since: Mapped[datetime | None]
    searched_to: Mapped[str | None]
    encrypted: Mapped[str | None]
    sending: Mapped[str | None]

    __table_args__ = (
        sa.Index("ix_jobs_due", "due_at", info={WHERE: sa.column("due_at").is_not(None)}),
        sa.Index("ix_jobs_held", "holder", info={WHERE: sa.column("holder").is_not(None)}),
    )


class ProcessRow(Table):
    __tablename__ = "processes"

    holder: Mapped[str] = mapped_column(primary_key=True)
    seen_at: Mapped[datetime]


class SavedInputRow(Owned, Table):
    """A user's input that they may need again, encrypted."""

    __tablename__ = "saved_input"

    id: Mapped[str] = mapped_column(primary_key=True)
    encrypted: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(index=True)


class CreatedIssueRow(Owned, Table):
    """An issue created with the bot, and the message it was created from, if any."""

    __tablename__ = "created_issues"
    __table_args__ = (
        sa.Index("ix_created_issues_owner", "enterprise_id", "team_id", "user_id", "created_at"),
        sa.Index("ix_created_issues_message", "team_id", "channel_id", "message_ts"),
        sa.Index("ix_created_issues_created_at", "created_at"),
    )

    issue_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    subject: Mapped[str]
    channel_id: Mapped[str | None]
    message_ts: Mapped[str | None]
    created_at: Mapped[datetime]
    privacy_refused: Mapped[bool] = mapped_column(default=False)


class TimeEntryRow(Owned, Table):
    """A time entry logged with the bot; `minutes` as entered by the user."""

    __tablename__ = "time_entries"
    __table_args__ = (
        sa.Index("ix_time_entries_owner", "enterprise_id", "team_id", "user_id", "created_at"),
        sa.Index("ix_time_entries_created_at", "created_at"),
    )

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    project_id: Mapped[int]
    issue_id: Mapped[int | None]
    title: Mapped[str]
    minutes: Mapped[int] = mapped_column(sa.Integer)
    activity_id: Mapped[int | None]
    activity: Mapped[str]
    spent_on: Mapped[date] = mapped_column(sa.Date)
    comments: Mapped[str]
    created_at: Mapped[datetime]
    post: Mapped[EntryPost | None] = mapped_column(Stored(EntryPost))


class NoticeSwitchRow(OnePerOwner, Table):
    """Whether a user is notified of a topic: since when, by the service's clock, or not if that is null."""

    __tablename__ = "notice_switches"

    topic: Mapped[str] = mapped_column(primary_key=True)
    since: Mapped[datetime | None]


class MutedIssueRow(OnePerOwner, Table):
    """An issue that a user muted."""

    __tablename__ = "muted_issues"

    issue_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


_PERSONAL = sa.and_(sa.column("kind") == sa.literal_column("'personal'"), sa.column("removed_at").is_(None))


class DigestRow(Owned, Table):
    """A digest. `known_updates` has a personal digest's issues and their last updates, by issue ID.
    `agreed_project` is the project that isn't public which the owner agreed to show.

    A removed digest is kept as paused for a while so that it can be restored; `removed_paused` is the value
    of `paused` before the removal.
    """

    __tablename__ = "digests"
    __table_args__ = (
        sa.Index("ix_digests_channel", "team_id", "channel_id"),
        sa.Index("ix_digests_owner", "enterprise_id", "team_id", "user_id"),
        sa.Index(
            "ix_digests_personal",
            *("enterprise_id", "team_id", "user_id"),
            unique=True,
            info={WHERE: _PERSONAL},
        ),
        {"sqlite_autoincrement": True},  # the ID of a removed digest is never reused
    )

    id: Mapped[int] = mapped_column(sa.Integer, primary_key=True)
    owner_name: Mapped[str]
    channel_id: Mapped[str]
    project_id: Mapped[int]
    project: Mapped[str]
    schedule: Mapped[str]
    zone: Mapped[str]
    filters: Mapped[Filters] = mapped_column(Stored(Filters))
    excluded: Mapped[Filters] = mapped_column(Stored(Filters))
    custom_fields: Mapped[tuple[FieldValue, ...]] = mapped_column(Stored(tuple[FieldValue, ...]))
    query: Mapped[int | None]
    group: Mapped[str]
    empty: Mapped[bool]
    subprojects: Mapped[bool]
    kind: Mapped[str]
    stale_days: Mapped[int] = mapped_column(sa.Integer)
    known_updates: Mapped[KnownUpdates | None] = mapped_column(Stored(KnownUpdates))
    paused: Mapped[str | None]
    agreed_project: Mapped[int | None]
    covered_to: Mapped[datetime | None]
    period_from: Mapped[datetime]
    history: Mapped[History] = mapped_column(Stored(History))
    created_at: Mapped[datetime]
    removed_at: Mapped[datetime | None]
    removed_paused: Mapped[str | None]


class DigestIssueRow(Table):
    """An issue that a digest has covered and won't list again. `happened_at` is when it was opened, closed
    or changed, by the digest's kind.
    """

    __tablename__ = "digest_issues"

    digest_id: Mapped[int] = mapped_column(
        sa.Integer, sa.ForeignKey("digests.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    issue_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    happened_at: Mapped[datetime]


_IN_FEED = sa.column("digest_id").is_not(None)


class FollowedIssueRow(Owned, Table):
    """An issue that a thread or a direct message follows, and the post there that is kept up to date.

    The owner's key reads the issue. `posted_by` is the Slack user who caused the post, `created` whether by
    creating the issue. `agreed_project` is the project that isn't public which the owner agreed to show.
    `seen_on` is the `updated_on` of the issue that the post shows, `fingerprint` a hash of the post, `closed`
    what the thread's last line said. `direct` is whether the post is in the owner's direct messages.
    Where comments are included, those after the journal `quoted_to` are quoted.

    An issue of a live feed has its `digest_id`, is read with the feed's owner's key, and has no `ts` until it
    has a post of its own: see `Stage`. Changes after the journal `told_to` get a line in its thread. A
    channel's feeds have an issue once.
    """

    __tablename__ = "followed_issues"
    __table_args__ = (
        sa.Index("ix_followed_issues_thread", "channel_id", "thread_ts", "issue_id", unique=True),
        sa.Index("ix_followed_issues_owner", "enterprise_id", "team_id", "user_id"),
        sa.Index("ix_followed_issues_digest", "digest_id", "issue_id", unique=True),
        sa.Index(
            "ix_followed_issues_feed",
            "channel_id",
            "issue_id",
            unique=True,
            sqlite_where=_IN_FEED,
            postgresql_where=_IN_FEED,
        ),
        {"sqlite_autoincrement": True},  # the ID is part of what identifies its job
    )

    id: Mapped[int] = mapped_column(sa.Integer, primary_key=True)
    issue_id: Mapped[int]
    channel_id: Mapped[str]
    thread_ts: Mapped[str]
    ts: Mapped[str]
    posted_by: Mapped[str]
    created: Mapped[bool]
    agreed_project: Mapped[int | None]
    seen_on: Mapped[datetime | None]
    fingerprint: Mapped[str]
    closed: Mapped[bool]
    stage: Mapped[str]
    direct: Mapped[bool]
    quoted_to: Mapped[int | None]
    told_to: Mapped[int] = mapped_column(server_default="0")
    changed_at: Mapped[datetime]
    digest_id: Mapped[int | None] = mapped_column(sa.Integer, sa.ForeignKey("digests.id", ondelete="CASCADE"))


ENCRYPTED_TOKENS = ("bot_token", "bot_refresh_token")
INSTALLATIONS = SQLAlchemyInstallationStore.build_bots_table(Table.metadata, "slack_bots")
"""slack_sdk's table of installations in workspaces and organizations."""
for _name in ENCRYPTED_TOKENS:
    INSTALLATIONS.c[_name].type = sa.Text()  # encrypted tokens are longer than slack_sdk's columns
OAUTH_STATES = SQLAlchemyOAuthStateStore.build_oauth_states_table(Table.metadata, "slack_oauth_states")
"""slack_sdk's table of OAuth states."""
