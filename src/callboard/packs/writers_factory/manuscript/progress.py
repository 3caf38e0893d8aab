"""Progress: which way a scene may go from one status to another. Knows no files."""

from collections.abc import Mapping
from typing import Final

from callboard.packs.writers_factory.manuscript.errors import StatusRefused
from callboard.packs.writers_factory.model import SceneStatus

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
