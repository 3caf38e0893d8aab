"""Canon on the bars: Integrity tells what contradicts it, Presentation what gives it away.

Nothing looked at is told as such: a book without canon has nothing to contradict.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from callboard.library.story.contradiction import ConflictRules, words_of
from callboard.packs.questfoundry.bars.checks import found
from callboard.packs.questfoundry.book.model import Book, CodexEntry, SectionKind
from callboard.packs.questfoundry.canon.clashes import Disagreement, disagreements
from callboard.packs.questfoundry.canon.identity import Identities, name_key
from callboard.packs.questfoundry.canon.witness import Hearing, WitnessMemory, hear
from callboard.packs.questfoundry.verdict import Bar, BarFinding, BarStatus

_SPEAKERS: Final = {
    "section": "prose_against_canon",
    "codex": "codex_against_canon",
    "canon": "canon_clash",
}
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")
# A shorter sentence may be said by chance.
_LEAST_WORDS: Final = 5
_LEAST_SECRET_WORDS: Final = 3


@dataclass(frozen=True, slots=True)
class CanonReading:
    """What is wrong with a book's canon, or with what the book makes of it."""

    clashes: tuple[Disagreement, ...]
    hearing: Hearing
    statements: int

    @property
    def fact(self) -> str:
        """How much was looked at, in one line."""
        if not self.statements:
            return "canon: none, so nothing was held against it"
        if self.hearing.not_checked:
            return f"canon: {self.statements} statements; {'; '.join(self.hearing.not_checked)}"
        return (
            f"canon: {self.statements} statements held against each other, "
            f"{self.hearing.texts_read} texts that name who they are about held against them"
        )

    def findings(self) -> Iterator[BarFinding]:
        """Yield what Integrity has to say."""
        for each in self.clashes:
            check = "canon_clash" if each.is_sure else "canon_doubt"
            place = " and ".join(name for name in each.about if name) or "canon"
            yield found(check, f"canon {place}", f"“{each.later}” against “{each.earlier}”")
        for each in self.hearing.found:
            check = "dead_who_acts" if each.is_dead_acting else _SPEAKERS[each.speaker]
            status = None if each.is_sure or each.is_dead_acting else BarStatus.YELLOW
            yield found(check, each.place, each.evidence, status=status, fix=each.fix)
        for why in self.hearing.not_checked:
            yield found("canon_not_read", "canon", why)


def read_canon(
    book: Book, rules: ConflictRules, memory: WitnessMemory | None = None
) -> CanonReading:
    """Look for contradictions within canon, and between canon and what readers get."""
    true = tuple(each for each in book.canon if each.kind != "summary")
    return CanonReading(disagreements(true, rules), hear(book, rules, memory), len(true))


def canon_findings(book: Book, rules: ConflictRules) -> Iterator[tuple[Bar, BarFinding]]:
    """Yield what is wrong with a canon that has no sections yet, and whose bar it is."""
    yield from ((Bar.INTEGRITY, each) for each in read_canon(book, rules).findings())
    yield from ((Bar.PRESENTATION, each) for each in told_secrets(book, rules))


def secret_sentences(book: Book) -> Iterator[str]:
    """Yield the sentences of secret answers: whoever shows one of them shows the secret."""
    open_words = " ".join(each.text for each in book.canon if not each.is_secret).casefold()
    for each in book.canon:
        if each.kind == "answer" and each.is_secret:
            for sentence in _SENTENCE.split(each.text):
                plain = sentence.strip(" .!?")
                if len(plain.split()) >= _LEAST_WORDS and plain.casefold() not in open_words:
                    yield plain


def told_secrets(book: Book, rules: ConflictRules) -> Iterator[BarFinding]:
    """Yield entries that say of their own topic what only canon says, and nothing readers meet."""
    secrets: dict[str, list[tuple[str, str]]] = {}
    if not book.codex or not book.canon:
        return
    who = Identities(book.canon, rules)
    for each in book.canon:
        if each.kind == "fact" and len(words_of(each.text)) >= _LEAST_SECRET_WORDS:
            row = (each.attribute, each.text)
            secrets.setdefault(who.of(each.about), []).append(row)
    # What an end reveals, the codex must not reveal before.
    met = (each.text for each in book.sections if each.kind is not SectionKind.TERMINAL)
    summaries = (each.text for each in book.canon if each.kind == "summary")
    let_out = _plain(" ".join((*summaries, *met))) if secrets else ""
    for entry in book.codex:
        said = _plain(_text_of(entry))
        for attribute, value in secrets.get(who.of(entry.title), ()):
            phrase = _plain(value)
            if phrase in said and phrase not in let_out:
                told = (
                    f"says “{value}”, which is canon ({attribute}) and in no summary and no prose"
                )
                yield found("secret_told", f"codex {entry.slug}", told)


def _text_of(entry: CodexEntry) -> str:
    return f"{entry.overview} {entry.usage} {entry.context}"


def _plain(text: str) -> str:
    return f" {name_key(text).replace('_', ' ')} "
