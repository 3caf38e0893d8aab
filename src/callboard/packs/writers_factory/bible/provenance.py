"""Provenance: who or what each field came from, also when the writer edits the file by hand."""

import re
from collections.abc import Mapping
from typing import Any, Final

from callboard.core.canonical import Json, digest
from callboard.packs.writers_factory.bible.values import Value, clean_text
from callboard.packs.writers_factory.model import TemplateName
from callboard.packs.writers_factory.workspace import Workspace

EDITED: Final = "writer_edited"
STATED: Final = "writer_stated"
_KIND: Final = "template_sources"
_REMEMBERED: Final = 8
_MOST_CHARS: Final = 200
_NOTEBOOK: Final = re.compile(r"notebook:\s*(\S.*)", re.IGNORECASE)
_SAID: Final = {
    "user_stated": STATED,
    "writer_stated": STATED,
    "writer": STATED,
    "user": STATED,
    "brainstorm": "brainstorm",
}


class Provenance:
    """Remembers the source of every value that was written, by the value itself."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the open project."""
        self._workspace = workspace
        # Per template, what the sources were last worked out from, and the sources.
        self._known: dict[TemplateName, tuple[object, object, object, dict[str, str]]] = {}

    def sources(
        self, name: TemplateName, fields: Mapping[str, Value], told: Mapping[str, str]
    ) -> dict[str, str]:
        """Return where each field came from.

        A value nobody wrote through here was typed by the writer, unless the file is new to this
        project and says so itself.
        """
        body: dict[str, Any] = self._workspace.records.get(_KIND, name.value) or {}
        known = self._known.get(name)
        if known is not None and known[:3] == (body, fields, told):
            return known[3]
        found = {
            field: self._source(body.get(field), value, told.get(field))
            for field, value in fields.items()
        }
        self._known[name] = (body, fields, told, found)
        return found

    async def remember(self, name: TemplateName, fields: Mapping[str, Value], source: str) -> None:
        """Keep a source before its values are written.

        The old value keeps its old source, so a crash before the file is written changes nothing.
        """

        def work(body: dict[str, Any] | None) -> dict[str, Json]:
            known = dict(body or {})
            for field, value in fields.items():
                mark = digest(value)
                others = [each for each in known.get(field, []) if each["digest"] != mark]
                known[field] = [*others, {"digest": mark, "source": source}][-_REMEMBERED:]
            return known

        await self._workspace.records.change(_KIND, name.value, work)

    def _source(self, known: list[dict[str, str]] | None, value: Value, told: str | None) -> str:
        if not known:
            return told or EDITED
        mark = digest(value)
        found = next((each["source"] for each in known if each["digest"] == mark), None)
        return found or EDITED


def source_name(source: str) -> str:
    """Return a source as it is recorded, each known way of saying it as one; empty for none."""
    plain = " ".join(clean_text(source).split())[:_MOST_CHARS]
    notebook = _NOTEBOOK.fullmatch(plain)
    if notebook is not None:
        return f"notebook:{notebook[1]}"
    return _SAID.get(plain.casefold().replace(" ", "_"), plain)
