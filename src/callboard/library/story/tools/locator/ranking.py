"""Ranking: what each file is worth to some criteria, and on what grounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from callboard.library.story.index import StoryIndex
from callboard.library.story.index.numbers import numbered_title
from callboard.library.story.model import Kind, StoryFile
from callboard.library.story.thresholds import LocatorThresholds
from callboard.library.story.tools.locator.bodies import body_scores
from callboard.library.story.tools.locator.criteria import Criteria, near_names, tokens_of

FILENAME: Final = "FILENAME_MATCH"
METADATA: Final = "METADATA_MATCH"
CONTENT: Final = "CONTENT_MATCH"
_BASES: Final = (FILENAME, METADATA, CONTENT)
_ENTRY_KEYS: Final = ("pov", "location", "characters")
_KIND_ORDER: Final = {Kind.SCENE: 0, Kind.OUTLINE: 1, Kind.CANON: 2, Kind.OTHER: 3}


@dataclass(slots=True)
class Match:
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


class Ranking:
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

    def rank(self, *, with_bodies: bool) -> list[Match]:
        """Return every file that fits, best first."""
        matches = {file.path: self._match(file) for file in self._index.files}
        if with_bodies:
            self._add_bodies(matches)
        return sorted((match for match in matches.values() if match.points > 0), key=Match.sort_key)

    def _match(self, file: StoryFile) -> Match:
        match = Match(file)
        limits, criteria = self._limits, self._criteria
        if self._names_path(file.path):
            match.add(limits.exact_path_points, FILENAME, 1.0)
        if file.scene_number is not None and file.scene_number in criteria.numbers:
            number = f"scene {file.scene_number}"
            match.add(limits.scene_number_points, METADATA, 0.95, number)
        if file.kind in criteria.kinds:
            match.add(limits.metadata_points, METADATA, 0.5, file.kind.value)
        self._add_tokens(match, tokens_of(file.path), limits.filename_points, FILENAME)
        self._add_tokens(match, self._metadata(file), limits.metadata_points, METADATA)
        self._add_headings(match)
        return match

    def _metadata(self, file: StoryFile) -> list[str]:
        told = _described(file)
        if file.kind is Kind.OUTLINE:
            for entry in self._index.read_outline(file.path).entries:
                told += [entry.fields[key] for key in _ENTRY_KEYS if key in entry.fields]
        return [token for text in told for token in tokens_of(text)]

    def _names_path(self, path: str) -> bool:
        folded = path.casefold()
        return folded in self._folded or folded.rpartition("/")[2] in self._folded.split()

    def _add_tokens(self, match: Match, said: Sequence[str], points: float, basis: str) -> None:
        words = frozenset(said)
        for token, near in self.tokens.items():
            if words & near:
                match.add(points, basis, self._share(), token)

    def _add_headings(self, match: Match) -> None:
        headings = self._index.document(match.file.path).headings
        words = frozenset(token for heading in headings for token in tokens_of(heading.text))
        for token, near in self.tokens.items():
            if words & near:
                match.add(self._limits.heading_points, CONTENT, self._share(), token)
        if match.file.kind is Kind.SCENE or not self._criteria.numbers:
            return
        for heading in headings:
            number, _, label = numbered_title(heading.text)
            if label and number in self._criteria.numbers:
                match.add(self._limits.heading_points, CONTENT, 0.6, f"scene {number}")

    def _add_bodies(self, matches: Mapping[str, Match]) -> None:
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
