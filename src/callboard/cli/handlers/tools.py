"""Tools and staff at the command line: listed, described, run, with the receipt named."""

from pathlib import Path
from typing import Any, cast

from callboard.choreography.staffing import staff_now
from callboard.cli import exits
from callboard.cli.bridge import Interrupt, perform
from callboard.cli.handlers.opening import Choices, OpenWork, working
from callboard.cli.output import echo, echo_json, echo_table, echo_text, one_line, remark
from callboard.core.canonical import Json, compact_json
from callboard.tools import Policy, ToolCall, receipt_to_json


def list_tools(project: Path | None, *, as_json: bool) -> int:
    """Print the tools of a project."""

    async def work(_interrupt: Interrupt) -> int:
        async with working(Choices(project, as_json=as_json)) as here:
            catalogue = here.studio.tools.registry.catalogue()
            if as_json:
                echo_json({"tools": catalogue})
            else:
                rows = [(str(each["id"]), str(each["description"])) for each in catalogue]
                echo_table(("TOOL", "WHAT IT DOES"), rows)
        return exits.OK

    return perform(work)


def show_tool(project: Path | None, tool_id: str, *, as_json: bool) -> int:
    """Print one tool with the arguments it takes."""

    async def work(_interrupt: Interrupt) -> int:
        async with working(Choices(project, as_json=as_json)) as here:
            tool = here.studio.tools.registry.get(tool_id)
            schema = tool.schema()
            if as_json:
                echo_json({"id": tool.id, "description": tool.description, "schema": schema})
                return exits.OK
            echo(f"{tool.id}: {tool.description}")
            required = cast(list[str], schema.get("required", []))
            properties = cast(dict[str, dict[str, Any]], schema.get("properties", {}))
            rows = [
                (name, _kind(shape), "required" if name in required else _default(shape))
                for name, shape in properties.items()
            ]
            if rows:
                echo("")
                echo_table(("ARGUMENT", "KIND", "DEFAULT"), rows)
        return exits.OK

    return perform(work)


def run_tool(
    project: Path | None,
    tool_id: str,
    args: dict[str, Json],
    session: str | None,
    *,
    as_json: bool,
) -> int:
    """Run a tool and print what it found."""

    async def work(_interrupt: Interrupt) -> int:
        async with working(Choices(project, as_json=as_json)) as here:
            return await _run(here, tool_id, args, session)

    return perform(work)


async def _run(here: OpenWork, tool_id: str, args: dict[str, Json], session: str | None) -> int:
    studio = here.studio
    studio.tools.registry.get(tool_id)
    found = studio.sessions.get(session) if session else await studio.sessions.current()
    ran = await studio.tools.run(
        ToolCall(tool_id, args, found.id), Policy(None, studio.allowed_tools)
    )
    if not here.choices.as_json:
        remark(f"Receipt {ran.receipt.id}")
    result = ran.execution.unwrap()
    if here.choices.as_json:
        echo_json(
            {
                "receipt": receipt_to_json(ran.receipt),
                "payload": result.payload,
                "preview": result.preview,
                "summary": result.summary,
            }
        )
        return exits.OK
    echo(result.preview)
    if result.summary:
        echo("")
        echo_text(result.summary)
    return exits.OK


def _kind(shape: dict[str, Any]) -> str:
    branches = cast(list[dict[str, Any]], shape.get("anyOf", [shape]))
    names = [str(each.get("enum") or each.get("type") or "value") for each in branches]
    return one_line(" or ".join(name for name in names if name != "null"))


def _default(shape: dict[str, Any]) -> str:
    return compact_json(shape["default"]) if "default" in shape else ""


def list_agents(project: Path | None, *, as_json: bool) -> int:
    """Print the enabled agents with model, tier and what they are doing."""

    async def work(_interrupt: Interrupt) -> int:
        async with working(Choices(project)) as here:
            staff = staff_now(here.studio)
        if as_json:
            echo_json({"agents": staff})
        else:
            shown = ("id", "state", "model", "tier", "owns")
            rows = [tuple(str(each[name]) for name in shown) for each in staff]
            echo_table(("AGENT", "STATE", "MODEL", "TIER", "OWNS"), rows)
        return exits.OK

    return perform(work)
