"""One structured request on its way down the ladder: what was tried, spent, rejected and is left.

It keeps the account; who asks is the gate.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from callboard.core.canonical import Json
from callboard.core.errors import ProviderError
from callboard.models.errors import InvalidReply, ProviderTimeout
from callboard.models.ladder.requests import (
    judge,
    repair_request,
    schema_request,
    tagged_request,
)
from callboard.models.structure import BrokenStructure
from callboard.models.types import ModelReply, ModelRequest, Rung, Usage

_WAY_DOWN: Final[Mapping[Rung, tuple[Rung, ...]]] = {
    # Text without a grammar would be a step back for a model that has one.
    Rung.GRAMMAR: (Rung.GRAMMAR, Rung.REPAIR, Rung.SMALLER),
    Rung.SCHEMA: (Rung.SCHEMA, Rung.TAGGED, Rung.REPAIR, Rung.SMALLER),
    Rung.TAGGED: (Rung.TAGGED, Rung.REPAIR, Rung.SMALLER),
    Rung.REPAIR: (Rung.REPAIR, Rung.SMALLER),
    Rung.SMALLER: (Rung.SMALLER,),
}


def way_down(first: Rung) -> tuple[Rung, ...]:
    """Return the rungs from one on downwards."""
    return _WAY_DOWN[first]


@dataclass(slots=True)
class Climb:
    """The state of one request; `problem` is None as long as nothing is wrong."""

    request: ModelRequest
    schema: Mapping[str, Json]
    left: tuple[Rung, ...]
    has_grammar: bool = False
    is_free: bool = True
    """Whether the ladder may choose rungs, or the request has named them."""
    tried: list[Rung] = field(default_factory=list[Rung])
    spent: Usage = field(default_factory=Usage)
    elapsed_ms: int = 0
    asked: ModelRequest | None = None
    rejected: str = ""
    problem: str | None = None
    was_cut: bool = False
    data: Json = None
    answer: ModelReply | None = None

    def step_down(self) -> Rung:
        """Take the next rung; what a cut-off reply would only repeat is passed over."""
        left = self.left
        if self.was_cut:
            left = left[left.index(Rung.SMALLER) :] if Rung.SMALLER in left else ()
        if left and left[0] is Rung.REPAIR and self.asked is None:
            left = left[1:]
        if not left:
            raise self.failure()
        rung, *rest = left
        self.left = tuple(rest)
        self.tried.append(rung)
        return rung

    def request_for(self, rung: Rung) -> ModelRequest:
        """Return what is asked on a rung of one call."""
        request = self.within_time(self.request)
        if rung is Rung.REPAIR and self.asked is not None:
            asked = self.within_time(self.asked)
            return repair_request(asked, self.schema, self.rejected, self.problem or "")
        return tagged_request(request) if rung is Rung.TAGGED else schema_request(request)

    def within_time(self, request: ModelRequest) -> ModelRequest:
        """Return a request with the time that is left of the caller's own limit."""
        limit = self.request.timeout_seconds
        if limit is None:
            return request
        left = limit - self.elapsed_ms / 1000
        if left <= 0:
            raise ProviderTimeout(
                f"Model {request.model!r} took too long to give a valid reply: {self.problem}",
                partial=self.rejected,
                fix="Raise the time limit, simplify the JSON schema, or choose a stronger model.",
                rungs=[rung.value for rung in self.tried],
            )
        return replace(request, timeout_seconds=left)

    def count(self, reply: ModelReply) -> ModelReply:
        """Add what a call cost, and return its reply with the times of the whole climb."""
        first = reply.first_token_ms
        whole = replace(
            reply,
            duration_ms=self.elapsed_ms + reply.duration_ms,
            first_token_ms=None if first is None else self.elapsed_ms + first,
        )
        self.spent += reply.usage
        self.elapsed_ms += reply.duration_ms
        return whole

    def judge(self, asked: ModelRequest, reply: ModelReply) -> None:
        """Accept the reply of a rung, or remember what was wrong with it."""
        self.answer = self.count(reply)
        self._correct_rung(is_constrained=reply.is_constrained)
        self.asked, self.rejected = asked, reply.text
        self.was_cut = reply.finish_reason == "length"
        try:
            self.data, self.problem = judge(reply.text, self.schema), None
        except BrokenStructure as broken:
            self.problem = str(broken)

    def refuse(self, problem: str) -> None:
        """Remember that the provider would not take the schema at all."""
        self.problem, self.rejected, self.asked = problem, "", None
        if self.is_free:
            self.left = way_down(Rung.TAGGED)

    def _correct_rung(self, *, is_constrained: bool) -> None:
        """Note how the provider really kept the schema; only its reply tells for sure."""
        actual = Rung.GRAMMAR if is_constrained else Rung.SCHEMA
        if self.tried[-1] not in (Rung.GRAMMAR, Rung.SCHEMA) or self.tried[-1] is actual:
            return
        self.tried[-1] = actual
        self.has_grammar = is_constrained
        if self.is_free:
            self.left = way_down(actual)[1:]

    def reply(self) -> ModelReply:
        """Return the valid reply, with the cost of everything it took."""
        answer = self.require_answer()
        return replace(answer, data=self.data, usage=self.spent, rungs=tuple(self.tried))

    def require_answer(self) -> ModelReply:
        """Return the latest reply; a stream that ended without one has failed."""
        if self.answer is None:
            raise ProviderError("The stream ended without a reply.")
        return self.answer

    def failure(self) -> InvalidReply:
        """Return the error of a ladder that has no rung left."""
        problem = self.problem
        fix = "Retry the run, simplify the JSON schema, or choose a stronger model."
        if self.was_cut:
            problem = f"it was cut off after {self.spent.output_tokens} tokens ({problem})"
            fix = "Raise `max_tokens`, or ask for less in the JSON schema."
        return InvalidReply(
            f"Model {self.request.model!r} gave no valid reply: {problem}",
            partial=self.rejected,
            fix=fix,
            model=self.request.model,
            usage=asdict(self.spent),
            rungs=[rung.value for rung in self.tried],
        )
