"""The board of a loop: which step stands where, what is stale, what is open, and what is stable.

Pure state, made again from the journal by whoever replays a run. It asks nobody, and no decision
of a model changes what it says: a step is offered only if what it needs is there and fresh.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from callboard.choreography.loop.definition import Loop, LoopStep
from callboard.choreography.loop.ports import StoredArtifact
from callboard.choreography.loop.revisions import RevisionRequest


class Standing(StrEnum):
    """Where a step stands."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    BLOCKED = "blocked"
    REUSED = "reused"
    SKIPPED = "skipped"
    STALE = "stale"


_MADE = (Standing.DONE, Standing.REUSED)


@dataclass(slots=True)
class StepRow:
    """What has become of one step so far."""

    standing: Standing = Standing.PENDING
    # The hash of everything it read, by kind.
    read: dict[str, str] = field(default_factory=dict[str, str])
    times: int = 0
    # Attempts that failed since it last succeeded, or since the human let it be tried again.
    failures: int = 0
    why: str = ""


@dataclass(slots=True)
class LoopBoard:
    """Everything that is known of a loop while it runs."""

    loop: Loop
    artifacts: dict[str, StoredArtifact] = field(default_factory=dict[str, StoredArtifact])
    rows: dict[str, StepRow] = field(default_factory=dict[str, StepRow])
    revisions: list[RevisionRequest] = field(default_factory=list[RevisionRequest])
    deferrals: list[str] = field(default_factory=list[str])
    gate_blocks: int = 0
    iterations: int = 0

    def __post_init__(self) -> None:
        """Put every step on the board."""
        self.rows = {step.id: StepRow() for step in self.loop.steps}

    def inputs_of(self, step: LoopStep) -> dict[str, StoredArtifact]:
        """Return what a step would read now: of several kinds that do, the first there is."""
        found: dict[str, StoredArtifact] = {}
        for need in step.requires:
            kind = next((each for each in need.kinds if each in self.artifacts), None)
            if kind is not None:
                found[kind] = self.artifacts[kind]
        return found

    def hashes_of(self, step: LoopStep) -> dict[str, str]:
        """Return the hashes of what a step would read now."""
        return {kind: each.sha256 for kind, each in self.inputs_of(step).items()}

    def lacks(self, step: LoopStep) -> tuple[str, ...]:
        """Return what a step needs that is not there, or not fresh."""
        there = self.inputs_of(step)
        told: list[str] = []
        for need in step.requires:
            held = [kind for kind in need.kinds if kind in there]
            if not held and not need.is_optional:
                told.append(str(need))
            told += [kind for kind in held if not self._is_fresh(kind)]
        return tuple(told)

    def _is_fresh(self, kind: str) -> bool:
        producer = self.loop.producers.get(kind)
        return producer is None or self.standing(producer) in _MADE

    def standing(self, step: LoopStep) -> Standing:
        """Return where a step stands, what it read held against what there is now."""
        row = self.rows[step.id]
        if row.standing is Standing.SKIPPED and row.read != self.hashes_of(step):
            return Standing.PENDING if row.read else row.standing
        if row.standing in _MADE and self._is_stale(step, row):
            return Standing.STALE
        return row.standing

    def _is_stale(self, step: LoopStep, row: StepRow) -> bool:
        now = self.hashes_of(step)
        if step.gate:
            # What a gate did not look at cannot spoil its word.
            now = {kind: sha for kind, sha in now.items() if kind in row.read}
        return now != row.read or any(not self._is_fresh(kind) for kind in now)

    def is_offered(self, step: LoopStep, attempts: int) -> bool:
        """Say whether a step may be taken now, whoever wants it."""
        row, standing = self.rows[step.id], self.standing(step)
        if standing is Standing.SKIPPED or row.failures >= attempts or self.lacks(step):
            return False
        if standing is Standing.BLOCKED:
            return row.read != self.hashes_of(step)
        return step.can_iterate or standing not in _MADE

    def offered(self, attempts: int) -> tuple[LoopStep, ...]:
        """Return the steps that may be taken now, in the order of the playbook."""
        return tuple(step for step in self.loop.flow if self.is_offered(step, attempts))

    def is_unmade(self, step: LoopStep) -> bool:
        """Say whether a step has not done its work, or not on what there is now."""
        return self.standing(step) not in (*_MADE, Standing.SKIPPED)

    def is_impossible(self, step: LoopStep) -> bool:
        """Say whether what a step cannot do without will never be made."""
        return any(
            not need.is_optional
            and not any(kind in self.artifacts for kind in need.kinds)
            and all(self._is_off(kind) for kind in need.kinds)
            for need in step.requires
        )

    def _is_off(self, kind: str) -> bool:
        producer = self.loop.producers.get(kind)
        return producer is None or self.rows[producer.id].standing is Standing.SKIPPED

    def playbook_step(self, attempts: int) -> LoopStep | None:
        """Return the step the playbook takes next: what must be revised, else the next unmade."""
        offered = self.offered(attempts)
        wanted = {each.target_step for each in self.musts()}
        revised = [step for step in offered if step.id in wanted]
        unmade = [step for step in offered if self.is_unmade(step)]
        first = revised[:1] + unmade[:1]
        return min(first, key=self.loop.flow.index, default=None)

    def musts(self) -> list[RevisionRequest]:
        """Return the open requests that keep the loop from being stable."""
        return [each for each in self.revisions if each.is_open and each.severity == "must"]

    def is_required(self, step: LoopStep) -> bool:
        """Say whether a loop is not stable without a step; a condition counts once it holds."""
        return step.required is not False

    def unstable(self) -> tuple[str, ...]:
        """Say what keeps the loop from being stable, as code sees it; nothing means stable."""
        told: list[str] = []
        for step in self.loop.steps:
            standing = self.standing(step)
            if standing is Standing.STALE:
                told.append(f"{step.id} is stale")
            elif self.is_required(step) and self.is_unmade(step):
                told.append(f"{step.id} is {standing.value}")
            elif standing in (Standing.FAILED, Standing.BLOCKED) and self._holds(step):
                told.append(f"{step.id} is {standing.value}, and what it made before is in use")
        told += [f"{each.target_step} must be revised: {each.reason}" for each in self.musts()]
        return tuple(told)

    def _holds(self, step: LoopStep) -> bool:
        return any(kind in self.artifacts for kind in step.produces)

    def settle(
        self, step: LoopStep, standing: Standing, made: Iterable[StoredArtifact] = (), why: str = ""
    ) -> None:
        """Note how a step ended, and what counts from now on."""
        row = self.rows[step.id]
        row.standing, row.why = standing, why
        if standing is Standing.FAILED:
            row.failures += 1
            return
        row.failures = 0
        row.read = self.hashes_of(step)
        self.artifacts.update({each.kind: each for each in made})
        if standing is Standing.SKIPPED:
            return
        row.times += 1
        if standing is Standing.BLOCKED:
            self.gate_blocks += 1
        self._answer_requests(step)

    def _answer_requests(self, step: LoopStep) -> None:
        """Close what asked for this step, and what this step asked for when it last looked."""
        for at, each in enumerate(self.revisions):
            if each.is_open and each.target_step == step.id:
                self.revisions[at] = replace(each, status="applied")
            elif each.is_open and each.requested_by == step.id:
                self.revisions[at] = replace(each, status="applied", answer="looked at anew")

    def drop(self, step: LoopStep, why: str) -> list[StoredArtifact]:
        """Leave an optional step out and return what does not count any more."""
        gone = [self.artifacts.pop(kind) for kind in step.produces if kind in self.artifacts]
        row = self.rows[step.id]
        row.standing, row.why, row.read = Standing.SKIPPED, why, {}
        for at, each in enumerate(self.revisions):
            if each.is_open and step.id in (each.requested_by, each.target_step):
                self.revisions[at] = replace(each, status="dismissed", answer=why)
        return gone

    def without(self, steps: Iterable[LoopStep]) -> "LoopBoard":
        """Return the board as it would be without some steps; this one stays as it is."""
        other = replace(self, artifacts=dict(self.artifacts), revisions=list(self.revisions))
        other.rows = {name: replace(row) for name, row in self.rows.items()}
        for step in steps:
            other.drop(step, "")
        return other

    def can_drop(self, step: LoopStep) -> bool:
        """Say whether a step may be left out: an optional one that is stale or keeps failing."""
        standing = self.standing(step)
        return step.required is False and standing in (Standing.STALE, Standing.FAILED)

    def dismiss(self, request_id: str, why: str) -> bool:
        """Turn a `should` down; a `must` cannot be."""
        for at, each in enumerate(self.revisions):
            if each.id == request_id and each.is_open and each.severity == "should":
                self.revisions[at] = replace(each, status="dismissed", answer=why)
                return True
        return False

    def can_adopt(self, step: LoopStep, made: Mapping[str, StoredArtifact]) -> bool:
        """Say whether what exists is what a step would make from what it would read now."""
        if not step.produces or step.code is not None or self.lacks(step):
            return False
        now = self.hashes_of(step)
        return all(kind in made and dict(made[kind].upstream) == now for kind in step.produces)

    def allow_more(self) -> None:
        """Let everything be tried again, because the human said so."""
        self.gate_blocks = 0
        self.iterations = 0
        for row in self.rows.values():
            row.failures = 0
            if row.standing is Standing.BLOCKED:
                row.standing = Standing.PENDING

    def steps(self) -> dict[str, str]:
        """Return where every step stands."""
        return {step.id: self.standing(step).value for step in self.loop.steps}

    def upstream(self, step: LoopStep) -> tuple[LoopStep, ...]:
        """Return the steps whose work a step rests on, in the order of the playbook."""
        found: set[str] = set()
        waiting = [step]
        while waiting:
            for kind in waiting.pop().needs:
                producer = self.loop.producers.get(kind)
                if producer is not None and producer.id not in found:
                    found.add(producer.id)
                    waiting.append(producer)
        return tuple(each for each in self.loop.flow if each.id in found)
