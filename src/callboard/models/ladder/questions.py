"""A schema split into questions of one small decision each, and the value put together again.

It plans and assembles; asking is the interview's business. Only required fields are asked for; if
a schema requires none, all are, and those without a usable answer are left out.
"""

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, cast

from callboard.core.canonical import Json

Place = tuple[str | int, ...]
"""Where a value stands in the whole: keys of objects and positions in lists."""

_MAX_DEPTH: Final = 6
_MAX_ITEMS: Final = 6
_SCALARS: Final = ("string", "integer", "number", "boolean")


class QuestionKind(StrEnum):
    """What is asked for: one decision, in the form that is easiest to answer."""

    CHOICE = "choice"
    PICKS = "picks"
    NUMBER = "number"
    COUNT = "count"
    TEXT = "text"
    LINES = "lines"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class SmallQuestion:
    """One small question; `schema` is what its answer must obey, by itself.

    A `COUNT` is followed by the questions about so many items, and is no value itself.
    """

    place: Place
    kind: QuestionKind
    schema: Mapping[str, Json]
    choices: tuple[Json, ...] = ()
    is_nullable: bool = False
    is_required: bool = True
    items: Mapping[str, Json] | None = None

    @property
    def about(self) -> str:
        """What the schema's author says of the field."""
        return str(self.schema.get("description") or self.schema.get("title") or "")

    @property
    def field(self) -> str:
        """The field as a person would name it."""
        if not self.place:
            return "the answer"
        words = [f"number {p + 1}" if isinstance(p, int) else f"`{p}`" for p in self.place]
        return ", ".join(words)


@dataclass(frozen=True, slots=True)
class Given:
    """A value nobody has to be asked for."""

    place: Place
    value: Json


class Splitter:
    """Splits one schema; holds its definitions."""

    def __init__(self, schema: Mapping[str, Json]) -> None:
        """Take the schema of the whole answer."""
        self._root = schema
        kept = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
        self._definitions: dict[str, Json] = kept

    def split(self) -> Iterator[SmallQuestion | Given]:
        """Yield the questions of the whole answer, in the order of the schema."""
        return self._of(self._root, (), is_required=True)

    def split_items(self, question: SmallQuestion, count: int) -> Iterator[SmallQuestion | Given]:
        """Yield the questions about the items of a list, once their number is known."""
        yield Given(question.place, [])
        for index in range(count):
            yield from self._of(
                question.items or {}, (*question.place, index), is_required=question.is_required
            )

    def _of(
        self, given: Mapping[str, Json], place: Place, *, is_required: bool
    ) -> Iterator[SmallQuestion | Given]:
        schema, is_nullable = self._plain(given)
        fixed = _fixed(schema)
        if fixed:
            yield Given(place, fixed[0])
        elif _is_object(schema) and len(place) < _MAX_DEPTH:
            yield Given(place, {})
            required = _names(schema.get("required"))
            for name, field in _mapping(schema["properties"]).items():
                if name in required or not required:
                    must = is_required and name in required
                    yield from self._of(_mapping(field), (*place, name), is_required=must)
        else:
            kind, choices, items = self._kind(schema, is_nullable=is_nullable)
            whole = {**schema, **self._definitions}
            if is_nullable:
                whole = {"anyOf": [schema, {"type": "null"}], **self._definitions}
                whole |= {key: schema[key] for key in ("description", "title") if key in schema}
            yield SmallQuestion(place, kind, whole, choices, is_nullable, is_required, items)

    def _kind(
        self, schema: Mapping[str, Json], *, is_nullable: bool
    ) -> tuple[QuestionKind, tuple[Json, ...], Mapping[str, Json] | None]:
        nothing = (None,) if is_nullable else ()
        if "enum" in schema:
            choices = tuple(schema["enum"])
            return QuestionKind.CHOICE, choices if None in choices else (*choices, *nothing), None
        match schema.get("type"):
            case "boolean":
                return QuestionKind.CHOICE, (True, False, *nothing), None
            case "integer" | "number":
                return QuestionKind.NUMBER, (), None
            case "string":
                return QuestionKind.TEXT, (), None
            case "array" if (
                isinstance(schema.get("items"), Mapping) and "prefixItems" not in schema
            ):
                return self._list_kind(_mapping(schema["items"]))
            case _:
                return QuestionKind.JSON, (), None

    def _list_kind(
        self, given: Mapping[str, Json]
    ) -> tuple[QuestionKind, tuple[Json, ...], Mapping[str, Json] | None]:
        items, is_nullable = self._plain(given)
        if "enum" in items and not is_nullable:
            return QuestionKind.PICKS, tuple(items["enum"]), items
        if items.get("type") in _SCALARS and not is_nullable:
            return QuestionKind.LINES, (), items
        return (
            (QuestionKind.COUNT, (), given) if _is_object(items) else (QuestionKind.JSON, (), None)
        )

    def _plain(self, schema: Mapping[str, Json]) -> tuple[dict[str, Json], bool]:
        """Return a schema without references and without its `null`, and whether it had one."""
        plain, is_nullable = dict(schema), False
        for _ in range(_MAX_DEPTH):
            if isinstance(plain.get("$ref"), str):
                plain = {**self._definition(plain.pop("$ref")), **plain}
            elif len(_variants(plain)) == 1:
                (only,) = _variants(plain)
                is_nullable = is_nullable or _has_null(plain)
                plain = {key: plain[key] for key in plain if key not in _VARIANTS} | only
            elif isinstance(plain.get("type"), list) and "null" in plain["type"]:
                kinds = [kind for kind in plain["type"] if kind != "null"]
                plain["type"], is_nullable = kinds[0] if len(kinds) == 1 else kinds, True
            else:
                break
        return plain, is_nullable

    def _definition(self, reference: str) -> dict[str, Json]:
        found: Any = self._root
        for part in reference.removeprefix("#/").split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            found = _mapping(found).get(name)
        return dict(_mapping(found))


_VARIANTS: Final = ("anyOf", "oneOf", "allOf")


def _variants(schema: Mapping[str, Json]) -> list[dict[str, Json]]:
    """Return the forms a value may take, `null` aside."""
    for key in _VARIANTS:
        forms = cast("list[Any]", schema.get(key) or [])
        if forms:
            return [dict(_mapping(form)) for form in forms if not _is_null(form)]
    return []


def _has_null(schema: Mapping[str, Json]) -> bool:
    return any(_is_null(form) for key in _VARIANTS for form in schema.get(key) or ())


def _is_null(schema: Any) -> bool:
    return _mapping(schema).get("type") == "null"


def _fixed(schema: Mapping[str, Json]) -> tuple[Json, ...]:
    """Return the only value a schema allows, if there is only one."""
    if "const" in schema:
        return (schema["const"],)
    if schema.get("type") == "null":
        return (None,)
    choices = schema.get("enum", ())
    return tuple(choices) if len(choices) == 1 else ()


def _is_object(schema: Mapping[str, Json]) -> bool:
    return bool(_mapping(schema.get("properties")))


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _names(value: Any) -> frozenset[str]:
    return frozenset(cast("list[str]", value)) if isinstance(value, list) else frozenset()


def count_limits(question: SmallQuestion) -> tuple[int, int]:
    """Return how few and how many items a list may have; an open end is closed."""
    schema = question.schema
    if question.is_nullable:
        schema = schema["anyOf"][0]
    least = int(schema.get("minItems", 0))
    return least, int(schema.get("maxItems", max(least, _MAX_ITEMS)))


def assemble(parts: Iterable[Given]) -> Json:
    """Put the values back where they belong; a container comes before what it holds."""
    whole: Any = None
    for part in parts:
        # Copied, because containers are filled here.
        value = copy(part.value)
        if not part.place:
            whole = value
            continue
        container = whole
        for step in part.place[:-1]:
            container = container[step]
        if isinstance(container, list):
            cast("list[Any]", container).append(value)
        else:
            container[part.place[-1]] = value
    return whole
