"""Claims: what an agent says about a template's status, set against what its file supports."""

from dataclasses import dataclass

from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput
from callboard.packs.writers_factory.bible.bible import Bible
from callboard.packs.writers_factory.bible.orders import Template, WorkOrder
from callboard.packs.writers_factory.bible.values import field_name
from callboard.packs.writers_factory.model import TemplateName, TemplateStatus

_RANKS = {status: rank for rank, status in enumerate(TemplateStatus)}


@dataclass(frozen=True, slots=True)
class StatusReport:
    """A claimed status, the true one, and the work order that proves it."""

    name: TemplateName
    claimed: TemplateStatus
    actual: TemplateStatus
    note: str
    work_order: WorkOrder
    # Whether this claim opened a complete template again.
    reopened: bool = False

    @property
    def was_downgraded(self) -> bool:
        """Whether more was claimed than the file supports."""
        return _RANKS[self.claimed] > _RANKS[self.actual]

    def to_json(self) -> dict[str, Json]:
        """Return the shape shown at the doors."""
        return {
            "template": self.name.value,
            "claimed": self.claimed.value,
            "status": self.actual.value,
            "downgraded": self.was_downgraded,
            "reopened": self.reopened,
            "note": self.note,
            "completion_percentage": self.work_order.completion_percentage,
        }


async def claim_status(
    bible: Bible, name: str, status: str, *, may_reopen: bool = False
) -> StatusReport:
    """Take an agent's word on a template: report the truth, and open it for revision if allowed.

    Only after the foundation was laid may a claim open a complete template again, or close it.
    """
    claimed = read_status(status)
    before = bible.template(name)
    reopened = False
    if may_reopen:
        reopened = await _revise(bible, before, claimed)
    order = bible.work_order()
    now = order.template(before.name)
    return StatusReport(
        before.name, claimed, now.status, _note(claimed, now, reopened), order, reopened
    )


def read_status(status: str) -> TemplateStatus:
    """Return the status a word means."""
    plain = field_name(status)
    for each in TemplateStatus:
        if each.value == plain:
            return each
    raise InvalidInput(
        f"{status!r} is no status of a template", fix=f"Statuses: {', '.join(TemplateStatus)}."
    )


async def _revise(bible: Bible, template: Template, claimed: TemplateStatus) -> bool:
    was_open = bible.is_reopened(template.name)
    if claimed is TemplateStatus.COMPLETE:
        if was_open:
            await bible.set_reopened(template.name, False)
        return False
    if template.status is TemplateStatus.COMPLETE and not was_open:
        await bible.set_reopened(template.name, True)
        return True
    return False


def _note(claimed: TemplateStatus, template: Template, reopened: bool) -> str:
    if reopened:
        return f"{template.title} is open again; it has to be completed before the book goes on."
    if _RANKS[claimed] > _RANKS[template.status]:
        return f"{template.title} is {template.status.value}: {'; '.join(template.unmet)}"
    if claimed is not template.status:
        return f"{template.title} is already {template.status.value}."
    return f"{template.title} is {template.status.value}."
