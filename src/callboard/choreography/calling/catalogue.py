"""The tools as an agent is told of them: only those it may call, each with its arguments."""

from typing import Any, cast

from callboard.core.canonical import Json, compact_json
from callboard.core.vocabulary import Content, Trust
from callboard.tools import Policy, ToolRegistry


def describe_tools(registry: ToolRegistry, rights: Policy) -> Content:
    """Return the catalogue for a prompt, sorted by id."""
    return Content(
        "\n".join(_tool(each) for each in registry.catalogue(rights)), "tools", Trust.UNTRUSTED
    )


def _tool(entry: dict[str, Json]) -> str:
    schema = cast("dict[str, Any]", entry["args"])
    required = set(schema.get("required", ()))
    args = [
        f"  - {name} ({_kind(shape)}{', required' if name in required else ''})"
        + (f": {shape['description']}" if shape.get("description") else "")
        for name, shape in cast("dict[str, dict[str, Any]]", schema.get("properties", {})).items()
    ]
    return "\n".join([f"- {entry['id']}: {entry['description']}", *args])


def _kind(shape: dict[str, Any]) -> str:
    if "enum" in shape:
        return "one of " + ", ".join(str(each) for each in shape["enum"])
    if "anyOf" in shape:
        kinds = [_kind(branch) for branch in shape["anyOf"] if branch.get("type") != "null"]
        return " or ".join(kinds)
    if shape.get("type") == "array":
        return f"list of {_kind(shape.get('items', {}))}"
    default = shape.get("default")
    named = str(shape.get("type", "value"))
    return named if default in (None, "") else f"{named}, default {compact_json(default)}"
