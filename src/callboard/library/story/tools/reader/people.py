"""People: who is new to the reader, who comes back unannounced, and whether a scene says so."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from callboard.library.story.index import StoryEntity, StoryIndex
from callboard.library.story.lexicon import words_in
from callboard.library.story.model import Quote, Severity, StoryFile, StoryFinding
from callboard.library.story.text.document import Document
from callboard.library.story.text.words import content_words, words_of
from callboard.library.story.thresholds import ReaderThresholds
from callboard.library.story.tools.report import noticed, quotes_of

_MIN_LETTERS = 4


@dataclass(frozen=True, slots=True)
class Named:
    """Somebody or something with a name, and the words that remind a reader of them."""

    name: str
    kind: str
    # Words of the card: role, attributes; empty where there is no card.
    known_for: frozenset[str] = frozenset()

    @property
    def is_person(self) -> bool:
        """Whether it is somebody."""
        return self.kind == "character"


@dataclass(frozen=True, slots=True)
class Appearance:
    """One name in one scene: the sentences that hold it, by their place in the document."""

    named: Named
    sentences: tuple[int, ...]
    times: int


@dataclass(frozen=True, slots=True)
class SceneCast:
    """A scene and who is named in it."""

    document: Document
    title: str
    appearances: Mapping[str, Appearance]


def crowds(casts: Sequence[SceneCast], limits: ReaderThresholds) -> Iterator[StoryFinding]:
    """Tell of scenes that bring more new names than a reader can keep."""
    known: set[str] = set()
    for number, cast in enumerate(casts):
        new = [
            each
            for name, each in cast.appearances.items()
            if name not in known
            and not _is_part_of(name, cast.appearances)
            and _is_kept(each, casts[number + 1 :])
        ]
        known.update(cast.appearances)
        limit = limits.new_names if number else limits.new_names_opening
        if len(new) <= limit:
            continue
        ordered = sorted(new, key=lambda each: each.sentences[0])
        yield noticed(
            "many_new_names",
            Severity.MINOR if number else Severity.INFO,
            f"{cast.title} brings {len(new)} new names (more than {limit}):"
            f" {', '.join(each.named.name for each in ordered)}",
            _quotes(cast, [each.sentences[0] for each in ordered], 4),
            "Let some of them arrive later, or go without a name.",
            0.6,
        )


def returns_without_reminder(
    casts: Sequence[SceneCast], limits: ReaderThresholds
) -> Iterator[StoryFinding]:
    """Tell of people who come back after long with nothing that says who they are."""
    last: dict[str, int] = {}
    times: dict[str, int] = {}
    for number, cast in enumerate(casts):
        for name, each in sorted(cast.appearances.items()):
            gap = number - last.get(name, number) - 1
            was_met = times.get(name, 0) >= limits.absence_min_mentions
            is_back = gap >= limits.absence_scenes and was_met and each.named.is_person
            if is_back and each.times > 1 and not _is_reminded(cast, each, limits):
                yield noticed(
                    "return_without_reminder",
                    Severity.MINOR,
                    f"{name} is back in {cast.title} after {gap} scenes, with nothing that says"
                    " who it is",
                    _quotes(cast, each.sentences, 1),
                    "A role, a trait or a shared memory within two sentences is enough.",
                    0.5,
                )
            last[name] = number
            times[name] = times.get(name, 0) + each.times


def payoffs_without_setup(
    casts: Sequence[SceneCast], limits: ReaderThresholds
) -> Iterator[StoryFinding]:
    """Tell of people who matter at the end and were never heard of before."""
    if len(casts) < limits.payoff_min_scenes:
        return
    first_late = len(casts) * (1 - limits.payoff_share)
    known: set[str] = set()
    for number, cast in enumerate(casts):
        for name, each in sorted(cast.appearances.items()):
            if number < first_late or not each.named.is_person or _is_kin(name, known):
                continue
            times = sum(
                later.appearances[name].times
                for later in casts[number:]
                if name in later.appearances
            )
            if times >= limits.payoff_mentions:
                yield noticed(
                    "payoff_without_setup",
                    Severity.MINOR,
                    f"{name} is first heard of in {cast.title} and named {times} times from there",
                    _quotes(cast, each.sentences, 2),
                    "Plant a word of them earlier.",
                    0.5,
                )
        known.update(cast.appearances)


def _is_kept(appearance: Appearance, later: Sequence[SceneCast]) -> bool:
    """Say whether a reader has to keep the name: heard again here or in a later scene."""
    name = appearance.named.name
    return appearance.named.is_person and (
        appearance.times > 1 or any(name in cast.appearances for cast in later)
    )


def _is_part_of(name: str, names: Iterable[str]) -> bool:
    """Say whether a name is only the short form of another one in the scene."""
    words = set(name.split())
    return any(words < set(other.split()) for other in names)


def _is_kin(name: str, known: Iterable[str]) -> bool:
    """Say whether the reader has met the name, or the family name, before."""
    last = name.split()[-1]
    return any(last in other.split() for other in known)


def _is_reminded(cast: SceneCast, appearance: Appearance, limits: ReaderThresholds) -> bool:
    first = appearance.sentences[0]
    near = cast.document.sentences[
        max(0, first - limits.reminder_sentences) : first + limits.reminder_sentences + 1
    ]
    words = {word for sentence in near for word in sentence.words}
    return bool(
        words & words_in("reader", "reminder_words")
        or words & words_in("reader", "titles")
        or words & words_in("prose", "person_nouns")
        or words & appearance.named.known_for
    )


def _quotes(cast: SceneCast, sentences: Sequence[int], limit: int) -> tuple[Quote, ...]:
    return quotes_of(cast.document, (cast.document.sentences[at] for at in sentences), limit)


@dataclass(frozen=True, slots=True)
class Setting:
    """What a scene declares about itself, and the names its point of view goes by."""

    document: Document
    title: str
    pov: str | None
    place: str | None
    when: str | None
    pov_words: frozenset[str]


def disorienting(settings: Sequence[Setting], limits: ReaderThresholds) -> Iterator[StoryFinding]:
    """Tell of scenes that change point of view, place or time and begin without saying so."""
    for before, now in pairwise(settings):
        changed = _changed(before, now)
        if not changed or not now.document.sentences:
            continue
        opening = opening_words(now.document, limits.opening_words)
        if is_oriented(opening, now):
            continue
        yield noticed(
            "disorienting_transition",
            Severity.MINOR,
            f"{now.title} changes {_listed(changed)}, and its first {limits.opening_words} words"
            " name neither who, where nor when",
            quotes_of(now.document, now.document.sentences, 2),
            "Give the reader a name, a place or an hour at once.",
            0.6,
        )


def opening_words(document: Document, count: int) -> frozenset[str]:
    """Return the first words of a scene."""
    words: list[str] = []
    for sentence in document.sentences:
        words += sentence.words
        if len(words) >= count:
            break
    return frozenset(word.removesuffix("'s") for word in words[:count])


def is_oriented(opening: frozenset[str], setting: Setting) -> bool:
    """Say whether some first words name the point of view, the place or the time."""
    if opening & setting.pov_words or opening & words_in("reader", "time_words"):
        return True
    if opening & words_in("grammar", "first_person") and not setting.pov_words:
        return True
    return bool(opening & content_words(setting.place or ""))


def _changed(before: Setting, now: Setting) -> list[str]:
    pairs = (
        ("the point of view", before.pov, now.pov),
        ("the place", before.place, now.place),
        ("the time", before.when, now.when),
    )
    return [what for what, old, new in pairs if old and new and old.casefold() != new.casefold()]


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


class Casting:
    """Makes casts and settings of scenes; what cards say is looked up once."""

    def __init__(self, index: StoryIndex) -> None:
        """Take the index of the project."""
        self._index = index
        self._named: dict[str, Named] = {}

    def cast(self, file: StoryFile) -> SceneCast:
        """Return a scene with everybody and everything named in it."""
        places: dict[str, list[int]] = {}
        entities: dict[str, StoryEntity] = {}
        for mention in self._index.mentions(file.path):
            places.setdefault(mention.entity.name, []).append(mention.sentence)
            entities[mention.entity.name] = mention.entity
        return SceneCast(
            self._index.document(file.path),
            file.title,
            {
                name: Appearance(self._of(entities[name]), tuple(dict.fromkeys(found)), len(found))
                for name, found in places.items()
            },
        )

    def setting(self, file: StoryFile) -> Setting:
        """Return what a scene declares about itself."""
        pov_words: frozenset[str] = frozenset()
        if file.pov:
            entity = self._index.entities.get(file.pov)
            names = entity.aliases if entity else (file.pov,)
            pov_words = content_words(word for name in names for word in words_of(name))
        return Setting(
            self._index.document(file.path),
            file.title,
            file.pov,
            file.location,
            file.when,
            pov_words,
        )

    def _of(self, entity: StoryEntity) -> Named:
        if entity.name not in self._named:
            known_for = frozenset[str]()
            if entity.card is not None:
                card = self._index.document(entity.card)
                own = {word for alias in entity.aliases for word in words_of(alias)}
                told = f"{' '.join(card.fields.values())} {card.prose}"
                known_for = content_words(told, min_letters=_MIN_LETTERS) - own
            self._named[entity.name] = Named(entity.name, entity.kind, known_for)
        return self._named[entity.name]
