"""Ledger: every finding under one identity from run to run: open, fixed or muted.

A run updates what it finds again and closes what it looked for and no longer finds. What it did
not look for it leaves alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput, NotFound
from callboard.packs.writers_factory.health.values import (
    SEVERITY_RANK,
    Alert,
    CheckId,
    CheckResult,
    CheckStatus,
    finding_from_json,
    finding_id,
    finding_to_json,
)
from callboard.packs.writers_factory.model import Finding
from callboard.store.connection import Connection
from callboard.store.records import Records

KIND: Final = "health_finding"
OPEN: Final = "open"
FIXED: Final = "fixed"
_CHECKS: Final = [check.value for check in CheckId]


@dataclass(frozen=True, slots=True)
class KnownFinding:
    """A finding with what became of it."""

    id: str
    finding: Finding
    state: str
    first_seen_at: int
    last_seen_at: int
    report_id: str
    muted_because: str = ""

    @property
    def is_alert(self) -> bool:
        """Whether the Foreman is told of it."""
        return self.state == OPEN and not self.muted_because

    def to_json(self) -> dict[str, Json]:
        """Return the shape shown at the doors, which is also the stored one."""
        return {
            "finding": finding_to_json(self.finding),
            "state": self.state,
            "first_seen_at": self.first_seen_at,
            "last_seen_at": self.last_seen_at,
            "report_id": self.report_id,
            "muted_because": self.muted_because,
        }

    @classmethod
    def from_json(cls, key: str, data: Mapping[str, Any]) -> "KnownFinding":
        """Read the stored shape."""
        return cls(
            id=key,
            finding=finding_from_json(data["finding"]),
            state=data["state"],
            first_seen_at=data["first_seen_at"],
            last_seen_at=data["last_seen_at"],
            report_id=data["report_id"],
            muted_because=data["muted_because"],
        )


@dataclass(frozen=True, slots=True)
class Look:
    """What a run looked at: what it found, and how far it can say that something is gone."""

    report_id: str
    results: Sequence[CheckResult]
    is_whole: bool
    inside: frozenset[str]

    def covers(self, finding: Finding) -> bool:
        """Say whether this run would have found a finding if it were still there."""
        result = next((r for r in self.results if r.check_id == finding.check_id), None)
        if result is None or result.status is CheckStatus.SKIPPED:
            return False
        # Nobody was there who could have seen it again.
        if finding.is_judged and result.is_partial:
            return False
        return self.is_whole or not self.inside.isdisjoint(finding.scene_ids)


class Ledger:
    """The findings of a project."""

    def __init__(self, records: Records) -> None:
        """Take where they are kept."""
        self._records = records

    def all(self) -> tuple[KnownFinding, ...]:
        """Return every finding there ever was, the worst and latest first."""
        known = [KnownFinding.from_json(*each) for each in self._records.all(KIND).items()]
        return tuple(sorted(known, key=_rank))

    def alerts(self, limit: int) -> tuple[Alert, ...]:
        """Return the open findings nobody muted, worst first."""
        found = [each for each in self.all() if each.is_alert]
        return tuple(
            Alert(
                each.finding.severity,
                each.finding.check_id,
                each.finding.title,
                each.finding.recommendation,
                each.id,
            )
            for each in found[: max(0, limit)]
        )

    def enter(self, connection: Connection, look: Look, now: int) -> None:
        """Write down what a run found, and close what it no longer found."""
        known = self._records.load_all(connection, KIND)
        found = {finding_id(f): f for result in look.results for f in result.findings}
        for key, finding in found.items():
            old = known.get(key)
            entry = KnownFinding(
                id=key,
                finding=finding,
                state=OPEN,
                first_seen_at=now if old is None else old["first_seen_at"],
                last_seen_at=now,
                report_id=look.report_id,
                muted_because="" if old is None else old["muted_because"],
            )
            self._records.store(connection, KIND, key, entry.to_json())
        for key, body in known.items():
            is_gone = body["state"] == OPEN and key not in found
            if is_gone and look.covers(finding_from_json(body["finding"])):
                self._records.store(connection, KIND, key, {**body, "state": FIXED})

    async def mute(self, key: str, reason: str) -> KnownFinding:
        """Keep a finding out of the alerts, whatever later runs find."""
        if not reason.strip():
            raise InvalidInput(
                "A finding is muted with a reason, and there is none",
                fix="Say why it is meant to be so.",
                finding_id=key,
            )
        return await self._set_reason(key, reason.strip())

    async def unmute(self, key: str) -> KnownFinding:
        """Let a finding be an alert again."""
        return await self._set_reason(key, "")

    async def _set_reason(self, key: str, reason: str) -> KnownFinding:
        def work(body: dict[str, Any] | None) -> Mapping[str, Json]:
            if body is None:
                raise NotFound(
                    f"There is no finding {key!r}",
                    fix="The latest health report lists the findings with their ids.",
                    finding_id=key,
                )
            return {**body, "muted_because": reason}

        return KnownFinding.from_json(key, await self._records.change(KIND, key, work))


def _rank(known: KnownFinding) -> tuple[int, int, int, str]:
    finding = known.finding
    check = _CHECKS.index(finding.check_id) if finding.check_id in _CHECKS else len(_CHECKS)
    return SEVERITY_RANK[finding.severity], check, -known.last_seen_at, known.id
