"""Volume: what a book is made of beside its tree, and the tree as a manuscript in DOCX.

The converter runs in its sandbox and sees nothing but the tree and our styles.
What it writes is put together anew with fixed times, so the same book has the same bytes.
"""

import asyncio
import io
import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from xml.sax.saxutils import escape

from callboard.core.canonical import Json, compact_json
from callboard.core.clock import iso
from callboard.core.errors import CallboardError
from callboard.library.binding.prose_tree import Node, without_controls

UNKNOWN_LANGUAGE: Final = "und"
FORMATS: Final = ("epub", "docx")
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
_RIGHT_LANGUAGES: Final = frozenset(
    ("ar", "arc", "ckb", "dv", "fa", "he", "iw", "ks", "ps", "sd", "ug", "ur", "yi")
)
_RIGHT_SCRIPTS: Final = frozenset(
    ("adlm", "arab", "aran", "hebr", "mand", "nkoo", "rohg", "samr", "syrc", "thaa")
)
_SCRIPT_LETTERS: Final = 4
FIRST_TIME: Final = (1980, 1, 1, 0, 0, 0)


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


async def bind_manuscript(blocks: Sequence[Node], volume: Volume) -> bytes:
    """Return the book as a typescript for an editor's desk, in the usual format."""
    return _timeless(await asyncio.to_thread(_convert, _tree(blocks, volume), volume), volume)


def _tree(blocks: Sequence[Node], volume: Volume) -> str:
    language = {"t": "MetaString", "c": without_controls(volume.language)}
    meta: Json = {"lang": language} if volume.language.strip() else {}
    tree: Json = {"pandoc-api-version": _API_VERSION, "meta": meta, "blocks": list(blocks)}
    return compact_json(tree)


def _convert(tree: str, volume: Volume) -> bytes:
    import pypandoc

    running = " / ".join(filter(None, (volume.running_name, volume.title.upper())))
    with TemporaryDirectory(prefix="callboard-binding-") as name:
        folder = Path(name)
        made, empty, reference = folder / "book.docx", folder / "data", folder / "reference.docx"
        os.mkdir(empty)
        with zipfile.ZipFile(reference, "w") as archive:
            for part, source in _PARTS.items():
                text = (_HERE / "word" / source).read_text("utf-8")
                archive.writestr(part, text.replace("RUNNING_WORDS", _plain(running)))
        pandoc: Any = pypandoc
        try:
            pandoc.convert_text(
                tree,
                "docx",
                format="json",
                outputfile=str(made),
                extra_args=["--sandbox", f"--data-dir={empty}", f"--reference-doc={reference}"],
            )
        except (RuntimeError, OSError) as error:
            raise BindingFailed(
                f"The manuscript could not be made into docx: {error}",
                fix="The Markdown export is there; convert it with a tool of your own.",
                format="docx",
            ) from error
        return made.read_bytes()


def _timeless(data: bytes, volume: Volume) -> bytes:
    """Put an archive together anew, in its order, without the hour it was made at."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as found, zipfile.ZipFile(made, "w") as archive:
        for name in found.namelist():
            entry = zipfile.ZipInfo(name, FIRST_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            is_told = name == "docProps/core.xml"
            archive.writestr(entry, _properties(volume) if is_told else found.read(name))
    return made.getvalue()


def _properties(volume: Volume) -> bytes:
    at = moment_of(volume)
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


def moment_of(volume: Volume) -> str:
    """Return when a book was changed last, as its files say it."""
    return f"{iso(volume.changed_at_ms)[:19]}Z"
