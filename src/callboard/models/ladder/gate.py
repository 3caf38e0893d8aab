"""The ladder: a request with a schema is asked in the way its model is best at, then more simply.

Owns the order of the rungs and the validity of what comes back. It measures nothing, and a request
without a schema passes untouched.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Final, Protocol

from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, InvalidInput
from callboard.core.events import RungChanged
from callboard.core.schemas import check_schema
from callboard.models.gate import Gate, WrapperGate
from callboard.models.ladder.climb import Climb, is_refusal, way_down
from callboard.models.ladder.interview import Interview
from callboard.models.ladder.profiles import ModelProfile, shape_of
from callboard.models.types import (
    Chunk,
    Finished,
    ModelRequest,
    Notify,
    Restarted,
    Rung,
    say_nothing,
)

MAX_QUESTIONS: Final = 24
_KEPT_CHARS: Final = 2000


class Profiles(Protocol):
    """Where measured profiles are found."""

    def find(self, model: str) -> ModelProfile | None:
        """Return the profile of a model, if it was measured."""
        ...


class LadderGate(WrapperGate):
    """Gets structured replies from any model: grammar, schema, tags, repair, smaller questions."""

    def __init__(
        self,
        inner: Gate,
        profiles: Profiles | None = None,
        *,
        notify: Notify = say_nothing,
        max_questions: int = MAX_QUESTIONS,
    ) -> None:
        """Take the gate to ask through, and where profiles are found."""
        super().__init__(inner)
        self._profiles = profiles
        self._notify = notify
        self._max_questions = max_questions

    def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Yield the reply as it is written; text of a rung that failed is voided."""
        if request.json_schema is None:
            return self.inner.stream(request)
        return self._descend(request, request.json_schema)

    async def _descend(
        self, request: ModelRequest, schema: Mapping[str, Json]
    ) -> AsyncGenerator[Chunk]:
        check_schema(schema)
        climb = self._begin(request, schema)
        rung = climb.step_down()
        while True:
            async with aclosing(self._try(rung, climb)) as chunks:
                async for chunk in chunks:
                    yield chunk
            if climb.problem is None:
                break
            before, problem = climb.tried[-1].value, climb.problem
            rung = climb.step_down()
            rejected = climb.rejected[:_KEPT_CHARS]
            self._notify(RungChanged(request.model, before, rung.value, problem, rejected), request)
            yield Restarted(problem)
        yield Finished(climb.reply())

    def _begin(self, request: ModelRequest, schema: Mapping[str, Json]) -> Climb:
        profile = None if self._profiles is None else self._profiles.find(request.model)
        has_grammar = profile is not None and profile.has_grammar
        if request.rungs:
            if request.rungs[0] is Rung.REPAIR:
                raise InvalidInput(
                    "A structured request cannot start with a repair.",
                    fix="Put the rung whose answer is to be repaired before it.",
                )
            return Climb(request, schema, request.rungs, has_grammar, is_free=False)
        first = Rung.SCHEMA if profile is None else profile.first_rung(shape_of(schema))
        return Climb(request, schema, way_down(first), has_grammar)

    async def _try(self, rung: Rung, climb: Climb) -> AsyncGenerator[Chunk]:
        if rung is Rung.SMALLER:
            interview = Interview(self.inner, climb, self._max_questions)
            async with aclosing(interview.hold()) as chunks:
                async for chunk in chunks:
                    yield chunk
            return
        request = climb.request_for(rung)
        climb.answer = None
        try:
            async with aclosing(self.inner.stream(request)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, Finished):
                        climb.judge(request, chunk.reply)
                    else:
                        yield chunk
        except CallboardError as error:
            if request.json_schema is None or not is_refusal(error):
                raise
            climb.refuse(error.message)
        else:
            climb.require_answer()
