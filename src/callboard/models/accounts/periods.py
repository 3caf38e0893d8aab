"""Periods: when a day, a week or a month of a plan begins and ends. Half-open, in a time zone."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum
from typing import Final

WEEKDAYS: Final = (
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
)


class PeriodKind(StrEnum):
    """How long a period is."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


@dataclass(frozen=True, slots=True)
class Period:
    """A kind of period with the day it begins on: a weekday from 0, Monday, or a day of month."""

    kind: PeriodKind
    first_weekday: int = 0
    first_day: int = 1
    zone: tzinfo = field(default=UTC)

    def around(self, now_ms: int) -> tuple[int, int]:
        """Return begin and end, in milliseconds, of the period a moment lies in."""
        today = datetime.fromtimestamp(now_ms / 1000, self.zone).date()
        start = self._start(today)
        return self._midnight(start), self._midnight(self._next(start))

    def _start(self, today: date) -> date:
        match self.kind:
            case PeriodKind.DAY:
                return today
            case PeriodKind.WEEK:
                return today - timedelta(days=(today.weekday() - self.first_weekday) % 7)
            case PeriodKind.MONTH:
                if today.day >= self.first_day:
                    return today.replace(day=self.first_day)
                last_month = today.replace(day=1) - timedelta(days=1)
                return last_month.replace(day=self.first_day)

    def _next(self, start: date) -> date:
        match self.kind:
            case PeriodKind.DAY:
                return start + timedelta(days=1)
            case PeriodKind.WEEK:
                return start + timedelta(days=7)
            case PeriodKind.MONTH:
                return (start.replace(day=1) + timedelta(days=32)).replace(day=self.first_day)

    def _midnight(self, day: date) -> int:
        return int(datetime.combine(day, time(), self.zone).timestamp() * 1000)
