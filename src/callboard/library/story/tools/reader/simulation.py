"""The simulation: a reader goes through the scenes once, and what they may stumble over."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callboard.core.canonical import Json
from callboard.library.story.index import StoryIndex
from callboard.library.story.model import Severity, StoryFile, StoryFinding
from callboard.library.story.text.document import Document
from callboard.library.story.thresholds import ReaderThresholds
from callboard.library.story.tools.reader.mood import Mood, flat_stretches, sentiment_of
from callboard.library.story.tools.reader.people import (
    Appearance,
    Casting,
    SceneCast,
    crowds,
    disorienting,
    payoffs_without_setup,
    returns_without_reminder,
)
from callboard.library.story.tools.reader.setups import (
    Asking,
    Namings,
    RaisedQuestion,
    askings_in,
    dropped_questions,
    namings_in,
    planted_things,
    questions_in,
    setups_without_payoff,
    taken_up_in,
)
from callboard.library.story.tools.report import names_in, noticed, quotes_of
from callboard.library.story.tools.stems import TextVocabulary, different_words


@dataclass(frozen=True, slots=True)
class Acquaintance:
    """What the reader has of one name after the last scene."""

    name: str
    kind: str
    first_scene: int
    last_scene: int
    times: int

    def to_json(self) -> dict[str, Json]:
        """Return the shape payloads hold; scenes are counted from 0."""
        return {
            "name": self.name,
            "kind": self.kind,
            "first_scene": self.first_scene,
            "last_scene": self.last_scene,
            "times": self.times,
        }


@dataclass(frozen=True, slots=True)
class ReaderState:
    """The reader after one scene."""

    path: str
    title: str
    new_names: tuple[str, ...]
    present: tuple[str, ...]
    known_names: int
    questions_asked: int
    questions_open: int
    # None where the language has no lexicon.
    sentiment: float | None
    tension: float | None

    def to_json(self) -> dict[str, Any]:
        """Return the shape payloads hold."""
        return {
            "path": self.path,
            "title": self.title,
            "new_names": list(self.new_names),
            "present": list(self.present),
            "known_names": self.known_names,
            "questions_asked": self.questions_asked,
            "questions_open": self.questions_open,
            "sentiment": None if self.sentiment is None else round(self.sentiment, 3),
            "tension": None if self.tension is None else round(self.tension, 1),
        }


@dataclass(frozen=True, slots=True)
class ReaderQuestion:
    """A question and the scene that takes it up, if one does."""

    asked: RaisedQuestion
    taken_up: int | None

    def is_open_after(self, scene: int) -> bool:
        """Say whether the reader still carries it after a scene."""
        if self.asked.scene > scene:
            return False
        return self.taken_up is None or self.taken_up > scene


def acquaintances(casts: Sequence[SceneCast]) -> tuple[Acquaintance, ...]:
    """Return everybody the reader has met, the most named first."""
    met: dict[str, list[tuple[int, Appearance]]] = {}
    for scene, cast in enumerate(casts):
        for name, appearance in cast.appearances.items():
            met.setdefault(name, []).append((scene, appearance))
    found = [
        Acquaintance(
            name,
            seen[0][1].named.kind,
            seen[0][0],
            seen[-1][0],
            sum(appearance.times for _, appearance in seen),
        )
        for name, seen in met.items()
    ]
    return tuple(sorted(found, key=lambda each: (-each.times, each.name)))


def states_of(
    casts: Sequence[SceneCast],
    questions: Sequence[ReaderQuestion],
    moods: Mapping[int, tuple[float, float]],
) -> tuple[ReaderState, ...]:
    """Walk the scenes; `moods` gives sentiment and tension of those that could be measured."""
    known: set[str] = set()
    states: list[ReaderState] = []
    for scene, cast in enumerate(casts):
        new = [name for name in cast.appearances if name not in known]
        known.update(cast.appearances)
        sentiment, tension = moods.get(scene, (None, None))
        states.append(
            ReaderState(
                cast.document.path,
                cast.title,
                tuple(sorted(new, key=lambda name: (cast.appearances[name].sentences[0], name))),
                tuple(sorted(cast.appearances)),
                len(known),
                sum(each.asked.scene == scene for each in questions),
                sum(each.is_open_after(scene) for each in questions),
                sentiment,
                tension,
            )
        )
    return tuple(states)


@dataclass(frozen=True, slots=True)
class SceneReading:
    """What follows from one scene alone."""

    sentiment: float
    namings: Namings
    askings: tuple[Asking, ...]
    vocabulary: TextVocabulary


@dataclass(frozen=True, slots=True)
class Simulation:
    """A reader's way through the story, and what was stumbled over."""

    states: tuple[ReaderState, ...]
    known: tuple[Acquaintance, ...]
    questions: tuple[ReaderQuestion, ...]
    findings: tuple[StoryFinding, ...]


def read_scene(document: Document) -> SceneReading:
    """Read one scene, whatever stands before or after it."""
    return SceneReading(
        sentiment_of(document),
        namings_in(document),
        askings_in(document),
        TextVocabulary(different_words(document.sentences)),
    )


def simulate(
    index: StoryIndex,
    files: Sequence[StoryFile],
    readings: Sequence[SceneReading],
    tensions: Sequence[float],
    limits: ReaderThresholds,
) -> Simulation:
    """Walk the scenes; those in a language without lexicon are passed through uncommented."""
    casting = Casting(index)
    documents = [index.document(file.path) for file in files]
    casts = [casting.cast(file) for file in files]
    english = [scene for scene, document in enumerate(documents) if document.is_english]
    is_supported = len(english) * 2 > len(documents)
    questions = _questions(index, documents, readings, limits) if is_supported else ()
    moods = {scene: (readings[scene].sentiment, tensions[scene]) for scene in english}
    findings: list[StoryFinding] = []
    if is_supported:
        dropped = [each.asked for each in questions if each.taken_up is None]
        findings = [
            *crowds(casts, limits),
            *returns_without_reminder(casts, limits),
            *_things(documents, readings, limits),
            *_items(casts, limits),
            *payoffs_without_setup(casts, limits),
            *disorienting([casting.setting(file) for file in files], limits),
            *flat_stretches(_moods(files, documents, moods, limits), limits),
            *dropped_questions(documents, dropped, limits),
        ]
    return Simulation(
        states_of(casts, questions, moods), acquaintances(casts), questions, tuple(findings)
    )


def _questions(
    index: StoryIndex,
    documents: Sequence[Document],
    readings: Sequence[SceneReading],
    limits: ReaderThresholds,
) -> tuple[ReaderQuestion, ...]:
    vocabularies = [reading.vocabulary for reading in readings]
    asked = [
        each
        # What the last scene asks, it leaves to the reader.
        for scene, document in enumerate(documents[:-1])
        if document.is_english and readings[scene].askings
        for each in questions_in(
            scene, readings[scene].askings, frozenset(names_in(index, document.path).people), limits
        )
    ]
    return tuple(ReaderQuestion(each, taken_up_in(each, documents, vocabularies)) for each in asked)


def _things(
    documents: Sequence[Document], readings: Sequence[SceneReading], limits: ReaderThresholds
) -> Iterator[StoryFinding]:
    planted = [planted_things(reading.namings, limits) for reading in readings]
    vocabularies = [reading.vocabulary for reading in readings]
    return setups_without_payoff(documents, planted, vocabularies, limits)


def _items(casts: Sequence[SceneCast], limits: ReaderThresholds) -> Iterator[StoryFinding]:
    """Tell of things with a card of their own that one early scene names and no other does."""
    scenes: dict[str, list[int]] = {}
    for scene, cast in enumerate(casts):
        for name, appearance in cast.appearances.items():
            if appearance.named.kind == "item":
                scenes.setdefault(name, []).append(scene)
    for name, seen in sorted(scenes.items()):
        scene = seen[0]
        if len(seen) > 1 or scene >= limits.setup_share * len(casts) or scene == len(casts) - 1:
            continue
        cast = casts[scene]
        places = [cast.document.sentences[at] for at in cast.appearances[name].sentences]
        yield noticed(
            "setup_without_payoff",
            Severity.MINOR,
            f"{name} has a card of its own, is named in {cast.title} and never again",
            quotes_of(cast.document, places, 2),
            "Bring it back where it matters.",
            0.8,
        )


def _moods(
    files: Sequence[StoryFile],
    documents: Sequence[Document],
    moods: dict[int, tuple[float, float]],
    limits: ReaderThresholds,
) -> list[Mood]:
    """Return how scenes feel, those too short to feel like anything left out."""
    return [
        Mood(
            files[scene].title, *moods[scene], documents[scene].quote(documents[scene].sentences[0])
        )
        for scene in sorted(moods)
        if documents[scene].word_count >= limits.flat_min_words
    ]
