"""Bible: the Story Bible of one project, read from the writer's files and written back to them.

It believes no claim: what a template is worth follows from what stands in its file.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.packs.writers_factory.bible.checks import CheckResult, check_fields
from callboard.packs.writers_factory.bible.checks.judgements import Judgements
from callboard.packs.writers_factory.bible.files.documents import Document
from callboard.packs.writers_factory.bible.files.shelf import BibleShelf, Saved
from callboard.packs.writers_factory.bible.orders import (
    NotebookLabel,
    Template,
    WorkOrder,
    split_fields,
    status_of,
)
from callboard.packs.writers_factory.bible.project import ProjectFacts, ProjectRecord
from callboard.packs.writers_factory.bible.provenance import Provenance, source_name
from callboard.packs.writers_factory.bible.shapes import (
    MIDPOINT,
    MIDPOINT_FIELD,
    RESERVED,
    RULES_FIELD,
    Beat,
    beat_points,
    character_path,
    known_fields,
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
from callboard.packs.writers_factory.model import PlannedScene, TemplateName
from callboard.packs.writers_factory.workspace import Workspace

_VERSIONS: Final = "template_versions"
_REOPENED: Final = "template_reopened"
_MOST_VERSIONS: Final = 200

Notebooks = Callable[[], Mapping[str, NotebookLabel]]


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """What became of a template that was written."""

    path: str
    template: Template
    changed: bool
    # Where the text that was replaced is kept.
    version: str | None = None
    # Fields that came in by this and are none of the template's own.
    own_fields: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may be a slip: a field nobody reads is kept, and fills no other."""
        known = ", ".join(known_fields(self.template.name))
        return tuple(
            f"{each} is kept as a field of your own; {self.template.title} knows: {known}"
            for each in self.own_fields
        )

    @property
    def failed_checks(self) -> tuple[CheckResult, ...]:
        """The checks that keep it below complete."""
        return self.template.failed_checks


class Bible:
    """The four templates and the facts of a project."""

    def __init__(self, workspace: Workspace, notebooks: Notebooks | None = None) -> None:
        """Take the open project, and who knows which notebooks there are."""
        self.workspace = workspace
        self._notebooks = notebooks
        self._project = ProjectRecord(workspace)
        self._shelf = BibleShelf(workspace)
        self._provenance = Provenance(workspace)
        self._checked: dict[TemplateName, tuple[Document, tuple[CheckResult, ...]]] = {}
        self.judgements = Judgements(workspace)

    def project(self) -> ProjectFacts:
        """Return the facts of the project."""
        return self._project.read()

    async def found(self) -> ProjectFacts:
        """Give the project its id, unless it has one, and return its facts."""
        return await self._project.found()

    async def describe(self, **facts: str) -> ProjectFacts:
        """Change the title, genre, tone or protagonist's name; the project stays the same one."""
        facts.pop("protagonist_file", None)
        name = facts.pop("protagonist_name", None)
        told = await self._project.change(facts)
        if name is None or name.strip() == told.protagonist_name:
            return told
        if self._document(TemplateName.PROTAGONIST, told).sha256 is not None:
            await self.write(TemplateName.PROTAGONIST, {"name": name}, source="writer_stated")
            return self.project()
        return await self._project.change({"protagonist_name": name})

    def work_order(self) -> WorkOrder:
        """Return what is there and what is missing, from the files as they are now."""
        return self.workspace.studio.database.read(lambda _connection: self._order())

    def _order(self) -> WorkOrder:
        facts = self.project()
        templates = tuple(self._template(name, facts) for name in TemplateName)
        named = templates[0].text("name") or facts.protagonist_name
        return WorkOrder(
            facts.id,
            facts.title,
            named,
            facts.genre,
            facts.tone,
            templates,
            dict(self._notebooks()) if self._notebooks else {},
        )

    def template(self, name: TemplateName | str) -> Template:
        """Return one template as its file has it now."""
        return self._template(template_name(name), self.project())

    def checks(self, name: TemplateName | str) -> tuple[CheckResult, ...]:
        """Return every check of a template, passed or not."""
        return self.template(name).checks

    @property
    def protagonist(self) -> Mapping[str, Value]:
        """The protagonist's fields."""
        return self.template(TemplateName.PROTAGONIST).fields

    @property
    def theme(self) -> Mapping[str, Value]:
        """The theme's fields."""
        return self.template(TemplateName.THEME).fields

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules of the world."""
        value = self.template(TemplateName.WORLD_RULES).fields.get(RULES_FIELD) or ()
        return (value,) if isinstance(value, str) else tuple(value)

    def beats(self, outline: tuple[PlannedScene, ...] = ()) -> tuple[Beat, ...]:
        """Return the fifteen beats with what happens in each, and the scenes that serve it."""
        sheet = self.template(TemplateName.BEAT_SHEET)
        return tuple(
            Beat(
                point,
                sheet.text(point.field),
                (sheet.text(MIDPOINT_FIELD) or None) if point.number == MIDPOINT else None,
                tuple(scene.id for scene in outline if scene.beat_number == point.number),
            )
            for point in beat_points()
        )

    async def write(
        self,
        name: TemplateName | str,
        fields: Mapping[str, Json],
        *,
        source: str,
        replace: bool = False,
        strict: bool = False,
        extends: bool = False,
    ) -> WriteOutcome:
        """Write fields into a template's file; the others stay, unless `replace` drops them.

        Writing what is already there changes nothing. A file that cannot be read is only written
        over with `replace`, and its text is kept as a version. With `strict` nothing is written
        that fails a check. With `extends` lists are added to, whoever else adds to them meanwhile.
        """
        known = template_name(name)
        origin = source_name(source)
        if not origin:
            raise TemplateRefused(
                f"{known.value} cannot be written without a source",
                fix="Say where it comes from: notebook:<id>, brainstorm or writer_stated.",
            )
        given = shaped_fields(known, fields)
        facts = await self.found()
        if not replace:
            _refuse_unreadable(self._document(known, facts), given)
        if strict:
            self._refuse_failing(known, facts, given, replace)
        before = self._document(known, facts).fields
        own = tuple(each for each in given if each not in {*known_fields(known), *before})
        there: Mapping[str, Value] = before if extends else {}
        await self._provenance.remember(known, _extended(there, given), origin)
        saved = self._save(known, facts, given, replace=replace, extends=extends)
        if extends:
            # Somebody else may have added to the same list since.
            added = {key: saved.document.fields[key] for key in given if given[key]}
            await self._provenance.remember(known, added, origin)
        await self._record(known, saved, origin)
        return WriteOutcome(
            saved.document.path, self.template(known), saved.changed, saved.version, own
        )

    def versions(self, name: TemplateName | str) -> tuple[Mapping[str, Json], ...]:
        """Return the texts that were replaced, oldest first, each with where it is kept."""
        body = self.workspace.records.get(_VERSIONS, template_name(name).value) or {}
        return tuple(body.get("held", []))

    async def accept(self, name: TemplateName | str, check: str) -> Template:
        """Record that the writer keeps what a judge failed."""
        template = self.template(name)
        await self.judgements.accept(template.name, check, template.fields)
        return self.template(template.name)

    async def set_reopened(self, name: TemplateName, is_open: bool) -> None:
        """Mark a template as being revised, or no longer; while it is, it is not complete."""
        await self.workspace.records.put(_REOPENED, name.value, {"is_open": is_open})

    def is_reopened(self, name: TemplateName) -> bool:
        """Say whether a template is being revised."""
        return bool((self.workspace.records.get(_REOPENED, name.value) or {}).get("is_open"))

    def _template(self, name: TemplateName, facts: ProjectFacts) -> Template:
        document = self._document(name, facts)
        checks = self._checks(document)
        completed, missing = split_fields(name, document.fields)
        return Template(
            name,
            status_of(name, document.fields, checks, document.problems),
            document.fields,
            completed,
            missing,
            document.path,
            self._shelf.modified_ms(document.path),
            checks,
            self._provenance.sources(name, document.fields, document.sources),
            document.problems,
        )

    def _document(self, name: TemplateName, facts: ProjectFacts) -> Document:
        return self._shelf.read(name, self._shelf.locate(name, facts))

    def _checks(self, document: Document) -> tuple[CheckResult, ...]:
        name = document.name
        held = self._checked.get(name)
        if held is None or held[0] is not document:
            held = (document, check_fields(name, document.fields))
            self._checked[name] = held
        judged = self.judgements.applied(name, document.fields, held[1])
        if not self.is_reopened(name):
            return judged
        return (*judged, CheckResult("revision", name.value, False, "the writer is revising it"))

    def _refuse_failing(
        self, name: TemplateName, facts: ProjectFacts, given: Mapping[str, Value], replace: bool
    ) -> None:
        after = self._merged(self._document(name, facts), facts, given, replace)
        failed = [each for each in check_fields(name, after.fields) if not each.passed]
        if failed:
            raise ChecksFailed(
                f"{name.value} was not written: {'; '.join(each.reason for each in failed)}",
                fix="Mend what is named, or write it without `strict` and mend it later.",
                failed_checks=[each.to_json() for each in failed],
            )

    def _save(
        self,
        name: TemplateName,
        facts: ProjectFacts,
        given: dict[str, Value],
        *,
        replace: bool,
        extends: bool,
    ) -> Saved:
        with self._shelf.held():
            before = self._opened(name, facts, given)
            if not replace:
                # An editor may have broken it since it was looked at.
                _refuse_unreadable(before, given)
            wanted = _extended(before.fields, given) if extends else given
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

    async def _record(self, name: TemplateName, saved: Saved, source: str) -> None:
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
            "at": self.workspace.studio.clock.now_ms(),
        }

        def work(body: dict[str, Any] | None) -> dict[str, Json]:
            return {"held": [*(body or {}).get("held", []), entry][-_MOST_VERSIONS:]}

        await self.workspace.records.change(_VERSIONS, name.value, work)


def _refuse_unreadable(document: Document, given: Mapping[str, Value]) -> None:
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


def _extended(there: Mapping[str, Value], given: Mapping[str, Value]) -> dict[str, Value]:
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
