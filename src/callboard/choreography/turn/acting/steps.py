"""Steps: what one step of a plan is shown, and what is kept of its result."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.choreography.stage import Stage
from callboard.choreography.turn.acting.handles import resolve_ids
from callboard.choreography.turn.asker import ACT, NodeAsker, PromptNode
from callboard.choreography.turn.domain import Domain, NamesTables, TellsWrites
from callboard.choreography.turn.domain_parts import TableWords
from callboard.choreography.turn.memory_rows import list_turns
from callboard.choreography.turn.requests import (
    Condition,
    Operator,
    QueryError,
    ReadRequest,
    ReadResult,
    WriteOp,
    WriteRequest,
    WriteResult,
)
from callboard.choreography.turn.sections import PERSONA, PROBLEM, PromptSection
from callboard.choreography.turn.shapes import StepResult, StepStatus, ThinkStep
from callboard.choreography.turn.work import TurnWork
from callboard.core.errors import CallboardError, ErrorRecord
from callboard.core.vocabulary import Entity, EntityState
from callboard.engine.errors import StepFailed
from callboard.knowledge.entities import find_content
from callboard.store.connection import Connection

REPAIRS = 2


@dataclass(frozen=True, slots=True)
class Scene:
    """One step on its branch of the stage."""

    work: TurnWork
    stage: Stage
    step: ThinkStep
    # Results it may look at: of the group before, or those it names.
    inputs: tuple[StepResult, ...] = ()
    is_confirmed: bool = False

    @property
    def asker(self) -> NodeAsker:
        """Asks on this step's branch."""
        return self.work.asker.on(self.stage)

    @property
    def node(self) -> PromptNode:
        """The kind of model call this step makes."""
        return ACT[self.step.step_type]

    @property
    def can_ask(self) -> bool:
        """Whether a model can be asked to reason about this step."""
        return not self.asker.is_constrained(self.node) and self.work.calls_left > 0

    @property
    def message(self) -> str:
        """The step as the model is asked to do it: the step and the user's words."""
        return f"Step: {self.step.description}\n\nThe user said: {self.work.message}"

    def persona_section(self) -> PromptSection:
        """Return how to think about this step's part of the domain."""
        persona = self.work.domain.persona(self.step.subdomain)
        lines = [f"{persona.name}, {persona.tone}.", *(f"- {e}" for e in persona.guidelines)]
        return PromptSection(PERSONA, "\n".join(lines), is_trusted=True, is_pinned=True)

    def problem_section(self, problem: str) -> PromptSection:
        """Return why the last attempt did not work, without the names of what was put away."""
        return PromptSection(PROBLEM, self.work.hidden.scrub(problem), is_pinned=True)

    def referenced(self) -> list[Entity]:
        """Return the things this step names, those in play only."""
        ids = resolve_ids(self.work, self.step.referenced_entities)
        found = [e for each in ids if (e := self.work.registry.find(each)) is not None]
        return [each for each in found if each.state is not EntityState.INACTIVE]


def told(error: CallboardError) -> str:
    """Return an error as a model or a person can act on it."""
    record = cause_of(error)
    allowed = cast("list[Any]", record.context.get("allowed") or [])
    listed = f" Allowed: {', '.join(str(each) for each in allowed)}." if allowed else ""
    return f"{record.message}.{listed} {record.fix or ''}".strip().replace("..", ".")


def kind_of(error: CallboardError) -> str:
    """Return the kind of a refused request, such as `conflict`; empty for anything else."""
    return str(cause_of(error).context.get("kind", ""))


def cause_of(error: CallboardError) -> ErrorRecord:
    """Return what went wrong itself, without the step it went wrong in."""
    return error.error if isinstance(error, StepFailed) else error.record()


_DONE = {
    WriteOp.CREATE: "Added",
    WriteOp.UPSERT: "Added",
    WriteOp.UPDATE: "Updated",
    WriteOp.DELETE: "Removed",
}
_MOST_NAMES = 6


def failed(step: ThinkStep, errors: Sequence[str]) -> StepResult:
    """Return the result of a step that could not be done."""
    return StepResult(
        step_id=step.id,
        status=StepStatus.FAILED,
        errors=[each for each in errors if each],
        summary=step.description,
    )


def skipped(step: ThinkStep, because: str) -> StepResult:
    """Return the result of a step that was not tried because another one failed."""
    return StepResult(
        step_id=step.id,
        status=StepStatus.SKIPPED,
        errors=[f"not tried, because this did not work: {because}"],
        summary=step.description,
    )


def words_for_read(words: TableWords, shown: int, total: int) -> str:
    """Say how much was found."""
    if total == 0:
        return f"Nothing found {words.within} {words.place}"
    rest = f" (of {total})" if total > shown else ""
    return f"Found {shown}{rest} {words.within} {words.place}"


def words_for_write(words: TableWords, result: WriteResult) -> str:
    """Say what was changed, by the rows as they were read back."""
    names = named(result.labels)
    verb = _DONE[result.op]
    count = len(result.ids) or result.created + result.updated + result.deleted
    said = f"{verb} {names}" if names else f"{verb} {count} {'row' if count == 1 else 'rows'}"
    merged = [f"{each.label} is now {_plain(each.after)}" for each in result.merged]
    where = {WriteOp.UPDATE: words.within, WriteOp.DELETE: "from"}.get(result.op, "to")
    return "; ".join([f"{said} {where} {words.place}", *merged])


def named(labels: Sequence[str]) -> str:
    """Return names; whoever changed many things at once sees all of them."""
    return ", ".join(each for each in labels if each)


def _plain(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


TURNS: Final = "conversation_turns"
CONTENT: Final = "generated_content"
TABLES: Final = frozenset({TURNS, CONTENT})
_SEARCHING: Final = (Operator.SEARCH, Operator.ILIKE, Operator.EQ)


def read_archive(work: TurnWork, request: ReadRequest) -> ReadResult:
    """Return rows of the conversation itself; texts are searched, nothing else is compared."""
    words: list[str] = []
    for each in request.filters:
        if (
            not isinstance(each, Condition)
            or each.op not in _SEARCHING
            or not isinstance(each.value, str)
        ):
            raise QueryError(
                "bad_operator", "The archive is searched by words only", allowed=list(_SEARCHING)
            )
        words.append(each.value.strip("%* ").casefold())
    rows = work.stage.studio.database.read(
        lambda connection: _rows(connection, work, request.table)
    )
    found = [row for row in rows if all(_holds(row, word) for word in words)]
    shown = found[request.offset : request.offset + request.limit]
    return ReadResult(
        rows=shown,
        row_count=len(shown),
        total_count=len(found),
        truncated=len(found) > request.offset + len(shown),
    )


def _rows(connection: Connection, work: TurnWork, table: str) -> list[dict[str, Any]]:
    session = work.who.session_id
    if table == CONTENT:
        return [
            {"id": each.temp_id, "type": each.type, "label": each.label, "payload": each.payload}
            for each in find_content(connection, session, "")
        ]
    rows: list[dict[str, Any]] = []
    for each in list_turns(connection, session, status="done"):
        said = (each.document or {}).get("outcome", {}).get("message", "")
        rows.append({"turn": each.turn, "user": each.message, "assistant": said})
    return list(reversed(rows))


def _holds(row: dict[str, Any], word: str) -> bool:
    return any(word in str(value).casefold() for value in row.values())


def table_words(domain: Domain, table: str) -> TableWords:
    """Return how a table is called: the domain's own words, else its name without underscores.

    What arithmetic brings goes by `function.name`.
    """
    own = domain.table_words(table) if isinstance(domain, NamesTables) else None
    return own or TableWords(table.rpartition(".")[2].replace("_", " "))


def own_words(domain: Domain, request: WriteRequest, result: WriteResult) -> str | None:
    """Return a change in the domain's own words, or None if it has none for it."""
    return domain.tell_write(request, result) if isinstance(domain, TellsWrites) else None
