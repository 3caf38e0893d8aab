"""The work order: what each template holds, what it lacks, and how far the foundation has come.

Every status is computed from what is there. Nobody sets one. What is lacking is said exactly, with
the ways to fill it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from callboard.core.canonical import Json
from callboard.packs.writers_factory.bible.checks import CheckResult
from callboard.packs.writers_factory.bible.files.documents import BibleFileProblem
from callboard.packs.writers_factory.bible.shapes import (
    RULES_FIELD,
    RULES_LEAST,
    SHAPES,
    required_count,
    template_title,
)
from callboard.packs.writers_factory.bible.values import Value
from callboard.packs.writers_factory.model import TemplateName, TemplateStatus


@dataclass(frozen=True, slots=True)
class NotebookLabel:
    """A notebook as the work order lists it."""

    role: str
    title: str


@dataclass(frozen=True, slots=True)
class Template:
    """One of the four templates, as its file has it now."""

    name: TemplateName
    status: TemplateStatus
    fields: Mapping[str, Value]
    completed_fields: tuple[str, ...]
    missing_fields: tuple[str, ...]
    file_path: str
    updated_at: int | None = None
    checks: tuple[CheckResult, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict[str, str])
    problems: tuple[BibleFileProblem, ...] = ()

    @property
    def title(self) -> str:
        """How the template is shown to people."""
        return template_title(self.name)

    @property
    def failed_checks(self) -> tuple[CheckResult, ...]:
        """The checks that keep it below complete."""
        return tuple(check for check in self.checks if not check.passed)

    @property
    def share(self) -> Fraction:
        """How much of what it requires is there, from 0 to 1."""
        return Fraction(count_filled(self.name, self.fields), required_count(self.name))

    @property
    def unmet(self) -> tuple[str, ...]:
        """Everything that keeps it from being complete, in words."""
        return tuple(f"{self.name.value}: {told}" for told in (*self._lacks(), *self._faults()))

    def text(self, name: str) -> str:
        """Return a field as text; nothing if it is not filled."""
        value = self.fields.get(name) or ""
        return value if isinstance(value, str) else "\n".join(value)

    def to_json(self) -> dict[str, Json]:
        """Return the shape shown at the doors."""
        return {
            "name": self.name.value,
            "title": self.title,
            "status": self.status.value,
            "fields": dict(self.fields),
            "completed_fields": list(self.completed_fields),
            "missing_fields": list(self.missing_fields),
            "file_path": self.file_path,
            "updated_at": self.updated_at,
            "sources": dict(self.sources),
            "failed_checks": [
                {"check": each.check, "field": each.field, "reason": each.reason}
                for each in self.failed_checks
            ],
            "problems": [str(problem) for problem in self.problems],
        }

    def _lacks(self) -> tuple[str, ...]:
        if not self.missing_fields:
            return ()
        if self.name is TemplateName.WORLD_RULES:
            return (f"{RULES_LEAST - count_filled(self.name, self.fields)} more",)
        return (f"missing {', '.join(self.missing_fields)}",)

    def _faults(self) -> tuple[str, ...]:
        broken = tuple(str(problem) for problem in self.problems)
        return broken + tuple(
            each.reason if each.field == self.name.value else f"{each.field}: {each.reason}"
            for each in self.failed_checks
        )


@dataclass(frozen=True, slots=True)
class WorkOrder:
    """The foundation of a book, and what is still to be done for it."""

    project_id: str
    project_title: str
    protagonist_name: str
    genre: str
    tone: str
    templates: tuple[Template, ...]
    notebooks: Mapping[str, NotebookLabel] = field(default_factory=dict[str, NotebookLabel])

    @property
    def completion_percentage(self) -> float:
        """The mean of what the templates hold of what they require, from 0 to 100."""
        shares = [template.share for template in self.templates]
        return float(100 * sum(shares, Fraction(0)) / len(shares)) if shares else 0.0

    @property
    def is_complete(self) -> bool:
        """Whether all four templates are complete."""
        return all(each.status is TemplateStatus.COMPLETE for each in self.templates)

    @property
    def unmet(self) -> tuple[str, ...]:
        """Everything that keeps the foundation from being complete, in words."""
        return tuple(told for template in self.templates for told in template.unmet)

    def template(self, name: TemplateName) -> Template:
        """Return one of the templates."""
        return next(each for each in self.templates if each.name is name)

    def to_json(self) -> dict[str, Json]:
        """Return the shape shown at the doors."""
        return {
            "project_id": self.project_id,
            "project_title": self.project_title,
            "protagonist_name": self.protagonist_name,
            "genre": self.genre,
            "tone": self.tone,
            "templates": [template.to_json() for template in self.templates],
            "notebooks": {
                name: {"role": each.role, "title": each.title}
                for name, each in self.notebooks.items()
            },
            "completion_percentage": self.completion_percentage,
        }


def count_filled(name: TemplateName, fields: Mapping[str, Value]) -> int:
    """Count what a template holds of what it requires."""
    if name is TemplateName.WORLD_RULES:
        return min(len(fields.get(RULES_FIELD) or ()), RULES_LEAST)
    return sum(bool(fields.get(each)) for each in SHAPES[name].required)


def split_fields(
    name: TemplateName, fields: Mapping[str, Value]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the required fields that are filled, and those that are not."""
    if name is TemplateName.WORLD_RULES:
        is_filled = count_filled(name, fields) >= RULES_LEAST
        return ((RULES_FIELD,), ()) if is_filled else ((), (RULES_FIELD,))
    required = SHAPES[name].required
    return (
        tuple(each for each in required if fields.get(each)),
        tuple(each for each in required if not fields.get(each)),
    )


def status_of(
    name: TemplateName,
    fields: Mapping[str, Value],
    checks: tuple[CheckResult, ...],
    problems: tuple[BibleFileProblem, ...] = (),
) -> TemplateStatus:
    """Compute how far a template has come from what it holds."""
    filled = count_filled(name, fields)
    if filled == 0 and not any(fields.values()):
        return TemplateStatus.NOT_STARTED
    if filled < required_count(name):
        return TemplateStatus.IN_PROGRESS
    if problems or any(not check.passed for check in checks):
        return TemplateStatus.DRAFT_READY
    return TemplateStatus.COMPLETE


GAP: Final = "GAP DETECTED:"
_FITTING: Final[Mapping[TemplateName, tuple[str, ...]]] = {
    TemplateName.PROTAGONIST: ("character_voice", "craft_reference"),
    TemplateName.BEAT_SHEET: ("craft_reference", "world_building"),
    TemplateName.THEME: ("craft_reference", "character_voice"),
    TemplateName.WORLD_RULES: ("world_building",),
}


@dataclass(frozen=True, slots=True)
class TemplateGap:
    """Something the foundation lacks, and at least two ways to come by it."""

    template: TemplateName
    what: str
    paths: tuple[str, ...]

    @property
    def text(self) -> str:
        """The gap as the writer is told of it."""
        return f"{GAP} {self.what}. Ways on: {'; '.join(self.paths)}."


def find_gaps(order: WorkOrder) -> tuple[TemplateGap, ...]:
    """Compare what is there with what is required."""
    return tuple(
        TemplateGap(template.name, told, _paths(template, order.notebooks))
        for template in order.templates
        for told in template.unmet
    )


def _paths(template: Template, notebooks: Mapping[str, NotebookLabel]) -> tuple[str, ...]:
    fitting = [
        f"ask the notebook {name} ({each.title})"
        for role in _FITTING[template.name]
        for name, each in notebooks.items()
        if each.role == role
    ]
    role = _FITTING[template.name][0].replace("_", " ")
    registering = f"write down what you know and register it as a {role} notebook"
    return (*fitting, "brainstorm it now", registering)
