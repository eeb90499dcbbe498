"""Types of columns that are the same on SQLite and PostgreSQL."""

from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import JSON, DateTime, Dialect, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ColumnElement
from sqlalchemy.types import TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime in UTC on every database, as SQLite stores no time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a datetime without a zone can't be stored")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)


class Stored(TypeDecorator[Any]):
    """JSON of any type that pydantic can validate, such as a dataclass."""

    impl = JSON
    cache_ok = True

    def __init__(self, kind: Any) -> None:  # noqa: ANN401 - a type, or a generic alias of one
        super().__init__(none_as_null=True)
        self.kind = kind
        self._adapter: TypeAdapter[Any] = TypeAdapter(kind)

    def process_bind_param(self, value: object, dialect: Dialect) -> Any:  # noqa: ANN401, ARG002 - as SQLAlchemy has it
        return None if value is None else self._adapter.dump_python(value, mode="json", warnings=False)

    def process_result_value(self, value: object, dialect: Dialect) -> Any:  # noqa: ANN401, ARG002 - as SQLAlchemy has it
        return None if value is None else self._adapter.validate_python(value)


class DatabaseTime(ColumnElement[datetime]):
    """The database's time, with fractions of a second."""

    type = UtcDateTime()
    inherit_cache = True


@compiles(DatabaseTime)
def _current(_element: DatabaseTime, _compiler: SQLCompiler, **_: object) -> str:
    return "current_timestamp"


@compiles(DatabaseTime, "sqlite")
def _current_on_sqlite(_element: DatabaseTime, _compiler: SQLCompiler, **_: object) -> str:
    return "strftime('%Y-%m-%d %H:%M:%f000', 'now')"  # as SQLAlchemy stores times: with microseconds


NOW = select(DatabaseTime())  # the query for the database's time
