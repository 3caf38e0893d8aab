"""The simulation: scenes read in order, and everything a reader may stumble over."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from callboard.library.story.index import StoryIndex
from callboard.library.story.model import Finding, Severity, StoryFile
from callboard.library.story.text.document import Document
from callboard.library.story.thresholds import ReaderThresholds
from callboard.library.story.tools.noticing import noticed, quotes_of
from callboard.library.story.tools.reader.cast import Casting
from callboard.library.story.tools.reader.flow import Mood, flat_stretches
from callboard.library.story.tools.reader.people import (
    Cast,
    crowds,
    payoffs_without_setup,
    returns_without_reminder,
)
from callboard.library.story.tools.reader.questions import (
    Asking,
    askings_in,
    dropped_questions,
    questions_in,
    taken_up_in,
)
from callboard.library.story.tools.reader.sentiment import sentiment_of
from callboard.library.story.tools.reader.things import (
    Namings,
    namings_in,
    planted_things,
    setups_without_payoff,
)
from callboard.library.story.tools.reader.transitions import disorienting
from callboard.library.story.tools.reader.walk import (
    Acquaintance,
    Question,
    State,
    acquaintances,
    states_of,
)
from callboard.library.story.tools.scenes import names_in
from callboard.library.story.tools.stems import Vocabulary, different_words


@dataclass(frozen=True, slots=True)
class Reading:
    """What follows from one scene alone."""

    sentiment: float
    namings: Namings
    askings: tuple[Asking, ...]
    vocabulary: Vocabulary


@dataclass(frozen=True, slots=True)
class Simulation:
    """A reader's way through the story, and what was stumbled over."""

    states: tuple[State, ...]
    known: tuple[Acquaintance, ...]
    questions: tuple[Question, ...]
    findings: tuple[Finding, ...]


def read_scene(document: Document) -> Reading:
    """Read one scene, whatever stands before or after it."""
    return Reading(
        sentiment_of(document),
        namings_in(document),
        askings_in(document),
        Vocabulary(different_words(document.sentences)),
    )


def simulate(
    index: StoryIndex,
    files: Sequence[StoryFile],
    readings: Sequence[Reading],
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
    findings: list[Finding] = []
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
    readings: Sequence[Reading],
    limits: ReaderThresholds,
) -> tuple[Question, ...]:
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
    return tuple(Question(each, taken_up_in(each, documents, vocabularies)) for each in asked)


def _things(
    documents: Sequence[Document], readings: Sequence[Reading], limits: ReaderThresholds
) -> Iterator[Finding]:
    planted = [planted_things(reading.namings, limits) for reading in readings]
    vocabularies = [reading.vocabulary for reading in readings]
    return setups_without_payoff(documents, planted, vocabularies, limits)


def _items(casts: Sequence[Cast], limits: ReaderThresholds) -> Iterator[Finding]:
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
