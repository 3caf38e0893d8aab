"""What is wrong with the build of an EPUB 3, told without any library: a few rules of its standard.

`epubcheck` knows them all; these are the ones a change of the export is likely to break.
"""

import io
import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from urllib.parse import unquote, urldefrag
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

OPF = "{http://www.idpf.org/2007/opf}"
DC = "{http://purl.org/dc/elements/1.1/}"
XHTML = "{http://www.w3.org/1999/xhtml}"
BOX = "{urn:oasis:names:tc:opendocument:xmlns:container}"
OPS = "{http://www.idpf.org/2007/ops}"
_MODIFIED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_NAME = re.compile(r"[A-Za-z_][\w.\-]*")
# What holds paragraphs, and what a paragraph may not hold.
_BLOCKS = frozenset({"p", "div", "section", "aside", "blockquote", "ul", "ol", "h1", "h2", "hr"})
_EMPTY = frozenset({"br", "hr", "img", "link", "meta"})


def epub_faults(data: bytes) -> list[str]:
    """Return everything that is wrong, in words."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        held = {name: archive.read(name) for name in names}
        first = archive.infolist()[0]
    faults = [f"{name} is there {n} times" for name, n in Counter(names).items() if n > 1]
    if first.filename != "mimetype" or first.compress_type != zipfile.ZIP_STORED or first.extra:
        faults.append("the first entry is no plain mimetype")
    if held.get("mimetype") != b"application/epub+zip":
        faults.append("the mimetype is another one")
    parsed: dict[str, Element] = {}
    for name, text in held.items():
        if name.endswith((".xhtml", ".opf", ".xml", ".ncx", ".svg")):
            try:
                parsed[name] = ElementTree.fromstring(text)  # noqa: S314 - made by the test
            except ElementTree.ParseError as error:
                faults.append(f"{name} is no XML: {error}")
    found = parsed["META-INF/container.xml"].find(f".//{BOX}rootfile")
    if found is None or (path := str(found.get("full-path"))) not in parsed:
        return [*faults, "the container names no package"]
    return [*faults, *_package(path, parsed[path], held, parsed)]


def _package(
    path: str, package: Element, held: dict[str, bytes], parsed: dict[str, Element]
) -> Iterator[str]:
    folder = posixpath.dirname(path)
    items = list(package.iter(f"{OPF}item"))
    files = {str(e.get("id")): posixpath.normpath(f"{folder}/{e.get('href')}") for e in items}
    yield from _metadata(package)
    if len(files) != len(items) or len(set(files.values())) != len(items):
        yield "an item of the manifest is there twice"
    known = {"mimetype", "META-INF/container.xml", path}
    yield from (f"{each} is missing" for each in set(files.values()) - held.keys())
    for each in held.keys() - set(files.values()) - known:
        if not each.startswith("META-INF/") and not each.endswith("/"):
            yield f"{each} is not in the manifest"
    kinds = {str(e.get("id")): set(str(e.get("properties") or "").split()) for e in items}
    navs = [name for name, told in kinds.items() if "nav" in told]
    covers = [name for name, told in kinds.items() if "cover-image" in told]
    if len(navs) != 1 or len(covers) > 1:
        yield f"{len(navs)} navigations and {len(covers)} covers"
    spine = [str(each.get("idref")) for each in package.iter(f"{OPF}itemref")]
    if not spine or len(set(spine)) != len(spine) or not set(spine) <= files.keys():
        yield f"the spine is {spine}"
    for item in items:
        name = files[str(item.get("id"))]
        if item.get("media-type") == "application/xhtml+xml" and name in parsed:
            yield from _page(name, parsed, set(files.values()), kinds[str(item.get("id"))])
    if navs and files[navs[0]] in parsed:
        yield from _contents(files[navs[0]], parsed[files[navs[0]]], [files[e] for e in spine])


def _metadata(package: Element) -> Iterator[str]:
    wanted = str(package.get("unique-identifier"))
    ids = [e for e in package.iter(f"{DC}identifier") if e.get("id") == wanted and e.text]
    if package.get("version") != "3.0" or len(ids) != 1:
        yield "the package has no version or no identifier"
    for name in ("title", "language"):
        if not [e for e in package.iter(f"{DC}{name}") if (e.text or "").strip()]:
            yield f"nobody said the {name}"
    told = [e.text for e in package.iter(f"{OPF}meta") if e.get("property") == "dcterms:modified"]
    if len(told) != 1 or not _MODIFIED.fullmatch(told[0] or ""):
        yield f"modified: {told}"


def _page(name: str, parsed: dict[str, Element], files: set[str], told: set[str]) -> Iterator[str]:
    page = parsed[name]
    ids = [str(each.get("id")) for each in page.iter() if each.get("id") is not None]
    twice = [each for each, count in Counter(ids).items() if count > 1]
    yield from (f"{name}: the id {each!r} is there twice" for each in twice)
    yield from (f"{name}: {each!r} is no id" for each in ids if not _NAME.fullmatch(each))
    if not (page.findtext(f"{XHTML}head/{XHTML}title") or "").strip():
        yield f"{name} has no title"
    if any(each.tag.endswith("}svg") for each in page.iter()) and "svg" not in told:
        yield f"{name} holds SVG and does not say so"
    for each in page.iter():
        yield from (f"{name}: {fault}" for fault in _element(each))
        for key in ("href", "src", "{http://www.w3.org/1999/xlink}href"):
            if (link := each.get(key)) is not None:
                yield from _link(name, link, parsed, files)


def _element(each: Element) -> Iterator[str]:
    kind, inside = str(each.tag).removeprefix(XHTML), {str(e.tag).removeprefix(XHTML) for e in each}
    if kind in ("script", "iframe", "object", "embed", "form"):
        yield f"{kind} is no part of a book"
    if kind == "p" and inside & _BLOCKS:
        yield f"a paragraph holds {inside & _BLOCKS}"
    if kind in ("ol", "ul") and inside - {"li"}:
        yield "a list holds what is no item"
    if kind in _EMPTY and (inside or (each.text or "").strip()):
        yield f"{kind} holds something"
    if kind == "img" and each.get("alt") is None:
        yield "a picture has no words"


def _link(name: str, link: str, parsed: dict[str, Element], files: set[str]) -> Iterator[str]:
    path, place = urldefrag(link)
    if re.match(r"[a-z][a-z0-9+.\-]*:", path):
        if not path.startswith(("http:", "https:", "mailto:")):
            yield f"{name} leads to {link}"
        return
    target = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(path)))
    target = target if path else name
    if target not in files:
        yield f"{name} leads to {link}, which is not in the book"
    elif place and not [e for e in parsed[target].iter() if e.get("id") == unquote(place)]:
        yield f"{name} leads to {link}, where nothing is"


def _contents(name: str, nav: Element, spine: list[str]) -> Iterator[str]:
    tables = [e for e in nav.iter(f"{XHTML}nav") if e.get(f"{OPS}type") == "toc"]
    if len(tables) != 1:
        yield f"{name} has {len(tables)} tables of contents"
        return
    links = [str(e.get("href")) for e in tables[0].iter(f"{XHTML}a")]
    pages = [
        posixpath.normpath(posixpath.join(posixpath.dirname(name), urldefrag(e)[0])) for e in links
    ]
    if not pages or [p for p in pages if p not in spine]:
        yield f"{name} names {pages}, the spine is {spine}"
    elif pages != sorted(pages, key=spine.index):
        yield f"{name} is not in the order of the book"
    for each in tables[0].iter(f"{XHTML}a"):
        if not "".join(each.itertext()).strip():
            yield f"{name} names nothing"
