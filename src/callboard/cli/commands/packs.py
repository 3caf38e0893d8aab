"""`callboard packs`: what can be run, with which arguments, and who takes part."""

from typing import TYPE_CHECKING

from callboard.cli.options import JsonOption, PackOption, ProjectOption, new_app
from callboard.cli.output import echo, echo_json

if TYPE_CHECKING:
    from callboard.core.canonical import Json
    from callboard.studio.packs import Pack

app = new_app("What can be run, and who takes part.")


@app.callback()
def packs() -> None:
    """What can be run, and who takes part."""


@app.command("list")
def list_command(
    pack: PackOption = None, project: ProjectOption = None, as_json: JsonOption = False
) -> None:
    """List packs with their choreographies, arguments and agents."""
    from callboard.cli.reading import find_project
    from callboard.studio.packs import installed_packs, load_pack

    if project is not None:
        find_project(project)
    found = (*(load_pack(folder) for folder in pack or ()), *installed_packs())
    shapes = [_shape(each) for each in found]
    if as_json:
        echo_json({"packs": shapes})
        return
    for shape in shapes:
        echo(f"{shape['name']}: {shape['title']}")
        for each in shape["choreographies"]:
            echo(f"  {each['name']:<24}{each['summary']}")
            for name, told in each["parameters"].items():
                echo(f"    --arg {name}=…  ({told})")
        echo(f"  Agents: {', '.join(shape['agents']) or 'none'}")
    echo("\nStart one: callboard run NAME --arg KEY=VALUE")


def _shape(pack: "Pack") -> "dict[str, Json]":
    offered: list[Json] = []
    listed = {name: pack.choreography(name) for name in pack.choreographies}
    for shelf in pack.shelves():
        shelved = {name: shelf.find(name) for name in shelf.names()}
        listed.update({name: each for name, each in shelved.items() if each is not None})
    for name, choreography in listed.items():
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
