"""Permission: which work waits for a later mode, or for something a scene does not have yet.

The writer may do at any time what belongs to a mode the book has reached; agents are bound tighter,
by the mode of the moment.
"""

from collections.abc import Mapping, Sequence

from callboard.core.canonical import Json
from callboard.core.errors import Conflict
from callboard.packs.writers_factory.foreman.actions import Catalogue
from callboard.packs.writers_factory.model import scene_id as scene_id_at
from callboard.packs.writers_factory.modes import Modes
from callboard.packs.writers_factory.revision.performing import NoText
from callboard.packs.writers_factory.rooms import Rooms
from callboard.packs.writers_factory.scenes import read_hybrid, read_order
from callboard.packs.writers_factory.scenes.runs import require_acceptable
from callboard.packs.writers_factory.workspace import Workspace


class WrongMode(Conflict):
    """Something was asked for that belongs to a mode the book has not reached."""

    code = "wrong_mode"


def require_action(catalogue: Catalogue, modes: Modes, action: str) -> None:
    """Refuse the work of an action whose modes all lie ahead."""
    require_mode(modes, catalogue.actions[action].modes or (), action)


def require_mode(modes: Modes, wanted: Sequence[str], what: str) -> None:
    """Refuse work unless the book has reached one of some modes; none named means any."""
    now = modes.spec()
    ahead = sorted((modes.spec(each) for each in wanted), key=lambda mode: mode.order)
    if not ahead or ahead[0].order <= now.order:
        return
    unmet = modes.gate(ahead[0].id).unmet
    asks = f"; its gate still asks for: {'; '.join(unmet)}" if unmet else ""
    raise WrongMode(
        f"{what.replace('_', ' ').capitalize()} belongs to {ahead[0].id}, and the book is in"
        f" {now.id}",
        fix=f"Advance to {ahead[0].id} first{asks}.",
        mode=now.id,
        permitted_in=[mode.id for mode in ahead],
        unmet=list(unmet),
    )


def require_ready(workspace: Workspace, rooms: Rooms, run: str, args: Mapping[str, Json]) -> None:
    """Refuse a run that could only fail, so that whoever starts it is told at once."""
    scene_id = str(args.get("scene_id") or args.get("scaffold_id") or "")
    if run == "scaffold":
        wanted = scene_id_at(int(args["chapter"]), int(args["scene"]))
        rooms.scenes.require_planned(wanted, str(args.get("title") or ""))
    elif run == "write_scene":
        rooms.scenes.require_scaffold(scene_id, approved=True)
        read_order(scene_id, args["strategies"], args["word_target"], args["model"])
    elif run == "hybrid":
        rooms.manuscript.scene(scene_id)
        for part in read_hybrid(scene_id, args["parts"], str(args["wishes"])).parts:
            rooms.scenes.variant(scene_id, part.variant_id)
    elif run == "accept":
        rooms.manuscript.scene(scene_id)
        require_acceptable(workspace, scene_id, str(args["variant_id"]))
    elif run in ("analyze", "enhance"):
        rooms.manuscript.scene(scene_id)
        if not args.get("texts") and not rooms.manuscript.text(scene_id).strip():
            raise NoText(
                f"{scene_id} has no text yet",
                fix="Write it, or select one of its variants first.",
                scene_id=scene_id,
            )
