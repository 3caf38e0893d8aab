"""Prose: what the style promises and code can hold a section to. English only, and says so."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from callboard.library.story.lexicon import words_in
from callboard.library.story.text.words import count_words, looks_english, words_of
from callboard.library.story.tools.prose.tool import readability
from callboard.packs.questfoundry.bars.checks import found, words_of_bars
from callboard.packs.questfoundry.bars.leaks import Term, TermScan
from callboard.packs.questfoundry.book.model import ProseStyle, Section
from callboard.packs.questfoundry.verdict import BarFinding

FEWEST_SIGNS: Final = 3
FEWEST_WORDS_FOR_GRADE: Final = 80
GRADE_LEEWAY: Final = 2.0
# No mark is looked for beyond the next one that opens: a text of open marks is read once.
_SPEECH: Final = re.compile('“[^“”]*”|"[^"]*"|«[^«»]*»|„[^„“]*“|(?<!\\w)‘(?:[^‘’]|’(?=\\w))*’')
_SENTENCE: Final = re.compile(r"[.!?…](?=[\s”’\"')]|$)")
_PERSONS: Final = {
    "first": frozenset(["i", "me", "my", "mine", "myself"]),
    "second": frozenset(["you", "your", "yours", "yourself"]),
    "third": frozenset(["he", "she", "him", "her", "his", "hers", "himself", "herself"]),
}
_PLURAL: Final = frozenset(["you", "i", "we", "they"])
_SINGULAR: Final = frozenset(["he", "she", "it"])


@dataclass(frozen=True, slots=True)
class ProseMeasure:
    """What a section adds to sums over the whole book."""

    motifs: frozenset[str] = frozenset()
    words: int = 0
    sentences: int = 0
    syllable_grade: float = 0.0
    is_english: bool = True


class ProseRead:
    """A style, ready to be held against sections."""

    def __init__(self, style: ProseStyle, language: str) -> None:
        self._style = style
        self.is_english = language.lower().partition("-")[0] in ("en", "")
        self._banned = TermScan(Term(each, "banned_word") for each in style.banned if each.strip())
        self._motifs = TermScan(Term(each, "motif") for each in style.motifs if each.strip())
        self._idiolects = [each for each in style.idiolects if each.strip()]

    @property
    def needs_english(self) -> bool:
        """Whether the style promises something only English can be held to."""
        return bool(self._style.pov or self._style.tense or self._style.highest_grade is not None)

    @property
    def looked_at(self) -> str:
        """What the style promises, and so what was looked at."""
        style = self._style
        promised = (
            ("person", style.pov),
            ("tense", style.tense),
            ("reading level", style.highest_grade is not None),
            ("banned words", style.banned),
            ("motifs", style.motifs),
        )
        named = [name for name, is_promised in promised if is_promised]
        return ", ".join([*named, "length of labels"]) + ("" if named else "; no style is promised")

    def read(self, section: Section) -> tuple[list[BarFinding], ProseMeasure]:
        """Hold a section to the style."""
        words = words_of(section.text)
        known = frozenset(words)
        findings = [*self._labels(section), *self._banned_in(section, words, known)]
        motifs = frozenset(each.text for each in self._motifs.hits(section.text, [*words], known))
        is_english = self.is_english and looks_english(words)
        grade, sentences = 0.0, 0
        if is_english and words:
            findings += self._person_and_tense(section)
            if self._style.highest_grade is not None:
                sentences = max(1, len(_SENTENCE.findall(section.text)))
                grade = readability(words, sentences)["flesch_kincaid_grade"]
                findings += self._grade(section.id, grade, len(words))
        return findings, ProseMeasure(motifs, len(words), sentences, grade, is_english)

    def whole(self, measures: Iterable[ProseMeasure]) -> Iterator[BarFinding]:
        """Hold the whole book to the style."""
        held = list(measures)
        told = frozenset[str]().union(*(each.motifs for each in held))
        for motif in self._style.motifs:
            if motif.strip() and motif not in told:
                yield found("motif_missing", "book", f"“{motif}” stands in no section")
        foreign = sum(bool(each.words) and not each.is_english for each in held)
        if self.needs_english and foreign:
            yield found("style_not_checked", "book", f"{foreign} sections do not read as English")
        highest, counted = self._style.highest_grade, sum(each.words for each in held)
        if highest is not None and counted >= FEWEST_WORDS_FOR_GRADE:
            mean = sum(each.syllable_grade * each.words for each in held) / counted
            if mean > highest:
                yield found("reading_level", "book", f"grade {mean:.1f}, at most {highest:g}")

    def _labels(self, section: Section) -> Iterator[BarFinding]:
        most = self._style.most_label_words
        for choice in section.choices:
            # A word has a letter at least, so a label of fewer characters cannot have too many.
            if len(choice.label) > 2 * most and (count := count_words(choice.label)) > most:
                place = f"{section.id}/{choice.id}"
                yield found("long_label", place, f"{count} words, at most {most}")

    def _banned_in(
        self, section: Section, words: tuple[str, ...], known: frozenset[str]
    ) -> Iterator[BarFinding]:
        text = section.text
        if self._idiolects:
            for each in self._idiolects:
                text = re.sub(rf"(?<!\w){re.escape(each)}(?!\w)", " ", text, flags=re.IGNORECASE)
            words = words_of(text)
            known = frozenset(words)
        labels = " ".join(choice.label for choice in section.choices)
        both = words_of(labels)
        for term in self._banned.hits(text, [*words], known):
            yield found("banned_word", section.id, f"“{term.text}”")
        for term in self._banned.hits(labels, [*both], frozenset(both)):
            yield found("banned_word", section.id, f"“{term.text}” in a label")

    def _person_and_tense(self, section: Section) -> Iterator[BarFinding]:
        if not (self._style.pov or self._style.tense):
            return
        words = words_of(_SPEECH.sub(" ", section.text))
        if pov := self._style.pov:
            counts = {
                person: sum(map(said.__contains__, words)) for person, said in _PERSONS.items()
            }
            # Who tells in the first or second person speaks of others all the time.
            rivals = [p for p in _PERSONS if p != pov and (p != "third" or pov == "third")]
            other = max(rivals, key=counts.__getitem__)
            if counts[other] >= FEWEST_SIGNS and counts[other] > counts[pov]:
                told = f"{counts[other]} words of the {other} person, {counts[pov]} of the {pov}"
                yield found("person", section.id, told)
        if tense := self._style.tense:
            signs = _tense_signs(words)
            other = "past" if tense == "present" else "present"
            if signs[other] >= FEWEST_SIGNS and signs[other] > 2 * signs[tense]:
                told = f"{signs[other]} verbs in the {other}, {signs[tense]} in the {tense}"
                yield found("tense", section.id, told)

    def _grade(self, section: str, grade: float, words: int) -> Iterator[BarFinding]:
        highest = self._style.highest_grade
        if highest is None or words < FEWEST_WORDS_FOR_GRADE or grade <= highest + GRADE_LEEWAY:
            return
        yield found("reading_level", section, f"grade {grade:.1f}, at most {highest:g}")


def _tense_signs(words: tuple[str, ...]) -> Mapping[str, int]:
    past = sum(map(words_of_bars("past").__contains__, words))
    present = sum(map(words_of_bars("present").__contains__, words))
    told_past, bases = (
        words_in("prose", "past_verbs"),
        words_in("prose", "present_bases") | {"have", "do"},
    )
    told_present = words_in("prose", "present_verbs")
    auxiliary = words_of_bars("past") | words_of_bars("present")
    for before, word in pairwise(words):
        if (before not in _PLURAL and before not in _SINGULAR) or word in auxiliary:
            continue
        if word in told_past or (word.endswith("ed") and len(word) > 4):
            past += 1
        else:
            present += word in (bases if before in _PLURAL else told_present)
    return {"past": past, "present": present}
