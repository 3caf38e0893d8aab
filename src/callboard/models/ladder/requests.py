"""How one request is asked on one rung, and how the text that comes back is judged.

Nothing here talks to a model.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, ProviderError
from callboard.models.errors import SchemaRefused
from callboard.models.ladder.wording import wording
from callboard.models.structure import BrokenStructure, parse_structured
from callboard.models.types import Message, ModelRequest, Rung

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
