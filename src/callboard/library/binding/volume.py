"""Volume: a tree of blocks becomes the bytes of an EPUB or of a manuscript in DOCX.

The converter runs in its sandbox and sees nothing but the tree, our styles and a checked cover.
What it writes is put together anew with fixed times, so the same book has the same bytes.
"""

import asyncio
import io
import os
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from callboard.core.canonical import Json, compact_json
from callboard.core.clock import iso
from callboard.core.errors import CallboardError
from callboard.library.binding.prose_tree import Node, without_controls

UNKNOWN_LANGUAGE: Final = "und"
FORMATS: Final = {"epub": "epub3", "docx": "docx"}
_API_VERSION: Final = [1, 23, 1]
_HERE: Final = Path(__file__).parent
_PARTS: Final = {
    "[Content_Types].xml": "content_types.xml",
    "_rels/.rels": "package_rels.xml",
    "word/_rels/document.xml.rels": "document_rels.xml",
    "word/document.xml": "document.xml",
    "word/styles.xml": "styles.xml",
    "word/header1.xml": "header1.xml",
    "word/header2.xml": "header2.xml",
}
_MODIFIED: Final = re.compile(rb'(<meta property="dcterms:modified">)[^<]*')
_FILE_TITLE: Final = re.compile(rb"<title>[\w-]+\.xhtml</title>")
_HEADING: Final = re.compile(rb"<h[1-6]\b[^<>]*>")
_TAG: Final = re.compile(rb"<[^<>]*>")
_SPINE: Final = re.compile(r"<spine[^>]*>")
_RIGHT_LANGUAGES: Final = frozenset(
    ("ar", "arc", "ckb", "dv", "fa", "he", "iw", "ks", "ps", "sd", "ug", "ur", "yi")
)
_RIGHT_SCRIPTS: Final = frozenset(
    ("adlm", "arab", "aran", "hebr", "mand", "nkoo", "rohg", "samr", "syrc", "thaa")
)
_SCRIPT_LETTERS: Final = 4
_TURNED: Final = b'<html dir="rtl" '
_MEDIA: Final = {"png": "image/png", "jpg": "image/jpeg", "svg": "image/svg+xml"}
_FIRST_TIME: Final = (1980, 1, 1, 0, 0, 0)


def is_right_to_left(language: str) -> bool:
    """Say whether a language is written from the right: by its script if told, else by itself."""
    first, *others = language.strip().lower().split("-")
    script = next((each for each in others if len(each) == _SCRIPT_LETTERS), "")
    return script in _RIGHT_SCRIPTS if script else first in _RIGHT_LANGUAGES


class BindingFailed(CallboardError):
    """The book could not be made in a format."""

    code = "binding_failed"


@dataclass(frozen=True, slots=True)
class Cover:
    """A picture for the front of a book; the suffix says what it is."""

    data: bytes
    suffix: str


@dataclass(frozen=True, slots=True)
class Volume:
    """What a book is made of beside its tree; what nobody has said is empty.

    `running_name` heads the pages of a manuscript, `cover_description` says what a cover shows.
    """

    title: str
    identifier: str
    changed_at_ms: int
    author: str = ""
    date: str = ""
    language: str = ""
    running_name: str = ""
    cover: Cover | None = None
    cover_description: str = ""


async def bind_epub(blocks: Sequence[Node], volume: Volume) -> bytes:
    """Return the book as an EPUB, with cover, title page and contents."""
    meta = {
        "title": volume.title,
        "author": volume.author,
        "date": volume.date,
        "lang": volume.language or UNKNOWN_LANGUAGE,
        "identifier": volume.identifier,
    }
    if is_right_to_left(volume.language):
        meta["page-progression-direction"] = "rtl"
    made = await asyncio.to_thread(
        _convert, _tree(blocks, meta), "epub", lambda _: ["--toc", "--split-level=1"]
    )
    return _joined(made, lambda parts: _mended_epub(parts, volume))


async def bind_manuscript(blocks: Sequence[Node], volume: Volume) -> bytes:
    """Return the book as a typescript for an editor's desk, in the usual format."""
    running = " / ".join(filter(None, (volume.running_name, volume.title.upper())))

    def options(folder: Path) -> list[str]:
        reference = folder / "reference.docx"
        with zipfile.ZipFile(reference, "w") as archive:
            for name, source in _PARTS.items():
                text = (_HERE / "word" / source).read_text("utf-8")
                archive.writestr(name, text.replace("RUNNING_WORDS", _plain(running)))
        return [f"--reference-doc={reference}"]

    made = await asyncio.to_thread(
        _convert, _tree(blocks, {"lang": volume.language}), "docx", options
    )
    return _joined(made, lambda parts: {**parts, "docProps/core.xml": _properties(volume)})


def _tree(blocks: Sequence[Node], meta: Mapping[str, str]) -> str:
    named: Json = {
        name: {"t": "MetaString", "c": without_controls(value)}
        for name, value in meta.items()
        if value.strip()
    }
    tree: Json = {"pandoc-api-version": _API_VERSION, "meta": named, "blocks": list(blocks)}
    return compact_json(tree)


def _convert(tree: str, suffix: str, options: Callable[[Path], list[str]]) -> bytes:
    import pypandoc

    with TemporaryDirectory(prefix="callboard-binding-") as name:
        folder = Path(name)
        made, empty = folder / f"book.{suffix}", folder / "data"
        os.mkdir(empty)
        pandoc: Any = pypandoc
        try:
            pandoc.convert_text(
                tree,
                FORMATS[suffix],
                format="json",
                outputfile=str(made),
                extra_args=["--sandbox", f"--data-dir={empty}", *options(folder)],
            )
        except (RuntimeError, OSError) as error:
            raise BindingFailed(
                f"The manuscript could not be made into {suffix}: {error}",
                fix="The Markdown export is there; convert it with a tool of your own.",
                format=suffix,
            ) from error
        return made.read_bytes()


_Parts = dict[str, bytes]


def _joined(data: bytes, mend: Callable[[_Parts], _Parts]) -> bytes:
    """Put an archive together anew: mended, in its order, without the hour it was made at."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = mend({name: archive.read(name) for name in archive.namelist()})
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name, _FIRST_TIME)
            # The first part of an EPUB says what it is, and must be readable as it lies there.
            entry.compress_type = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return made.getvalue()


def _mended_epub(parts: _Parts, volume: Volume) -> _Parts:
    changed = _moment(volume).encode()
    opf = _MODIFIED.sub(rb"\g<1>" + changed, parts["EPUB/content.opf"])
    style = (_HERE / "epub.css").read_bytes()
    if is_right_to_left(volume.language):
        pages = {name: data for name, data in parts.items() if name.endswith(".xhtml")}
        turned = ((name, data.replace(b"<html ", _TURNED, 1)) for name, data in pages.items())
        parts = {**parts, **dict(turned)}
    mended = {**parts, "EPUB/content.opf": opf, "EPUB/styles/stylesheet1.css": style}
    mended |= {name: _titled(data) for name, data in mended.items() if name.endswith(".xhtml")}
    return mended if volume.cover is None else _covered(mended, volume, volume.cover)


def _titled(page: bytes) -> bytes:
    """Name a page after its heading; the converter names it after its file."""
    heading = _HEADING.search(page)
    if heading is None:
        return page
    end = page.find(b"</h", heading.end())
    words = _TAG.sub(b"", page[heading.end() : end]).strip() if end >= 0 else b""
    return page if not words else _FILE_TITLE.sub(lambda _: b"<title>%b</title>" % words, page)


def _covered(parts: _Parts, volume: Volume, cover: Cover) -> _Parts:
    """Put a cover before the title page; the converter's sandbox lets it read no picture."""
    picture = f"cover.{cover.suffix}"
    page = (_HERE / "cover_page.html").read_text("utf-8")
    for name, value in {
        "LANGUAGE": volume.language or UNKNOWN_LANGUAGE,
        "TITLE": _plain(volume.title),
        "PICTURE": picture,
        '"DESCRIPTION"': quoteattr(without_controls(volume.cover_description)),
    }.items():
        page = page.replace(name, value)
    opf = parts["EPUB/content.opf"].decode()
    listed = (
        f'<item id="cover-image" href="{picture}" media-type="{_MEDIA[cover.suffix]}"'
        ' properties="cover-image" />\n    <item id="cover-page" href="text/cover.xhtml"'
        ' media-type="application/xhtml+xml" />\n  </manifest>'
    )
    opf = opf.replace("</manifest>", listed, 1)
    opf = _SPINE.sub(r'\g<0>\n    <itemref idref="cover-page" />', opf, count=1)
    opf = opf.replace(
        "</metadata>", '<meta name="cover" content="cover-image" />\n  </metadata>', 1
    )
    return {
        **parts,
        "EPUB/content.opf": opf.encode(),
        "EPUB/text/cover.xhtml": page.encode(),
        f"EPUB/{picture}": cover.data,
    }


def _properties(volume: Volume) -> bytes:
    at = _moment(volume)
    told = f"<dc:title>{_plain(volume.title)}</dc:title>"
    told += f"<dc:creator>{_plain(volume.author)}</dc:creator>" if volume.author else ""
    times = "".join(
        f'<dcterms:{name} xsi:type="dcterms:W3CDTF">{at}</dcterms:{name}>'
        for name in ("created", "modified")
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<cp:coreProperties'
        ' xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"'
        ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"{told}{times}</cp:coreProperties>"
    ).encode()


def _plain(text: str) -> str:
    return escape(without_controls(text))


def _moment(volume: Volume) -> str:
    return f"{iso(volume.changed_at_ms)[:19]}Z"
