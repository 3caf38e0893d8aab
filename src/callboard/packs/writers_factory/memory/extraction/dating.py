"""Dating: what a scene says of somebody's state holds from that scene on, not before it."""

from dataclasses import replace
from typing import Final

from callboard.packs.writers_factory.memory.extraction.reading import Found, FoundNode

_STATES: Final = frozenset({"alive", "status", "life", "injured", "location", "whereabouts"})


def since_scene(found: Found, scene_id: str) -> Found:
    """Return findings whose states begin with a scene: who dies in it lived before."""

    def dated(node: FoundNode) -> FoundNode:
        if not node.attrs or not _STATES.issuperset(node.attrs):
            return node
        return replace(node, attrs={"since_scene": scene_id, **node.attrs})

    return replace(found, nodes=tuple(dated(node) for node in found.nodes))
