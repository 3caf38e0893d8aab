"""One structured request on its way down the ladder: asked on each rung, judged, counted.

What is said to models are the Markdown files beside this module.

It keeps the account; who asks is the gate.

Nothing here talks to a model.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Final

from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, ProviderError
from callboard.models.errors import InvalidReply, ProviderTimeout, SchemaRefused
from callboard.models.ladder.answers import BrokenStructure, parse_structured
from callboard.models.types import Message, ModelReply, ModelRequest, Rung, Usage

_PLACE: Final = re.compile(r"\{\{(\w+)\}\}")


def wording(name: str, **values: str) -> str:
    """Return a text with its places filled once; what is filled in is never read again."""
    return _PLACE.sub(lambda found: values[found[1]], _text(name)).strip()


@cache
def _text(name: str) -> str:
    return files("callboard.models.ladder").joinpath("wording", f"{name}.md").read_text("utf-8")


_OPENED: Final = re.compile(r"<json>", re.IGNORECASE)
_CLOSED: Final = re.compile(r"</json>", re.IGNORECASE)
_REFUSAL: Final = re.compile(r"schema|response_?format|structured output", re.IGNORECASE)
_REFUSING_STATUSES: Final = (400, 422)


def schema_request(request: ModelRequest) -> ModelRequest:
    """Ask with the schema in the request, for the provider to enforce by its own means."""
    return replace(request, rungs=(Rung.SCHEMA,))


def tagged_request(request: ModelRequest) -> ModelRequest:
    """Ask for the JSON between two tags, in words."""
    told = wording("tagged", schema=json.dumps(request.json_schema, ensure_ascii=False))
    return replace(say(request, told), json_schema=None, rungs=(Rung.TAGGED,))


def repair_request(
    asked: ModelRequest, schema: Mapping[str, Json], text: str, problem: str
) -> ModelRequest:
    """Ask again, with the rejected answer and what was wrong with it."""
    told = json.dumps(schema, ensure_ascii=False)
    complaint = wording("repair", problem=problem, schema=told)
    messages = (*asked.messages, Message("assistant", text), Message("user", complaint))
    return replace(asked, messages=messages, rungs=(Rung.REPAIR,))


def say(request: ModelRequest, text: str) -> ModelRequest:
    """Return the request with more words of the user at its end."""
    *before, last = request.messages or (Message("user", ""),)
    if last.role == "user":
        joined = f"{last.content}\n\n{text}".strip()
        return replace(request, messages=(*before, Message("user", joined)))
    return replace(request, messages=(*request.messages, Message("user", text)))


def judge(text: str, schema: Mapping[str, Json]) -> Json:
    """Return the JSON value of a reply, tagged or not, or raise what is wrong with it."""
    problem: BrokenStructure | None = None
    for candidate in _candidates(text):
        try:
            return parse_structured(candidate, schema)
        except BrokenStructure as broken:
            problem = problem or broken
    raise problem or BrokenStructure("the reply holds no JSON")


def _candidates(text: str) -> Iterator[str]:
    """Yield what may be the answer: the last tagged block first, the whole text last."""
    blocks = list(_blocks(text))
    yield from (text[start:end] for start, end in reversed(blocks))
    if blocks:
        # A string of the answer may itself hold a tag.
        *_, last = _CLOSED.finditer(text)
        yield text[blocks[0][0] : last.start()]
    yield text


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Go through what stands between tags; a tag that is never closed is looked for once."""
    at = 0
    while (opened := _OPENED.search(text, at)) is not None:
        closed = _CLOSED.search(text, opened.end())
        if closed is None:
            return
        yield opened.end(), closed.start()
        at = closed.end()


def is_refusal(error: CallboardError) -> bool:
    """Say whether a provider failed because of the schema and not because of the request."""
    if isinstance(error, SchemaRefused):
        return True
    is_bad_request = isinstance(error, ProviderError) and error.status in _REFUSING_STATUSES
    return is_bad_request and _REFUSAL.search(error.message) is not None


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
