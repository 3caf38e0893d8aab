"""The Story Bible: project facts, four templates as the writer's files, work order, checks."""

from callboard.packs.writers_factory.bible.bible import Bible, WriteOutcome
from callboard.packs.writers_factory.bible.checks import CheckOrigin
from callboard.packs.writers_factory.bible.claims import StatusReport, claim_status
from callboard.packs.writers_factory.bible.orders import NotebookLabel, WorkOrder
from callboard.packs.writers_factory.bible.shapes import (
    act_at,
    beat_number,
    beat_point,
    beat_points,
    template_name,
    template_title,
)
from callboard.packs.writers_factory.bible.values import (
    NothingToAccept,
    TemplateRefused,
    TemplateUnreadable,
    UnknownTemplate,
)

__all__ = [
    "Bible",
    "CheckOrigin",
    "NotebookLabel",
    "NothingToAccept",
    "StatusReport",
    "TemplateRefused",
    "TemplateUnreadable",
    "UnknownTemplate",
    "WorkOrder",
    "WriteOutcome",
    "act_at",
    "beat_number",
    "beat_point",
    "beat_points",
    "claim_status",
    "template_name",
    "template_title",
]
