"""Leaks: what players must not see, found as whole words on every surface.

A key or an id that no prose would use is a leak wherever it stands. A key that is an ordinary word
is one only where it is marked as a key; elsewhere code cannot tell, and says so once for the book.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from callboard.packs.questfoundry.bars.canon import secret_sentences
from callboard.packs.questfoundry.bars.checks import found, words_of_bars
from callboard.packs.questfoundry.bars.surfaces import BuiltText, SurfaceText, runs_of, shown
from callboard.packs.questfoundry.book.model import Book
from callboard.packs.questfoundry.verdict import BarFinding, BarStatus

_PATH: Final = re.compile(
    r"(?<![\w/])(?:/(?:home|users|tmp|var|usr|etc|mnt|opt|root|work)/|[a-z]:\\)\w"
    r"|\w/[\w.-]{1,80}\.(?:md|yaml|yml|json|py|png|svg|txt|gguf|html|epub)\b",
    re.IGNORECASE,
)
_RECORD: Final = re.compile(r"\b(?:HK|TU)-\d|\b(?:run|sess|rcpt)_[0-9a-z]{8}")
_SETTING: Final = re.compile(
    r"\b(?:seed|temperature|steps|cfg|top_p|sampler)\s?[=:]\s?\d|\bseed \d{3}|\bgpt-?\d",
    re.IGNORECASE,
)
# What a machine says of itself, and what must stand in a text for it: that is found at once.
_MACHINE: Final = (
    ("file_path", _PATH, re.compile(r"[/\\]")),
    ("id_shown", _RECORD, re.compile(r"[-_]")),
    ("machine_word", _SETTING, re.compile(r"\d")),
)
_INK_CODE: Final = re.compile(r"\{[^{}\n]*\}|->|<-|<>")
_MOST_SHOWN: Final = 60
_SCRIPTS_WITHOUT_BLANKS: Final = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
_MARK: Final = r"(?:[$`\[{]|\b(?:codeword|code word|keyword|flag|variable)\b\W{0,3})"


@dataclass(frozen=True, slots=True)
class Term:
    """Something to look for, and the check that it breaks."""

    text: str
    check: str


@dataclass(slots=True)
class Seen:
    """What a look at some text brought up; ids are suspects until somebody knows all ids."""

    findings: list[BarFinding] = field(default_factory=list[BarFinding])
    suspects: frozenset[str] = frozenset()
    plain_keys: frozenset[str] = frozenset()


class TermScan:
    """Terms, indexed by their first word so that a text is read once for all of them."""

    def __init__(self, terms: Iterable[Term]) -> None:
        self._by_word: dict[str, list[tuple[str, Term]]] = {}
        self._unspaced: list[Term] = []
        for term in terms:
            words = _words(runs_of(term.text))
            if _SCRIPTS_WITHOUT_BLANKS.search(term.text):
                self._unspaced.append(term)
            elif words:
                self._by_word.setdefault(words[0], []).append((f" {' '.join(words)} ", term))

    def hits(self, text: str, words: list[str], known: frozenset[str]) -> Iterator[Term]:
        """Yield the terms that stand in a text, each once."""
        joined = ""
        for first in self._by_word.keys() & known:
            for phrase, term in self._by_word[first]:
                joined = joined or f" {' '.join(words)} "
                if phrase in joined and _stands(term.text, text):
                    yield term
        for term in self._unspaced:
            if term.text in text:
                yield term


class LeakScan:
    """What must not be seen of one book."""

    def __init__(self, book: Book) -> None:
        self._plain = frozenset(key for key in book.keys if is_plain(key))
        marked = [key for key in book.keys if key not in self._plain]
        self._scan = TermScan(
            [
                *(Term(each, "spoiler") for each in book.spoilers if each.strip()),
                *(Term(each, "spoiler") for each in secret_sentences(book)),
                *(Term(key, "key_shown") for key in marked if key),
                *(Term(key, "key_word") for key in self._plain if key),
                *(Term(each, "machine_word") for each in words_of_bars("machine")),
                *(Term(each.printed, "codeword") for each in book.codewords if each.printed),
            ]
        )
        self._technique = TermScan(
            Term(each, "technique_word")
            for each in [*words_of_bars("technique"), *words_of_bars("technique_phrases")]
        )
        self._reviewed = {each.printed: each.reviewed for each in book.codewords}

    def look(self, surface: SurfaceText, *, is_paper: bool = False) -> Seen:
        """Look at one text; on paper, reviewed codewords may stand."""
        text = shown(surface.text)
        runs = runs_of(text)
        words = _words(runs)
        known = frozenset(words)
        seen = Seen(suspects=suspects_in(runs))
        plain: set[str] = set()
        for term in self._scan.hits(text, words, known):
            if term.check == "key_word" and not _is_marked(term.text, text):
                plain.add(term.text)
            else:
                seen.findings += self._told(term, surface.place, text, is_paper=is_paper)
        seen.plain_keys = frozenset(plain)
        if surface.is_caption:
            for term in self._technique.hits(text, words, known):
                seen.findings.append(_find(term.check, surface.place, term.text))
        for check, pattern, needed in _MACHINE:
            if needed.search(text) and (hit := pattern.search(text)):
                seen.findings.append(_find(check, surface.place, _around(text, hit.start())))
        return seen

    def _told(self, term: Term, place: str, text: str, *, is_paper: bool) -> Iterator[BarFinding]:
        if term.check == "codeword":
            # Written as it is printed; the same letters in another case are a word of the story.
            if not re.search(rf"(?<!\w){re.escape(term.text)}(?!\w)", text):
                return
            if not is_paper:
                yield _find("codeword_on_screen", place, term.text)
            elif not self._reviewed[term.text]:
                yield found(
                    "codeword_unreviewed", place, f"prints “{term.text}”", status=BarStatus.RED
                )
            return
        check = "key_shown" if term.check == "key_word" else term.check
        yield _find(check, place, term.text)


def suspects_in(runs: Iterable[str]) -> frozenset[str]:
    """Return the words that look like ids: letters with digits or underscores."""
    return frozenset(
        run
        for run in runs
        if not run.isalpha() and ("_" in run or any(c.isdigit() for c in run)) and not run.isdigit()
    )


def ids_among(book: Book, suspects: frozenset[str]) -> frozenset[str]:
    """Return which suspects are ids of a book."""
    if not suspects:
        return suspects
    # What an author called a section stands above it anyway.
    ids = {each.id.lower() for each in book.sections if each.id.lower() != each.title.lower()}
    ids.update(choice.id.lower() for section in book.sections for choice in section.choices)
    ids.update(each.id.lower() for each in (*book.gateways, *book.pictures, *book.cues))
    return suspects & ids


def shown_ids(place: str, suspects: frozenset[str], ids: frozenset[str]) -> Iterator[BarFinding]:
    """Tell which suspects are ids."""
    for each in sorted(suspects & ids):
        yield _find("id_shown", place, each)


def read_shown_code(book: Book) -> Iterator[BarFinding]:
    """Tell where code of an imported story stands in what readers read."""
    for each in book.verbatim:
        if each.section and each.places and not each.is_form:
            yield found("code_shown", each.section, f"readers see “{_clipped(each.text)}”")
    # Of a knot of Ink that was not understood, the lines with code stand in its cells.
    kept = {each.section for each in book.verbatim if each.origin == "ink" and each.is_code}
    for section in book.sections if kept - {None} else ():
        is_kept = {section.id, section.id.partition(".")[0]} & kept
        line = next(filter(_INK_CODE.search, section.text.split("\n")), "") if is_kept else ""
        if line:
            yield found("code_shown", section.id, f"readers see “{_clipped(line)}”")


def _clipped(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]}…"


def look_at_built(scan: LeakScan, built: BuiltText) -> Seen:
    """Look at the text of a built file."""
    if built.kind == "unread":
        return Seen([found("built_not_read", built.name, "nothing of it was read")])
    if built.kind == "source":
        return Seen()
    return scan.look(SurfaceText(built.name, built.text), is_paper=built.kind == "paper")


def told_plain_keys(places: dict[str, list[str]]) -> Iterator[BarFinding]:
    """Tell once for each key that is an ordinary word where the prose uses that word."""
    for key, at in sorted(places.items()):
        yield found("key_word", at[0], f"the key {key!r} is a word of the prose, {len(at)} times")


def is_plain(key: str) -> bool:
    """Say whether a key reads as an ordinary word or words."""
    return all(part.isalpha() and (part.islower() or part.istitle()) for part in key.split())


def _find(check: str, place: str, what: str) -> BarFinding:
    return found(check, place, f"“{what}”")


def _words(runs: Iterable[str]) -> list[str]:
    words: list[str] = []
    for run in runs:
        if "-" in run:
            words += run.split("-")
        else:
            words.append(run)
    return words


def _stands(term: str, text: str) -> bool:
    """Say whether a term with marks of its own stands as it is written."""
    if all(c.isalnum() or c.isspace() or c in "_'’" for c in term):
        return True
    return re.search(rf"(?<!\w){re.escape(term)}(?!\w)", text, re.IGNORECASE) is not None


def _is_marked(key: str, text: str) -> bool:
    if len(key) > 2 and not text.isupper() and re.search(rf"\b{re.escape(key.upper())}\b", text):
        return True
    return re.search(rf"{_MARK}{re.escape(key)}\b", text, re.IGNORECASE) is not None


def _around(text: str, at: int) -> str:
    return " ".join(text[max(0, at - 10) : at + 40].split())
