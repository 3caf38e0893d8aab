"""Bible: the Story Bible of one project, read from the writer's files and written back to them.

It believes no claim: what a template is worth follows from what stands in its file.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from callboard.core.canonical import Json
from callboard.packs.writers_factory.bible.checks import CheckResult, check_fields
from callboard.packs.writers_factory.bible.checks.judgements import Judgements
from callboard.packs.writers_factory.bible.files.documents import Document
from callboard.packs.writers_factory.bible.files.shelf import BibleShelf
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
    RULES_FIELD,
    Beat,
    beat_points,
    known_fields,
    template_name,
)
from callboard.packs.writers_factory.bible.values import TemplateRefused, Value
from callboard.packs.writers_factory.bible.writing import (
    TemplateWriter,
    extended,
    refuse_unreadable,
    shaped_fields,
)
from callboard.packs.writers_factory.model import PlannedScene, TemplateName
from callboard.packs.writers_factory.workspace import Workspace

_REOPENED: Final = "template_reopened"

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
        self._writer = TemplateWriter(workspace, self._shelf, self._project, self._provenance)
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
        if self._writer.document(TemplateName.PROTAGONIST, told).sha256 is not None:
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
            refuse_unreadable(self._writer.document(known, facts), given)
        if strict:
            self._writer.refuse_failing(known, facts, given, replace)
        before = self._writer.document(known, facts).fields
        own = tuple(each for each in given if each not in {*known_fields(known), *before})
        there: Mapping[str, Value] = before if extends else {}
        await self._provenance.remember(known, extended(there, given), origin)
        saved = self._writer.save(known, facts, given, replace=replace, extends=extends)
        if extends:
            # Somebody else may have added to the same list since.
            added = {key: saved.document.fields[key] for key in given if given[key]}
            await self._provenance.remember(known, added, origin)
        await self._writer.record(known, saved, origin)
        return WriteOutcome(
            saved.document.path, self.template(known), saved.changed, saved.version, own
        )

    def versions(self, name: TemplateName | str) -> tuple[Mapping[str, Json], ...]:
        """Return the texts that were replaced, oldest first, each with where it is kept."""
        return self._writer.versions(name)

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
        document = self._writer.document(name, facts)
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
