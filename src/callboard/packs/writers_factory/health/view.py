"""The manuscript as the checks see it: plain values, read once per run. Knows no files.

Everything a rule may look at is here, so that a rule is a function of a view and thresholds.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from callboard.core.canonical import digest
from callboard.packs.writers_factory.bible.shapes import BeatPoint
from callboard.packs.writers_factory.health.values import FlawChallenge, ThemeOverride
from callboard.packs.writers_factory.model import SceneMeta, SymbolUse


@dataclass(frozen=True, slots=True)
class SceneView(SceneMeta):
    """One scene the writer has accepted; its tension and symbols are those the checks go by."""

    text: str = ""
    # Whether somebody has looked for a challenge in this very text; None was found if `challenge`
    # is None.
    is_judged: bool = False
    challenge: FlawChallenge | None = None

    @property
    def content_hash(self) -> str:
        """What the text is known by in every cache."""
        return digest(self.text)


@dataclass(frozen=True, slots=True)
class CharacterView:
    """Somebody the book knows by name."""

    name: str
    aliases: tuple[str, ...] = ()
    function: str = ""
    function_note: str = ""
    rank: float = 0.0
    neighbours: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """Everything the character goes by."""
        return (self.name, *self.aliases)


@dataclass(frozen=True, slots=True)
class SymbolView:
    """A symbol the writer has declared."""

    name: str
    aliases: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every word it is recognised by."""
        return (self.name, *self.aliases)


@dataclass(frozen=True, slots=True)
class Setup:
    """Something a scene plants; `paid_in` is where it is paid off, if it is."""

    name: str
    scene_id: str
    paid_in: str | None = None


@dataclass(frozen=True, slots=True)
class CausedEvent:
    """An event and the one that brings it about, with the scenes they happen in."""

    cause: str
    cause_scene: str
    effect: str
    effect_scene: str


@dataclass(frozen=True, slots=True)
class Death:
    """Somebody whom the graph holds to be dead since a scene."""

    name: str
    scene_id: str


@dataclass(frozen=True)
class ManuscriptView:
    """Everything the seven checks look at."""

    scenes: tuple[SceneView, ...] = ()
    beats: tuple[BeatPoint, ...] = ()
    planned_words: int = 80_000
    protagonist: str = ""
    flaw: str = ""
    lie: str = ""
    theme_statement: str = ""
    characters: tuple[CharacterView, ...] = ()
    symbols: tuple[SymbolView, ...] = ()
    places: tuple[str, ...] = ()
    # The place a place lies in.
    within: Mapping[str, str] = field(default_factory=dict[str, str])
    rules: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    setups: tuple[Setup, ...] = ()
    causes: tuple[CausedEvent, ...] = ()
    deaths: tuple[Death, ...] = ()
    overrides: tuple[ThemeOverride, ...] = ()

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """The place of every scene in the order of the story, from 0."""
        return {scene.scene_id: index for index, scene in enumerate(self.scenes)}

    @cached_property
    def by_id(self) -> Mapping[str, SceneView]:
        """The scenes by their ids."""
        return {scene.scene_id: scene for scene in self.scenes}

    @property
    def drafted_words(self) -> int:
        """How many words are accepted."""
        return sum(scene.word_count for scene in self.scenes)

    @property
    def progress_pct(self) -> float:
        """How much of the planned book is drafted."""
        return 100 * self.drafted_words / self.planned_words if self.planned_words else 0.0

    @cached_property
    def start_pcts(self) -> Mapping[str, float]:
        """Where every scene begins, in percent of the planned book."""
        before = accumulate((scene.word_count for scene in self.scenes), initial=0)
        planned = self.planned_words or 1
        return {
            scene.scene_id: 100 * words / planned
            for scene, words in zip(self.scenes, before, strict=False)
        }

    @cached_property
    def chapters(self) -> tuple[int, ...]:
        """The chapters that have accepted scenes, in order."""
        return tuple(dict.fromkeys(scene.chapter for scene in self.scenes))

    @cached_property
    def beats_by_number(self) -> Mapping[int, BeatPoint]:
        """The beats by their numbers."""
        return {beat.number: beat for beat in self.beats}

    @cached_property
    def supporting(self) -> tuple[CharacterView, ...]:
        """The named characters who are not the protagonist."""
        return tuple(each for each in self.characters if not same_name(each, self.protagonist))

    def first_scenes(self) -> dict[int, SceneView]:
        """Return the first scene of every beat that has one."""
        found: dict[int, SceneView] = {}
        for scene in self.scenes:
            if scene.beat_number is not None:
                found.setdefault(scene.beat_number, scene)
        return found

    def act_of(self, scene: SceneView) -> str:
        """Return the act a scene stands in: its beat's, else that of where it begins."""
        beat = self.beats_by_number.get(scene.beat_number or 0)
        if beat is not None:
            return beat.act
        start = self.start_pcts[scene.scene_id]
        passed = [each for each in self.beats if each.low_pct <= start]
        return max(passed, key=lambda each: each.number).act if passed else "1"

    def scenes_with(self, character: CharacterView) -> tuple[SceneView, ...]:
        """Return the scenes somebody appears in."""
        return tuple(scene for scene in self.scenes if is_in_scene(character, scene))

    def symbol_scenes(self, symbol: SymbolView) -> Iterator[tuple[SceneView, SymbolUse]]:
        """Go through the scenes that name a symbol and are tagged with it."""
        wanted = {name.casefold() for name in symbol.names}
        for scene in self.scenes:
            tag = next((use for use in scene.symbols if use.name.casefold() in wanted), None)
            if tag is not None and mentions(scene.text, symbol.names):
                yield scene, tag


def same_name(character: CharacterView, name: str) -> bool:
    """Say whether somebody goes by a name."""
    return bool(name) and name.casefold() in {each.casefold() for each in character.names}


def is_in_scene(character: CharacterView, scene: SceneView) -> bool:
    """Say whether somebody is in a scene: listed, or named where nobody is listed."""
    if not scene.characters:
        return mentions(scene.text, character.names)
    listed = {name.casefold() for name in scene.characters}
    return any(name.casefold() in listed for name in character.names)


def mentions(text: str, names: Iterable[str]) -> bool:
    """Say whether a text holds one of these names as words of their own, also in the plural."""
    wanted = [re.escape(name.strip()) for name in names if name.strip()]
    if not wanted:
        return False
    pattern = rf"(?<!\w)(?:{'|'.join(wanted)})(?:e?s)?(?!\w)"
    return re.search(pattern, text, re.IGNORECASE) is not None
