"""Candidates: ready-made evidence for models that cannot be trusted with quoting.

Code takes quotes from what the agent was shown, makes of them whatever the role must rest on (a
pair, if the role needs a pair), and offers a short, varied list. Every candidate has been verified
before it is offered, so picking any of them is enough.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Final, TypeVar

from callboard.core.words import one_line
from callboard.replies.evidence.citation import Citation, CitationKind, SourceReceipt, Sources
from callboard.replies.evidence.quotes import is_quotable, normalise
from callboard.replies.evidence.rules import SLOT, EvidenceRules, SourceClass
from callboard.replies.evidence.verifying import CheckedCitation, bears, text_lines, verify

_T = TypeVar("_T")

MOST_CANDIDATES: Final = 5
_MAX_QUOTE_CHARS: Final = 120
_MAX_LABEL_CHARS: Final = 110
_POOL: Final = 40
_SENTENCE_END: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[.!?…][\"”\u2019')*_])\s+")
_DRESS: Final = re.compile(r"^(?:[\s>#+|-]|\*(?=\s))+|[\s|]+$")
_WORD: Final = re.compile(r"[^\W_]{3,}")
_FRONT_MATTER: Final = re.compile(r"\ufeff?---[ \t]*\r?\n.*?\n---[ \t]*(?=\r?\n|$)", re.DOTALL)
_SKIPPED_LINE: Final = re.compile(r"\s*+(?:\.\.\.\s*|```.*\s*|~~~.*\s*|[\s:|-]*)$")


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """A text that may be quoted: a slot's, or a file's of some kind."""

    source: str
    text: str
    kind: str = SLOT
    # How much it is the matter at hand: a sentence that merely stands somewhere has none.
    standing: float = 0.0


@dataclass(frozen=True, slots=True)
class EvidenceCandidate:
    """Evidence that holds and suffices for the role; `label` is what the model chooses by."""

    citations: tuple[Citation, ...]
    label: str


@dataclass(frozen=True, slots=True)
class EvidenceMaterial:
    """What an agent was shown: texts to quote from, and receipts with a line about each."""

    passages: Sequence[SourcePassage] = ()
    receipts: Sequence[tuple[SourceReceipt, str]] = ()


def find_candidates(
    role: str,
    rules: EvidenceRules,
    material: EvidenceMaterial,
    sources: Sources,
    *,
    about: str = "",
    most: int = MOST_CANDIDATES,
    must_bear: bool = False,
) -> tuple[EvidenceCandidate, ...]:
    """Return evidence a role may rest on, what bears on `about` first; all of it verifies.

    With `must_bear` nothing else is offered.
    """
    shelf = _Shelf(material, _words(about))
    alternatives = rules.alternatives(role) or ((_ANY_QUOTE,), (_ANY_RECEIPT,))
    rows = [list(shelf.combinations(each)) for each in alternatives if not _is_absence(each)]
    absent = [each for way in alternatives if _is_absence(way) for each in shelf.combinations(way)]
    found: dict[tuple[Citation, ...], EvidenceCandidate] = {}
    # One of each alternative in turn, so that no way to prove something crowds out the others;
    # that nothing was found is the last thing to offer.
    for candidate in (*_interleave(rows), *absent):
        checks = [verify(each, sources) for each in candidate.citations]
        if _holds(role, rules, checks) and (not must_bear or _is_about(about, checks)):
            found.setdefault(candidate.citations, candidate)
        if len(found) == most:
            break
    return tuple(found.values())


def quotable_sentences(text: str) -> Iterator[str]:
    """Go through the sentences of a text that can be quoted word for word on one line."""
    for line in text_lines(text):
        if _SKIPPED_LINE.match(line):
            continue
        for sentence in _SENTENCE_END.split(_DRESS.sub("", line)):
            quote = _shortened(sentence.strip())
            if is_quotable(quote):
                yield quote


_ANY_QUOTE: Final = SourceClass("a quote", "quote")
_ANY_RECEIPT: Final = SourceClass("a receipt", "receipt")


@dataclass(frozen=True, slots=True)
class _CandidatePiece:
    citation: Citation
    label: str
    words: frozenset[str]
    weight: float


class _Shelf:
    def __init__(self, material: EvidenceMaterial, about: frozenset[str]) -> None:
        self.material = material
        self.about = about
        self.sentences = {
            passage: tuple(dict.fromkeys(quotable_sentences(passage.text)))
            for passage in material.passages
        }
        self.metadata = {
            passage: len(dict.fromkeys(quotable_sentences(_front_matter(passage.text))))
            for passage in material.passages
        }
        every = [_words(each) for quotes in self.sentences.values() for each in quotes]
        seen = Counter(word for words in every for word in words)
        # A word that stands in every sentence tells nothing about any of them.
        self.rarity = {word: log(1 + len(every) / times) for word, times in seen.items()}

    def combinations(self, alternative: Sequence[SourceClass]) -> Iterator[EvidenceCandidate]:
        pools = [self._pool(wanted) for wanted in alternative]
        if not all(pools):
            return
        for first in pools[0]:
            # The rest of a combination is what has most to do with its first piece.
            rest = [max(pool, key=lambda p, f=first: self._kinship(f, p)) for pool in pools[1:]]
            pieces = (first, *rest)
            label = " + ".join(_cut(each.label, _MAX_LABEL_CHARS // len(pieces)) for each in pieces)
            yield EvidenceCandidate(tuple(each.citation for each in pieces), label)

    def _pool(self, wanted: SourceClass) -> list[_CandidatePiece]:
        if wanted.form == "receipt":
            return self._receipts(wanted)
        if wanted.form in ("quote", "place"):
            return self._quotes(wanted)
        if wanted.form == "scope":
            return self._scope()
        return []

    def _receipts(self, wanted: SourceClass) -> list[_CandidatePiece]:
        return [
            _CandidatePiece(
                Citation(CitationKind.RECEIPT, receipt.id),
                f"{receipt.tool}: {told}" if told else receipt.tool,
                _words(told),
                0,
            )
            for receipt, told in self.material.receipts
            if not wanted.names or receipt.tool in wanted.names
        ]

    def _quotes(self, wanted: SourceClass) -> list[_CandidatePiece]:
        per_source: dict[str, list[_CandidatePiece]] = {}
        for passage in self.material.passages:
            if not wanted.names or passage.kind in wanted.names:
                pieces = per_source.setdefault(passage.source, [])
                pieces.extend(self._pieces(passage))
        ranked = [sorted(each, key=lambda piece: -piece.weight) for each in per_source.values()]
        ranked.sort(key=lambda pieces: -pieces[0].weight if pieces else 1)
        return list(_interleave(ranked))[:_POOL]

    def _pieces(self, passage: SourcePassage) -> list[_CandidatePiece]:
        kind = CitationKind.SLOT if passage.kind == SLOT else CitationKind.FILE_QUOTE
        quotes = self.sentences[passage]
        return [
            _CandidatePiece(
                Citation(kind, passage.source, quote),
                f"{_short_name(passage.source)}: {normalise(quote)}",
                _words(quote),
                self._weight(passage, quote, number),
            )
            for number, quote in enumerate(quotes)
        ]

    def _weight(self, passage: SourcePassage, quote: str, number: int) -> float:
        # What stands in front of a text is about it.
        metadata = 2.0 if number < self.metadata[passage] else 0.0
        # Where nothing else decides, take sentences spread over the text: every seventh first.
        count = len(self.sentences[passage])
        spread = ((number * 7) % count) / count
        return 3 * self._shared(self.about, _words(quote)) + passage.standing - metadata - spread

    def _kinship(self, first: _CandidatePiece, other: _CandidatePiece) -> float:
        return 2 * self._shared(first.words, other.words) + other.weight

    def _shared(self, some: frozenset[str], others: frozenset[str]) -> float:
        total = sum(self.rarity.get(word, 0.0) for word in some & others)
        # A long sentence holds many words by accident.
        return total / sqrt(max(len(others), 1))

    def _scope(self) -> list[_CandidatePiece]:
        paths = dict.fromkeys(p.source for p in self.material.passages if p.kind != SLOT)
        # Names a scope could not be read back with are left to the other ways.
        plain = [path for path in paths if not re.search(r"[;,]|\band\b", path)]
        if not plain:
            return []
        listed = ", ".join(plain[:4])
        cited = Citation(CitationKind.SCOPE, listed)
        return [_CandidatePiece(cited, f"found nothing in {listed}", frozenset(), 0)]


def _front_matter(text: str) -> str:
    found = _FRONT_MATTER.match(text)
    return found[0] if found is not None else ""


def _is_absence(alternative: Sequence[SourceClass]) -> bool:
    return any(wanted.form == "scope" for wanted in alternative)


def _holds(role: str, rules: EvidenceRules, checks: Sequence[CheckedCitation]) -> bool:
    standing = [(each.citation, each.origin) for each in checks if each.holds and each.origin]
    return len(standing) == len(checks) and rules.is_satisfied(role, standing)


def _is_about(about: str, checks: Sequence[CheckedCitation]) -> bool:
    return any(bears(about, each) for each in checks)


def _interleave(rows: Sequence[Sequence[_T]]) -> Iterator[_T]:
    for number in range(max((len(row) for row in rows), default=0)):
        for row in rows:
            if number < len(row):
                yield row[number]


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text))


def _shortened(sentence: str) -> str:
    if len(sentence) <= _MAX_QUOTE_CHARS:
        return sentence
    return sentence[: _MAX_QUOTE_CHARS + 1].rpartition(" ")[0]


def _short_name(source: str) -> str:
    name = source.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def _cut(text: str, limit: int) -> str:
    return one_line(text, limit, strip=True)
