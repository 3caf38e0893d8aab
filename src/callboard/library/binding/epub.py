"""EPUB: a tree of blocks as a book for screens, a page for each heading of the first level.

Pages are made one after the other, so that a book takes as long as it has pages. The same book has
the same bytes.
"""

import asyncio
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from callboard.core.bundled import bundled_text
from callboard.library.binding.page import Page, words_of
from callboard.library.binding.prose_tree import Node, without_controls
from callboard.library.binding.volume import (
    FIRST_TIME,
    UNKNOWN_LANGUAGE,
    Cover,
    Volume,
    is_right_to_left,
    moment_of,
)

_STYLE: Final = "styles/stylesheet1.css"
_MEDIA: Final = {"png": "image/png", "jpg": "image/jpeg", "svg": "image/svg+xml"}
_INNER: Final = re.compile(r'href="#([^"]*)"')
_FEATURES: Final = ("alternativeText", "readingOrder", "structuralNavigation", "tableOfContents")
_CONTAINER: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<container version="1.0"'
    ' xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile'
    ' full-path="EPUB/content.opf" media-type="application/oebps-package+xml" /></rootfiles>'
    "</container>\n"
)


async def bind_epub(blocks: Iterable[Node], volume: Volume) -> bytes:
    """Return the book as an EPUB, with cover, title page and contents."""
    return await asyncio.to_thread(_bound, blocks, volume)


def _bound(blocks: Iterable[Node], volume: Volume) -> bytes:
    pages = list(_pages(blocks, volume))
    place = {name: page.file for page in pages for name in page.names}
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        # The first part of an EPUB says what it is, and must be readable as it lies there.
        _put(archive, "mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        _put(archive, "META-INF/container.xml", _CONTAINER)
        _put(archive, "EPUB/content.opf", _package(pages, volume))
        _put(archive, "EPUB/toc.ncx", _old_contents(pages, volume))
        _put(archive, "EPUB/nav.xhtml", _contents(pages, volume))
        _put(archive, "EPUB/text/title_page.xhtml", _title_page(volume))
        _put(archive, f"EPUB/{_STYLE}", bundled_text("callboard.library.binding", "epub.css"))
        for page in pages:
            body = _INNER.sub(lambda hit, here=page.file: _link(hit[1], here, place), page.body)
            _put(archive, f"EPUB/text/{page.file}", _document(page.title, body, volume))
        if volume.cover is not None:
            _put(archive, "EPUB/text/cover.xhtml", _cover_page(volume, volume.cover))
            _put(archive, f"EPUB/cover.{volume.cover.suffix}", volume.cover.data)
    return made.getvalue()


def _put(
    archive: zipfile.ZipFile, name: str, data: str | bytes, kind: int = zipfile.ZIP_DEFLATED
) -> None:
    entry = zipfile.ZipInfo(name, FIRST_TIME)
    entry.compress_type = kind
    archive.writestr(entry, data)


def _pages(blocks: Iterable[Node], volume: Volume) -> Iterator[Page]:
    """Yield the pages of a book as they come; what stands before all headings has its own."""
    number, page = 0, None
    told: list[str] = []
    for node in blocks:
        held: Any = node["c"]
        if page is None or (node["t"] == "Header" and held[0] == 1):
            if page is not None:
                page.finish(told)
                yield page
            number, told = number + 1, []
            page = Page(f"ch{number:03d}.xhtml", volume.title)
            if node["t"] == "Header" and held[0] == 1:
                page.anchor = held[1][0] or f"chapter_{number}"
                page.title = words_of(held[2]) or str(number)
                page.names.add(page.anchor)
                told.append(f"<h1>{page.words(held[2])}</h1>\n")
                continue
        told.append(page.block(node))
    if page is not None:
        page.finish(told)
        yield page


def _link(name: str, here: str, place: dict[str, str]) -> str:
    there = place.get(name, here)
    return f'href="#{name}"' if there == here else f'href="{there}#{name}"'


def _document(title: str, body: str, volume: Volume, matter: str = "bodymatter") -> str:
    tag = quoteattr(volume.language or UNKNOWN_LANGUAGE)
    turned = 'dir="rtl" ' if is_right_to_left(volume.language) else ""
    style = _STYLE if matter == "contents" else f"../{_STYLE}"
    kind = "frontmatter" if matter == "contents" else matter
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>\n<html {turned}'
        'xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"'
        f' lang={tag} xml:lang={tag}>\n<head>\n<meta charset="utf-8" />\n'
        f"<title>{_text(title)}</title>\n"
        f'<link rel="stylesheet" type="text/css" href="{style}" />\n</head>\n'
        f'<body epub:type="{kind}">\n<main>\n{body}</main>\n</body>\n</html>\n'
    )


def _text(text: str) -> str:
    return escape(without_controls(text))


def _title_page(volume: Volume) -> str:
    body = f'<section epub:type="titlepage" class="titlepage">\n<h1>{_text(volume.title)}</h1>\n'
    for kind, told in (("author", volume.author), ("date", volume.date)):
        body += f'<p class="{kind}">{_text(told)}</p>\n' if told.strip() else ""
    return _document(volume.title, f"{body}</section>\n", volume, "frontmatter")


def _cover_page(volume: Volume, cover: Cover) -> str:
    shown = quoteattr(without_controls(volume.cover_description))
    body = '<section epub:type="cover" class="cover">\n'
    body += f'<img src="../cover.{cover.suffix}" alt={shown} />\n</section>\n'
    return _document(volume.title, body, volume, "frontmatter")


def _contents(pages: Sequence[Page], volume: Volume) -> str:
    rows: list[str] = []
    for page in pages:
        below = "".join(
            f"<li><a href={quoteattr(f'text/{page.file}#{name}')}>{_text(title)}</a></li>\n"
            for name, title in page.parts
        )
        below = f"\n<ol>\n{below}</ol>\n" if below else ""
        link = f"<a href={quoteattr(f'text/{page.href}')}>{_text(page.title)}</a>"
        rows.append(f"<li>{link}{below}</li>\n")
    body = (
        f'<nav epub:type="toc" role="doc-toc" id="toc">\n<h1>{_text(volume.title)}</h1>\n'
        f'<ol class="toc">\n{"".join(rows)}</ol>\n</nav>\n'
        '<nav epub:type="landmarks" hidden="hidden">\n<ol>\n'
        f'<li><a href="text/title_page.xhtml" epub:type="titlepage">{_text(volume.title)}</a></li>'
        "\n</ol>\n</nav>\n"
    )
    return _document(volume.title, body, volume, "contents")


def _old_contents(pages: Sequence[Page], volume: Volume) -> str:
    """Return the contents as readers of EPUB 2 want them."""
    points = [(volume.title, "title_page.xhtml"), *((each.title, each.href) for each in pages)]
    told = "".join(
        f'<navPoint id="point-{number}"><navLabel><text>{_text(title)}</text></navLabel>'
        f"<content src={quoteattr(f'text/{href}')} /></navPoint>\n"
        for number, (title, href) in enumerate(points)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<ncx version="2005-1"'
        ' xmlns="http://www.daisy.org/z3986/2005/ncx/">\n<head><meta name="dtb:uid"'
        f" content={quoteattr(volume.identifier)} /></head>\n"
        f"<docTitle><text>{_text(volume.title)}</text></docTitle>\n<navMap>\n{told}</navMap>\n</ncx>\n"
    )


def _package(pages: Sequence[Page], volume: Volume) -> str:
    tag, cover = volume.language or UNKNOWN_LANGUAGE, volume.cover
    meta = [
        f'<dc:identifier id="book-id">{_text(volume.identifier)}</dc:identifier>',
        f"<dc:title>{_text(volume.title)}</dc:title>",
        f"<dc:language>{_text(tag)}</dc:language>",
        f'<meta property="dcterms:modified">{moment_of(volume)}</meta>',
        '<meta property="schema:accessMode">textual</meta>',
        '<meta property="schema:accessModeSufficient">textual</meta>',
        *(f'<meta property="schema:accessibilityFeature">{each}</meta>' for each in _FEATURES),
        '<meta property="schema:accessibilityHazard">none</meta>',
    ]
    if volume.author.strip():
        meta.append(f'<dc:creator id="author">{_text(volume.author)}</dc:creator>')
        role = 'refines="#author" property="role" scheme="marc:relators"'
        meta.append(f"<meta {role}>aut</meta>")
    meta += [f"<dc:date>{_text(volume.date)}</dc:date>"] if volume.date.strip() else []
    held = [
        ("ncx", "toc.ncx", "application/x-dtbncx+xml", ""),
        ("nav", "nav.xhtml", "", ' properties="nav"'),
        ("style", _STYLE, "text/css", ""),
        ("title_page", "text/title_page.xhtml", "", ""),
        *((page.file.partition(".")[0], f"text/{page.file}", "", "") for page in pages),
    ]
    spine = ["title_page", "nav", *(page.file.partition(".")[0] for page in pages)]
    if cover is not None:
        picture, kind = f"cover.{cover.suffix}", _MEDIA[cover.suffix]
        held.append(("cover-image", picture, kind, ' properties="cover-image"'))
        held.append(("cover-page", "text/cover.xhtml", "", ""))
        meta.append('<meta name="cover" content="cover-image" />')
        spine.insert(0, "cover-page")
    items = [
        f'<item id="{name}" href="{href}" media-type="{kind or "application/xhtml+xml"}"{more} />'
        for name, href, kind, more in held
    ]
    turned = ' page-progression-direction="rtl"' if is_right_to_left(volume.language) else ""
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<package version="3.0" xmlns="http://www.idpf.org/2007/opf"'
            f' xml:lang={quoteattr(tag)} unique-identifier="book-id">',
            '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">',
            *meta,
            "</metadata>\n<manifest>",
            *items,
            f'</manifest>\n<spine toc="ncx"{turned}>',
            *(f'<itemref idref="{each}" />' for each in spine),
            "</spine>\n</package>\n",
        ]
    )
