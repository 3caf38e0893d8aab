"""Try a model out: how fast it is, whether it talks, whether it keeps to a schema."""

from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.models.errors import InvalidReply
from callboard.models.gate import Gate
from callboard.models.types import Message, ModelRequest, Usage

_MAX_TOKENS: Final = 120
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "animal": {"type": "string"},
        "legs": {"type": "integer", "minimum": 0},
        "can_fly": {"type": "boolean"},
    },
    "required": ["animal", "legs", "can_fly"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Profile:
    """What a short trial of a model showed."""

    model: str
    text: str
    first_token_ms: int | None
    tokens_per_second: float | None
    duration_ms: int
    usage: Usage
    keeps_schema: bool
    was_repaired: bool = False
    data: Json = None
    schema_problem: str | None = None


async def probe(gate: Gate, model: str) -> Profile:
    """Ask a model for plain text and for JSON; a broken schema is a finding, not an error."""
    plain = await gate.complete(_request(model, "probe_text.md"))
    usage, data, problem, was_repaired = plain.usage, None, None, False
    try:
        structured = await gate.complete(_request(model, "probe_json.md", _SCHEMA))
        usage += structured.usage
        data, was_repaired = structured.data, structured.was_repaired
    except InvalidReply as error:
        problem = error.message
    return Profile(
        model=model,
        text=plain.text,
        first_token_ms=plain.first_token_ms,
        tokens_per_second=plain.tokens_per_second,
        duration_ms=plain.duration_ms,
        usage=usage,
        keeps_schema=problem is None,
        was_repaired=was_repaired,
        data=data,
        schema_problem=problem,
    )


def _request(model: str, prompt: str, schema: dict[str, Any] | None = None) -> ModelRequest:
    text = files("callboard.models").joinpath(prompt).read_text("utf-8").strip()
    return ModelRequest(
        model=model,
        messages=(Message("user", text),),
        json_schema=schema,
        max_tokens=_MAX_TOKENS,
        metadata={"prompt_type": "probe_json" if schema else "probe_text"},
    )
