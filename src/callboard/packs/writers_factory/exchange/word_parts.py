"""The parts of a word file: measured before they are read, and refused if they mean harm."""

import io
import zipfile
from typing import TYPE_CHECKING, Final

from callboard.packs.writers_factory.exchange.pieces import MOST_BYTES, ImportRefused

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MOST_PARTS: Final = 5_000
_MOST_PART_BYTES: Final = 80_000_000
_MOST_DEPTH: Final = 100


def opened_archive(data: bytes, name: str, kind: str = "DOCX") -> zipfile.ZipFile:
    """Open a word file or a zipped folder, unless it is larger than any manuscript."""
    if len(data) > MOST_BYTES:
        raise ImportRefused(
            f"{name} has {len(data)} bytes", fix=f"A manuscript has at most {MOST_BYTES} bytes."
        )
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise ImportRefused(f"{name} is no {kind}: {error}", fix=f"Save it as {kind}.") from error
    if len(archive.infolist()) > _MOST_PARTS:
        raise ImportRefused(f"{name} holds more than {_MOST_PARTS} parts", fix="Save it anew.")
    return archive


def part_of(archive: zipfile.ZipFile, path: str, name: str) -> "Element | None":
    """Return one part as XML; one that is too large or declares a document type is refused."""
    from xml.etree import ElementTree

    try:
        with archive.open(path) as opened:
            text = opened.read(_MOST_PART_BYTES + 1)
    except KeyError:
        return None
    except (zipfile.BadZipFile, RuntimeError, OSError, EOFError, NotImplementedError) as error:
        raise ImportRefused(
            f"{path} in {name} cannot be read: {error}", fix="Save it anew."
        ) from error
    if len(text) > _MOST_PART_BYTES:
        raise ImportRefused(
            f"{path} in {name} grows to more than {_MOST_PART_BYTES} bytes",
            fix="Save it anew, without pictures.",
        )
    parser = ElementTree.XMLParser(target=_TreeMaker(f"{path} in {name}"))  # noqa: S314 - no entities
    try:
        for start in range(0, len(text), 1_000_000):
            parser.feed(text[start : start + 1_000_000])
        return parser.close()
    except ElementTree.ParseError as error:
        raise ImportRefused(f"{path} in {name} is no XML: {error}", fix="Save it anew.") from error


class _TreeMaker:
    """Makes the tree of a part that is not too deep and declares nothing."""

    def __init__(self, told: str) -> None:
        from xml.etree.ElementTree import TreeBuilder

        self._builder = TreeBuilder()
        self._told = told
        self._depth = 0

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        # An entity needs a document type, and no honest DOCX has one.
        raise ImportRefused(f"{self._told} declares a document type", fix="Save it anew.")

    def start(self, tag: str, attrs: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise ImportRefused(f"{self._told} is nested too deep", fix="Save it anew.")
        self._builder.start(tag, attrs)

    def end(self, tag: str) -> None:
        self._depth -= 1
        self._builder.end(tag)

    def data(self, data: str) -> None:
        self._builder.data(data)

    def close(self) -> "Element":
        return self._builder.close()
