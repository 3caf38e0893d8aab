"""`callboard packs`: what can be run, with which arguments, and who takes part."""

from contextlib import suppress
from typing import TYPE_CHECKING

from callboard.cli.options import JsonOption, PackOption, ProjectOption, new_app
from callboard.cli.output import echo, echo_json, one_line

if TYPE_CHECKING:
    from callboard.core.canonical import Json
    from callboard.studio.packs import Pack
    from callboard.studio.runnable import Choreography

app = new_app("What can be run, and who takes part.")


@app.callback()
def packs() -> None:
    """What can be run, and who takes part."""


@app.command("list")
def list_command(
    pack: PackOption = None, project: ProjectOption = None, as_json: JsonOption = False
) -> None:
    """List packs with their choreographies, arguments and agents."""
    from callboard.cli.output import remark
    from callboard.cli.reading import find_project
    from callboard.cli.reports.packs import pack_problems
    from callboard.studio.packs import installed_packs, load_pack

    if project is not None:
        find_project(project)
    found = (*(load_pack(folder) for folder in pack or ()), *installed_packs())
    shapes = [_shape(each) for each in found]
    problems = pack_problems()
    if as_json:
        echo_json({"packs": shapes, "problems": problems})
        return
    for shape in shapes:
        echo(f"{shape['name']}: {shape['title']}")
        for each in shape["choreographies"]:
            echo(f"  {each['name']:<23} {each['summary']}")
            for name, told in each["parameters"].items():
                echo(f"    --arg {name}=…  ({told})")
        echo(f"  Agents: {', '.join(shape['agents']) or 'none'}")
    echo("\nStart one: callboard run NAME --arg KEY=VALUE")
    for problem in problems:
        remark(f"Not in order: {one_line(problem)}")


def _listed(pack: "Pack") -> "dict[str, Choreography]":
    """Return what a pack offers and can be loaded; what cannot is among the problems."""
    from callboard.studio.packs import PackInvalid

    listed: dict[str, Choreography] = {}
    for name in pack.choreographies:
        with suppress(PackInvalid):
            listed[name] = pack.choreography(name)
    with suppress(PackInvalid):
        for shelf in pack.shelves():
            shelved = {name: shelf.find(name) for name in shelf.names()}
            listed.update({name: each for name, each in shelved.items() if each is not None})
    return listed


def _shape(pack: "Pack") -> "dict[str, Json]":
    offered: list[Json] = []
    for name, choreography in _listed(pack).items():
        offered.append(
            {
                "name": f"{pack.name}/{name}",
                "summary": choreography.summary,
                "parameters": dict(choreography.parameters),
            }
        )
    return {
        "name": pack.name,
        "title": pack.title,
        "folder": str(pack.root),
        "choreographies": offered,
        "agents": [agent.id for agent in pack.agents],
    }
