"""Answers: the shapes a model is asked for. A type is the schema sent and the check of the reply.

Owns how a Pydantic type becomes a JSON schema that small models can follow, and which words of an
answer count as quoted. Asks nobody.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationError,
    ValidationInfo,
    create_model,
)

from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput
from callboard.replies.evidence import is_quotable, normalise
from callboard.replies.evidence.quotes import find_in

A = TypeVar("A", bound="Answer")

_TEXT: Final = "text"
# What a type says to its readers in code; a model is told by its prompt.
_FOR_READERS: Final = frozenset({"$defs", "$ref", "title", "default", "const"})


class Answer(BaseModel):
    """What a model is asked for; a field without a default must be answered."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Choice(Answer):
    """One word of several; `one_of` says which."""

    choice: str


def _stands(quote: str, info: ValidationInfo) -> str:
    text = _text_of(info)
    bare = quote.strip().strip('"“”') if text is not None else quote
    return bare if text is None or (is_quotable(bare) and find_in(text, bare)) else ""


def _proven(rows: tuple[Any, ...], info: ValidationInfo) -> tuple[Any, ...]:
    return rows if _text_of(info) is None else tuple(each for each in rows if each.quote)


def _text_of(info: ValidationInfo) -> str | None:
    context: Any = info.context
    return None if context is None else context[_TEXT]


Quote = Annotated[str, AfterValidator(_stands)]
"""Words of the text that was asked about; what does not stand there is left empty."""

Proven: Final = AfterValidator(_proven)
"""Keeps of several rows those whose `quote` stands in the text."""


def at_most(count: int) -> BeforeValidator:
    """Return what cuts a list or a text to a length; who says more is not asked again."""

    def cut(value: Any) -> Any:
        is_long = isinstance(value, list | tuple | str)
        return cast("Sequence[Any]", value)[:count] if is_long else value

    return BeforeValidator(cut)


def shortened(most_chars: int) -> BeforeValidator:
    """Return what trims a text and cuts it to a length."""

    def cut(value: Any) -> Any:
        return value.strip()[:most_chars] if isinstance(value, str) else value

    return BeforeValidator(cut)


def words(options: Sequence[str]) -> Any:
    """Return the type of a text that is one of several."""
    return cast(Any, Literal)[tuple(str(each) for each in options)]


def one_of(options: Sequence[str]) -> type[Choice]:
    """Return the answer that picks one of several options."""
    return narrowed(Choice, choice=words(options))


def choices(**options: Sequence[str]) -> type[Answer]:
    """Return the answer that picks one of several options for each of its names."""
    return narrowed(Answer, **{name: words(each) for name, each in options.items()})


def narrowed(answer: type[A], **types: Any) -> type[A]:
    """Return an answer whose named fields must be given, and be of these types."""
    # A member of an enumeration is no plain text to the embedded model, which refuses the schema.
    fields: dict[str, Any] = {str(name): (each, ...) for name, each in types.items()}
    return create_model(answer.__name__, __base__=answer, **fields)


def read_answer(answer: type[A], data: Json, text: str | None = None) -> A | None:
    """Return an answer as it can be used, None if it has another shape.

    With the text it is about, quotations are held against that text.
    """
    context = None if text is None else {_TEXT: normalise(text)}
    try:
        return answer.model_validate(data, context=context)
    except ValidationError:
        return None


def schema_of(
    shape: type[BaseModel], *, without: Collection[str] = (), loosely: Collection[str] = ()
) -> dict[str, Json]:
    """Return the JSON schema of a shape: nothing but what may be answered, and no references.

    `without` names fields that are not asked for. Of a field named in `loosely` only the kind of
    its value is told: what it holds is checked by whoever uses it, who can say what is wrong.
    """
    whole = _json_schema(shape)
    definitions: dict[str, Any] = whole.get("$defs", {})
    if "$ref" in whole:
        # Of a shape that holds itself: refused below, where it comes up again.
        return _plain(whole, definitions, ())
    named: dict[str, Any] = whole["properties"]
    fields = {
        name: _kind_of(each, definitions) if name in loosely else each
        for name, each in named.items()
        if name not in without
    }
    told = {key: each for key, each in whole.items() if key != "description"}
    return _plain({**told, "properties": fields}, definitions, ())


# Asked for several times per question, and made anew by Pydantic each time; shared, never changed.
@lru_cache(maxsize=256)
def _json_schema(shape: type[BaseModel]) -> Mapping[str, Any]:
    return shape.model_json_schema()


def with_fields(schema: Mapping[str, Json], **fields: Json) -> dict[str, Json]:
    """Return the schema of an object with some of its fields described anew, or added."""
    return {**schema, "properties": {**cast("dict[str, Json]", schema["properties"]), **fields}}


def _kind_of(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    forms: list[Any] = schema.get("anyOf", [])
    if {"type": "null"} in forms:
        return {"type": [_kind_of(forms[0], definitions)["type"], "null"]}
    found = definitions[_named(schema)] if "$ref" in schema else schema
    made: dict[str, Any] = {"type": found.get("type", "object")}
    if made["type"] == "array":
        made["items"] = _kind_of(found["items"], definitions)
    return made


def _named(schema: Mapping[str, Any]) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _plain(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], inside: tuple[str, ...]
) -> dict[str, Any]:
    if "$ref" in schema:
        name = _named(schema)
        if name in inside:
            raise InvalidInput(
                f"{name} holds itself: no model can be asked for it",
                fix="Ask for the inner part in a question of its own.",
            )
        inside = (*inside, name)
        # What describes the type is for readers of code; what describes the field stays.
        found = {key: each for key, each in definitions[name].items() if key != "description"}
        schema = {**found, **{key: each for key, each in schema.items() if key != "$ref"}}
    made = {
        key: _inner(key, each, definitions, inside)
        for key, each in schema.items()
        if key not in _FOR_READERS
    }
    if "const" in schema:
        made["enum"] = [schema["const"]]
    if made.get("additionalProperties") is True:
        # That is what its absence says.
        del made["additionalProperties"]
    return _with_null(made)


def _inner(key: str, value: Any, definitions: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
    if key == "properties":
        named = cast("Mapping[str, Any]", value)
        return {name: _plain(each, definitions, inside) for name, each in named.items()}
    if key in ("anyOf", "prefixItems"):
        return [_plain(each, definitions, inside) for each in cast("Sequence[Any]", value)]
    if isinstance(value, dict):
        return _plain(cast(Any, value), definitions, inside)
    return list(cast("list[Any]", value)) if isinstance(value, list) else value


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Write `text or nothing` in the short form."""
    forms: list[dict[str, Any]] = schema.get("anyOf", [])
    if len(forms) != 2 or forms[1] != {"type": "null"} or "type" not in forms[0]:
        return schema
    rest = {key: each for key, each in schema.items() if key != "anyOf"}
    only = {**forms[0], "type": [forms[0]["type"], "null"]}
    if "enum" in only:
        only["enum"] = [*only["enum"], None]
    return {**rest, **only}
