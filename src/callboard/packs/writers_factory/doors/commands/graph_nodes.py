"""Finding the node a writer means, by its id, its name or an alias."""

from callboard.core.errors import NotFound
from callboard.knowledge.graph import Graph, Node

_SHOWN = 8


def find_node(web: Graph, name: str) -> Node:
    """Return the node, or say which there are."""
    found = web.node(name) or web.find(name)
    if found is None:
        known = ", ".join(node.name for node, _ in web.central(_SHOWN)) or "nothing yet"
        raise NotFound(f"The graph knows no {name!r}", fix=f"It knows: {known}.", name=name)
    return found
