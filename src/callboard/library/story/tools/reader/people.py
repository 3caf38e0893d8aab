"""People: who is new to the reader, who comes back unannounced, who comes out of nowhere."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from callboard.library.story.lexicon.groups import words_in
from callboard.library.story.model import Finding, Quote, Severity
from callboard.library.story.text.document import Document
from callboard.library.story.thresholds import ReaderThresholds
from callboard.library.story.tools.noticing import noticed, quotes_of


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
class Cast:
    """A scene and who is named in it."""

    document: Document
    title: str
    appearances: Mapping[str, Appearance]


def crowds(casts: Sequence[Cast], limits: ReaderThresholds) -> Iterator[Finding]:
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


def returns_without_reminder(casts: Sequence[Cast], limits: ReaderThresholds) -> Iterator[Finding]:
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


def payoffs_without_setup(casts: Sequence[Cast], limits: ReaderThresholds) -> Iterator[Finding]:
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


def _is_kept(appearance: Appearance, later: Sequence[Cast]) -> bool:
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


def _is_reminded(cast: Cast, appearance: Appearance, limits: ReaderThresholds) -> bool:
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


def _quotes(cast: Cast, sentences: Sequence[int], limit: int) -> tuple[Quote, ...]:
    return quotes_of(cast.document, (cast.document.sentences[at] for at in sentences), limit)
