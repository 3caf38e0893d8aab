"""Names in prose: capitalised runs counted per document, added up, and those that are names."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Final, Literal

from callboard.library.story.lexicon import families_in, word_list, words_in
from callboard.library.story.text import Document
from callboard.library.story.thresholds import NameThresholds

UPPER: Final = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĪĮİŁŃŇŌŐŒŘŚŞŠŢŤŪŮŰŹŻŽА-ЯЁΑ-Ω"
# A possessive ends a run: Holmes’s Baker Street is not one name.
_TOKEN: Final = rf"[{UPPER}][^\W_]*(?:[’'\-](?!s\b)[^\W_]+)*"
_LINK: Final = r"(?:of(?: the)?|de|du|von|van|la|le|ap|bin|ibn)"
_TITLES: Final = r"(?:Mrs?|Ms|Dr|St|Prof|Capt|Col|Gen|Lt|Lieut|Sgt|Rev|Mme|Mlle|[A-Z])\."
_RUN: Final = re.compile(rf"(?:{_TITLES} ?|{_TOKEN} )*{_TOKEN}(?: {_LINK} {_TOKEN}(?: {_TOKEN})*)?")
_LOWER: Final = re.compile(r"(?<![\w’'\-])[^\W\d_A-Z][^\W_]*(?:[’'\-][^\W_]+)*")
_OPENERS: Final = frozenset("\n“\"‘'«»„([:.?!…•*")
_POSSESSIVE: Final = re.compile(r"'s?$")
_SPEAKS: Final = re.compile(r"[^\W\d_]+")
_PLACE_WORDS: Final = frozenset(
    ("in", "at", "from", "to", "into", "near", "through", "across", "toward", "towards", "around")
)

Run = tuple[str, ...]
Gender = Literal["female", "male"]
LINKS: Final = frozenset({"of", "the", "de", "du", "von", "van", "la", "le", "ap", "bin", "ibn"})
# What "of" joins is one name when it is joined this often.
_JOINED_TIMES: Final = 3


@dataclass(frozen=True, slots=True)
class NameCounts:
    """How often each run of capitalised words occurs in one document, and in which company."""

    inside: Mapping[Run, int]
    opening: Mapping[Run, int]
    # Before or after a verb of speech; after a word of place.
    speaking: Mapping[Run, int]
    placed: Mapping[Run, int]
    lower: Mapping[str, int]


def count_names(document: Document) -> NameCounts:
    """Count the capitalised runs of a document."""
    inside: Counter[Run] = Counter()
    opening: Counter[Run] = Counter()
    speaking: Counter[Run] = Counter()
    placed: Counter[Run] = Counter()
    verbs = word_list("speech_verbs")
    text = document.prose
    for hit in _RUN.finditer(text):
        run = _run(hit[0])
        (opening if _opens(text, hit.start()) else inside)[run] += 1
        before, after = _word_before(text, hit.start()), _word_after(text, hit.end())
        if before in verbs or after in verbs:
            speaking[run] += 1
        if before in _PLACE_WORDS:
            placed[run] += 1
    lower = Counter(_LOWER.findall(document.prose))
    return NameCounts(inside, opening, speaking, placed, lower)


def bare_token(token: str) -> str:
    """Return a token without the mark of the possessive."""
    return _POSSESSIVE.sub("", token.replace("’", "'"))


@lru_cache(maxsize=50_000)
def _run(text: str) -> Run:
    return tuple(bare_token(token) for token in text.replace(".", ". ").split())


def _opens(text: str, start: int) -> bool:
    at = start - 1
    while at >= 0 and text[at] == " ":
        at -= 1
    # A dash that opens a paragraph opens a speech.
    return at < 0 or text[at] in _OPENERS or (text[at] in "—–-" and text[at - 1 : at] in ("", "\n"))


def _word_before(text: str, start: int) -> str:
    head = text[max(0, start - 16) : start].rstrip(" ")
    word = head.rpartition(" ")[2]
    if word == "the":
        word = head[:-3].rstrip().rpartition(" ")[2]
    return word if word.isalpha() else ""


def _word_after(text: str, end: int) -> str:
    hit = _SPEAKS.match(text, end + 1) if text[end : end + 1] == " " else None
    return hit[0] if hit else ""


@dataclass(slots=True)
class CountedName:
    """One name without titles, with every way it is written and how often.

    `title` is empty, `mr`, `mrs`, `miss`, `woman` or `rank`: a surname alone may be several people.
    """

    words: Run
    title: str = ""
    forms: Counter[str] = field(default_factory=Counter[str])
    inside: int = 0
    total: int = 0
    speaking: int = 0
    placed: int = 0
    has_title: bool = False
    # Somebody else of the family goes by another title.
    has_rivals: bool = False

    @property
    def is_single(self) -> bool:
        """Whether it is one word."""
        return len(self.words) == 1

    @property
    def text(self) -> str:
        """The name without titles."""
        return " ".join(self.words)


class Census:
    """Adds up what was counted per document and decides what is a name."""

    def __init__(self, counts: Iterable[NameCounts], limits: NameThresholds) -> None:
        """Take the counts of all scenes."""
        self._limits = limits
        self._inside: Counter[Run] = Counter()
        self._opening: Counter[Run] = Counter()
        self._speaking: Counter[Run] = Counter()
        self._placed: Counter[Run] = Counter()
        self._lower: Counter[str] = Counter()
        for each in counts:
            self._inside.update(each.inside)
            self._opening.update(each.opening)
            self._speaking.update(each.speaking)
            self._placed.update(each.placed)
            self._lower.update(each.lower)
        self._capital: Counter[str] = Counter()
        for run, times in self._inside.items():
            for token in run:
                self._capital[token] += times

    def names(self) -> list[CountedName]:
        """Return what is a name, in a fixed order; one that occurs once may belong to another."""
        found: dict[tuple[Run, str], CountedName] = {}
        for runs, is_inside in ((self._inside, True), (self._opening, False)):
            for run, times in sorted(runs.items()):
                for part, is_part_inside in self._parts(run, is_inside):
                    if part:
                        self._add(found, part, times, is_part_inside, run)
        return [name for name in found.values() if self._is_name(name)]

    def _parts(self, run: Run, is_inside: bool) -> Iterator[tuple[Run, bool]]:
        """Take apart what a link joins by chance, and take off what only opens a sentence."""
        cut = next((at for at, token in enumerate(run) if token in LINKS and at), None)
        if cut is not None and self._inside[run] + self._opening[run] < _JOINED_TIMES:
            yield from self._parts(run[:cut], is_inside)
            rest = [token for token in run[cut:] if token not in LINKS or token[0].isupper()]
            yield tuple(rest), True
            return
        again = next((at for at in range(1, len(run)) if _begins_anew(run, at)), None)
        if again is not None:
            yield from self._parts(run[:again], is_inside)
            yield from self._parts(run[again:], True)
            return
        start = 0
        while (
            start < len(run) - 1
            and not self._is_full(run, start)
            and self._only_opens(run[start], is_inside or start > 0)
        ):
            start += 1
        yield run[start:], is_inside or start > 0

    def _is_full(self, run: Run, at: int) -> bool:
        """Say whether a word that may open a sentence is the first name of a known family name."""
        given = given_names()
        return run[at].lower() in given and self._capital[run[at + 1]] > 0

    def _only_opens(self, token: str, is_inside: bool) -> bool:
        word = token.rstrip(".").lower()
        if word in word_list("personal_titles"):
            return False
        if word in word_list("stop_words") or word in word_list("not_names"):
            return True
        return not is_inside and self._is_common(token)

    def _is_common(self, token: str) -> bool:
        lower = self._lower[token.lower()]
        return lower > self._limits.max_lower_case_share * (lower + self._capital[token])

    def _add(
        self,
        found: dict[tuple[Run, str], CountedName],
        part: Run,
        times: int,
        is_inside: bool,
        run: Run,
    ) -> None:
        at = 0
        while at < len(part) - 1 and part[at].rstrip(".").lower() in word_list("personal_titles"):
            at += 1
        titles, words = part[:at], part[at:]
        title = _title_class(titles)
        # Mrs. John Dashwood is not John Dashwood; of others with two names a title tells nothing.
        # A captain and a general of one family are two.
        key = title if len(words) == 1 or title == "mrs" else ""
        key = titles[0].rstrip(".").lower() if key == "rank" else key
        name = found.setdefault((words, key), CountedName(words, title))
        name.title = name.title or title
        name.has_title |= at > 0
        name.forms[" ".join(part)] += times
        name.total += times
        is_full = len(words) > 1 and words[0].lower() in given_names()
        name.inside += times if is_inside or at or is_full else 0
        name.speaking += self._speaking[run]
        name.placed += self._placed[run]

    def _is_name(self, name: CountedName) -> bool:
        limits = self._limits
        if name.inside < limits.min_inside_sentence:
            return False
        # A full name said once is enough to know whose the surname is, if it is a person's.
        if not name.is_single and not name.has_title and name.total < limits.min_occurrences:
            return False
        nameless = word_list("not_names") | word_list("stop_words")
        if name.text.isupper() or all(word.lower() in nameless for word in name.words):
            return False
        if not name.is_single:
            return name.inside > 1 or not any(self._is_common(word) for word in name.words)
        return len(name.text) > 1 and (name.has_title or not self._is_common(name.text))


@cache
def given_names() -> frozenset[str]:
    """Return the given names in wide use."""
    groups = ("female_names", "male_names", "unisex_names")
    return frozenset[str]().union(*(words_in("facts", group) for group in groups))


def _begins_anew(run: Run, at: int) -> bool:
    """Say whether a title or an "I" inside a run shows that two names only met."""
    if run[at] == "I":
        return True
    known = word_list("personal_titles")
    return run[at].rstrip(".").lower() in known and run[at - 1].rstrip(".").lower() not in known


def _title_class(titles: Run) -> str:
    bare = [title.rstrip(".").lower() for title in titles]
    if "mrs" in bare or "mme" in bare:
        return "mrs"
    if "miss" in bare or "mlle" in bare:
        return "miss"
    if any(title in word_list("womens_titles") for title in bare):
        return "woman"
    if any(title in ("mr", "mister", "sir", "master", "monsieur", "uncle") for title in bare):
        return "mr"
    return "rank" if bare else ""


def given_gender(name: str) -> Gender | None:
    """Return whose given name a name is; None for both and for what is none."""
    lowered = name.lower()
    if lowered in words_in("facts", "female_names"):
        return "female"
    return "male" if lowered in words_in("facts", "male_names") else None


def is_given_name(name: str) -> bool:
    """Say whether a name is a given name in wide use."""
    return given_gender(name) is not None or name.lower() in words_in("facts", "unisex_names")


def are_short_forms(one: str, other: str) -> bool:
    """Say whether one given name is short for the other, or both for a third."""
    first, second = one.lower(), other.lower()
    return first == second or bool(_full_forms(first) & _full_forms(second))


@cache
def _full_forms(name: str) -> frozenset[str]:
    listed = families_in("facts", "nicknames")
    return frozenset(full for full, short in listed.items() if name in short or name == full)
