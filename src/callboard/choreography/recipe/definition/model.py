"""A recipe as read: frozen data, with the one stored shape a run keeps as its snapshot."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from callboard.choreography.recipe.definition.refs import Ref, find_refs, parse_ref, read_ref
from callboard.core.canonical import Json


class CheckKind(StrEnum):
    """What a check of a definition of done looks at."""

    SLOT_NOT_NULL = "slot_not_null"
    SLOT_FIELD_EQUALS = "slot_field_equals"
    FILE_EXISTS = "file_exists"
    TOOL_PASSES = "tool_passes"


class CommitAction(StrEnum):
    """What is done with results."""

    WRITE_FILE = "write_file"
    CREATE_ISSUES = "create_issues"


class CommitMode(StrEnum):
    """How a file is written; AUTO creates what is not there and proposes the rest."""

    AUTO = "auto"
    CREATE = "create"
    REPLACE = "replace"
    PROPOSE = "propose"


@dataclass(frozen=True, slots=True)
class ToolStep:
    """A step of phase A: a tool, its arguments, and where its findings are pointed at."""

    step_id: str
    tool: str
    output_slot: str
    args: Mapping[str, Json] = field(default_factory=dict[str, Json])

    def refs(self) -> Iterator[Ref]:
        """Yield what its arguments refer to."""
        for _, each in find_refs(dict(self.args)):
            yield read_ref(each)


@dataclass(frozen=True, slots=True)
class AgentStep:
    """A step of phase B: a role, what it is shown, what it is asked, where its work is put."""

    step_id: str
    agent_archetype: str
    prompt_type: str
    output_slot: str
    input_slots: tuple[str, ...] = ()
    # What of the project it reads beside its slots, by the kinds of pages the pack knows.
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecipeCheck:
    """One condition; which of the fields matter depends on its kind."""

    kind: CheckKind
    slot: str | None = None
    field_path: str | None = None
    expected: Json = None
    unexpected: Json = None
    path: Json = None
    tool: str | None = None
    args: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @property
    def target(self) -> str:
        """What it looks at, in a few characters."""
        match self.kind:
            case CheckKind.SLOT_NOT_NULL:
                return str(self.slot)
            case CheckKind.SLOT_FIELD_EQUALS:
                return f"{self.slot}.{self.field_path}"
            case CheckKind.FILE_EXISTS:
                return _shown(self.path)
            case CheckKind.TOOL_PASSES:
                return f"{self.tool}.{self.field_path}" if self.field_path else str(self.tool)

    def refs(self) -> Iterator[Ref]:
        """Yield what it reads of slots and of the task."""
        if self.slot is not None:
            yield parse_ref(f"{self.slot}.{self.field_path}" if self.field_path else self.slot)
        for _, each in find_refs([self.path, dict(self.args)]):
            yield read_ref(each)


@dataclass(frozen=True, slots=True)
class Commit:
    """One thing done with the results, before the definition of done is looked at.

    A file is written only while every check of `requires` holds; else it is proposed.
    """

    action: CommitAction
    slot: str | None = None
    path: Json = None
    mode: CommitMode = CommitMode.AUTO
    requires: tuple[RecipeCheck, ...] = ()
    source: Ref | None = None
    min_severity: str = "info"

    def refs(self) -> Iterator[Ref]:
        """Yield what it reads of slots and of the task."""
        if self.slot is not None:
            yield parse_ref(self.slot)
        if self.source is not None:
            yield self.source
        for _, each in find_refs(self.path):
            yield read_ref(each)
        for check in self.requires:
            yield from check.refs()


RecipeStep = ToolStep | AgentStep


@dataclass(frozen=True, slots=True)
class Recipe:
    """One static plan for one kind of task."""

    recipe_id: str
    label: str
    task_patterns: tuple[str, ...]
    phase_a: tuple[ToolStep, ...]
    phase_b: tuple[AgentStep, ...]
    dod: tuple[RecipeCheck, ...] = ()
    commit: tuple[Commit, ...] = ()
    # The file's own data, kept so that a snapshot says exactly what the author wrote.
    data: Mapping[str, Json] = field(default_factory=dict[str, Json], repr=False)

    @property
    def steps(self) -> tuple[RecipeStep, ...]:
        """All steps, phase A before phase B."""
        return (*self.phase_a, *self.phase_b)

    @property
    def total_steps(self) -> int:
        """How many steps a run of it has."""
        return len(self.phase_a) + len(self.phase_b)

    @property
    def required_args(self) -> tuple[str, ...]:
        """The arguments of a task without which the recipe cannot be executed, in order."""
        found = (ref.task_arg for ref in self.refs())
        return tuple(dict.fromkeys(name for name in found if name is not None))

    @property
    def archetypes(self) -> tuple[str, ...]:
        """The roles it calls for, each once, in order."""
        return tuple(dict.fromkeys(step.agent_archetype for step in self.phase_b))

    def refs(self) -> Iterator[Ref]:
        """Yield every reference in it."""
        for step in self.phase_a:
            yield from step.refs()
        for each in (*self.commit, *self.dod):
            yield from each.refs()

    def to_json(self) -> dict[str, Any]:
        """Return the snapshot a run keeps."""
        return dict(self.data)


def key_of(step: RecipeStep) -> str:
    """Return the journal key of a step."""
    return f"{'a' if isinstance(step, ToolStep) else 'b'}/{step.step_id}"


def _shown(path: Json) -> str:
    for _, each in find_refs(path):
        return read_ref(each).path
    return str(path)
