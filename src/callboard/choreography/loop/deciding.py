"""The Showrunner: decides within what code allows, by a model or by the playbook, on one path.

Every decision is checked. One that cannot be used is asked for once more with the fault named; then
the playbook's stands in, and the record says so. Nobody is asked what code can answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Generic

from callboard.choreography.answers import A, narrowed, schema_of, words
from callboard.choreography.loop.decisions import DecisionRecord, MadeDecision, decided_from
from callboard.choreography.loop.house import DecisionPolicy, LoopHouse
from callboard.choreography.loop.prompting import LoopPrompts
from callboard.choreography.loop.speaking import LoopCall, LoopReply, speak, tell
from callboard.choreography.questions import Question
from callboard.choreography.staffing import find_agent, is_constrained
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.errors import ErrorTier
from callboard.core.vocabulary import Content, Effect, StepKind
from callboard.engine.errors import StepFailed
from callboard.engine.scope import StepScope
from callboard.prompts import Layer

_NOT_READ: Final = "It has not the shape that was asked for."


# The shapes of the five decisions never change; those of what is narrowed are made anew.
_schema: Final = cache(schema_of)


@dataclass(frozen=True, slots=True)
class DueDecision(Generic[A]):
    """A decision that is due: how it is asked, what code says about it."""

    key: str
    question: Question[A]
    # What the playbook decides.
    default: A
    # Says what is wrong with an answer, nothing if it can be used.
    check: Callable[[A], str]
    deviates: Callable[[A], bool]
    layers: tuple[Layer, ...]
    told: Mapping[str, str | Content]
    # For a model that only picks: what each field may be.
    options: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])


class Showrunner:
    """Decides for one run of loops."""

    def __init__(
        self, stage: Stage, house: LoopHouse, prompts: LoopPrompts, policy: DecisionPolicy
    ) -> None:
        """Take the stage, what is shown, and who has the word: a model or the playbook."""
        self._stage = stage
        self._house = house
        self._prompts = prompts
        self._policy = policy
        self.unit = ""
        self.calls = 0
        self.decisions = 0
        self.deviations = 0
        self.fallbacks = 0

    @property
    def role(self) -> str:
        """The role that decides."""
        return self._house.cast.showrunner

    async def decide(self, due: DueDecision[A]) -> MadeDecision[A]:
        """Return a decision that code can follow, on record."""
        if self._policy == "playbook":
            return await self._record(due, due.default, LoopReply(""), "")
        said, problem = LoopReply(""), ""
        for place in (due.key, f"{due.key}/again"):
            try:
                said = await self._ask(due, place, problem)
            except StepFailed as failed:
                if failed.error.tier is ErrorTier.USER_FIXABLE:
                    raise
                problem = failed.error.message
                break
            answer = due.question.read(said.data, {})
            problem = _NOT_READ if answer is None else due.check(answer)
            if answer is not None and not problem:
                return await self._record(due, answer, said, "")
        return await self._record(due, due.default, said, problem)

    async def _ask(self, due: DueDecision[A], key: str, problem: str) -> LoopReply:
        question = due.question
        stage, asked = self._stage, question.answer
        agent = find_agent(stage.studio, self.role, self._house.pack)
        if is_constrained(stage.studio, agent) and due.options:
            picks = {name: words(each) for name, each in due.options.items() if each}
            asked = narrowed(asked, **picks)
        self.calls += 1
        wrong = f"Your last answer cannot be used: {problem}" if problem else ""
        return await speak(
            stage,
            LoopCall(
                key=key,
                role=self.role,
                prompt=question.prompt,
                layers=(*self._prompts.parts(self.role), *due.layers),
                message=self._prompts.message(question.prompt, problem=wrong, **due.told),
                schema=schema_of(asked) if asked is not question.answer else _schema(asked),
            ),
        )

    async def _record(
        self, due: DueDecision[A], answer: A, said: LoopReply, problem: str
    ) -> MadeDecision[A]:
        stage = self._stage
        decision: dict[str, Any] = answer.model_dump(mode="json")

        async def act(scope: StepScope) -> Json:
            record = DecisionRecord(
                key=stage.run.key(due.key),
                kind=due.question.prompt,
                decision=decision,
                deviates=due.deviates(answer),
                fallback=bool(problem),
                why=problem,
                model=said.model,
                prompt_id=said.prompt_id,
                context=said.context,
                at_ms=stage.studio.clock.now_ms(),
            ).to_json(self.unit)
            tell(stage, scope, "decision", record)
            return record

        key = f"{due.key}/decided"
        stored = await stage.run.step(
            key,
            act,
            inputs=decision,
            kind=StepKind.DECISION,
            effect=Effect.PURE,
            slot=stage.run.key(key),
        )
        made = decided_from(due.question, stored)
        self.decisions += 1
        self.deviations += made.deviates
        self.fallbacks += made.is_fallback
        return made
