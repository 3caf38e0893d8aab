"""Predicates: what must be true of a book before it may leave a mode, computed from what is stored.

Each answers with everything that is missing; nothing missing means it holds. None of them asks an
agent, and none of them believes one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from callboard.packs.writers_factory.bible import WorkOrder, beat_points
from callboard.packs.writers_factory.model import PlannedScene, SceneMeta, SceneStatus
from callboard.packs.writers_factory.voice import VoiceStatus

_DRAFTED: Final = frozenset({SceneStatus.DRAFTED, SceneStatus.POLISHED})
_LISTED: Final = 12


@dataclass(frozen=True, slots=True)
class ShownItem:
    """A book as its gates see it."""

    order: WorkOrder
    voice: VoiceStatus
    outline: Sequence[PlannedScene]
    scenes: Sequence[SceneMeta]
    is_marked_complete: bool


@dataclass(frozen=True, slots=True)
class Unmet:
    """One thing a gate misses; the subject is what an override or a waiver is about."""

    subject: str
    text: str


Predicate = Callable[[ShownItem], tuple[Unmet, ...]]
Measure = Callable[[ShownItem], Fraction]


def _templates_complete(book: ShownItem) -> tuple[Unmet, ...]:
    return tuple(
        Unmet(template.name.value, told)
        for template in book.order.templates
        for told in template.unmet
    )


def _voice_winner_chosen(book: ShownItem) -> tuple[Unmet, ...]:
    return _unless(bool(book.voice.winner), "voice_winner", "no variant is chosen")


def _voice_bundle_ready(book: ShownItem) -> tuple[Unmet, ...]:
    return _unless(book.voice.bundle_ready, "voice_bundle", "its files are not generated")


def _voice_locked(book: ShownItem) -> tuple[Unmet, ...]:
    return _unless(book.voice.locked, "voice_lock", "the writer has not confirmed the voice")


def _scenes_planned(book: ShownItem) -> tuple[Unmet, ...]:
    return _unless(bool(book.outline), "outline", "no scenes are planned")


def _beats_covered(book: ShownItem) -> tuple[Unmet, ...]:
    served = {each.beat_number for each in (*book.outline, *book.scenes)}
    bare = [point.field for point in beat_points() if point.number not in served]
    return _unless(not bare, "beats", f"no scene for {_listed(bare)}")


def _scenes_drafted(book: ShownItem) -> tuple[Unmet, ...]:
    drafted = _with_status(book, _DRAFTED)
    open_ids = [scene.id for scene in book.outline if scene.id not in drafted]
    return _unless(not open_ids, "scenes", f"{len(open_ids)} to draft: {_listed(open_ids)}")


def _marked_complete(book: ShownItem) -> tuple[Unmet, ...]:
    return _unless(
        book.is_marked_complete, "manuscript", "the writer has not marked it as complete"
    )


def _templates(book: ShownItem) -> Fraction:
    shares = [template.share for template in book.order.templates]
    return sum(shares, Fraction(0)) / len(shares)


def _voice_steps(book: ShownItem) -> Fraction:
    voice = book.voice
    steps = (
        voice.test_passage,
        voice.tournament_id,
        voice.winner,
        voice.bundle_ready,
        voice.locked,
    )
    return Fraction(sum(map(bool, steps)), len(steps))


def _share_drafted(book: ShownItem) -> Fraction:
    if not book.outline:
        return Fraction(0)
    drafted = _with_status(book, _DRAFTED)
    return Fraction(sum(scene.id in drafted for scene in book.outline), len(book.outline))


def _share_polished(book: ShownItem) -> Fraction:
    if not book.scenes:
        return Fraction(0)
    polished = _with_status(book, frozenset({SceneStatus.POLISHED}))
    return Fraction(len(polished), len(book.scenes))


def _finished(book: ShownItem) -> Fraction:
    return Fraction(int(book.is_marked_complete))


def _with_status(book: ShownItem, wanted: frozenset[SceneStatus]) -> frozenset[str]:
    return frozenset(scene.scene_id for scene in book.scenes if scene.status in wanted)


def _unless(holds: bool, subject: str, told: str) -> tuple[Unmet, ...]:
    return () if holds else (Unmet(subject, f"{subject}: {told}"),)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{', '.join(names[:_LISTED])}{more}"


PREDICATES: Final[Mapping[str, Predicate]] = {
    "templates_complete": _templates_complete,
    "voice_winner_chosen": _voice_winner_chosen,
    "voice_bundle_ready": _voice_bundle_ready,
    "voice_locked": _voice_locked,
    "scenes_planned": _scenes_planned,
    "beats_covered": _beats_covered,
    "scenes_drafted": _scenes_drafted,
    "marked_complete": _marked_complete,
}
MEASURES: Final[Mapping[str, Measure]] = {
    "templates": _templates,
    "voice_steps": _voice_steps,
    "scenes_drafted": _share_drafted,
    "scenes_polished": _share_polished,
    "finished": _finished,
}
