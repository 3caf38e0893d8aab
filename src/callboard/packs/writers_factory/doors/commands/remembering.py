"""What the writer does with the book's memory: notebooks, nodes by name, forgetting."""

from dataclasses import asdict
from pathlib import Path

from callboard.cli.output import clean, echo, echo_json, remark
from callboard.core.canonical import Json, plain
from callboard.core.errors import NotFound
from callboard.knowledge.graph import Graph, Node
from callboard.packs.writers_factory.factory import Factory
from callboard.packs.writers_factory.memory import operations


async def add_notebook(
    factory: Factory, notebook_id: str, title: str, role: str, folder: Path, *, as_json: bool
) -> None:
    """Register a folder; one inside the project is kept by its place there."""
    path = _place(factory.studio.project.root, folder)
    made = await factory.perform(operations.add_notebook, notebook_id, role, path, title)
    report = await factory.perform(operations.sync_notebook, made.id)
    files = report.added + report.updated + report.unchanged
    if as_json:
        unreadable: list[Json] = [*report.unreadable]
        echo_json({"notebook": made.to_json(), "files": files, "unreadable": unreadable})
        return
    echo(clean(f"Notebook {made.id} ({made.role.value}) reads {files} files in {made.path}."))
    for each in report.unreadable:
        remark(clean(f"  not read: {each}"))
    remark(f"Forget it: callboard factory notebook remove {made.id}")


def _place(root: Path, folder: Path) -> str:
    wanted = folder.expanduser().resolve()
    return str(wanted.relative_to(root)) if wanted.is_relative_to(root) else str(wanted)


async def remove_notebook(factory: Factory, notebook_id: str, *, as_json: bool) -> None:
    """Forget a notebook and say how to have it back."""
    known = await factory.perform(operations.remove_notebook, notebook_id)
    if as_json:
        echo_json({"removed": known.to_json()})
        return
    echo(f"Notebook {known.id} is forgotten; its files stay.")
    again = f"callboard factory notebook add {known.id} '{known.path}' --role {known.role.value}"
    remark(clean(f"Back: {again}"))


async def forget_decision(factory: Factory, category: str, key: str, *, as_json: bool) -> None:
    """Forget a decision; what is not there cannot be forgotten."""
    memory = factory.rooms.memory
    known = next((each for each in memory.decisions(category) if each.key == key), None)
    if known is None:
        raise NotFound(
            f"Nothing was decided as {category} {key}",
            fix="`callboard factory decisions` lists what was.",
            key=key,
        )
    await factory.perform(operations.forget_decision, known.category, known.key)
    if as_json:
        echo_json({"forgotten": plain(asdict(known))})
        return
    echo(clean(f"Forgotten: {known.category} {known.key} = {known.value}"))
    remark(f"Decide it again: callboard factory decide {known.category} {known.key} VALUE")


_SHOWN = 8


def find_node(web: Graph, name: str) -> Node:
    """Return the node, or say which there are."""
    found = web.node(name) or web.find(name)
    if found is None:
        known = ", ".join(node.name for node, _ in web.central(_SHOWN)) or "nothing yet"
        raise NotFound(f"The graph knows no {name!r}", fix=f"It knows: {known}.", name=name)
    return found
