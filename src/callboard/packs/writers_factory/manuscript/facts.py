"""What is known of a scene: the name it goes by, its stored shape, its way from status to status.

Knows no files. What can be wrong with an outline or a scene stands here too.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from callboard.core.canonical import Json, plain
from callboard.core.errors import Conflict, InvalidInput, NotFound
from callboard.packs.writers_factory.model import SceneMeta, SceneStatus, SymbolUse


class SceneUnknown(NotFound):
    """A scene was named that is neither planned nor written."""

    code = "scene_unknown"


class VersionUnknown(NotFound):
    """A version was named that the archive does not hold."""

    code = "version_unknown"


class NothingToUndo(Conflict):
    """There is no change left that could be taken back."""

    code = "nothing_to_undo"


class OutlineInvalid(InvalidInput):
    """An outline cannot be taken as it is; every fault is named."""

    code = "outline_invalid"


class StatusRefused(Conflict):
    """A scene cannot go from where it stands to where it was sent."""

    code = "scene_status_refused"


@dataclass(frozen=True, slots=True)
class BookScene:
    """A scene with its text."""

    meta: SceneMeta
    text: str


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


_PLANNED, _SCAFFOLDED = SceneStatus.PLANNED, SceneStatus.SCAFFOLDED
_VARIANTS, _SELECTED = SceneStatus.VARIANTS_READY, SceneStatus.SELECTED
_ANALYZED, _ENHANCED = SceneStatus.ANALYZED, SceneStatus.ENHANCED
_DRAFTED, _POLISHED = SceneStatus.DRAFTED, SceneStatus.POLISHED

ORDER: Final = tuple(SceneStatus)
WRITTEN: Final = frozenset({_DRAFTED, _POLISHED})
"""What the writer has accepted."""

# Only ways forward stand here; a step that was done before may always be done again. Analysis is
# no condition of acceptance, and a scene the writer wrote alone is a draft from the start.
_FORWARD: Final[Mapping[SceneStatus, frozenset[SceneStatus]]] = {
    _PLANNED: frozenset({_SCAFFOLDED, _DRAFTED}),
    _SCAFFOLDED: frozenset({_VARIANTS, _DRAFTED}),
    _VARIANTS: frozenset({_SELECTED, _DRAFTED}),
    _SELECTED: frozenset({_ANALYZED, _ENHANCED, _DRAFTED}),
    _ANALYZED: frozenset({_ENHANCED, _DRAFTED}),
    _ENHANCED: frozenset({_DRAFTED}),
    _DRAFTED: frozenset({_POLISHED}),
    _POLISHED: frozenset(),
}


def advance(current: SceneStatus, to: SceneStatus, scene_id: str = "The scene") -> SceneStatus:
    """Return the status a scene has after a step, or refuse the step.

    Looking at an accepted scene again does not take its acceptance back.
    """
    if current in WRITTEN and to in (_ANALYZED, _ENHANCED):
        return current
    is_repeat = ORDER.index(to) <= ORDER.index(current)
    if to in _FORWARD[current] or (is_repeat and (to is not _PLANNED or current is _PLANNED)):
        return to
    ways = [each.value for each in ORDER if each in _FORWARD[current]]
    raise StatusRefused(
        f"{scene_id} is {current} and cannot become {to}",
        fix=f"From {current} it can become {' or '.join(ways) or 'what it was before'}.",
        status=current.value,
        wanted=to.value,
    )
