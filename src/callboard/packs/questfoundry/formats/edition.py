"""LocaleEdition: a book in another language, put together from the pieces somebody translated.

A piece without a translation keeps its own words; it is named, and a section that holds such words
says so before them. A translation whose source has changed since is used, and named.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from callboard.core.canonical import digest_bytes
from callboard.core.errors import InvalidInput
from callboard.packs.questfoundry.book.model import Book, Gateway, Section
from callboard.packs.questfoundry.formats.prose import WORDS, PageWords

PLACEHOLDER: Final = re.compile(r"\{\w*\}")
_LOCALE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_STEM: Final = "book."


@dataclass(frozen=True, slots=True)
class LocaleEdition:
    """A book as readers of one language get it; the original has no locale.

    `untranslated` and `outdated` are the ids of pieces.
    """

    book: Book
    words: PageWords = WORDS
    locale: str = ""
    untranslated: tuple[str, ...] = ()
    outdated: tuple[str, ...] = ()

    def path(self, name: str) -> str:
        """Return what a file of this edition is called: `book.html` becomes `book.de.html`."""
        return name.replace(_STEM, f"{_STEM}{self.locale}.", 1) if self.locale else name

    def limitations(self) -> list[str]:
        """Say what readers of this language do not get as it should be."""
        told: list[str] = []
        for what, names in (
            ("are not translated", self.untranslated),
            ("are translated from words that have changed since", self.outdated),
        ):
            if names:
                more = f" and {len(names) - 5} more" if len(names) > 5 else ""
                told.append(f"{self.locale}: {len(names)} {what}: {', '.join(names[:5])}{more}")
        return told


def pieces_of(book: Book) -> Iterator[dict[str, str]]:
    """Return everything readers see, piece by piece, the words of the page itself at last."""
    texts: list[tuple[str, str, str]] = [("title", "title", book.title)]
    for each in book.sections:
        texts.append((f"section:{each.id}", "section", each.text))
        texts.append((f"title:{each.id}", "title", each.title))
        texts += [(f"choice:{choice.id}", "choice", choice.label) for choice in each.choices]
    for gateway in book.gateways:
        texts.append((f"gate:{gateway.id}", "gate", gateway.refusal))
        texts.append((f"phrase:{gateway.id}", "gate", gateway.phrase))
    texts += [(f"ending:{each.section}", "title", each.title) for each in book.endings]
    for entry in book.codex:
        texts.append((f"codex:{entry.slug}", "codex", entry.overview))
        texts.append((f"codex-title:{entry.slug}", "title", entry.title))
        texts.append((f"codex-usage:{entry.slug}", "codex", entry.usage))
        texts.append((f"codex-context:{entry.slug}", "codex", entry.context))
    for picture in book.pictures:
        texts.append((f"alt:{picture.id}", "alt", picture.alt))
        texts.append((f"caption:{picture.id}", "caption", picture.caption))
    for cue in book.cues:
        texts.append((f"cue:{cue.id}", "caption", cue.caption))
        texts.append((f"sound:{cue.id}", "alt", cue.description))
    texts += [(f"page:{each.name}", "page", getattr(WORDS, each.name)) for each in fields(WORDS)]
    for name, kind, text in dict.fromkeys(texts):
        if text.strip():
            yield {"id": name, "kind": kind, "source": text} | {
                "source_sha256": digest_bytes(text.encode())
            }


def edition_of(book: Book, locale: str, rows: Iterable[Mapping[str, Any]]) -> LocaleEdition:
    """Put a book together in another language; every piece that lacks is named."""
    if not _LOCALE.fullmatch(locale):
        raise InvalidInput(
            f"{locale!r} is no name of a language", fix="Give a tag such as de, pt-BR or zh-Hant."
        )
    told = {str(row["id"]): row for row in rows}
    targets: dict[str, str] = {}
    untranslated: list[str] = []
    outdated: list[str] = []
    for piece in pieces_of(book):
        name, row = piece["id"], told.get(piece["id"], {})
        target = str(row.get("target") or "")
        if not target.strip() or (name.startswith("page:") and not _fits(piece["source"], target)):
            untranslated.append(name)
            continue
        targets[name] = target
        if row.get("status") == "outdated" or row.get("source_sha256") != piece["source_sha256"]:
            outdated.append(name)
    own = {each.name: targets.get(f"page:{each.name}") for each in fields(WORDS)}
    words = replace(WORDS, **{name: target for name, target in own.items() if target})
    made = _Translator(targets, set(untranslated), words).book(book, locale)
    return LocaleEdition(made, words, locale, tuple(untranslated), tuple(outdated))


def _fits(source: str, target: str) -> bool:
    """Say whether a sentence with places to fill in still has these, and no other bracket."""
    rest = PLACEHOLDER.sub("", target)
    return (
        sorted(PLACEHOLDER.findall(source)) == sorted(PLACEHOLDER.findall(target))
        and "{" not in rest
        and "}" not in rest
    )


class _Translator:
    def __init__(self, targets: Mapping[str, str], missing: set[str], words: PageWords) -> None:
        self.targets = targets
        self.missing = missing
        self.words = words

    def __call__(self, name: str, text: str) -> str:
        return self.targets.get(name, text)

    def book(self, book: Book, locale: str) -> Book:
        return replace(
            book,
            title=self("title", book.title),
            language=locale,
            # Another language is another work to catalogs and to devices that keep a place.
            ifid=str(uuid5(NAMESPACE_URL, f"{book.ifid}/{locale}")).upper() if book.ifid else "",
            sections=tuple(self.section(each) for each in book.sections),
            gateways=tuple(self.gateway(each) for each in book.gateways),
            endings=tuple(
                replace(each, title=self(f"ending:{each.section}", each.title))
                for each in book.endings
            ),
            codex=tuple(
                replace(
                    each,
                    title=self(f"codex-title:{each.slug}", each.title),
                    overview=self(f"codex:{each.slug}", each.overview),
                    usage=self(f"codex-usage:{each.slug}", each.usage),
                    context=self(f"codex-context:{each.slug}", each.context),
                )
                for each in book.codex
            ),
            pictures=tuple(
                replace(
                    each,
                    alt=self(f"alt:{each.id}", each.alt),
                    caption=self(f"caption:{each.id}", each.caption),
                )
                for each in book.pictures
            ),
            cues=tuple(
                replace(
                    each,
                    caption=self(f"cue:{each.id}", each.caption),
                    description=self(f"sound:{each.id}", each.description),
                )
                for each in book.cues
            ),
            # What an import kept is in the words of the original.
            verbatim=(),
        )

    def section(self, section: Section) -> Section:
        name = f"section:{section.id}"
        text = self(name, section.text)
        if name in self.missing:
            text = f"[{self.words.untranslated}]\n\n{text}"
        return replace(
            section,
            title=self(f"title:{section.id}", section.title),
            text=text,
            choices=tuple(
                replace(each, label=self(f"choice:{each.id}", each.label))
                for each in section.choices
            ),
        )

    def gateway(self, gateway: Gateway) -> Gateway:
        return replace(
            gateway,
            refusal=self(f"gate:{gateway.id}", gateway.refusal),
            phrase=self(f"phrase:{gateway.id}", gateway.phrase),
        )
