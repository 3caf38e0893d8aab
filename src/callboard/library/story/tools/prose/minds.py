"""Minds: whose thoughts a scene opens, and where it opens another than the teller's."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from callboard.library.story.lexicon import complements_in, words_in
from callboard.library.story.model import Severity, StoryFinding
from callboard.library.story.text.words import stop_words
from callboard.library.story.thresholds import ProseThresholds
from callboard.library.story.tools.prose.voice import (
    NarratedSentence,
    Narration,
    Person,
    proper_words,
)
from callboard.library.story.tools.report import noticed, quotes_of

NARRATOR: Final = "I"


@dataclass(frozen=True, slots=True)
class Mind:
    """One look into a mind: whose it is, and where."""

    subject: str
    verb: str
    told: NarratedSentence


def minds_of(narration: Narration, names: Mapping[str, str], person: Person) -> list[Mind]:
    """Return every verb of inner life whose subject is clear.

    `names` gives the canonical name of every word a known person goes by. A pronoun's bearer is
    not guessed, and a narrator who looks back may well know what "he" thought.
    """
    minds: list[Mind] = []
    people = {word: word.capitalize() for word in _unknown_names(narration)} | dict(names)
    for told in narration.told:
        # “So be it,” the captain thought: in a narrator's mouth a way to say who speaks.
        is_tag = person == "first" and not told.opens
        if is_tag or told.text.rstrip().endswith("?"):
            continue
        for index in range(1, len(told.words)):
            if _is_mental(told.words, index):
                subject = _subject(told.words, index, people)
                if subject:
                    minds.append(Mind(subject, told.words[index], told))
    return minds


def point_of_view(
    declared: str | None, minds: Sequence[Mind], person: Person, mind_share: float
) -> str | None:
    """Return whose eyes the scene is told through: as declared, else as the telling shows."""
    if declared:
        return declared
    if person == "first":
        return NARRATOR
    counts = Counter(mind.subject for mind in minds)
    if not counts:
        return None
    subject, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
    return subject if count >= 3 and count / counts.total() >= mind_share else None


def pov_slips(
    narration: Narration,
    minds: Sequence[Mind],
    pov: str | None,
    person: Person,
    limits: ProseThresholds,
) -> Iterator[StoryFinding]:
    """Tell where another mind is opened, once for each; an omniscient narrator, once."""
    if pov is None:
        return
    foreign: defaultdict[str, list[Mind]] = defaultdict(list)
    for mind in minds:
        if not _is_same(mind.subject, pov) and not (person == "first" and mind.subject == NARRATOR):
            foreign[mind.subject].append(mind)
    slips = sum(len(each) for each in foreign.values())
    if len(foreign) >= limits.omniscient_minds or slips >= limits.omniscient_slips:
        shown = [each[0] for each in foreign.values()]
        yield noticed(
            "omniscient_narration",
            Severity.INFO,
            f"The narration looks into {_counted(len(foreign), 'mind')} besides"
            f" {_named(pov)}: {', '.join(sorted(foreign))}",
            quotes_of(narration.document, (mind.told.sentence for mind in shown), 3),
            "If an all-knowing narrator is meant, this is none of your troubles.",
            0.5,
        )
        return
    for subject, opened in sorted(foreign.items(), key=lambda item: item[1][0].told.index):
        verbs = ", ".join(sorted({mind.verb for mind in opened}))
        yield noticed(
            "pov_slip",
            Severity.INFO if person == "first" else Severity.MINOR,
            f"The scene is told through {_named(pov)}, but opens the mind of {subject} ({verbs})",
            quotes_of(narration.document, (mind.told.sentence for mind in opened), 3),
            f"Show what {_named(pov)} can see of it.",
            0.4 if person == "first" else 0.6,
        )


def _unknown_names(narration: Narration) -> frozenset[str]:
    """Return what is written like a name and may be one: in the index or not."""
    return proper_words(narration.document) - stop_words() - words_in("prose", "unheard_words")


def _is_mental(words: Sequence[str], index: int) -> bool:
    word = words[index]
    after = words[index + 1] if index + 1 < len(words) else ""
    with_clause = complements_in("prose", "mental_verbs_with_clause").get(word)
    if with_clause is not None:
        return after in with_clause
    is_verb = word in words_in("prose", "mental_verbs") or word in words_in(
        "prose", "mental_verbs_present"
    )
    return is_verb and after not in complements_in("prose", "mental_verbs_outward").get(word, ())


def _subject(words: Sequence[str], index: int, names: Mapping[str, str]) -> str:
    at = index - 1
    while at > 0 and (
        words[at] in words_in("grammar", "between_subject_and_verb") or words[at].endswith("ly")
    ):
        at -= 1
    word = words[at]
    if _is_hedged(words[max(0, at - 8) : at]):
        return ""
    if word in words_in("grammar", "narrators"):
        return NARRATOR
    if word in names and word not in words_in("prose", "person_nouns"):
        return names[word]
    if word in words_in("prose", "person_nouns") and at:
        is_known = any(
            each in words_in("grammar", "determiners") for each in words[max(0, at - 3) : at]
        )
        return f"the {word}" if is_known else ""
    return ""


def _is_hedged(before: Sequence[str]) -> bool:
    hedges = words_in("prose", "hedges")
    return any(word in hedges or word in words_in("grammar", "narrators") for word in before)


def _is_same(subject: str, pov: str) -> bool:
    return subject.casefold() == pov.casefold() or subject.casefold() in pov.casefold().split()


def _named(pov: str) -> str:
    return "the narrator" if pov == NARRATOR else pov


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
