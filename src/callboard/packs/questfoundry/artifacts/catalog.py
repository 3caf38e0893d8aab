"""The catalog: every kind of artifact, its shape, its JSON Schema and a smallest example.

A kind that is not in here cannot be stored.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from pydantic import ValidationError

from callboard.core.canonical import digest
from callboard.core.errors import NotFound
from callboard.packs.questfoundry.artifacts import (
    binding,
    canon,
    gate,
    hooks,
    locale,
    media,
    records,
    story,
)
from callboard.packs.questfoundry.artifacts.shape import ArtifactBody

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_MODULES: Final = (story, hooks, canon, gate, binding, media, locale, records)


@cache
def shapes() -> dict[str, type[ArtifactBody]]:
    """Return the shape of every kind, by its name."""
    found: dict[str, type[ArtifactBody]] = {}
    for module in _MODULES:
        for each in vars(module).values():
            if isinstance(each, type) and issubclass(each, ArtifactBody) and "KIND" in vars(each):
                found.update(dict.fromkeys((each.KIND, *each.ALSO), each))
    return dict(sorted(found.items()))


def shape_of(kind: str) -> type[ArtifactBody]:
    """Return the shape of a kind, or say which kinds there are."""
    found = shapes().get(kind)
    if found is None:
        raise NotFound(
            f"There is no kind of artifact called {kind!r}",
            fix=f"Known are {', '.join(shapes())}.",
            kind=kind,
        )
    return found


@cache
def schema_of(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a kind."""
    schema = shape_of(kind).model_json_schema(by_alias=True)
    return {"$schema": DRAFT, "$id": f"quest/{kind}", **schema}


@cache
def schema_sha256(kind: str) -> str:
    """Return what the schema of a kind is known by."""
    return digest(schema_of(kind))


def problems_of(kind: str, content: object) -> list[dict[str, str]]:
    """Return what keeps a content from being of a kind: where, and what; nothing if it fits."""
    try:
        shape_of(kind).model_validate(content)
    except ValidationError as error:
        return [
            {"path": ".".join(str(part) for part in each["loc"]), "message": each["msg"]}
            for each in error.errors()
        ]
    return []


def normal_form(kind: str, content: object) -> dict[str, Any]:
    """Return a content that fits, with every default written out."""
    return shape_of(kind).model_validate(content).model_dump(mode="json", by_alias=True)


def smallest(kind: str) -> dict[str, Any]:
    """Return a content of a kind that fits, with nothing in it that need not be there."""
    schema = schema_of(kind)
    made: dict[str, Any] = _made(schema, schema.get("$defs", {}))
    return made


def _made(schema: dict[str, Any], parts: dict[str, Any]) -> Any:
    if "$ref" in schema:
        return _made(parts[schema["$ref"].rsplit("/", 1)[-1]], parts)
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return _made(schema["anyOf"][0], parts)
    return _of_type(schema, parts)


def _of_type(schema: dict[str, Any], parts: dict[str, Any]) -> Any:
    match schema.get("type"):
        case "object":
            wanted = schema.get("required", ())
            return {name: _made(schema["properties"][name], parts) for name in wanted}
        case "array":
            return [_made(schema["items"], parts)] * schema.get("minItems", 0)
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return "a" * max(1, schema.get("minLength", 1))


def index_of(kinds: Sequence[str]) -> str:
    """Return the shapes of some kinds, a line for each object, for a prompt."""
    return "\n".join(f"{kind}: {_told(schema_of(kind))}" for kind in kinds if kind in shapes())


def _told(schema: dict[str, Any]) -> str:
    parts: dict[str, Any] = schema.get("$defs", {})

    def tell(each: dict[str, Any]) -> str:
        if "$ref" in each:
            return tell(parts[each["$ref"].rsplit("/", 1)[-1]])
        if "anyOf" in each:
            return " or ".join(tell(one) for one in each["anyOf"])
        if "enum" in each or "const" in each:
            return "|".join(repr(one) for one in each.get("enum", [each.get("const")]))
        if each.get("type") == "array":
            return f"[{tell(each['items'])}]"
        if each.get("type") != "object" or "properties" not in each:
            return str(each.get("type", "any"))
        wanted = each.get("required", ())
        fields = (
            f"{name}{'' if name in wanted else '?'}: {tell(one)}"
            for name, one in each["properties"].items()
        )
        return "{" + ", ".join(fields) + "}"

    return tell(schema)
