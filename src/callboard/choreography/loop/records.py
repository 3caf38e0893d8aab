"""The plainest house for loops: artifacts as records of the pack, roles and code by their names.

Enough for a pack whose loops each have one unit of work at a time and whose roles may read all of
it. An artifact is known by its hash; versions are not counted. One that needs more writes ports of
its own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from callboard.choreography.loop.definition import Loop
from callboard.choreography.loop.ports import (
    ArtifactDraft,
    CodeOutcome,
    LoopRequest,
    LoopRole,
    Misfit,
    OpenedUnit,
    StepView,
    StoredArtifact,
)
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json, digest
from callboard.core.errors import NotFound
from callboard.core.parsing import misfit
from callboard.engine.scope import StepScope
from callboard.store.records import Records
from callboard.studio.studio import Studio

Shapes = Mapping[str, Any]
"""What each kind of artifact looks like: a type that Pydantic can check."""


class RecordWorkspace:
    """Keeps artifacts as records of a pack, by their hash; one unit for each loop."""

    leaves_receipts = False

    def __init__(self, studio: Studio, pack: str, shapes: Shapes) -> None:
        """Take the project, the pack whose records these are, and what each kind looks like."""
        self._records = Records(studio.database, pack, studio.clock)
        from pydantic import TypeAdapter

        self._shapes = {kind: TypeAdapter[Any](shape) for kind, shape in shapes.items()}

    async def open(
        self, stage: Stage, scope: StepScope, loop: Loop, request: LoopRequest
    ) -> OpenedUnit:
        """Open the unit of a loop; an input is what somebody named, or what a unit made last."""
        unit = request.unit or f"unit-{loop.id}"
        newest = {
            kind: StoredArtifact(**each) for kind, each in self._records.all("newest").items()
        }
        named = {
            kind: StoredArtifact(**self._row(each)["about"])
            for kind, each in request.inputs.items()
        }
        wanted = {kind for need in loop.entry_inputs for kind in need.kinds}
        entries = {kind: each for kind, each in {**newest, **named}.items() if kind in wanted}
        return OpenedUnit(unit, entries, made=newest)

    def check(self, kind: str, content: Json) -> Sequence[Misfit]:
        """Say what is wrong with an artifact."""
        from pydantic import ValidationError

        if kind not in self._shapes:
            return (Misfit("", "has no schema"),)
        try:
            self._shapes[kind].validate_python(content)
        except ValidationError as error:
            return [Misfit(".".join(map(str, e["loc"])), misfit(e)) for e in error.errors()]
        return ()

    def schemas(self, kinds: Sequence[str]) -> str:
        """Return what each kind looks like."""
        shown = {kind: self._shapes[kind].json_schema() for kind in kinds if kind in self._shapes}
        return "\n".join(f"{kind}: {schema}" for kind, schema in shown.items())

    async def store(
        self, stage: Stage, scope: StepScope, unit: str, drafts: Sequence[ArtifactDraft]
    ) -> Sequence[StoredArtifact]:
        """Store artifacts with the step that made them."""
        stored: list[StoredArtifact] = []
        for draft in drafts:
            sha = digest(draft.content)
            upstream = {kind: each.sha256 for kind, each in draft.upstream.items()}
            about = StoredArtifact(
                draft.kind,
                f"{draft.kind}-{sha[:16]}",
                sha,
                step=draft.step,
                produced_by=draft.produced_by,
                upstream=upstream,
            )
            body = {
                "about": asdict(about),
                "content": draft.content,
                "alternatives": dict(draft.alternatives),
            }
            scope.commit_with(
                lambda c, a=about, b=body: self._records.store(c, "artifact", a.id, b)
            )
            scope.commit_with(
                lambda c, a=about: self._records.store(c, "newest", a.kind, asdict(a))
            )
            stored.append(about)
        return stored

    def _keep(self, scope: StepScope, kind: str, name: str, body: Mapping[str, Json]) -> None:
        scope.commit_with(lambda connection: self._records.store(connection, kind, name, body))

    async def withdraw(
        self, stage: Stage, scope: StepScope, unit: str, gone: Sequence[StoredArtifact], why: str
    ) -> None:
        """Forget which of a kind is the newest; the artifact itself stays."""
        for each in gone:
            scope.commit_with(lambda c, kind=each.kind: self._records.remove(c, "newest", kind))

    def content(self, artifact: StoredArtifact, reader: str | None = None) -> Json:
        """Return what an artifact says; here everybody may read everything."""
        return self._row(artifact.id)["content"]

    def _row(self, artifact_id: str) -> dict[str, Any]:
        found = self._records.get("artifact", artifact_id)
        if found is None:
            raise NotFound(f"There is no artifact {artifact_id!r}", artifact=artifact_id)
        return found

    async def close(
        self, stage: Stage, scope: StepScope, unit: str, result: Mapping[str, Json]
    ) -> None:
        """Keep how the latest run of the unit ended."""
        self._keep(scope, "unit", unit, result)


class NamedCast:
    """Who works, in the order in which their work is merged."""

    showrunner = "showrunner"

    def __init__(self, *roles: LoopRole, overrides: Mapping[str, str] | None = None) -> None:
        """Take the roles, and whom the project prefers."""
        self._roles = roles
        self._overrides = overrides or {}

    def roster(self) -> Sequence[LoopRole]:
        """Return every role."""
        return self._roles

    def override(self, step: str, role: str) -> str:
        """Return whom the project prefers."""
        return self._overrides.get(step, self._overrides.get(role, role))


Code = Callable[[StepView], Any]


class NamedChecks:
    """Code by its name: what makes an artifact, what looks, what says whether something holds."""

    def __init__(self, **code: Code) -> None:
        """Take the code."""
        self._code = code

    def names(self) -> frozenset[str]:
        """Return every name a loop may use."""
        return frozenset(self._code)

    async def perform(self, name: str, view: StepView) -> CodeOutcome:
        """Do a code step."""
        return self._code[name](view)

    async def look(self, name: str, view: StepView) -> Json:
        """Return what a role is shown."""
        return self._code[name](view)

    async def holds(self, name: str, view: StepView) -> bool:
        """Say whether a condition holds."""
        return bool(self._code[name](view))
