"""Writing a template: fields into the writer's own file, with the text before it kept."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.packs.writers_factory.bible.checks import check_fields
from callboard.packs.writers_factory.bible.files.documents import Document
from callboard.packs.writers_factory.bible.files.shelf import BibleShelf, Saved
from callboard.packs.writers_factory.bible.project import ProjectFacts, ProjectRecord
from callboard.packs.writers_factory.bible.provenance import Provenance
from callboard.packs.writers_factory.bible.shapes import (
    RESERVED,
    character_path,
    shaped,
    spread,
    template_name,
)
from callboard.packs.writers_factory.bible.values import (
    BadValue,
    ChecksFailed,
    TemplateRefused,
    TemplateUnreadable,
    Value,
    as_list,
)
from callboard.packs.writers_factory.model import TemplateName
from callboard.packs.writers_factory.workspace import Workspace

_VERSIONS: Final = "template_versions"
_MOST_VERSIONS: Final = 200


class TemplateWriter:
    """Writes the files of the four templates."""

    def __init__(
        self, workspace: Workspace, shelf: BibleShelf, project: ProjectRecord, kept: Provenance
    ) -> None:
        """Take the open project, its files, its facts, and where what is in them comes from."""
        self._workspace = workspace
        self._shelf = shelf
        self._project = project
        self._provenance = kept

    def document(self, name: TemplateName, facts: ProjectFacts) -> Document:
        """Return the file of a template as it is now."""
        return self._shelf.read(name, self._shelf.locate(name, facts))

    def refuse_failing(
        self, name: TemplateName, facts: ProjectFacts, given: Mapping[str, Value], replace: bool
    ) -> None:
        """Refuse fields with which the file would fail a check."""
        after = self._merged(self.document(name, facts), facts, given, replace)
        failed = [each for each in check_fields(name, after.fields) if not each.passed]
        if failed:
            raise ChecksFailed(
                f"{name.value} was not written: {'; '.join(each.reason for each in failed)}",
                fix="Mend what is named, or write it without `strict` and mend it later.",
                failed_checks=[each.to_json() for each in failed],
            )

    def save(
        self,
        name: TemplateName,
        facts: ProjectFacts,
        given: dict[str, Value],
        *,
        replace: bool,
        extends: bool,
    ) -> Saved:
        """Write fields into the file of a template, if they change anything."""
        with self._shelf.held():
            before = self._opened(name, facts, given)
            if not replace:
                # An editor may have broken it since it was looked at.
                refuse_unreadable(before, given)
            wanted = extended(before.fields, given) if extends else given
            after = self._merged(before, facts, wanted, replace)
            is_same = not before.problems and before.sha256 is not None
            if is_same and dict(after.fields) == dict(before.fields):
                return Saved(before, False)
            return self._shelf.save(before, after)

    def _opened(
        self, name: TemplateName, facts: ProjectFacts, given: Mapping[str, Value]
    ) -> Document:
        """Return the file that is to be written, moved first if the protagonist has a new name."""
        path = self._shelf.locate(name, facts)
        if name is TemplateName.PROTAGONIST and given.get("name"):
            wanted = character_path(str(given["name"]))
            if wanted != path:
                before = self._shelf.read(name, path)
                self._shelf.move(path, wanted)
                there = self._shelf.read(name, wanted)
                return _joined(there, before)
        return self._shelf.read(name, path)

    def _merged(
        self, before: Document, facts: ProjectFacts, given: Mapping[str, Value], drop: bool
    ) -> Document:
        base = {} if drop else dict(before.fields)
        if before.name is TemplateName.PROTAGONIST:
            named = before.fields.get("name") or facts.protagonist_name
            base = {"name": named, **base}
        merged = {key: value for key, value in {**base, **given}.items() if value}
        sources = self._provenance.sources(before.name, merged, before.sources)
        return replace(before, fields=merged, sources=sources, problems=())

    async def record(self, name: TemplateName, saved: Saved, source: str) -> None:
        """Keep on record who the protagonist is now, and where the text before is kept."""
        if name is TemplateName.PROTAGONIST:
            told = {"protagonist_file": saved.document.path}
            # A name that was taken back is nobody's.
            told["protagonist_name"] = str(saved.document.fields.get("name") or "")
            await self._project.change(told)
        if saved.version is None:
            return
        entry: dict[str, Json] = {
            "version": saved.version,
            "path": saved.document.path,
            "replaced_by": source,
            "at": self._workspace.studio.clock.now_ms(),
        }

        def work(body: dict[str, Any] | None) -> dict[str, Json]:
            return {"held": [*(body or {}).get("held", []), entry][-_MOST_VERSIONS:]}

        await self._workspace.records.change(_VERSIONS, name.value, work)

    def versions(self, name: TemplateName | str) -> tuple[Mapping[str, Json], ...]:
        """Return the texts that were replaced, oldest first, each with where it is kept."""
        body = self._workspace.records.get(_VERSIONS, template_name(name).value) or {}
        return tuple(body.get("held", []))


def refuse_unreadable(document: Document, given: Mapping[str, Value]) -> None:
    """Refuse to write into a file that cannot be read, but for the fields that are given."""
    broken = [each for each in document.problems if each.field not in given]
    if broken:
        raise TemplateUnreadable(
            f"Nothing was written: {broken[0]}",
            fix="Mend the file, or write the whole template anew; its text is then kept as a"
            " version.",
            path=document.path,
            line=broken[0].line,
        )


def _joined(there: Document, before: Document) -> Document:
    # The file of the new name may already be the writer's own; what it says stands below.
    return replace(there, fields={**there.fields, **before.fields})


def extended(there: Mapping[str, Value], given: Mapping[str, Value]) -> dict[str, Value]:
    """Return what was given with the lists that are there already in front of it."""
    return {
        key: as_list([*as_list(there.get(key, "")), *value]) if isinstance(value, list) else value
        for key, value in given.items()
    }


def shaped_fields(name: TemplateName, fields: Mapping[str, Json]) -> dict[str, Value]:
    """Return fields as a template keeps them, or refuse all of them with what is wrong."""
    given: dict[str, Value] = {}
    wrong: list[str] = []
    for key, value in spread(name, fields).items():
        if key in RESERVED:
            continue
        try:
            given[key] = shaped(name, key, value)
        except BadValue as error:
            wrong.append(f"{key} {error}")
    if wrong:
        raise TemplateRefused(
            f"{name.value} was not written: {'; '.join(wrong)}",
            fix="Correct these fields and write again.",
            fields=wrong,
        )
    return given
