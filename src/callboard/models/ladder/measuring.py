"""Measures a model: how it talks, how fast, and how often its structured replies are valid.

Rungs are tried from the surest down. One that never fails ends the trial, for a lower one would
never be the first choice.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from callboard.core.clock import Clock
from callboard.models.errors import InvalidReply
from callboard.models.gate import Gate
from callboard.models.ladder.gate import LadderGate
from callboard.models.ladder.profiles import (
    ModelProfile,
    SchemaShape,
    Score,
    Trial,
    plain_prompt,
    trials,
)
from callboard.models.types import Message, ModelReply, ModelRequest, Rung, Usage

DEFAULT_TRIES: Final = 3
_PLAIN_TOKENS: Final = 120
_REPLY_TOKENS: Final = 400
_RUNGS: Final = (Rung.SCHEMA, Rung.TAGGED, Rung.SMALLER)

Progress = Callable[[Rung, SchemaShape, Score], None]
"""Called after every try with the score so far."""


def _quiet(_rung: Rung, _shape: SchemaShape, _score: Score) -> None:
    """Tell nobody."""


async def measure(
    gate: Gate,
    model: str,
    clock: Clock,
    *,
    tries: int = DEFAULT_TRIES,
    every_rung: bool = False,
    on_try: Progress = _quiet,
) -> ModelProfile:
    """Try a model out and return its profile; an invalid reply is a finding, not an error."""
    trial = _Measuring(gate, model, tries, on_try)
    for rung in _RUNGS:
        await trial.measure(rung)
        if not every_rung and trial.is_settled:
            break
    # Last, because the first call of all may have to load the model or open a connection.
    plain = await gate.complete(_request(model, plain_prompt(), "trial_plain", _PLAIN_TOKENS))
    return ModelProfile(
        model=model,
        measured_at=clock.now_ms(),
        has_grammar=trial.has_grammar,
        scores=trial.scores,
        first_token_ms=plain.first_token_ms,
        tokens_per_second=plain.tokens_per_second,
        usage=trial.spent + plain.usage,
        sample=plain.text,
    )


@dataclass(slots=True)
class _Measuring:
    """The state of one trial; stands in for the shelf, so that smaller questions use a grammar."""

    gate: Gate
    model: str
    tries: int
    on_try: Progress
    spent: Usage = field(default_factory=Usage)
    has_grammar: bool = False
    is_settled: bool = False
    scores: dict[Rung, dict[SchemaShape, Score]] = field(
        default_factory=dict[Rung, dict[SchemaShape, Score]]
    )

    def find(self, model: str) -> ModelProfile:
        return ModelProfile(model, 0, self.has_grammar)

    async def measure(self, rung: Rung) -> None:
        ladder = LadderGate(self.gate, self)
        found: dict[SchemaShape, Score] = {}
        actual = rung
        for trial in trials():
            valid = 0
            for number in range(self.tries):
                is_valid, actual = await self._try(ladder, trial, rung, number)
                valid += is_valid
                self.on_try(actual, trial.shape, Score(number + 1, valid))
            found[trial.shape] = Score(self.tries, valid)
        self.has_grammar = self.has_grammar or actual is Rung.GRAMMAR
        self.scores[actual] = found
        self.is_settled = all(score.rate == 1 for score in found.values())

    async def _try(
        self, ladder: LadderGate, trial: Trial, rung: Rung, number: int
    ) -> tuple[bool, Rung]:
        request = _request(
            self.model,
            trial.question(number),
            f"trial_{trial.shape}",
            _REPLY_TOKENS,
            trial=trial,
            rung=rung,
            seed=number + 1,
        )
        try:
            reply: ModelReply = await ladder.complete(request)
        except InvalidReply as error:
            self.spent += Usage(**error.context["usage"])
            return False, Rung(error.context["rungs"][-1])
        self.spent += reply.usage
        return True, reply.rungs[-1]


def _request(
    model: str,
    text: str,
    prompt_type: str,
    max_tokens: int,
    *,
    trial: Trial | None = None,
    rung: Rung | None = None,
    seed: int | None = None,
) -> ModelRequest:
    return ModelRequest(
        model=model,
        messages=(Message("user", text),),
        json_schema=None if trial is None else trial.schema,
        max_tokens=max_tokens,
        seed=seed,
        metadata={"prompt_type": prompt_type},
        rungs=() if rung is None else (rung,),
    )
