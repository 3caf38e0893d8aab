"""What health keeps: reports, judgements, corrections, and each finding with how it ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput, NotFound
from callboard.packs.writers_factory.health.values import (
    SEVERITY_RANK,
    Alert,
    CheckId,
    CheckStatus,
    FlawChallenge,
    HealthCheckResult,
    ThemeOverride,
    finding_from_json,
    finding_id,
    finding_to_json,
)
from callboard.packs.writers_factory.model import Finding, SymbolUse
from callboard.packs.writers_factory.workspace import Workspace
from callboard.store.connection import Connection
from callboard.store.records import Records

FINDING_KIND: Final = "health_finding"
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
    results: Sequence[HealthCheckResult]
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


class FindingLedger:
    """The findings of a project."""

    def __init__(self, records: Records) -> None:
        """Take where they are kept."""
        self._records = records

    def all(self) -> tuple[KnownFinding, ...]:
        """Return every finding there ever was, the worst and latest first."""
        known = [KnownFinding.from_json(*each) for each in self._records.all(FINDING_KIND).items()]
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
        known = self._records.load_all(connection, FINDING_KIND)
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
            self._records.store(connection, FINDING_KIND, key, entry.to_json())
        for key, body in known.items():
            is_gone = body["state"] == OPEN and key not in found
            if is_gone and look.covers(finding_from_json(body["finding"])):
                self._records.store(connection, FINDING_KIND, key, {**body, "state": FIXED})

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

        return KnownFinding.from_json(key, await self._records.change(FINDING_KIND, key, work))


def _rank(known: KnownFinding) -> tuple[int, int, int, str]:
    finding = known.finding
    check = _CHECKS.index(finding.check_id) if finding.check_id in _CHECKS else len(_CHECKS)
    return SEVERITY_RANK[finding.severity], check, -known.last_seen_at, known.id


REPORT_KIND: Final = "health_report"
CHALLENGE_KIND: Final = "flaw_challenge"
OVERRIDE_KIND: Final = "theme_override"
JUDGED_KIND: Final = "scene_judgement"
CORRECTION_KIND: Final = "scene_correction"
FUNCTION_KIND: Final = "cast_function"
_WRITER: Final = "writer"


@dataclass(frozen=True, slots=True)
class SceneJudgement:
    """What a scene does, as a judge or the writer sees it."""

    scene_id: str
    tension: float | None = None
    symbols: tuple[SymbolUse, ...] = ()
    challenge: FlawChallenge | None = None
    # What people of the scene are for: name to function.
    functions: Mapping[str, str] | None = None
    # Whether the judge has answered; what is left out otherwise is unknown.
    is_judged: bool = True

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "scene_id": self.scene_id,
            "tension": self.tension,
            "symbols": [{"name": use.name, "stage": use.stage} for use in self.symbols],
            "challenge": None if self.challenge is None else self.challenge.to_json(),
            "functions": dict(self.functions or {}),
        }


class HealthRecords:
    """The documents behind the checks."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the open project."""
        self._workspace = workspace
        self.documents = workspace.records

    async def keep_judgement(self, judgement: SceneJudgement, content_hash: str, flaw: str) -> None:
        """Keep what a scene does, with the text and the flaw it was judged by."""
        body = {**judgement.to_json(), "content_hash": content_hash, "flaw": flaw}
        challenge = _challenge_body(judgement.scene_id, judgement.challenge)

        def work(connection: Any) -> None:
            store = self.documents.store
            store(connection, JUDGED_KIND, judgement.scene_id, body)
            store(connection, CHALLENGE_KIND, f"{judgement.scene_id}/llm", challenge)
            for name, function in (judgement.functions or {}).items():
                key = name.casefold()
                if self.documents.load(connection, FUNCTION_KIND, key) is None:
                    told: dict[str, Json] = {"name": name, "function": function, "note": ""}
                    store(connection, FUNCTION_KIND, key, {**told, "by": "llm"})

        await self._workspace.studio.database.write(work)

    def judgements(self) -> dict[str, dict[str, Any]]:
        """Return the latest judgement of every scene, as stored."""
        return self.documents.all(JUDGED_KIND)

    def writer_challenges(self) -> dict[str, FlawChallenge | None]:
        """Return what the writer says of scenes; None where they say that nothing is challenged."""
        found: dict[str, FlawChallenge | None] = {}
        for key, body in self.documents.all(CHALLENGE_KIND).items():
            name, _, by = key.rpartition("/")
            if by == _WRITER:
                found[name] = FlawChallenge.from_json(body) if body.get("type") else None
        return found

    async def keep_challenge(self, scene_id: str, challenge: FlawChallenge | None) -> None:
        """Keep the writer's word on a scene."""
        await self.documents.put(
            CHALLENGE_KIND, f"{scene_id}/{_WRITER}", _challenge_body(scene_id, challenge)
        )

    def corrections(self) -> dict[str, dict[str, Any]]:
        """Return what the writer set right in judgements of scenes."""
        return self.documents.all(CORRECTION_KIND)

    async def keep_correction(self, scene_id: str, **changes: Json) -> None:
        """Keep the writer's own tension or symbols of a scene."""
        await self.documents.change(
            CORRECTION_KIND, scene_id, lambda body: {**(body or {}), **changes}
        )

    def functions(self) -> dict[str, dict[str, Any]]:
        """Return what characters are for, by their names in lower case."""
        return self.documents.all(FUNCTION_KIND)

    async def keep_function(self, name: str, function: str, note: str) -> None:
        """Keep what the writer says a character is for."""
        body = {"name": name, "function": function, "note": note, "by": _WRITER}
        await self.documents.put(FUNCTION_KIND, name.casefold(), body)

    def overrides(self) -> tuple[ThemeOverride, ...]:
        """Return the writer's own theme scores."""
        return tuple(
            ThemeOverride.from_json(body) for body in self.documents.all(OVERRIDE_KIND).values()
        )

    async def keep_override(self, override: ThemeOverride) -> None:
        """Keep a theme score; a later one for the same scene replaces it."""
        await self.documents.put(OVERRIDE_KIND, override.target, override.to_json())

    async def drop_override(self, target: str) -> bool:
        """Take a theme score back; say whether there was one."""
        return await self.documents.delete(OVERRIDE_KIND, target)


def symbols_of(rows: Any) -> tuple[SymbolUse, ...]:
    """Read symbols from a stored list."""
    return tuple(SymbolUse(str(row["name"]), str(row.get("stage", ""))) for row in rows or ())


def _challenge_body(scene_id: str, challenge: FlawChallenge | None) -> Mapping[str, Json]:
    return {"scene_id": scene_id, "type": ""} if challenge is None else challenge.to_json()
