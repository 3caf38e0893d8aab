"""`callboard tool`: what tools there are, and running one."""

from typing import Annotated, Any

import typer

from callboard.cli.options import (
    ArgOption,
    ArgsJsonOption,
    JsonOption,
    ProjectOption,
    SessionOption,
    new_app,
)

app = new_app("Tools: list them, look at one, run one on your project.")

ToolArgument = Annotated[str, typer.Argument(metavar="TOOL", help="Id of a tool.")]


@app.command("list")
def list_command(project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """List the tools."""
    from callboard.cli.handlers.tools import list_tools

    return list_tools(project, as_json=as_json)


@app.command()
def show(tool: ToolArgument, project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """Show what a tool does and which arguments it takes."""
    from callboard.cli.handlers.tools import show_tool

    return show_tool(project, tool, as_json=as_json)


@app.command()
def run(
    tool: ToolArgument,
    arg: ArgOption = None,
    args_json: ArgsJsonOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say which files would be touched.")
    ] = False,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Run a tool; it leaves a receipt, whatever comes of it."""
    from callboard.cli.arguments import read_arguments
    from callboard.cli.handlers.tools import run_tool

    args: dict[str, Any] = read_arguments(arg or [], args_json)
    if dry_run:
        args["dry_run"] = True
    return run_tool(project, tool, args, session, as_json=as_json)
