"""Gaps: what the foundation lacks, said exactly, with the ways to fill it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from callboard.packs.writers_factory.bible.orders import NotebookLabel, Template, WorkOrder
from callboard.packs.writers_factory.model import TemplateName

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
