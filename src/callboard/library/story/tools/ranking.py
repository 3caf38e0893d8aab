"""Ranking: what each file is worth to what a task asks for, and on what grounds."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rapidfuzz import fuzz

from callboard.library.story.index import StoryIndex
from callboard.library.story.index.metadata import numbered_title
from callboard.library.story.model import FileKind, StoryFile
from callboard.library.story.text import Document, Sentence, stem
from callboard.library.story.thresholds import LocatorThresholds
from callboard.library.story.tools.search import Criteria, tokens_of

_K1: Final = 1.5


_B: Final = 0.75


_PREFIX: Final = 3


FILENAME: Final = "FILENAME_MATCH"


METADATA: Final = "METADATA_MATCH"


CONTENT: Final = "CONTENT_MATCH"


_BASES: Final = (FILENAME, METADATA, CONTENT)


_ENTRY_KEYS: Final = ("pov", "location", "characters")


_KIND_ORDER: Final = {FileKind.SCENE: 0, FileKind.OUTLINE: 1, FileKind.CANON: 2, FileKind.OTHER: 3}


def near_names(
    tokens: Iterable[str], names: frozenset[str], similarity: float, min_letters: int
) -> dict[str, frozenset[str]]:
    """Return for each token the words that count as it: itself and names spelled almost so."""
    found: dict[str, frozenset[str]] = {}
    for token in tokens:
        near: set[str] = {token}
        if token not in names and len(token) >= min_letters and token.isalpha():
            near.update(name for name in names if fuzz.ratio(token, name) >= similarity)
        found[token] = frozenset(near)
    return found


def body_scores(
    documents: Sequence[Document], tokens: Mapping[str, frozenset[str]]
) -> dict[str, float]:
    """Return for each path how much it speaks of the tokens, the best one with 1.0."""
    forms = {token: _forms(documents, words) for token, words in tokens.items()}
    lengths = {each.path: each.word_count for each in documents}
    average = sum(lengths.values()) / max(len(lengths), 1) or 1.0
    scores = dict.fromkeys(lengths, 0.0)
    for words in forms.values():
        counts = {
            each.path: sum(each.word_counts.get(word, 0) for word in words) for each in documents
        }
        holding = sum(count > 0 for count in counts.values())
        rarity = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
        for path, count in counts.items():
            weight = _K1 * (1 - _B + _B * lengths[path] / average)
            scores[path] += rarity * count * (_K1 + 1) / (count + weight)
    best = max(scores.values(), default=0.0)
    return {path: score / best for path, score in scores.items() if score > 0}


def best_sentence(document: Document, tokens: Mapping[str, frozenset[str]]) -> Sentence | None:
    """Return the sentence that holds most of the tokens, the first of equals."""
    stems = {token: frozenset(map(stem, words)) for token, words in tokens.items()}
    starts = tuple({word[:_PREFIX] for words in tokens.values() for word in words})
    best: tuple[int, Sentence] | None = None
    for sentence in document.sentences:
        said = {stem(word) for word in sentence.words if word.startswith(starts)}
        hits = sum(bool(said & wanted) for wanted in stems.values()) if said else 0
        if hits and (best is None or hits > best[0]):
            best = (hits, sentence)
    return best[1] if best else None


def _forms(documents: Iterable[Document], words: frozenset[str]) -> tuple[str, ...]:
    stems = frozenset(map(stem, words))
    starts = tuple({word[:_PREFIX] for word in words})
    said = {word for each in documents for word in each.word_counts if word.startswith(starts)}
    return tuple(sorted(word for word in said if stem(word) in stems))


@dataclass(slots=True)
class FileMatch:
    """A file that fits, with its points and why."""

    file: StoryFile
    points: float = 0.0
    keywords: list[str] = field(default_factory=list[str])
    bases: set[str] = field(default_factory=set[str])
    confidence: float = 0.0

    def add(self, points: float, basis: str, confidence: float, keyword: str = "") -> None:
        """Count one more reason."""
        self.points += points
        self.bases.add(basis)
        self.confidence = max(self.confidence, confidence)
        if keyword and keyword not in self.keywords:
            self.keywords.append(keyword)

    def basis(self) -> list[str]:
        """Return the grounds in their fixed order."""
        return [basis for basis in _BASES if basis in self.bases]

    def sort_key(self) -> tuple[float, int, str]:
        """Best first; of equals by kind, then path."""
        return -round(self.points, 3), _KIND_ORDER[self.file.kind], self.file.path


class FileRanking:
    """Ranks the files of an index."""

    def __init__(self, index: StoryIndex, criteria: Criteria, limits: LocatorThresholds) -> None:
        """Take what is looked for and where."""
        self._index = index
        self._criteria = criteria
        self._limits = limits
        self._folded = criteria.text.casefold()
        self.tokens: Mapping[str, frozenset[str]] = near_names(
            criteria.tokens,
            _name_tokens(index),
            limits.fuzzy_similarity,
            limits.fuzzy_min_letters,
        )

    def rank(self, *, with_bodies: bool) -> list[FileMatch]:
        """Return every file that fits, best first."""
        matches = {file.path: self._match(file) for file in self._index.files}
        if with_bodies:
            self._add_bodies(matches)
        return sorted(
            (match for match in matches.values() if match.points > 0), key=FileMatch.sort_key
        )

    def _match(self, file: StoryFile) -> FileMatch:
        match = FileMatch(file)
        limits, criteria = self._limits, self._criteria
        if self._names_path(file.path):
            match.add(limits.exact_path_points, FILENAME, 1.0)
        if criteria.numbers.has(file):
            number = f"scene {file.label}"
            match.add(limits.scene_number_points, METADATA, 0.95, number)
        if file.kind in criteria.kinds:
            match.add(limits.metadata_points, METADATA, 0.5, file.kind.value)
        self._add_tokens(match, tokens_of(file.path), limits.filename_points, FILENAME)
        self._add_tokens(match, self._metadata(file), limits.metadata_points, METADATA)
        self._add_headings(match)
        return match

    def _metadata(self, file: StoryFile) -> list[str]:
        told = _described(file)
        if file.kind is FileKind.OUTLINE:
            for entry in self._index.read_outline(file.path).entries:
                told += [entry.fields[key] for key in _ENTRY_KEYS if key in entry.fields]
        return [token for text in told for token in tokens_of(text)]

    def _names_path(self, path: str) -> bool:
        folded = path.casefold()
        return folded in self._folded or folded.rpartition("/")[2] in self._folded.split()

    def _add_tokens(self, match: FileMatch, said: Sequence[str], points: float, basis: str) -> None:
        words = frozenset(said)
        for token, near in self.tokens.items():
            if words & near:
                match.add(points, basis, self._share(), token)

    def _add_headings(self, match: FileMatch) -> None:
        headings = self._index.document(match.file.path).headings
        words = frozenset(token for heading in headings for token in tokens_of(heading.text))
        for token, near in self.tokens.items():
            if words & near:
                match.add(self._limits.heading_points, CONTENT, self._share(), token)
        if match.file.kind is FileKind.SCENE or not self._criteria.numbers:
            return
        for heading in headings:
            number, _, label = numbered_title(heading.text)
            if label and number in self._criteria.numbers.numbers:
                match.add(self._limits.heading_points, CONTENT, 0.6, f"scene {number}")

    def _add_bodies(self, matches: Mapping[str, FileMatch]) -> None:
        documents = [self._index.document(path) for path in matches]
        for path, share in body_scores(documents, self.tokens).items():
            match = matches[path]
            said = self._index.document(path).word_counts
            match.add(self._limits.content_points * share, CONTENT, 0.3 + 0.4 * share)
            for token, near in self.tokens.items():
                if token not in match.keywords and any(word in said for word in near):
                    match.keywords.append(token)

    def _share(self) -> float:
        """One token of many says less than the only one."""
        return round(0.4 + 0.4 / max(len(self.tokens), 1), 2)


def _described(file: StoryFile) -> list[str]:
    told = [file.title, file.pov, file.location, file.when, *file.characters, *file.aliases]
    return [text for text in told if text]


def _name_tokens(index: StoryIndex) -> frozenset[str]:
    names: list[str] = [alias for entity in index.card_entities for alias in entity.aliases]
    for file in index.files:
        names += [file.pov or "", file.location or "", *file.characters]
    return frozenset(token for name in names for token in tokens_of(name) if len(token) > 2)
