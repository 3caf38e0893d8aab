"""Panel: asks the judge, each question once for a text, and goes on when nobody answers.

A reply that cannot be used leaves its question open. Once the model itself cannot be reached no
further call is made: a check that is partial now is worth more than one that waits for every call
to fail.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from callboard.choreography.stage import Stage
from callboard.choreography.values import Input
from callboard.core.canonical import Json, digest
from callboard.core.vocabulary import Content, Effect
from callboard.engine.errors import StepFailed
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.health.judging.cache import JudgementCache, JudgementKey
from callboard.packs.writers_factory.model import JUDGE
from callboard.packs.writers_factory.staff import is_small, model_of, route_of

_HASH_CHARS: Final = 12
# What is wrong with one text or one answer says nothing about the next.
_OF_ONE_QUESTION: Final = frozenset({"invalid_reply", "prompt_too_long", "prompt_too_large"})


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to the judge."""

    prompt: str
    schema: Mapping[str, Json]
    inputs: Mapping[str, Input] = field(default_factory=dict[str, Input])
    max_tokens: int | None = None


class Panel:
    """The judge of one run."""

    def __init__(self, stage: Stage, ground: Ground, failures: list[str] | None = None) -> None:
        """Take the stage to ask from and the ground the answers are kept on."""
        self.stage = stage
        self.ground = ground
        self.cache = JudgementCache(ground.records)
        self._route = route_of(ground, JUDGE)
        self.model = model_of(ground, JUDGE)
        self.is_small = is_small(ground, self.model)
        # Why the model could not be reached; shared by all branches.
        self.failures = failures if failures is not None else []

    def on(self, stage: Stage) -> "Panel":
        """Return the panel of a branch; what one of them cannot reach, none of them can."""
        return Panel(stage, self.ground, self.failures)

    def key(self, check: str, content_hash: str, *question: str) -> JudgementKey:
        """Return under which key an answer of this model is kept."""
        return JudgementKey.of(check, content_hash, self.model, *question)

    async def ask(self, key: str, asked: Asked) -> dict[str, Any] | None:
        """Ask the judge and return its answer; None if there is none to be had."""
        if self.failures:
            return None
        told = {name: _text(value) for name, value in asked.inputs.items()}
        inputs: dict[str, Any] = dict(asked.inputs)
        # A text that changes while a run is down is another question, not a broken journal.
        place = f"{key}/{digest([asked.prompt, told, dict(asked.schema)])[:_HASH_CHARS]}"
        try:
            reply = await self.stage.ask(
                place,
                JUDGE,
                prompt=asked.prompt,
                schema=asked.schema,
                max_tokens=asked.max_tokens,
                model=self._route,
                **inputs,
            )
        except StepFailed as error:
            if error.error.code not in _OF_ONE_QUESTION:
                self.failures.append(error.error.message)
            return None
        data: Any = reply.data
        return cast("dict[str, Any]", data) if isinstance(data, dict) else None

    async def keep(self, key: str, judgement: JudgementKey, answer: dict[str, Json]) -> None:
        """Keep an answer for every later run."""

        async def act() -> Json:
            await self.cache.keep(judgement, answer)

        place = f"{key}/kept/{judgement.id[:_HASH_CHARS]}"
        await self.stage.step(place, act, effect=Effect.IDEMPOTENT)


def _text(value: Input) -> Json:
    return value.text if isinstance(value, Content) else str(value)
