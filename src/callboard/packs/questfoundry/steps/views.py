"""Views: the files that readers get of a snapshot, in every language asked for, and their verdict.

What a view is called follows from its snapshot and from what it was built with.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

from callboard.core.canonical import digest, digest_bytes
from callboard.core.errors import Conflict, NotFound
from callboard.packs.questfoundry.book.model import Book
from callboard.packs.questfoundry.formats.edition import LocaleEdition, edition_of
from callboard.packs.questfoundry.formats.export import NUMBERS, PATHS, ExportOptions, build
from callboard.packs.questfoundry.foundry import Foundry
from callboard.packs.questfoundry.steps.reports import flaw, judged
from callboard.packs.questfoundry.verdict import Bar, BarFinding, GatecheckReport
from callboard.store.files import telling_refusals, write_atomically
from callboard.store.reading import read_bounded

EXPORTS: Final = "exports"
SURFACES: Final = "localized_surfaces/"
_MOST_BYTES: Final = 500_000_000


def view_name(request: Mapping[str, Any]) -> str:
    """Return what a view is called: its snapshot, and what it was built with."""
    return f"{request['snapshot']}-{digest(dict(request))[:8]}"


def view_folder(foundry: Foundry, name: str) -> Path:
    """Return where the files of a view lie."""
    return foundry.studio.project.root / EXPORTS / name


def bound_book(foundry: Foundry, request: Mapping[str, Any]) -> Book:
    """Return the book of a view: its snapshot, without what it leaves out."""
    book = foundry.cold_book(foundry.cold.find(str(request["snapshot"])))
    include = cast("dict[str, Any]", request.get("include") or {})
    if request.get("title"):
        book = replace(book, title=str(request["title"]))
    if not include.get("art"):
        book = replace(book, pictures=())
    return book if include.get("audio") else replace(book, cues=())


def editions(foundry: Foundry, request: Mapping[str, Any]) -> list[LocaleEdition]:
    """Return the editions of a view: the original first, then every language it names."""
    include = cast("dict[str, Any]", request.get("include") or {})
    book = bound_book(foundry, request)
    found = [LocaleEdition(book)]
    held = foundry.cold.contents(foundry.cold.find(str(request["snapshot"])))
    known = sorted(each.removeprefix(SURFACES) for each in held if each.startswith(SURFACES))
    for locale in dict.fromkeys(map(str, include.get("locales") or ())):
        if locale not in known:
            raise NotFound(
                f"{request['snapshot']} holds no translation {locale!r}",
                fix=f"There are {', '.join(known)}."
                if known
                else "Run `translation_pass`, then a gatecheck.",
            )
        made = edition_of(book, locale, held[f"{SURFACES}{locale}"].get("segments", ()))
        if made.untranslated and not request.get("partial"):
            raise Conflict(
                made.limitations()[0],
                fix="Finish it by `translation_pass`, or bind with --partial: what is not"
                " translated then stands in its own language, and says so.",
            )
        found.append(made)
    return found


async def write_view(foundry: Foundry, name: str, files: Mapping[str, bytes]) -> None:
    """Write the files of a view where readers find them."""
    folder, project = view_folder(foundry, name), foundry.studio.project

    def write() -> None:
        with telling_refusals(folder):
            for path, data in files.items():
                write_atomically(folder / path, data, within=project.root, kept=project.folder)

    await asyncio.to_thread(write)


def rows_of(
    name: str, made: Iterable[LocaleEdition], files: Mapping[str, bytes]
) -> list[dict[str, Any]]:
    """Return the files of a view with what they are: format, language and hash."""
    known = {
        each.path(path): (kind, each.locale)
        for each in made
        for kind, path in (*PATHS.items(), ("table", NUMBERS))
    }
    return [
        {
            "format": known[path][0],
            "path": f"{EXPORTS}/{name}/{path}",
            "sha256": digest_bytes(data),
            "locale": known[path][1],
        }
        for path, data in files.items()
    ]


async def make_files(made: Iterable[LocaleEdition], formats: Sequence[str]) -> dict[str, bytes]:
    """Build the formats that can be made here; what cannot is told as a limitation."""
    from callboard.packs.questfoundry.formats.writing.paper import can_print

    possible = [each for each in formats if each != "pdf" or can_print()]
    files: dict[str, bytes] = {}
    for each in made:
        built = await build(each.book, possible, ExportOptions(words=each.words))
        files |= {each.path(path): data for path, data in built.items()}
    return files


def built_files(foundry: Foundry, bundle: Mapping[str, Any]) -> dict[str, bytes]:
    """Read the files of a bundle; one that is not what was built is refused."""
    root = foundry.studio.project.root
    found: dict[str, bytes] = {}
    for row in cast("Sequence[Mapping[str, Any]]", bundle["files"]):
        path = root / str(row["path"])
        data = read_bounded(path, limit_bytes=_MOST_BYTES, within=root)
        found[path.name] = data
    return found


def judge_files(
    foundry: Foundry,
    made: Sequence[LocaleEdition],
    bars: Sequence[str],
    files: Mapping[str, bytes],
    again: Mapping[str, bytes],
) -> GatecheckReport:
    """Judge the files of all editions; labels of a translation are compared as it has them."""
    return judged(
        made[0].book,
        bars,
        "spot_check",
        (each for edition in made[1:] for each in _translated_flaws(edition)),
        surfaces=files,
        rebuilt=again,
        rules=foundry.rules,
    )


def _translated_flaws(edition: LocaleEdition) -> Iterator[tuple[Bar, BarFinding]]:
    report = judged(edition.book, [Bar.ACCESSIBILITY.value], "spot_check")
    for found in report.bar(Bar.ACCESSIBILITY).findings:
        place = f"{edition.locale}: {found.place}"
        told = replace(found, place=place, owner_role="translator", loop="translation_pass")
        yield Bar.ACCESSIBILITY, told
    for told in edition.limitations():
        fix = f"translate these pieces for {edition.locale}"
        yield flaw(
            "presentation", "translation", edition.locale, told, fix, "translator", status="yellow"
        )
