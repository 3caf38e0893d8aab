"""Dates as people say them: `@today`, `@today+3d`, `@week_start`, in the user's time zone."""

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from callboard.choreography.turn.domain import Who
from callboard.choreography.turn.requests import QueryError

if TYPE_CHECKING:
    from sqlalchemy import Connection

_TOKEN: Final = re.compile(
    r"@(?P<name>today|now|week_start|week_end|month_start|month_end)(?P<days>[+-]\d{1,4})?d?"
)
TOKENS: Final = (
    "@today",
    "@today+3d",
    "@now",
    "@week_start",
    "@week_end",
    "@month_start",
    "@month_end",
)


@dataclass(frozen=True, slots=True)
class Today:
    """What time it is for a user, and when their week begins."""

    now: datetime
    week_starts_sunday: bool = False

    @classmethod
    def at(cls, now_ms: int, timezone: str, *, week_starts_sunday: bool = False) -> "Today":
        """Return what time it is in a time zone; an unknown zone counts as UTC."""
        try:
            zone: ZoneInfo | None = ZoneInfo(timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            zone = None
        moment = datetime.fromtimestamp(now_ms / 1000, tz=UTC)
        return cls(moment.astimezone(zone) if zone else moment, week_starts_sunday)

    @property
    def day(self) -> date:
        """The day it is."""
        return self.now.date()

    @property
    def week_start(self) -> date:
        """The first day of this week."""
        weekday = self.day.weekday()
        back = (weekday + 1) % 7 if self.week_starts_sunday else weekday
        return self.day - timedelta(days=back)


def is_token(value: object) -> bool:
    """Say whether a value is meant as a date token."""
    return isinstance(value, str) and value.startswith("@")


def resolve_date(value: str, today: Today, *, as_moment: bool, field: str = "") -> str:
    """Return a token as an ISO date, or as a UTC moment for columns that hold one."""
    found = _TOKEN.fullmatch(value.strip())
    if found is None:
        raise QueryError(
            "bad_value",
            f"{value!r} is no date",
            field=field,
            allowed=list(TOKENS),
            hint="Write a date as 2026-05-17, or one of the words.",
        )
    if found["name"] == "now":
        return _moment(today.now) if as_moment else today.day.isoformat()
    day = _day(found["name"], today) + timedelta(days=int(found["days"] or 0))
    if not as_moment:
        return day.isoformat()
    midnight = datetime(day.year, day.month, day.day, tzinfo=today.now.tzinfo)
    return _moment(midnight)


def _day(name: str, today: Today) -> date:
    match name:
        case "week_start":
            return today.week_start
        case "week_end":
            return today.week_start + timedelta(days=6)
        case "month_start":
            return today.day.replace(day=1)
        case "month_end":
            later = today.day.replace(day=28) + timedelta(days=4)
            return later.replace(day=1) - timedelta(days=1)
        case _:
            return today.day


def moment_of(text: str) -> str:
    """Return a moment as columns hold it; one that names no time zone is in UTC."""
    read = datetime.fromisoformat(text)
    return _moment(read if read.tzinfo else read.replace(tzinfo=UTC))


def _moment(when: datetime) -> str:
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@dataclass(frozen=True, slots=True)
class WriteMoment:
    """Who writes, when, and through what."""

    who: Who
    connection: "Connection"
    today: Today
    # Said to the user afterwards; everybody on the way may add to it.
    notes: list[str] = field(default_factory=list[str])


def stand_in_line(connection: "Connection", user_id: str) -> None:
    """Wait until nobody else writes a user's rows; the line moves when the transaction ends.

    SQLite has one writer at a time anyway. In Postgres two would read the same row, and the later
    sum would forget the earlier.
    """
    from sqlalchemy import text

    if connection.dialect.name == "postgresql":
        lock = text("SELECT pg_advisory_xact_lock(hashtextextended(:user_id, 0))")
        connection.execute(lock, {"user_id": user_id})
