"""Binding: a tree of plain blocks becomes an EPUB or a DOCX, through pandoc.

Pandoc is given the tree as JSON, so no reader of it runs on a scene; it runs in its own sandbox,
with an empty data folder, and may touch nothing but the file it writes.
"""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from callboard.core.canonical import Json, compact_json
from callboard.core.errors import CallboardError
from callboard.packs.writers_factory.revision.completion.page_tree import Node, without_controls

FORMATS: Final = {"epub": "epub3", "docx": "docx"}
_API_VERSION: Final = [1, 23, 1]


class BindingFailed(CallboardError):
    """The book could not be made in a format."""

    code = "binding_failed"


async def bind(blocks: Sequence[Node], facts: dict[str, str], suffix: str) -> bytes:
    """Return a book as the bytes of a file; facts stand in its metadata."""
    tree: Json = {
        "pandoc-api-version": _API_VERSION,
        "meta": {
            name: {"t": "MetaString", "c": without_controls(value)}
            for name, value in facts.items()
            if value.strip()
        },
        "blocks": list(blocks),
    }
    return await asyncio.to_thread(_convert, compact_json(tree), suffix)


def _convert(tree: str, suffix: str) -> bytes:
    import pypandoc

    with TemporaryDirectory(prefix="callboard-binding-") as folder:
        made = Path(folder) / f"book.{suffix}"
        empty = Path(folder) / "data"
        os.mkdir(empty)
        options = ["--sandbox", f"--data-dir={empty}"]
        pandoc: Any = pypandoc
        try:
            pandoc.convert_text(
                tree,
                FORMATS[suffix],
                format="json",
                outputfile=str(made),
                extra_args=options,
            )
        except (RuntimeError, OSError) as error:
            raise BindingFailed(
                f"The manuscript could not be made into {suffix}: {error}",
                fix="The Markdown export is there; convert it with a tool of your own.",
                format=suffix,
            ) from error
        return made.read_bytes()
