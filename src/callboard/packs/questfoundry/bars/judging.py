"""Judging: all bars of a book in one look, and again quickly after a change.

What one section says is read once and kept in a memory; the ways of the book are proved again only
when a way has changed.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from callboard.library.story.contradiction import ConflictRules, read_rules
from callboard.packs.questfoundry.bars.assets import (
    read_builds,
    read_codewords,
    read_page,
    read_pictures_and_cues,
)
from callboard.packs.questfoundry.bars.canon import read_canon, told_secrets
from callboard.packs.questfoundry.bars.checks import found, verdict_of
from callboard.packs.questfoundry.bars.gateways import read_gateways
from callboard.packs.questfoundry.bars.integrity import read_anchors, read_integrity
from callboard.packs.questfoundry.bars.labels import read_false_choices, read_labels
from callboard.packs.questfoundry.bars.leaks import (
    LeakScan,
    ids_among,
    look_at_built,
    read_shown_code,
    shown_ids,
    told_plain_keys,
)
from callboard.packs.questfoundry.bars.nonlinearity import named_places, read_nonlinearity
from callboard.packs.questfoundry.bars.prose import ProseMeasure, ProseRead
from callboard.packs.questfoundry.bars.reachability import (
    BookProof,
    facts_of,
    prove,
    read_reachability,
)
from callboard.packs.questfoundry.bars.surfaces import (
    SurfaceText,
    read_built,
    surfaces_beside_sections,
)
from callboard.packs.questfoundry.bars.ways import Effort, net_of
from callboard.packs.questfoundry.book.model import Book, Section
from callboard.packs.questfoundry.canon.witness import WitnessMemory
from callboard.packs.questfoundry.verdict import (
    Bar,
    BarFinding,
    BarStatus,
    BarVerdict,
    GatecheckReport,
    GateMode,
    report_of,
)

ALL_BARS: Final = tuple(Bar)
_NOTHING: Final[tuple[BarFinding, ...]] = ()


@dataclass(frozen=True, slots=True)
class SectionReading:
    """What one section says by itself."""

    false_choices: tuple[BarFinding, ...]
    style: tuple[BarFinding, ...]
    leaks: tuple[BarFinding, ...]
    labels: tuple[BarFinding, ...]
    measure: ProseMeasure
    suspects: frozenset[str]
    plain_keys: frozenset[str]


@dataclass(slots=True)
class BookMemory:
    """What is known of a book from the last look; give it back to look again quickly."""

    context: tuple[object, ...] = ()
    sections: dict[str, tuple[Section, SectionReading]] = field(
        default_factory=dict[str, "tuple[Section, SectionReading]"]
    )
    proof: BookProof | None = None
    places: tuple[str, ...] = ()
    witness: WitnessMemory = field(default_factory=WitnessMemory)


def judge(
    book: Book,
    *,
    bars: Collection[Bar] = ALL_BARS,
    mode: GateMode = "gatecheck",
    surfaces: Mapping[str, bytes] | None = None,
    rebuilt: Mapping[str, bytes] | None = None,
    previous: BookMemory | None = None,
    effort: Effort | None = None,
    rules: ConflictRules | None = None,
) -> GatecheckReport:
    """Judge a book by code alone; files built from it may be handed in, once or twice, by name.

    `rules` are what contradicts what, where a project adds to those that come with Callboard.
    """
    memory = previous or BookMemory()
    look = _Look(book, surfaces, rebuilt, memory, effort or Effort(), rules or read_rules())
    return report_of(
        (look.bar(bar) if bar in bars else _not_asked(bar) for bar in Bar),
        mode=mode,
        scope=book.title,
    )


def _not_asked(bar: Bar) -> BarVerdict:
    return BarVerdict(bar, BarStatus.NA, "this gatecheck does not ask for it")


class _Look:
    """One look at one book."""

    def __init__(
        self,
        book: Book,
        surfaces: Mapping[str, bytes] | None,
        rebuilt: Mapping[str, bytes] | None,
        memory: BookMemory,
        effort: Effort,
        rules: ConflictRules,
    ) -> None:
        self._book, self._memory, self._rules = book, memory, rules
        self._surfaces, self._rebuilt = surfaces, rebuilt
        self._built = [
            each
            for name, data in (surfaces or {}).items()
            for each in read_built(name, data)
            if not (each.kind == "unread" and f"{name}.txt" in (surfaces or {}))
        ]
        self._prose = ProseRead(book.style, book.language)
        self._leaks = LeakScan(book)
        self._readings = self._read_sections()
        self._proof = self._prove(effort)
        asked = self._proof.reach.net.bits if self._proof else {}
        self._asked = frozenset({*asked, *(each.key for each in book.gateways if each.key)})

    def bar(self, bar: Bar) -> BarVerdict:
        """Return how one bar stands."""
        match bar:
            case Bar.INTEGRITY:
                return self._integrity()
            case Bar.REACHABILITY:
                return self._reachability()
            case Bar.NONLINEARITY:
                told = "hubs, loops and siblings"
                return verdict_of(bar, self._nonlinearity(), told, self._memory.places)
            case Bar.GATEWAYS:
                return self._gateways()
            case Bar.STYLE:
                return verdict_of(bar, self._style(), self._prose.looked_at)
            case Bar.DETERMINISM:
                return self._determinism()
            case Bar.PRESENTATION:
                told = f"{len(self._book.sections)} sections, {len(self._built)} built texts"
                return verdict_of(bar, self._presentation(), told)
            case Bar.ACCESSIBILITY:
                return verdict_of(bar, self._accessibility(), "labels, pictures, cues and pages")

    def _read_sections(self) -> list[tuple[Section, SectionReading]]:
        book, memory = self._book, self._memory
        context = (
            book.style,
            book.language,
            book.spoilers,
            book.canon,
            book.codewords,
            book.keys,
            book.gateways,
            book.unread,
        )
        held = memory.sections if memory.context == context else {}
        memory.context, memory.sections = context, {}
        readings: list[tuple[Section, SectionReading]] = []
        for section in book.sections:
            known = held.get(section.id)
            if known is None or (known[0] is not section and known[0] != section):
                known = (section, self._read(section))
            memory.sections.setdefault(section.id, known)
            readings.append(known)
        return readings

    def _read(self, section: Section) -> SectionReading:
        labels = "\n".join(choice.label for choice in section.choices)
        whole = f"{section.title}\n{section.text}\n{labels}"
        seen = self._leaks.look(SurfaceText(section.id, whole))
        style, measure = self._prose.read(section)
        return SectionReading(
            tuple(read_false_choices(self._book, section)) or _NOTHING,
            tuple(style) or _NOTHING,
            tuple(seen.findings) or _NOTHING,
            tuple(read_labels(self._book, section)) or _NOTHING,
            measure,
            seen.suspects,
            seen.plain_keys,
        )

    def _prove(self, effort: Effort) -> BookProof | None:
        net = net_of(self._book)
        memory = self._memory
        if net is None:
            memory.proof, memory.places = None, ()
        elif memory.proof is None or not net.is_like(memory.proof.reach.net):
            memory.proof = prove(net, effort.begin())
            memory.places = named_places(net)
        return memory.proof

    def _integrity(self) -> BarVerdict:
        canon = read_canon(self._book, self._rules, self._memory.witness)
        findings = [
            *read_integrity(self._book),
            *(each for built in self._built for each in read_anchors(built)),
            *canon.findings(),
        ]
        told = f"{len(self._book.sections)} sections"
        return verdict_of(Bar.INTEGRITY, findings, told, (canon.fact,))

    def _reachability(self) -> BarVerdict:
        proof = self._proof
        if proof is None:
            told = [found("no_end", "book", "without a start nothing can be reached")]
            return verdict_of(Bar.REACHABILITY, told, "")
        findings = read_reachability(self._book, proof)
        facts = facts_of(proof)
        return verdict_of(Bar.REACHABILITY, findings, facts[0], facts)

    def _nonlinearity(self) -> Iterator[BarFinding]:
        yield from read_nonlinearity(self._book, self._asked)
        for _, reading in self._readings:
            yield from reading.false_choices

    def _gateways(self) -> BarVerdict:
        reach = self._proof.reach if self._proof else None
        findings = list(read_gateways(self._book, reach))
        if not findings and not self._asked:
            return BarVerdict(Bar.GATEWAYS, BarStatus.NA, "no choice asks for anything")
        count = len(self._book.gateways)
        told = f"{count} gateways, each played open and shut" if count else "conditions of choices"
        return verdict_of(Bar.GATEWAYS, findings, told)

    def _style(self) -> Iterator[BarFinding]:
        for _, reading in self._readings:
            yield from reading.style
        yield from self._prose.whole(reading.measure for _, reading in self._readings)

    def _determinism(self) -> BarVerdict:
        if not self._surfaces:
            return BarVerdict(Bar.DETERMINISM, BarStatus.NA, "nothing was built")
        told = f"{len(self._surfaces)} files, built twice with the same bytes"
        return verdict_of(Bar.DETERMINISM, read_builds(self._surfaces, self._rebuilt), told)

    def _presentation(self) -> Iterator[BarFinding]:
        plain: dict[str, list[str]] = {}
        suspects: dict[str, frozenset[str]] = {}
        for section, reading in self._readings:
            yield from reading.leaks
            if reading.suspects:
                suspects[section.id] = reading.suspects
            for key in reading.plain_keys:
                plain.setdefault(key, []).append(section.id)
        beside = [*surfaces_beside_sections(self._book)]
        seen = {each.place: self._leaks.look(each) for each in beside}
        seen |= {each.name: look_at_built(self._leaks, each) for each in self._built}
        for place, each in seen.items():
            yield from each.findings
            suspects[place] = each.suspects
        ids = ids_among(self._book, frozenset[str]().union(*suspects.values()))
        for place, each in suspects.items():
            yield from shown_ids(place, each, ids)
        yield from told_plain_keys(plain)
        yield from read_codewords(self._book, self._asked)
        yield from told_secrets(self._book, self._rules)
        yield from read_shown_code(self._book)

    def _accessibility(self) -> Iterator[BarFinding]:
        for _, reading in self._readings:
            yield from reading.labels
        yield from read_pictures_and_cues(self._book)
        for built in self._built:
            yield from read_page(built)
