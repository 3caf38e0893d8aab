"""What a pack brings to its loops: where artifacts live, who works, and the code that decides.

Protocols and the values that pass through them. Whatever a pack does here happens inside a
journaled step: it may be repeated after a crash, and what it writes with `scope.commit_with` or
as an operation (`choreography.operating.operate_within`) is stored with that step or not at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Protocol

from pydantic import Field

from callboard.choreography.loop.definition import Loop, LoopStep
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.codec import Closed
from callboard.engine.scope import StepScope


class PromptMode(StrEnum):
    """Whom a role talks to: the driver of a loop, or a human by itself."""

    ORCHESTRATION = "orchestration"
    STANDALONE = "standalone"


@dataclass(frozen=True, slots=True)
class LoopRole:
    """A role of the roster; one that may sleep leaves a tag on the work done without it."""

    id: str
    may_sleep: bool = False
    deferral: str = ""


@dataclass(frozen=True, slots=True)
class StoredArtifact:
    """An artifact as the loop knows it: what and where it is, never what it says.

    `upstream` has the hash of each input it was made from, by kind.
    """

    kind: str
    id: str
    sha256: str
    version: int = 1
    step: str = ""
    produced_by: str = ""
    upstream: Mapping[str, str] = field(default_factory=dict[str, str])
    # What a list of artifacts says besides: how many entries, what status.
    note: str = ""


@dataclass(frozen=True, slots=True)
class ArtifactDraft:
    """An artifact that is valid and about to be stored."""

    kind: str
    content: Json
    step: str
    produced_by: str
    upstream: Mapping[str, StoredArtifact]
    # What other roles said where the one who leads said otherwise, by role.
    alternatives: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class LoopWish(Closed):
    """Which loop somebody wants run, and on what."""

    loop: Annotated[str, Field(min_length=1)]
    # Artifacts the user names, by kind: ids of the workspace.
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    # The unit of work to go on with, and those it builds on.
    unit: str | None = None
    upstream: tuple[str, ...] = ()
    # Optional roles that are awake for it.
    awake: tuple[str, ...] = ()
    # What the user wants of it, in their words.
    brief: Annotated[str, Field(max_length=20_000)] = ""
    policy: str = ""


@dataclass(frozen=True, slots=True)
class LoopRequest(LoopWish):
    """What a run of a loop is started with."""

    title: str = ""
    is_interactive: bool = True


@dataclass(frozen=True, slots=True)
class OpenedUnit:
    """A unit of work (a TU): the record over the runs of one loop.

    `entries` are the inputs found for it; `made` what the project holds already and a step may
    adopt instead of working: of a unit that is gone on with, what its earlier runs made.
    `revisions` is what those left open, in the shape `LoopResult` gave it.
    """

    id: str
    entries: Mapping[str, StoredArtifact] = field(default_factory=dict[str, StoredArtifact])
    made: Mapping[str, StoredArtifact] = field(default_factory=dict[str, StoredArtifact])
    revisions: tuple[Mapping[str, Json], ...] = ()
    # What a role or the Showrunner should know of the project, in a few lines.
    about: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "OpenedUnit":
        """Read the stored shape."""
        return cls(
            id=data["id"],
            entries={kind: StoredArtifact(**each) for kind, each in data["entries"].items()},
            made={kind: StoredArtifact(**each) for kind, each in data["made"].items()},
            revisions=tuple(data["revisions"]),
            about=data["about"],
        )


@dataclass(frozen=True, slots=True)
class Misfit:
    """Where an artifact does not obey its schema, and how."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class StepView:
    """What code of a pack sees when it is called for a step."""

    stage: Stage
    scope: StepScope
    loop: Loop
    step: LoopStep
    unit: str
    # Everything there is and counts, by kind.
    artifacts: Mapping[str, StoredArtifact]
    awake: frozenset[str]
    workspace: "LoopWorkspace"
    # What the roles made, for `after`; the report before it counts, for a gate.
    made: Mapping[str, Json] = field(default_factory=dict[str, Json])
    # What `before` found, for `after`.
    found: Json = None
    deferrals: tuple[str, ...] = ()

    def content(self, kind: str) -> Any:
        """Return what an artifact says; None if there is none."""
        held = self.artifacts.get(kind)
        return None if held is None else self.workspace.content(held)


@dataclass(frozen=True, slots=True)
class CodeOutcome:
    """What code of a pack made of a step.

    `errors` fail the step. `remediation` blocks it, in the shape of a gate's report. `next_loop`
    is where the work goes afterwards, with the kinds it takes along.
    """

    artifacts: Mapping[str, Json] = field(default_factory=dict[str, Json])
    message: str = ""
    errors: tuple[Misfit, ...] = ()
    remediation: tuple[Mapping[str, Json], ...] = ()
    next_loop: str | None = None
    next_inputs: tuple[str, ...] = ()


class LoopWorkspace(Protocol):
    """Where units of work and artifacts live."""

    @property
    def leaves_receipts(self) -> bool:
        """Whether each write is an operation, whose receipt is sealed with its step."""
        ...

    async def open(
        self, stage: Stage, scope: StepScope, loop: Loop, request: LoopRequest
    ) -> OpenedUnit:
        """Open a unit or one that is there again, and find its entry inputs.

        An entry input that is not found is left out; the loop refuses to start without it.
        """
        ...

    def check(self, kind: str, content: Json) -> Sequence[Misfit]:
        """Say what is wrong with an artifact; a kind without a schema is wrong."""
        ...

    def schemas(self, kinds: Sequence[str]) -> str:
        """Return the schema index of some kinds, as compact text for a role's prompt."""
        ...

    async def store(
        self, stage: Stage, scope: StepScope, unit: str, drafts: Sequence[ArtifactDraft]
    ) -> Sequence[StoredArtifact]:
        """Store valid artifacts of one step, each as a new version with its report."""
        ...

    async def withdraw(
        self, stage: Stage, scope: StepScope, unit: str, gone: Sequence[StoredArtifact], why: str
    ) -> None:
        """Note that artifacts do not count any more; they stay in the history."""
        ...

    def content(self, artifact: StoredArtifact, reader: str | None = None) -> Json:
        """Return what an artifact says; for a role, refuse what it may not read."""
        ...

    async def close(
        self, stage: Stage, scope: StepScope, unit: str, result: Mapping[str, Json]
    ) -> None:
        """Close the unit with the outcome of a run, `LoopResult` as JSON."""
        ...


class LoopCast(Protocol):
    """Who works: the roster and how its roles are prompted.

    Each role is an agent of the pack under the same id. Prompt texts are the pack's templates:
    `validation_contract`, `patterns/<name>`, `adapters/<role>`, `roles/<role>`,
    `showrunner/<module>`.
    """

    @property
    def showrunner(self) -> str:
        """The role that decides."""
        ...

    def roster(self) -> Sequence[LoopRole]:
        """Return every role, in the order in which their work is merged."""
        ...

    def override(self, step: str, role: str) -> str:
        """Return the role that the project prefers for a step or in place of a role."""
        ...


class LoopChecks(Protocol):
    """The named code of a pack: steps, conditions, and looks before and after a role's work."""

    def names(self) -> frozenset[str]:
        """Return every name a loop may use."""
        ...

    async def perform(self, name: str, view: StepView) -> CodeOutcome:
        """Do a code step, or have the last word after roles (`view.made`)."""
        ...

    async def look(self, name: str, view: StepView) -> Json:
        """Return what a role is shown before it works."""
        ...

    async def holds(self, name: str, view: StepView) -> bool:
        """Say whether a condition holds."""
        ...
