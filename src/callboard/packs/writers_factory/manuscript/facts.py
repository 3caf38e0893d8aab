"""What is known of a scene, as JSON, and the scene a name stands for."""

import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Final

from callboard.core.canonical import Json, plain
from callboard.packs.writers_factory.model import SceneMeta, SceneStatus, SymbolUse

_ID: Final = re.compile(r"ch(\d{1,4})-sc(\d{1,4})")


def parse_scene_id(name: str) -> tuple[int, int] | None:
    """Return the chapter and the scene `ch4-sc2` stands for; None if it is no such name."""
    found = _ID.fullmatch(name)
    return None if found is None else (int(found[1]), int(found[2]))


def meta_to_json(meta: SceneMeta) -> dict[str, Json]:
    """Return the stored shape, which is also the one shown at the doors."""
    return plain(asdict(meta))


def meta_from_json(stored: Mapping[str, Any], base: SceneMeta) -> SceneMeta:
    """Read the stored shape over what the outline says: the title and the beat are the outline's.

    A scene that is no longer planned keeps the ones it had.
    """
    return replace(
        base,
        title=base.title or stored["title"],
        beat_number=stored["beat_number"] if base.beat_number is None else base.beat_number,
        status=SceneStatus(stored["status"]),
        word_count=stored["word_count"],
        tension=stored["tension"],
        story_time=stored["story_time"],
        location=stored["location"],
        pov=stored["pov"],
        characters=tuple(stored["characters"]),
        callbacks=tuple(stored["callbacks"]),
        foreshadowing=tuple(stored["foreshadowing"]),
        symbols=tuple(SymbolUse(each["name"], each["stage"]) for each in stored["symbols"]),
    )
