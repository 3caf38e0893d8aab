"""A pack of loops made for a test: its loops as YAML, its roles as a script that answers by key.

The script plays every role: without other orders it follows the playbook and makes what is asked
for. What it is told to say, it says in order.
"""

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from callboard.choreography.loop import (
    CodeOutcome,
    LoopHouse,
    LoopRegistry,
    LoopResult,
    LoopRole,
    LoopSettings,
    LoopShelf,
    NamedCast,
    NamedChecks,
    RecordWorkspace,
    StepView,
    read_loop,
)
from callboard.core.vocabulary import RunRecord, RunState
from callboard.models import Line, ModelRequest, Script
from callboard.store.journal.events import read_events
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing.opening import open_scripted
from callboard.testing.witness import finish
from loop_decisions import decide_as_usual

FOLDER = Path(__file__).parent / "loops"
SPARK = (FOLDER / "story_spark.yaml").read_text()
HARVEST = (FOLDER / "hook_harvest.yaml").read_text()
DECISIONS = ("next", "stable", "block", "next_loop", "again")
ROLES = ("showrunner", "gatekeeper", "plotwright", "scene_smith", "lore_weaver", "style_lead")


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Text(_Shape):
    body: str
    x_more: dict[str, str] = {}


class Hook(_Shape):
    hook_id: str
    title: str


class Feedback(_Shape):
    verdict: Literal["ok", "revise"]
    findings: list[dict[str, str]] = []


class Report(_Shape):
    decision: Literal["pass", "conditional_pass", "block"]
    remediation: list[dict[str, str]] = []


SHAPES: dict[str, Any] = {
    "topology_notes": Text,
    "section_briefs": Text,
    "scene_drafts": Text,
    "hooks": list[Hook],
    "style_feedback": Feedback,
    "feasibility_notes": Feedback,
    "gatecheck_report": Report,
    "hook_intake": Text,
    "research_memo": Text,
    "style_addendum": Text,
}


def block(target: str = "step_1_topology_draft", fix: str = "a choice leads nowhere") -> Any:
    """Return a gate's report that blocks."""
    return {"decision": "block", "remediation": [{"target_step": target, "fix": fix}]}


def envelope(artifacts: Mapping[str, Any], **more: Any) -> str:
    """Return what a role says."""
    made = [{"type": kind, "format": "json", "content": each} for kind, each in artifacts.items()]
    return json.dumps({"artifacts": made, **more})


def hand_on(view: StepView) -> CodeOutcome:
    """Schedule the next loop if there are hooks."""
    hooks = view.content("hooks")
    return CodeOutcome(next_loop="hook_harvest", next_inputs=("hooks",)) if hooks else CodeOutcome()


@dataclass
class Company:
    """Everybody's lines: what is said at a step by a role, else the usual."""

    # (step, role) to what is said there, in order; the last is not repeated.
    says: dict[tuple[str, str], list[Any]] = field(default_factory=dict[tuple[str, str], list[Any]])
    # A kind of decision (next, stable, block, join) to what is decided, in order.
    decides: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    # What each kind usually is, counted per call so that new work differs from old.
    usual: Mapping[str, Callable[[int], Any]] = field(default_factory=dict[str, Any])
    steps: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    calls: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    prompts: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def speak(self, request: ModelRequest) -> Line | str:
        key, role = request.step_key or "", request.agent_id or ""
        self.calls.append((key, role))
        self.prompts.append((key, request.prompt_text))
        parts = key.split("/")
        if parts[-1] in DECISIONS or "join" in parts:
            return self._decide(parts, request.prompt_text)
        step = parts[-3 if "repair" not in parts else -4] if len(parts) > 2 else "alone"
        step = parts[-4] if "with" in parts else step
        lines = self.says.get((step, role), [])
        said = lines.pop(0) if lines else self.made(self.steps[step], role)
        if isinstance(said, Line | str):
            return said
        return envelope(said)

    def made(self, kinds: Sequence[str], role: str) -> dict[str, Any]:
        """Return something valid of each kind."""
        number = len(self.calls)
        return {kind: self._make(kind, role, number) for kind in kinds}

    def _make(self, kind: str, role: str, number: int) -> Any:
        if kind in self.usual:
            return self.usual[kind](number)
        if kind == "hooks":
            return [{"hook_id": f"HK-{role}-{number}", "title": "A door"}]
        if kind.endswith("_report"):
            return {"decision": "pass"}
        if SHAPES.get(kind) is Feedback:
            return {"verdict": "ok"}
        return {"body": f"{kind} {number}"}

    def _decide(self, parts: list[str], prompt: str) -> str:
        kind = "join" if "join" in parts else parts[-1] if parts[-1] != "again" else parts[-2]
        queued = self.decides[kind]
        if queued:
            said = queued.pop(0)
            return said if isinstance(said, str) else json.dumps(said)
        return decide_as_usual(kind, prompt)

    def asked(self, *, of: str | None = None) -> list[str]:
        """Return the keys of the calls to roles, of one role or of everybody but the Showrunner."""
        return [k for k, role in self.calls if (role == of if of else role != "showrunner")]

    @property
    def steps_taken(self) -> list[str]:
        """Return the steps that roles were asked about, in order, each call once."""
        return [key.split("/")[1] for key, role in self.calls if role != "showrunner"]


@dataclass
class Kit:
    """A project of a pack of loops."""

    root: Path
    loops: tuple[str, ...] = (SPARK, HARVEST)
    roles: tuple[LoopRole, ...] = (
        *map(LoopRole, ROLES),
        LoopRole("researcher", may_sleep=True, deferral="deferred:research"),
    )
    shapes: Mapping[str, Any] = field(default_factory=lambda: SHAPES)
    code: dict[str, Any] = field(default_factory=lambda: {"hand_on": hand_on})
    settings: LoopSettings = field(default_factory=LoopSettings)
    overrides: dict[str, str] = field(default_factory=dict[str, str])
    company: Company = field(default_factory=Company)
    without: tuple[str, ...] = ()
    # Choreographies of the test's own, by name.
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    workspaces: list[Any] = field(default_factory=list[Any])
    workspace: Callable[..., Any] = RecordWorkspace

    def __post_init__(self) -> None:
        loops = enumerate(self.loops)
        self.registry = LoopRegistry(read_loop(text, f"loop{n}.yaml") for n, text in loops)
        for loop in self.registry.loops():
            self.company.steps.update({step.id: step.produces for step in loop.steps})
        KITS[str(self.root)] = self
        self._write_pack()
        self.project = self.root / "project"
        Project.init(self.project, pack="loops")

    def _write_pack(self) -> None:
        pack = self.root / "pack"
        names = [each.id for each in self.roles]
        staff = "".join(f"  - {{id: {name}, archetype: {name}, owns: work}}\n" for name in names)
        texts = {"validation_contract": "CONTRACT", "patterns/context_management": "CONTEXT"}
        texts |= {"patterns/safety_protocol": "SAFETY", "showrunner/system_prompt": "SYSTEM"}
        texts |= {"showrunner/loop_orchestration": "ORCHESTRATION"}
        texts |= {f"adapters/{name}": f"ADAPTER OF {name}" for name in names}
        texts |= {f"roles/{name}": f"FULL PROMPT OF {name}" for name in names}
        for name, text in texts.items():
            if name not in self.without:
                path = pack / "prompts" / f"{name}.md"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text + "\n")
        shelves = "shelves: ['play.py:shelf']\n"
        (pack / "pack.yaml").write_text(f"name: loops\nagents:\n{staff}{shelves}")
        body = f"def shelf(studio):\n    return KITS[{str(self.root)!r}].shelf()\n"
        (pack / "play.py").write_text(f"from loopkit import KITS\n\n\n{body}")

    def shelf(self) -> "KitShelf":
        return KitShelf(LoopShelf(self.registry, self.bring), self.extra)

    def bring(self, studio: Studio) -> LoopHouse:
        held = self.workspace(studio, "loops", self.shapes)
        self.workspaces.append(held)
        return LoopHouse(
            "loops",
            self.registry,
            held,
            NamedCast(*self.roles, overrides=self.overrides),
            NamedChecks(**self.code),
            self.settings,
        )

    @asynccontextmanager
    async def open(self, **more: Any) -> AsyncIterator[Studio]:
        script = Script(self.company.speak)
        async with open_scripted(self.project, script, self.root / "pack", **more) as studio:
            yield studio

    async def run(
        self, loop: str = "story_spark", answers: Mapping[str, Any] | None = None, **args: Any
    ) -> "Ran":
        """Play a loop to its end; without answers nobody is there to be asked."""
        async with self.open() as studio:
            interactive = {"is_interactive": answers is not None}
            started = await studio.start(f"loops/{loop}", {**interactive, **args})
            run = await finish(studio, started.id, answers or {})
            return self.ran(studio, run)

    def ran(self, studio: Studio, run: RunRecord) -> "Ran":
        """Return how a run went, with what was told and stored."""
        events = studio.database.read(lambda c: read_events(c, run_id=run.id))
        told = [(e.body.name, e.body.data) for e in events if e.type == "emitted"]
        ended = self.bring(studio).workspace._records.get("unit", f"unit-{loop_of(run)}")
        return Ran(run, [(name.removeprefix("loop."), data) for name, data in told], ended)


@dataclass
class KitShelf:
    """The loops of a kit, and what a test adds."""

    loops: LoopShelf
    extra: dict[str, Any]

    def names(self) -> tuple[str, ...]:
        return (*self.loops.names(), *self.extra)

    def find(self, name: str) -> Any:
        return self.extra.get(name) or self.loops.find(name)

    def resume(self, name: str) -> Any:
        return self.extra.get(name) or self.loops.resume(name)


KITS: dict[str, Kit] = {}


def loop_of(run: RunRecord) -> str:
    return run.choreography.partition("/")[2]


@dataclass
class Ran:
    """A run that is over."""

    run: RunRecord
    told: list[tuple[str, Any]]
    # What the unit was closed with.
    closed: Any

    @property
    def result(self) -> LoopResult:
        """The result of a loop, of a failed one too: what its unit was closed with."""
        return LoopResult.from_json(
            self.run.result if self.run.state is RunState.DONE else self.closed
        )

    def events(self, name: str) -> list[Any]:
        """Return what was told under a name."""
        return [data for each, data in self.told if each == name]

    def decisions(self, kind: str) -> list[Any]:
        """Return the records of one kind of decision."""
        return [each for each in self.events("decision") if each["kind"] == kind]


def with_limits(text: str, **limits: Any) -> str:
    """Return a loop with limits of its own."""
    return f"{text}limits: {json.dumps(limits)}\n"


__all__ = ["Company", "Kit", "Ran", "block", "envelope", "replace", "with_limits"]
