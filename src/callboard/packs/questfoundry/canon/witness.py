"""Witness: what prose says against canon, read by the story tools' own readers of facts.

Every section, entry and answer is held against canon alone, never against another section: two
sections may stand on ways that exclude each other. What nobody looked at is not checked, by name.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

from callboard.core.canonical import digest
from callboard.library.story.contradiction import ConflictRules, key_form
from callboard.library.story.facts.claims import FactClaim
from callboard.library.story.facts.comparison import Gathering, Leeway
from callboard.library.story.index import StoryIndex
from callboard.library.story.index.entities import Entities
from callboard.library.story.index.files import ParsedFile, parse_document
from callboard.library.story.model import Severity
from callboard.library.story.text import Document
from callboard.library.story.thresholds import bundled_thresholds
from callboard.library.story.tools.consistency.character import first_deeds
from callboard.library.story.tools.consistency.factual import find_factual
from callboard.packs.questfoundry.book.model import Book, CanonStatement
from callboard.packs.questfoundry.canon.identity import Identities
from callboard.tools import Kept

Speaker = Literal["section", "codex", "canon"]
_LEAST_CONFIDENCE: Final = 0.5
_CARDS: Final = "characters"
_TEXTS: Final = "scenes"


@dataclass(frozen=True, slots=True)
class Testimony:
    """Something said against canon: where, in which words, and what canon says."""

    speaker: Speaker
    place: str
    evidence: str
    fix: str
    is_sure: bool
    is_dead_acting: bool = False


@dataclass(frozen=True, slots=True)
class Hearing:
    """All that was said against a canon, and how far anybody listened."""

    found: tuple[Testimony, ...] = ()
    cards: int = 0
    texts_read: int = 0
    not_checked: tuple[str, ...] = ()


@dataclass(slots=True)
class WitnessMemory:
    """What was read before; a text that did not change is not read again."""

    kept: Kept = field(default_factory=Kept)
    # Which texts name somebody of canon, as long as canon names the same people.
    _names: tuple[str, ...] = ()
    _naming: dict[str, bool] = field(default_factory=dict[str, bool])
    _parsed: dict[tuple[str, str], ParsedFile] = field(
        default_factory=dict[tuple[str, str], ParsedFile]
    )
    _used: dict[tuple[str, str], ParsedFile] = field(
        default_factory=dict[tuple[str, str], ParsedFile]
    )

    def parsed(self, path: str, text: str) -> ParsedFile:
        """Return a text as it was taken apart before, or take it apart."""
        key = (path, text)
        found = self._parsed.get(key) or parse_document(Document(path, text))
        return self._used.setdefault(key, found)

    def naming(self, said: Sequence["_Spoken"], known: Entities) -> list["_Spoken"]:
        """Return what names somebody of canon; a text that was looked through is not again."""
        names = tuple(alias for each in known for alias in (each.kind, *each.aliases))
        before = self._naming if names == self._names else {}
        self._names, self._naming = names, {}
        for each in said:
            is_named = before.get(each.text)
            self._naming[each.text] = bool(known.find(each.text)) if is_named is None else is_named
        return [each for each in said if self._naming[each.text]]

    def forget(self) -> None:
        """Let go of what the last look did not need."""
        self._parsed, self._used = self._used, {}


@dataclass(frozen=True)
class _Spoken:
    speaker: Speaker
    place: str
    text: str

    @cached_property
    def path(self) -> str:
        """What its text is called among all of the book; two of one place are two."""
        return f"{_TEXTS}/{digest([self.place, self.text])[:20]}.md"


def hear(book: Book, rules: ConflictRules, memory: WitnessMemory | None = None) -> Hearing:
    """Hold all prose of a book against its canon."""
    memory = memory or WitnessMemory()
    cards = _cards(book.canon, rules, memory)
    if not cards:
        return Hearing()
    if book.language.lower().partition("-")[0] not in ("en", ""):
        why = (
            f"prose in {book.language!r} is not held against canon: facts are read in English only"
        )
        return Hearing(cards=len(cards), not_checked=(why,))
    known = StoryIndex.from_texts(cards.values()).card_entities
    said = memory.naming([*_all_said(book)], known)
    texts = [memory.parsed(each.path, each.text) for each in said]
    index = StoryIndex.from_texts([*cards.values(), *texts])
    memory.forget()
    limits = bundled_thresholds().facts
    documents = [each.document for each in texts]
    gathering = Gathering(index, limits.max_checked_chars, documents, memory.kept)
    court = _Court(gathering, list(cards), Leeway(limits.age_leeway_years, limits.height_leeway_cm))
    dead = _dead(book.canon, rules)
    found = [
        testimony
        for each, document in zip(said, documents, strict=True)
        for testimony in (*court.claims(each, document), *court.deeds(each, document, dead))
    ]
    places = {each.path: each.place for each in said}
    cut = (why.partition(": ") for why in gathering.cut_short)
    not_read = tuple(f"{places.get(path, path)}: {why}" for path, _, why in cut)
    return Hearing(tuple(found), len(cards), len(texts), not_read)


class _Court:
    """Canon's claims, by whom they are about."""

    def __init__(self, gathering: Gathering, cards: Sequence[str], leeway: Leeway) -> None:
        self._gathering = gathering
        self._leeway = leeway
        self._about: dict[str, list[FactClaim]] = {}
        for claim in gathering.canon_claims(cards):
            for name in (claim.entity, claim.other):
                if name is not None:
                    self._about.setdefault(name, []).append(claim)

    def claims(self, said: _Spoken, document: Document) -> Iterator[Testimony]:
        """Yield what a text claims that canon denies."""
        claims = self._gathering.reading(document).likely_claims()
        names = {name for claim in claims for name in (claim.entity, claim.other) if name}
        canon = {id(each): each for name in names for each in self._about.get(name, ())}
        if not canon:
            return
        for each in find_factual([*canon.values(), *claims], {}, self._leeway):
            here = [quote for quote in each.quotes if quote.path == document.path]
            cards = [quote for quote in each.quotes if quote.path.startswith(f"{_CARDS}/")]
            if each.severity is Severity.INFO or not here or not cards:
                continue
            if each.confidence >= _LEAST_CONFIDENCE:
                evidence = f"{each.message} “{here[0].text}” against canon’s “{cards[0].text}”"
                is_sure = each.severity is Severity.MAJOR
                yield Testimony(said.speaker, said.place, evidence, each.suggestion or "", is_sure)

    def deeds(
        self, said: _Spoken, document: Document, dead: Mapping[str, str]
    ) -> Iterator[Testimony]:
        """Yield who acts though canon says they are dead from the start."""
        entities = self._gathering.index.entities
        names = {found.name: told for name, told in dead.items() if (found := entities.get(name))}
        if not names or said.speaker != "section":
            return
        deeds = first_deeds(document, self._gathering, frozenset(names))
        for name, (deed, _) in deeds.items():
            does = "speaks" if deed.is_speech else "acts"
            told = f"{name} {does}: “{deed.quote.text}”; canon says {names[name]!r}"
            fix = f"Let somebody else act, or say in canon since when {name} is dead."
            yield Testimony(said.speaker, said.place, told, fix, is_sure=False, is_dead_acting=True)


def _all_said(book: Book) -> Iterator[_Spoken]:
    for section in book.sections:
        yield _Spoken("section", section.id, section.text)
    for entry in book.codex:
        text = "\n\n".join(each for each in (entry.overview, entry.usage, entry.context) if each)
        yield _Spoken("codex", f"codex {entry.slug}", text)
    for each in book.canon:
        if each.kind in ("answer", "event", "summary"):
            yield _Spoken("canon", f"{each.kind} {each.about}", each.text)


def _cards(
    canon: Sequence[CanonStatement], rules: ConflictRules, memory: WitnessMemory
) -> dict[str, ParsedFile]:
    """Write canon's facts as the cards the story tools read, one for each bearer of names."""
    who = Identities(canon, rules)
    lines: dict[str, list[str]] = {}
    for each in canon:
        if each.kind == "fact" and not rules.names_another(key_form(each.attribute)):
            told = " ".join(each.text.split())
            key = key_form(each.attribute).replace("_", " ")
            lines.setdefault(who.of(each.about), []).append(f"{key.capitalize()}: {told}")
    names = who.names()
    cards: dict[str, ParsedFile] = {}
    for number, (bearer, said) in enumerate(lines.items(), start=1):
        first, *others = [" ".join(name.split()) for name in names[bearer]]
        path = f"{_CARDS}/{number}.md"
        also = [f"Aliases: {', '.join(others)}"] if others else []
        cards[path] = memory.parsed(path, "\n\n".join([f"# {first}", *also, *said]))
    return cards


def _dead(canon: Sequence[CanonStatement], rules: ConflictRules) -> dict[str, str]:
    """Return who is dead before the story begins, and how canon says so."""
    return {
        each.about: f"{each.attribute} is {each.text}"
        for each in canon
        if each.kind == "fact"
        and not each.since
        and rules.functional(key_form(each.attribute)) == "life"
        and rules.meaning(key_form(each.attribute), each.text) == "dead"
    }
