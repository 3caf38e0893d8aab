"""A run of a recipe as users see it: the run, its steps, its slots. Read from the journal alone."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final, cast

from callboard.choreography.recipe.definition import AgentStep, RecipeStep, ToolStep, key_of
from callboard.choreography.recipe.running.slots import ArtifactSlot, preview_of
from callboard.choreography.recipe.task import Assignment
from callboard.core.canonical import Json, compact_json, digest_bytes
from callboard.core.clock import iso
from callboard.core.errors import NotFound
from callboard.core.vocabulary import RunRecord, RunState, StepKind, StepRecord, StepState
from callboard.store.connection import Connection
from callboard.store.journal.steps import load_journal, output_of
from callboard.tools.audit.receipts import read_body

_DONE: Final = ("done", "abstained")
_LOGGED: Final = ("done", "abstained", "failed", "cancelled")
_BEGUN: Final = (RunState.RUNNING, RunState.WAITING, RunState.PAUSED)


def is_recipe_run(run: RunRecord) -> bool:
    """Say whether a run executes a recipe."""
    return "recipe" in run.args and "task" in run.args


def run_line(run: RunRecord) -> dict[str, Json]:
    """Return a run as it stands in a list."""
    return {
        "run_id": run.id,
        "recipe_id": run.choreography.rpartition("/")[2],
        "status": run.state.value,
        "created_at": iso(run.created_at),
    }


class RunView:
    """One run of a recipe; what is large is read when it is asked for."""

    def __init__(self, connection: Connection, run: RunRecord) -> None:
        """Read the journal of a run, within a read of the caller."""
        if not is_recipe_run(run):
            raise NotFound(f"Run {run.id} is no run of a recipe", run_id=run.id)
        self.run = run
        self.assignment = Assignment.from_args(run.args)
        self._connection = connection
        self._journal = load_journal(connection, run)

    @cached_property
    def statuses(self) -> tuple[str, ...]:
        """How far each step of the recipe has come."""
        statuses: list[str] = []
        for step in self.assignment.recipe.steps:
            is_next = all(status in _DONE for status in statuses)
            statuses.append(self._status(step, is_next=is_next))
        return tuple(statuses)

    @property
    def current_step_index(self) -> int:
        """Which step is executed or comes next; the number of steps when all are done."""
        done = (number for number, each in enumerate(self.statuses) if each not in _DONE)
        return next(done, self.assignment.recipe.total_steps)

    @property
    def phase(self) -> str | None:
        """Which part of the recipe is under way."""
        if self.run.state not in _BEGUN:
            return None
        index, recipe = self.current_step_index, self.assignment.recipe
        if index < len(recipe.phase_a):
            return "a"
        return "b" if index < recipe.total_steps else "dod"

    @property
    def dod_results(self) -> list[Json]:
        """What the definition of done came to."""
        step = self._journal.get("dod")
        return list(step.detail.get("dod_results", [])) if step is not None else []

    @cached_property
    def commits(self) -> tuple[dict[str, Any], ...]:
        """What was done with results, each with the key of its step."""
        found = (
            (key, step)
            for key, step in self._journal.items()
            if key.startswith("commit/") and key.count("/") == 1
        )
        return tuple(
            {**self._output(step), "key": key}
            for key, step in found
            if step.state is StepState.DONE
        )

    def to_json(self) -> dict[str, Json]:
        """Return the run as its folder keeps it."""
        run = self.run
        return {
            **run_line(run),
            "session_id": run.session_id,
            "updated_at": iso(run.updated_at or run.created_at),
            "completed_at": iso(run.updated_at) if run.is_terminal else None,
            "task": self.assignment.task.to_json(),
            "agents": dict(self.assignment.agents),
            "current_step_index": self.current_step_index,
            "total_steps": self.assignment.recipe.total_steps,
            "phase": self.phase,
            "error": self._error(),
            "dod_results": self.dod_results,
            "committed": [_commit_line(each) for each in self.commits if each.get("path")],
            "retried_from": run.parent_id if run.origin == "retry" else None,
            "forked_from": run.parent_id if run.origin == "fork" else None,
        }

    def detail(self) -> dict[str, Json]:
        """Return everything a page about the run needs."""
        return {
            **self.to_json(),
            "label": self.assignment.recipe.label,
            "steps": [self._short(*each) for each in self._placed()],
            "cache_summary": {
                name: {"type": slot["type"], "preview": slot["preview"]}
                for name, slot in self.cache().items()
            },
        }

    def lines(self) -> list[dict[str, Json]]:
        """Return the log: one line per step that has ended, in order."""
        return [
            self._line(number, step, status)
            for number, step, status in self._placed()
            if status in _LOGGED
        ]

    def cache(self) -> dict[str, dict[str, Json]]:
        """Return all filled slots by name."""
        return {
            step.output_slot: self._slot(step)
            for _, step, status in self._placed()
            if status in _DONE
        }

    def slot(self, name: str) -> dict[str, Json]:
        """Return one slot; an unknown name lists the known ones."""
        slots = self.cache()
        if name not in slots:
            known = ", ".join(slots) or "none yet"
            raise NotFound(
                f"Run {self.run.id} has no slot {name!r}",
                fix=f"Its slots: {known}.",
                run_id=self.run.id,
                slot=name,
            )
        return {"slot": name, **slots[name]}

    def _placed(self) -> Iterator[tuple[int, RecipeStep, str]]:
        for number, step in enumerate(self.assignment.recipe.steps):
            yield number, step, self.statuses[number]

    def _status(self, step: RecipeStep, *, is_next: bool) -> str:
        record = self._journal.get(key_of(step))
        if record is not None and record.state is StepState.DONE:
            is_artifact = isinstance(step, AgentStep)
            is_silent = is_artifact and ArtifactSlot.from_output(self._output(record)).abstained
            return "abstained" if is_silent else "done"
        if self._failure(step) is not None:
            return "failed"
        if not is_next:
            return "pending"
        if self.run.state is RunState.CANCELLED:
            return "cancelled"
        return "running" if self.run.state is RunState.RUNNING else "pending"

    def _failure(self, step: RecipeStep) -> StepRecord | None:
        key = key_of(step)
        for name, record in self._journal.items():
            if record.error is not None and (name == key or name.startswith(f"{key}/")):
                return record
        return None

    def _error(self) -> dict[str, Json] | None:
        error = self.run.error
        if error is None:
            return None
        parts = str(error.context.get("step", "")).split("/")
        step_id = parts[1] if len(parts) > 1 and parts[0] in ("a", "b") else parts[0] or None
        return {"code": error.code, "message": error.message, "step_id": step_id, "fix": error.fix}

    def _short(self, number: int, step: RecipeStep, status: str) -> dict[str, Json]:
        preview = self._slot(step)["preview"] if status in _DONE else None
        return {
            "step_index": number,
            "step_id": step.step_id,
            **self._who(step),
            "status": status,
            "output_slot": step.output_slot,
            "output_preview": preview,
        }

    def _line(self, number: int, step: RecipeStep, status: str) -> dict[str, Json]:
        record = self._journal.get(key_of(step)) or self._failure(step)
        slot = self._slot(step) if status in _DONE else None
        error = record.error if record is not None else None
        micro = list(self._micro_steps(step))
        ended = record.ended_at if record is not None else self.run.updated_at
        return {
            "step_index": number,
            "step_id": step.step_id,
            **self._who(step),
            "status": status,
            "output_slot": step.output_slot,
            "receipt_id": record.receipt_id if record is not None else None,
            "response_id": self._response_id(record),
            "input_slot_refs": _read_by(step),
            "output_hash": f"sha256:{slot['sha256']}" if slot is not None else None,
            "output_preview": slot["preview"] if slot is not None else None,
            "started_at": iso(
                micro[0]["at_ms"] if micro else record.started_at if record else ended
            ),
            "completed_at": iso(ended),
            "error": None if error is None else {"code": error.code, "message": error.message},
            "micro_steps": [_without_time(each) for each in micro],
        }

    def _who(self, step: RecipeStep) -> dict[str, Json]:
        if isinstance(step, ToolStep):
            return {"phase": "a", "tool": step.tool, "agent_archetype": None, "agent_id": None}
        archetype = step.agent_archetype
        agent_id = self.assignment.agents.get(archetype)
        return {"phase": "b", "tool": None, "agent_archetype": archetype, "agent_id": agent_id}

    def _response_id(self, record: StepRecord | None) -> str | None:
        prompt_id = str(record.detail.get("prompt_id", "")) if record is not None else ""
        return f"resp_{prompt_id.partition('_')[2]}" if prompt_id else None

    def _micro_steps(self, step: RecipeStep) -> Iterator[dict[str, Any]]:
        prefix = f"{key_of(step)}/"
        for key, record in self._journal.items():
            if key.startswith(prefix) and record.kind is StepKind.AGENT:
                output = self._output(record) if record.state is StepState.DONE else {}
                yield {
                    "name": key.removeprefix(prefix),
                    "status": "done" if record.state is StepState.DONE else "failed",
                    "response_id": self._response_id(record),
                    "output_preview": preview_of(str(output.get("text") or "")),
                    "duration_ms": record.detail.get("duration_ms"),
                    "at_ms": record.started_at,
                }

    def _slot(self, step: RecipeStep) -> dict[str, Json]:
        record = self._journal[key_of(step)]
        if isinstance(step, AgentStep):
            return self._artifact(record)
        body = read_body(self._connection, record.receipt_id) if record.receipt_id else None
        if body is None:
            # A fork put the human's own data in the place of a tool's.
            text = compact_json(output_of(self._connection, record))
            return _pointer(None, digest_bytes(text.encode()), text, preview_of(text))
        return _pointer(
            body["receipt_id"], body["payload_sha256"], body["summary"], body["preview"]
        )

    def _artifact(self, record: StepRecord) -> dict[str, Json]:
        artifact = ArtifactSlot.from_output(output_of(self._connection, record))
        return {
            "type": "artifact",
            **artifact.to_json(),
            "sha256": artifact.sha256,
            "summary": artifact.summary,
            "preview": "(abstained)" if artifact.abstained else artifact.summary,
        }

    def _output(self, record: StepRecord) -> dict[str, Any]:
        output = output_of(self._connection, record)
        return cast(dict[str, Any], output) if isinstance(output, dict) else {"text": output}


def _pointer(receipt_id: str | None, sha256: str, summary: str, preview: str) -> dict[str, Json]:
    return {
        "type": "pointer",
        "receipt_id": receipt_id,
        "sha256": sha256,
        "summary": summary,
        "preview": preview,
    }


def _read_by(step: RecipeStep) -> list[str]:
    if isinstance(step, AgentStep):
        return list(step.input_slots)
    return list(dict.fromkeys(ref.path for ref in step.refs()))


def _commit_line(commit: Mapping[str, Any]) -> dict[str, Json]:
    shown = ("path", "mode", "reason", "issue", "backup", "sha256", "proof")
    return {name: commit[name] for name in shown if commit.get(name) is not None}


def _without_time(micro: dict[str, Any]) -> dict[str, Json]:
    return {name: value for name, value in micro.items() if name != "at_ms"}
