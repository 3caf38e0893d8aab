"""Integrity: whether everything the book names is there, once."""

from collections.abc import Iterable, Iterator

from callboard.packs.questfoundry.bars.checks import found
from callboard.packs.questfoundry.bars.surfaces import BuiltText
from callboard.packs.questfoundry.book.model import Book, SectionKind
from callboard.packs.questfoundry.verdict import BarFinding, BarStatus


def read_integrity(book: Book) -> Iterator[BarFinding]:
    """Tell what is missing, twice there, or without a way on."""
    if book.start not in book.by_id:
        yield found("no_start", "book", f"the start is {book.start!r}, which is no section")
    yield from _twice("section", (each.id for each in book.sections))
    yield from _twice("gateway", (each.id for each in book.gateways))
    yield from _twice("picture", (each.id for each in book.pictures))
    yield from _twice("cue", (each.id for each in book.cues))
    yield from _twice("codex", (each.slug for each in book.codex))
    yield from _twice("codeword of", (each.key for each in book.codewords))
    yield from _sections(book)
    yield from _references(book)
    yield from _codewords(book)


def read_anchors(built: BuiltText) -> Iterator[BarFinding]:
    """Tell which links of a built page lead nowhere and which anchors stand twice."""
    ids = set(built.ids)
    for each in sorted({link for link in built.links if link and link not in ids}):
        yield found("broken_anchor", built.name, f"a link to {each}, which is not there")
    if len(ids) < len(built.ids):
        seen: set[str] = set()
        twice = sorted({each for each in built.ids if each in seen or seen.add(each)})
        yield found(
            "broken_anchor", built.name, f"anchors that stand twice: {', '.join(twice[:9])}"
        )


def _twice(what: str, ids: Iterable[str]) -> Iterator[BarFinding]:
    seen: set[str] = set()
    for each in ids:
        if each in seen:
            yield found("duplicate_id", f"{what} {each}", f"a second {what} has the id {each!r}")
        seen.add(each)


def _sections(book: Book) -> Iterator[BarFinding]:
    known = book.by_id
    gateways = book.gateway_by_id
    unread = book.unread
    # A list of links is what its author wrote.
    brought = {each.section for each in book.verbatim if each.is_form or each.origin == "ink"}
    for section in book.sections:
        is_end = section.kind is SectionKind.TERMINAL
        if not section.choices and not is_end:
            if section.id in unread:
                told = "no choice that was read; code here may lead on"
                yield found("dead_end", section.id, told, status=BarStatus.YELLOW)
            else:
                yield found("dead_end", section.id, "no choice, and it is no end")
        if section.choices and is_end:
            told = f"{len(section.choices)} choices below an end"
            yield found("choices_after_end", section.id, told)
        is_brought = section.id in brought or section.id.partition(".")[0] in brought
        if not section.text.strip() and not (section.choices and is_brought):
            yield found("no_text", section.id, "nothing is written")
        if len({each.id for each in section.choices}) < len(section.choices):
            yield from _twice(f"choice of {section.id}", (each.id for each in section.choices))
        for choice in section.choices:
            if choice.to not in known:
                told = f"“{choice.label}” leads to {choice.to!r}"
                yield found("dead_link", f"{section.id}/{choice.id}", told)
            if choice.gateway is not None and choice.gateway not in gateways:
                yield _missing(f"{section.id}/{choice.id}", "the gateway", choice.gateway)


def _references(book: Book) -> Iterator[BarFinding]:
    known, slugs = book.by_id, {each.slug for each in book.codex}
    named = [
        *((f"gateway {each.id}", "the section", each.at) for each in book.gateways),
        *(
            (f"gateway {each.id}", "the granting section", at)
            for each in book.gateways
            for at in each.granted_at
        ),
        *(
            (f"loop {each.entry}", "the section", at)
            for each in book.returns
            for at in (each.entry, each.back_to)
        ),
        *((f"ending {each.section}", "the section", each.section) for each in book.endings),
        *((f"picture {each.id}", "the section", each.section) for each in book.pictures),
        *((f"cue {each.id}", "the section", each.section) for each in book.cues),
    ]
    yield from (_missing(place, what, each) for place, what, each in named if each not in known)
    for ending in book.endings:
        section = known.get(ending.section)
        if section is not None and section.kind is not SectionKind.TERMINAL:
            yield _missing(f"ending {ending.section}", "an end at", ending.section)
    for entry in book.codex:
        for slug in entry.see_also:
            if slug not in slugs or slug == entry.slug:
                yield _missing(f"codex {entry.slug}", "another entry", slug)


def _missing(place: str, what: str, name: str) -> BarFinding:
    return found("missing_reference", place, f"{what} {name!r} is not there")


def _codewords(book: Book) -> Iterator[BarFinding]:
    printed: dict[str, str] = {}
    for each in book.codewords:
        word = each.printed.strip().casefold()
        if not word:
            continue
        if word in printed and printed[word] != each.key:
            told = f"“{each.printed}” is printed for {printed[word]} and for {each.key}"
            yield found("codeword_clash", f"codeword of {each.key}", told)
        printed.setdefault(word, each.key)
